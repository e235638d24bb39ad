package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.client.GenerationRequest;
import io.github.gatlingllm.testing.FakeTokenizer;
import io.github.gatlingllm.workload.Tokenizer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TokenCountingTest {

  private static final Duration PLENTY = Duration.ofSeconds(60);

  private final CountDownLatch released = new CountDownLatch(1);
  private final Queue<String> done = new ConcurrentLinkedQueue<>();

  /** Counts letters once it is released; fails for one text. */
  private final Tokenizer slow =
      new FakeTokenizer(
          text -> {
            try {
              released.await();
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
            if (text.equals("fail")) {
              throw new IllegalStateException("told to");
            }
            return text.length();
          },
          1);

  private static GenerationRequest request(String... texts) {
    return GenerationRequest.of(Api.CHAT)
        .messages(Stream.of(texts).map(Api.Message::user).toList())
        .build();
  }

  private void keep(TokenCounting counting, String... texts) {
    counting.countLater(
        0,
        () -> "counted " + counting.prompt(slow, request(texts)),
        () -> "out of time",
        done::add);
  }

  /** Counts a first text, until it is released. */
  private TokenCounting busy(int maxBytes) throws InterruptedException {
    TokenCounting counting = new TokenCounting(maxBytes, 99, 99);
    CountDownLatch busy = new CountDownLatch(1);
    counting.countLater(
        0,
        () -> {
          busy.countDown();
          assertThat(counting.prompt(slow, request("blocks"))).isEqualTo(6);
          return "counted the first";
        },
        () -> "no room for the first",
        done::add);
    busy.await();
    return counting;
  }

  @Test
  void pendingConsumersReceiveTheirCount() {
    TokenCounting counting = new TokenCounting();
    keep(counting, "abc", "de");
    keep(counting, "fail");
    assertThat(done).isEmpty();
    released.countDown();
    counting.close(PLENTY);
    assertThat(done).containsExactly("counted 5", "counted null");
  }

  @Test
  void afterTheTimeLimitConsumersAreCalledOnceWithoutCount() {
    TokenCounting counting = new TokenCounting();
    keep(counting, "abc");
    keep(counting, "abc");
    counting.close(Duration.ZERO);
    keep(counting, "late");
    released.countDown();
    counting.close(PLENTY);
    // The first was being counted when time was up.
    assertThat(done).containsExactly("out of time", "out of time", "out of time");
  }

  @Test
  void beyondTheLimitNothingIsQueued() throws InterruptedException {
    TokenCounting counting = busy(2_000);
    keep(counting, "ab");
    keep(counting, "abc");
    assertThat(done).containsExactly("out of time");
    released.countDown();
    counting.close(PLENTY);
    assertThat(done).containsExactly("out of time", "counted the first", "counted 2");
  }

  @Test
  @Timeout(60)
  void aFailingConsumerDoesNotDelayClosing() {
    TokenCounting counting = new TokenCounting();
    counting.countLater(
        0,
        () -> 1,
        () -> 0,
        count -> {
          throw new IllegalStateException("a failing consumer, on purpose");
        });
    counting.close(Duration.ofHours(1));
    assertThat(done).isEmpty();
  }

  @Test
  void textsAreBoundedByTheirBytes() throws InterruptedException {
    TokenCounting counting = busy(100_000);
    assertThat(counting.isSampled(1)).isTrue();
    for (int bytes : new int[] {90_000, 10_000, 1_000}) {
      counting.countLater(bytes, () -> "counted " + bytes, () -> "no room " + bytes, done::add);
    }
    assertThat(done).containsExactly("no room 10000");
    assertThat(counting.isSampled(1)).as("a sample, while much waits").isFalse();
    released.countDown();
    counting.close(PLENTY);
    assertThat(done)
        .containsExactly("no room 10000", "counted the first", "counted 90000", "counted 1000");
    assertThat(counting.isSampled(1)).isTrue();
    assertThat(counting.isSampled(201)).isFalse();
  }

  private final List<String> tokenized = new ArrayList<>();
  private final Tokenizer noting =
      new FakeTokenizer(
          text -> {
            tokenized.add(text);
            return text.length();
          },
          1);

  private @Nullable Integer count(TokenCounting counting, String... texts) {
    return counting.prompt(noting, request(texts));
  }

  @Test
  void eachTextIsTokenizedOnce() {
    TokenCounting counting = new TokenCounting();
    assertThat(count(counting, "be brief", "hi")).isEqualTo(10);
    assertThat(count(counting, "be brief", "hi", "hello", "and")).isEqualTo(18);
    assertThat(tokenized).containsExactly("be brief", "hi", "hello", "and");
  }

  /** 3 characters of every prefix and the first one after it are a token. */
  @Test
  void aPromptIsTokenizedOnceWhateverItsPrefix() {
    Tokenizer joining =
        new FakeTokenizer(
            text -> {
              tokenized.add(text);
              return text.length() - (text.startsWith("123") ? 1 : 0);
            },
            1);
    TokenCounting counting = new TokenCounting();
    GenerationRequest prefixed =
        GenerationRequest.of(Api.CHAT)
            .prefix("123")
            .messages(List.of(Api.Message.user("hello"), Api.Message.user("and")))
            .build();
    assertThat(counting.prompt(joining, prefixed)).isEqualTo(7 + 3);
    tokenized.clear();
    assertThat(counting.prompt(joining, prefixed)).isEqualTo(10);
    assertThat(tokenized).containsExactly("123");
    assertThat(counting.prompt(joining, request("hello"))).as("without its prefix").isEqualTo(5);
  }

  /** Limits of characters and of texts, what is counted, and what a tokenizer counts of that. */
  @ParameterizedTest
  @CsvSource({
    "10, 99, aaaa bbbb aaaa cccc aaaa bbbb, aaaa bbbb cccc bbbb", // the least recently used goes
    "3, 99, abcd abcd, abcd abcd",
    "99, 5, 0 1 2 3 4 5 6 7 7 3 2, 0 1 2 3 4 5 6 7 2",
  })
  void countsOfFewTextsAreRetained(int chars, int texts, String counted, String expected) {
    TokenCounting counting = new TokenCounting(0, chars, texts);
    for (String text : counted.split(" ", -1)) {
      assertThat(count(counting, text)).isEqualTo(text.length());
    }
    assertThat(tokenized).containsExactly(expected.split(" ", -1));
  }
}
