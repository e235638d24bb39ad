package io.github.gatlingllm.engine;

import static io.github.gatlingllm.engine.Requests.answer;
import static org.assertj.core.api.Assertions.assertThat;

import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;
import com.knuddels.jtokkit.api.EncodingType;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class GeneratedAnswerTest {

  private static String text(GeneratedAnswer answer) {
    return IntStream.range(0, answer.tokens()).mapToObj(answer::text).collect(Collectors.joining());
  }

  @Test
  void sameQuestionGetsTheSameAnswer() {
    assertThat(text(answer("{%s}"))).isEqualTo(text(answer("{%s}")));
    assertThat(text(answer("{%s}"))).isNotEqualTo(text(answer("{\"seed\":2,%s}")));
    assertThat(text(answer("{%s}")))
        .isNotEqualTo(text(GeneratedAnswer.to(Requests.chat("{%s}"), 2, 0, 1_000, 0)));
    assertThat(text(answer("{%s}")))
        .isNotEqualTo(
            text(answer("{\"messages\":[{\"role\":\"user\",\"content\":\"How are they?\"}]}")));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'max_tokens':7,'ignore_eos':true, | 7 | length",
        "'max_tokens':7,'max_completion_tokens':3, | 3 | length",
        "'ignore_eos':true, | 1000 | length",
        "'min_tokens':900, | 900 | stop",
      })
  void lengthFollowsTheParameters(String parameters, int tokens, String reason) {
    GeneratedAnswer answer = answer("{" + parameters.replace('\'', '"') + "%s}");
    assertThat(answer.tokens()).isEqualTo(tokens);
    assertThat(answer.finishReason()).isEqualTo(reason);
  }

  @Test
  void answerWithRoomEndsByItself() {
    GeneratedAnswer answer = answer("{%s}");
    assertThat(answer.finishReason()).isEqualTo("stop");
    assertThat(answer.tokens()).isBetween(1, 999);
  }

  private final Encoding cl100k =
      Encodings.newLazyEncodingRegistry().getEncoding(EncodingType.CL100K_BASE);

  @Test
  void everyWordIsOneTokenAndFourCharacters() {
    assertThat(GeneratedAnswer.WORDS)
        .hasSizeGreaterThan(200)
        .doesNotHaveDuplicates()
        .allSatisfy(
            word -> {
              assertThat(word).hasSize(3);
              assertThat(cl100k.countTokens(" " + word)).as(word).isEqualTo(1);
            });
    assertThat(GeneratedAnswer.OPENINGS)
        .doesNotHaveDuplicates()
        .allSatisfy(
            word -> {
              assertThat(word).hasSize(4);
              assertThat(cl100k.countTokens(word)).as(word).isEqualTo(1);
            });
  }
}
