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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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

  private static GenerationRequest asking(String... texts) {
    return GenerationRequest.of(Api.CHAT)
        .messages(Stream.of(texts).map(Api.Message::user).toList())
        .build();
  }

  private void keep(TokenCounting counting, TokenCounting.PromptCount prompt) {
    counting.countLater(
        0,
        () -> {
          prompt.count();
          return "counted " + prompt.tokens();
        },
        () -> "out of time " + prompt.tokens(),
        done::add);
  }

  /** Counts a first text, until it is released. */
  private TokenCounting busy(int maxBytes) throws InterruptedException {
    TokenCounting counting = new TokenCounting(maxBytes);
    CountDownLatch busy = new CountDownLatch(1);
    counting.countLater(
        0,
        () -> {
          busy.countDown();
          counting.prompt(slow, asking("blocks")).count();
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
    TokenCounting.PromptCount prompt = counting.prompt(slow, asking("abc", "de"));
    prompt.start();
    assertThat(prompt.isKnown()).isFalse();
    assertThat(prompt.tokens()).isNull();
    keep(counting, prompt);
    keep(counting, counting.prompt(slow, asking("fail")));
    assertThat(done).isEmpty();
    released.countDown();
    counting.close(PLENTY);
    assertThat(done).containsExactly("counted 5", "counted null");
    assertThat(prompt.isKnown()).isTrue();
  }

  @Test
  void promptWithoutTextHasNoCount() {
    TokenCounting.PromptCount prompt = new TokenCounting().prompt(slow, null);
    assertThat(prompt.isKnown()).isTrue();
    assertThat(prompt.tokens()).isNull();
  }

  @Test
  void afterTheTimeLimitConsumersAreCalledOnceWithoutCount() {
    TokenCounting counting = new TokenCounting();
    keep(counting, counting.prompt(slow, asking("abc")));
    keep(counting, counting.prompt(slow, asking("abc")));
    counting.close(Duration.ZERO);
    keep(counting, counting.prompt(slow, asking("late")));
    released.countDown();
    counting.close(PLENTY);
    // The first was being counted when time was up.
    assertThat(done).containsExactly("out of time null", "out of time null", "out of time null");
  }

  @Test
  void beyondTheLimitNothingIsQueued() throws InterruptedException {
    TokenCounting counting = busy(2_000);
    keep(counting, counting.prompt(slow, asking("ab")));
    keep(counting, counting.prompt(slow, asking("abc")));
    assertThat(done).containsExactly("out of time null");
    released.countDown();
    counting.close(PLENTY);
    assertThat(done).containsExactly("out of time null", "counted the first", "counted 2");
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

  private final List<String> asked = new ArrayList<>();
  private final Tokenizer noting =
      new FakeTokenizer(
          text -> {
            asked.add(text);
            return text.length();
          },
          1);

  @Test
  void eachTextIsTokenizedOnce() {
    TokenCounting.CountedTexts texts = new TokenCounting.CountedTexts(noting);
    assertThat(texts.count("", List.of("be brief", "hi"))).isEqualTo(10);
    assertThat(texts.count("", List.of("be brief", "hi", "hello", "and"))).isEqualTo(18);
    assertThat(texts.count("", List.of())).isZero();
    assertThat(asked).containsExactly("be brief", "hi", "hello", "and");
  }

  /** 3 characters of every prefix and the first one after it are a token. */
  @Test
  void aPromptIsTokenizedOnceWhateverItsPrefix() {
    TokenCounting.CountedTexts texts =
        new TokenCounting.CountedTexts(
            new FakeTokenizer(
                text -> {
                  asked.add(text);
                  return text.length() - (text.startsWith("123") ? 1 : 0);
                },
                1));
    assertThat(texts.count("123", List.of("123hello", "and"))).isEqualTo(7 + 3);
    asked.clear();
    assertThat(texts.count("123", List.of("123hello", "and"))).isEqualTo(10);
    assertThat(asked).containsExactly("123");
    assertThat(texts.count("", List.of("hello"))).as("without its prefix").isEqualTo(5);
  }

  @Test
  void minRecentlyUsedTextIsEvicted() {
    TokenCounting.CountedTexts texts = new TokenCounting.CountedTexts(noting, 10, 99);
    assertThat(texts.count("", List.of("aaaa", "bbbb", "aaaa", "cccc"))).isEqualTo(16);
    assertThat(texts.count("", List.of("aaaa", "bbbb"))).isEqualTo(8);
    assertThat(asked).containsExactly("aaaa", "bbbb", "cccc", "bbbb");
  }

  @Test
  void textAboveTheLimitIsNotCached() {
    TokenCounting.CountedTexts texts = new TokenCounting.CountedTexts(noting, 3, 99);
    assertThat(texts.count("", List.of("abcd", "abcd"))).isEqualTo(8);
    assertThat(asked).containsExactly("abcd", "abcd");
  }

  @Test
  void numberOfCachedTextsIsBounded() {
    TokenCounting.CountedTexts texts = new TokenCounting.CountedTexts(noting, 1_000, 5);
    for (int i = 0; i < 100; i++) {
      texts.count("", List.of("" + i));
    }
    asked.clear();
    texts.count("", List.of("99", "95", "94"));
    assertThat(asked).containsExactly("94");
  }
}
