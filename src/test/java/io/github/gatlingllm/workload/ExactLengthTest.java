package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.testing.FakeTokenizer;
import io.github.gatlingllm.workload.Prompts.PromptPool;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class ExactLengthTest {

  private static final Map<String, Tokenizer> OPEN = new ConcurrentHashMap<>();

  private static final String MIXED =
      "Größe, naïveté 東京タワー 🤖🤖🏳️‍🌈 مرحبا بالعالم int main() { return 0x7f; }  and  so on\n";

  static Stream<Tokenizer> tokenizers() {
    return Stream.of(
            "tiktoken:r50k_base",
            "tiktoken:cl100k_base",
            "tiktoken:o200k_base",
            "hf:src/test/resources/tokenizers/bpe.tokenizer.json",
            "hf:src/test/resources/tokenizers/wordpiece.tokenizer.json",
            "hf:src/test/resources/tokenizers/unigram.tokenizer.json",
            "chars4")
        .map(name -> OPEN.computeIfAbsent(name, Tokenizer::parse));
  }

  @ParameterizedTest
  @MethodSource("tokenizers")
  void promptsOfRandomLengthsAreExact(Tokenizer tokenizer) {
    Prompts prompts =
        Prompts.of(PromptPool.builtIn(), 7)
            .tokens(LengthDistribution.uniform(1, 400), tokenizer, 400);

    assertThat(prompts.misses()).isEmpty();
    assertThat(prompts.made())
        .hasSize(400)
        .allSatisfy(
            prompt -> {
              assertThat(tokenizer.count(prompt.text())).isEqualTo(prompt.required());
              assertThat(prompt.text()).isEqualTo(prompt.text().strip()).doesNotContain("\uFFFD");
            });
    assertThat(prompts.made())
        .extracting(Prompts.DrawnPrompt::required)
        .anyMatch(wanted -> wanted < 5)
        .anyMatch(wanted -> wanted > 395);
  }

  static Stream<Arguments> everyCut() {
    return tokenizers()
        .flatMap(
            tokenizer ->
                IntStream.rangeClosed(1, tokenizer.count(MIXED) + 20)
                    .mapToObj(tokens -> Arguments.of(tokenizer, tokens)));
  }

  @ParameterizedTest
  @MethodSource("everyCut")
  void anyTextCanBeCutOrExtendedToAnyLength(Tokenizer tokenizer, int tokens) {
    Prompts.DrawnPrompt fitted =
        new ExactLength(tokenizer).of("", MIXED, "", tokens, new SplittableRandom(1));

    assertThat(tokenizer.count(fitted.text())).isEqualTo(fitted.tokens()).isEqualTo(tokens);
  }

  @Test
  void textOfTheRightLengthDoesNotChange() {
    Tokenizer tokenizer = Tokenizer.cl100k();
    String text = "Explain how a bill becomes a law.";

    Prompts.DrawnPrompt fitted =
        new ExactLength(tokenizer).of("", text, "", tokenizer.count(text), new SplittableRandom(1));

    assertThat(fitted.text()).isEqualTo(text);
  }

  @Test
  void longPromptsAreExtendedByDifferentSentences() {
    Prompts prompts =
        Prompts.of(PromptPool.of("Summarise."), 3)
            .tokens(LengthDistribution.exactly(2_500), Tokenizer.cl100k(), 1);

    String text = prompts.pick(0).text();
    List<String> sentences = List.of(text.split("(?<=\\.) "));
    Map<String, Long> counts =
        sentences.stream().collect(Collectors.groupingBy(s -> s, Collectors.counting()));
    assertThat(text).startsWith("Summarise. ");
    assertThat(sentences).hasSizeGreaterThan(100);
    assertThat(counts.values()).allMatch(count -> count <= 2);
  }

  @Test
  void lengthThatCannotBeMetIsTheNearestAndReported() {
    Tokenizer even = new FakeTokenizer(text -> 2 * text.length(), 2);
    Prompts prompts =
        Prompts.of(PromptPool.builtIn(), 1).tokens(LengthDistribution.exactly(101), even, 3);

    assertThat(prompts.made()).extracting(Prompts.DrawnPrompt::tokens).containsOnly(100);
    assertThat(prompts.misses())
        .containsExactly(
            "#0 has 100 of 101 tokens", "#1 has 100 of 101 tokens", "#2 has 100 of 101 tokens");
    assertThat(
            Prompts.of(PromptPool.builtIn(), 1)
                .tokens(LengthDistribution.exactly(100), even, 3)
                .misses())
        .isEmpty();
  }
}
