package io.github.gatlingllm.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;
import com.knuddels.jtokkit.api.EncodingType;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class VocabularyTest {
  private final Encoding cl100k =
      Encodings.newLazyEncodingRegistry().getEncoding(EncodingType.CL100K_BASE);

  @Test
  void everyWordIsOneTokenAndFourCharacters() {
    assertThat(Vocabulary.WORDS)
        .hasSizeGreaterThan(200)
        .doesNotHaveDuplicates()
        .allSatisfy(
            word -> {
              assertThat(word).hasSize(3);
              assertThat(cl100k.countTokens(" " + word)).as(word).isEqualTo(1);
            });
    assertThat(Vocabulary.OPENINGS)
        .doesNotHaveDuplicates()
        .allSatisfy(
            word -> {
              assertThat(word).hasSize(4);
              assertThat(cl100k.countTokens(word)).as(word).isEqualTo(1);
            });
  }

  @Test
  void tokenizerCountsWhatTheEngineReports() {
    GeneratedAnswer answer = Requests.answer("{\"max_tokens\":500,\"ignore_eos\":true,%s}");
    String text =
        IntStream.range(0, answer.tokens()).mapToObj(answer::text).collect(Collectors.joining());
    assertThat(answer.tokens()).isEqualTo(500);
    assertThat(cl100k.countTokens(text)).isEqualTo(500);
    assertThat(text).hasSize(4 * 500);
  }
}
