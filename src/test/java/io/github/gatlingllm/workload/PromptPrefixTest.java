package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.workload.Prompts.PromptPool;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class PromptPrefixTest {

  private static final int REQUESTS = 100_000;

  private static List<Tokenizer> tokenizers() {
    return List.of(Tokenizer.cl100k(), Tokenizer.chars4());
  }

  @Test
  void noncesNeverRepeatNeitherInARunNorUnderAnotherSeed() {
    Set<String> nonces = new HashSet<>();
    for (long seed : new long[] {0, 1, 42, -1}) {
      PromptPrefix.Texts texts = new PromptPrefix.Unique(seed).texts(Tokenizer.chars4());
      LongStream.range(0, REQUESTS).forEach(i -> nonces.add(texts.of(i)));
    }
    assertThat(nonces).hasSize(4 * REQUESTS).allMatch(nonce -> nonce.matches("\\d{18}\\n\\n"));
  }

  @Test
  void noncesDifferFromTheFirstCharacters() {
    PromptPrefix.Texts texts = new PromptPrefix.Unique(42).texts(Tokenizer.chars4());
    Map<String, Long> first =
        LongStream.range(0, REQUESTS)
            .mapToObj(i -> texts.of(i).substring(0, 3))
            .collect(Collectors.groupingBy(s -> s, Collectors.counting()));
    // 577 first tokens, 173 requests each; the last of them is cut short.
    assertThat(first).hasSize(577);
    assertThat(first.values()).allMatch(count -> count < 260);
  }

  @Test
  void theSameSeedGivesTheSameNonces() {
    PromptPrefix again = new PromptPrefix.Unique(7).seed(42);
    assertThat(again.texts(Tokenizer.chars4()).of(5))
        .isEqualTo(new PromptPrefix.Unique(42).texts(Tokenizer.chars4()).of(5))
        .isNotEqualTo(new PromptPrefix.Unique(43).texts(Tokenizer.chars4()).of(5));
  }

  @ParameterizedTest
  @MethodSource("tokenizers")
  void everyNonceHasTheSameNumberOfTokens(Tokenizer tokenizer) {
    PromptPrefix.Texts texts = new PromptPrefix.Unique(42).texts(tokenizer);
    assertThat(
            IntStream.range(0, 1_000).map(i -> tokenizer.count(texts.of(i))).distinct().toArray())
        .hasSize(1);
  }

  @ParameterizedTest
  @MethodSource("tokenizers")
  void sharedPrefixesHaveTheRequestedNumberAndLength(Tokenizer tokenizer) {
    PromptPrefix.Texts texts = new PromptPrefix.Shared(4, 100, 42).texts(tokenizer);
    Map<String, Long> groups =
        LongStream.range(0, 10_000)
            .mapToObj(texts::of)
            .collect(Collectors.groupingBy(s -> s, Collectors.counting()));

    assertThat(groups).hasSize(4);
    assertThat(groups.keySet()).allMatch(text -> tokenizer.count(text) == 100);
    assertThat(groups.keySet().stream().map(text -> text.substring(0, 8)).distinct()).hasSize(4);
    assertThat(groups.values())
        .allSatisfy(count -> assertThat(count).isCloseTo(2_500L, within(220L)));
  }

  @Test
  void aConversationStaysInItsGroup() {
    PromptPrefix.Texts texts = new PromptPrefix.Shared(16, 8, 42).texts(Tokenizer.chars4());
    assertThat(LongStream.range(0, 50).mapToObj(i -> texts.inConversation(i, 3)).distinct())
        .hasSize(1);
    assertThat(LongStream.range(0, 50).mapToObj(i -> texts.inConversation(0, i)).distinct())
        .hasSizeGreaterThan(10);
  }

  @ParameterizedTest
  @MethodSource("tokenizers")
  void totalsStayExactWithAnyPrefix(Tokenizer tokenizer) {
    for (PromptPrefix prefix :
        List.of(new PromptPrefix.Unique(1), new PromptPrefix.Shared(3, 64, 1), PromptPrefix.NONE)) {
      PromptPrefix.Texts texts = prefix.texts(tokenizer);
      Prompts prompts =
          Prompts.of(PromptPool.builtIn(), 1)
              .prefix(texts)
              .tokens(LengthDistribution.exactly(200), tokenizer, 100);
      assertThat(prompts.misses()).isEmpty();
      // Beyond the hundred that were made, texts come again under other prefixes.
      assertThat(IntStream.range(0, 250).map(i -> tokenizer.count(prompts.complete(i))))
          .as("%s by %s", prefix, tokenizer.name())
          .containsOnly(200);
      assertThat(prompts.complete(3)).isEqualTo(texts.of(3) + prompts.pick(3).text());
    }
  }
}
