package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.workload.Prompts.PromptPool;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ServerTokenizerTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Tokens of a server whose words add up to texts: one per word and one per digit. */
  private static int byWords(String text) {
    int tokens = 0;
    for (int from = 0; from < text.length(); from = WordCounts.end(text, from)) {
      tokens +=
          1
              + (int)
                  text.substring(from, WordCounts.end(text, from))
                      .chars()
                      .filter(Character::isDigit)
                      .count();
    }
    return tokens;
  }

  private static int threeChars(String text) {
    return (text.codePointCount(0, text.length()) + 2) / 3;
  }

  private static String list(int tokens) {
    return "1,".repeat(tokens).replaceFirst(",$", "");
  }

  /** A server with three characters a token and a template of 17, which speaks one form. */
  private static String answer(String form, String path, JsonNode body) throws IOException {
    boolean isChat = body.has("messages");
    String text =
        isChat ? body.at("/messages/0/content").textValue() : body.path(form).asText(null);
    if (text == null) {
      throw new IOException("HTTP 400");
    }
    int tokens = threeChars(text) + (isChat ? 17 : 0);
    return switch (form + " " + path) {
      case "prompt /tokenize" ->
          "{\"count\":%s,\"max_model_len\":4096,\"tokens\":[%s]}".formatted(tokens, list(tokens));
      case "content /tokenize" -> "{\"tokens\":[%s]}".formatted(list(tokens));
      case "content /v1/chat/completions/input_tokens" -> "{\"input_tokens\":" + tokens + "}";
      case "inputs /tokenize" -> "[" + list(tokens) + "]";
      case "inputs /chat_tokenize" -> "{\"tokenize_response\":[" + list(tokens) + "]}";
      default -> throw new IOException("HTTP 404");
    };
  }

  private interface Answering {
    String answer(String path, String json) throws IOException;
  }

  private static ServerTokenizer open(Answering server) throws IOException {
    return open(server, "m", null, System::nanoTime);
  }

  private static ServerTokenizer open(
      Answering server, String model, @Nullable Path cache, LongSupplier nanoClock)
      throws IOException {
    return ServerTokenizer.open(
        (path, json) -> {
          try {
            return CompletableFuture.completedFuture(server.answer(path, json));
          } catch (IOException e) {
            return CompletableFuture.failedFuture(new CompletionException(e.getMessage(), e));
          }
        },
        model,
        cache,
        nanoClock);
  }

  @ParameterizedTest
  @CsvSource({"prompt, 4096", "content,", "inputs,"})
  void eachFormOfServersIsUnderstood(String form, Integer context) throws IOException {
    ServerTokenizer tokenizer = open((path, json) -> answer(form, path, JSON.readTree(json)));

    assertThat(tokenizer.count("abcdefg")).isEqualTo(3);
    assertThat(tokenizer.count(tokenizer.head("abcdefghij", 2))).isEqualTo(2);
    assertThat(tokenizer.template()).isEqualTo(17);
    assertThat(tokenizer.context()).isEqualTo(context);
  }

  @Test
  void promptsHaveTheirLengthByAServerOfThreeCharactersAToken() throws IOException {
    ServerTokenizer tokenizer = open((path, json) -> answer("prompt", path, JSON.readTree(json)));
    Prompts prompts =
        Prompts.of(PromptPool.builtIn(), 7)
            .prefix(new PromptPrefix.Unique(7).texts(tokenizer))
            .tokens(LengthDistribution.exactly(100), tokenizer, 20);

    assertThat(prompts.misses()).isEmpty();
    // 100 tokens of three characters: 298 to 300 with the nonce of 20.
    for (int i = 0; i < 20; i++) {
      assertThat(prompts.complete(i).codePointCount(0, prompts.complete(i).length()))
          .isBetween(298, 300);
    }
    Prompts requests =
        Prompts.of(PromptPool.builtIn(), 7)
            .tokens(LengthDistribution.exactly(100), tokenizer, 5, 17);
    assertThat(requests.made()).extracting(Prompts.DrawnPrompt::tokens).containsOnly(83);
  }

  /** As SentencePiece: a space at the beginning of a text is a token more, as is each text. */
  private static int withPrefix(String text) {
    return byWords(text) + 1 + (text.startsWith(" ") ? 1 : 0);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void wordsAreAskedForOnceAndNothingInTheLoad(boolean hasPrefix) throws IOException {
    AtomicInteger asked = new AtomicInteger();
    ServerTokenizer tokenizer =
        open(
            (path, json) -> {
              asked.incrementAndGet();
              String text = JSON.readTree(json).path("prompt").asText();
              int count = hasPrefix ? withPrefix(text) : byWords(text);
              return "{\"count\":" + count + "}";
            });
    Prompts prompts =
        Prompts.of(PromptPool.of("Say it."), 7)
            .prefix(new PromptPrefix.Unique(7).texts(tokenizer))
            .tokens(LengthDistribution.exactly(1_000), tokenizer, 200);
    assertThat(prompts.misses()).isEmpty();
    assertThat(asked.get()).isLessThan(2_000);
    int before = asked.get();
    tokenizer.close();

    // A nonce that no prompt had: its digits count as those of the others.
    assertThat(tokenizer.count(prompts.prefix().of(12_345) + prompts.pick(3).text()))
        .isEqualTo(1_000);
    assertThatThrownBy(() -> tokenizer.count("unheard")).isInstanceOf(Tokenizer.Uncounted.class);
    assertThat(asked.get()).isEqualTo(before);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP 404",
        "HTTP 401",
        "HTTP 500",
        "no complete response within 2000 ms",
        "no connection"
      })
  void aServerThatFailsHasNoTokenizer(String why) {
    AtomicInteger asked = new AtomicInteger();
    assertThatThrownBy(
            () ->
                open(
                    (path, json) -> {
                      asked.incrementAndGet();
                      throw new IOException(why);
                    }))
        .isInstanceOf(IOException.class)
        .hasMessage(why);
    assertThat(asked.get()).as("tries: the other forms are of the same page").isOne();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"<html>Hello</html>", "{}", "{\"count\":-1}", "{\"tokens\":[]}", "[]", "\"\"", ""})
  void anAnswerWithoutACountIsNoTokenizer(String answer) {
    assertThatThrownBy(() -> open((path, json) -> answer)).isInstanceOf(IOException.class);
  }

  @Test
  void aServerThatChangesItsMindIsNoTokenizer() {
    AtomicInteger asked = new AtomicInteger();
    assertThatThrownBy(() -> open((path, json) -> "{\"count\":" + asked.incrementAndGet() + "}"))
        .isInstanceOf(IOException.class);
  }

  @Test
  void aServerThatIsLateOnceIsAskedAgain() throws IOException {
    AtomicInteger asked = new AtomicInteger();
    ServerTokenizer tokenizer =
        open(
            (path, json) -> {
              if (asked.incrementAndGet() > 9 && asked.get() % 2 == 0) {
                throw new IOException("no complete response within 2000 ms");
              }
              return answer("prompt", path, JSON.readTree(json));
            });
    for (int chars = 30; chars < 60; chars += 3) {
      assertThat(tokenizer.count("a".repeat(chars))).isEqualTo(chars / 3);
    }
    assertThat(asked.get()).as("of which some failed").isGreaterThan(20);
  }

  @Test
  void aServerThatFailsLaterIsLeft() throws IOException {
    AtomicInteger asked = new AtomicInteger();
    ServerTokenizer tokenizer =
        open(
            (path, json) -> {
              if (asked.incrementAndGet() > 20) {
                throw new IOException("HTTP 500");
              }
              return "{\"count\":5}";
            });
    assertThatThrownBy(
            () ->
                Prompts.of(PromptPool.builtIn(), 7)
                    .tokens(LengthDistribution.exactly(100), tokenizer, 20))
        .hasRootCauseMessage("HTTP 500");
  }

  @Test
  void aSecondRunAsksForNoTextAgain(@TempDir Path cache) throws IOException {
    AtomicInteger asked = new AtomicInteger();
    Answering server =
        (path, json) -> {
          asked.incrementAndGet();
          return "{\"count\":" + byWords(JSON.readTree(json).path("prompt").asText()) + "}";
        };
    for (String model : List.of("m", "m", "other")) {
      int before = asked.get();
      ServerTokenizer tokenizer = open(server, model, cache, System::nanoTime);
      int probes = asked.get() - before;
      var unused =
          Prompts.of(PromptPool.of("Say it."), 7)
              .tokens(LengthDistribution.exactly(300), tokenizer, 5);
      tokenizer.close();
      assertThat(asked.get() - before == probes).isEqualTo(before > 0 && model.equals("m"));
    }
  }

  @Test
  void countingEndsAfterAMinuteOfAnswers() throws IOException {
    AtomicLong nanos = new AtomicLong();
    ServerTokenizer tokenizer = open((path, json) -> "{\"count\":5}", "m", null, nanos::get);
    nanos.set(TimeUnit.SECONDS.toNanos(60) - 1);
    assertThat(tokenizer.count("in time")).isEqualTo(5);
    nanos.set(TimeUnit.SECONDS.toNanos(60));
    assertThatThrownBy(() -> tokenizer.count("late")).isInstanceOf(Tokenizer.Uncounted.class);
  }

  @Test
  void openingEndsAfterTenSeconds() {
    AtomicLong nanos = new AtomicLong();
    Answering slow =
        (path, json) -> {
          nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));
          return "{\"count\":5}";
        };
    assertThatThrownBy(() -> open(slow, "m", null, nanos::get))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("10 s");
  }

  /**
   * Words whose tokens do not add up: a token per three characters, counted before the load only.
   */
  private static final class BeforeTheLoad implements Tokenizer {
    private boolean isOver;

    @Override
    public String name() {
      return "server";
    }

    @Override
    public int count(String text) {
      if (isOver) {
        throw new Uncounted("not counted before the load", null);
      }
      return (text.length() + 2) / 3;
    }

    @Override
    public String head(String text, int tokens) {
      return text.substring(0, Math.min(text.length(), 3 * tokens));
    }
  }

  @Test
  void textsOfBlocksAreMadeInTheLoadWithoutTheServer() {
    BeforeTheLoad tokenizer = new BeforeTheLoad();
    Mooncake texts = new Mooncake(tokenizer);
    assertThat(tokenizer.count(texts.text(new long[] {1, 2}, 64, 128, 7))).isEqualTo(128);

    tokenizer.isOver = true;
    String two = texts.text(new long[] {1, 2}, 64, 128, 7);
    String three = texts.text(new long[] {1, 2, 3}, 64, 192, 7);
    assertThat(three).startsWith(two);
    tokenizer.isOver = false;
    assertThat(tokenizer.count(two)).isBetween(110, 146);
  }
}
