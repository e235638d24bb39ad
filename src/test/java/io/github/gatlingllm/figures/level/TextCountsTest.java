package io.github.gatlingllm.figures.level;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.level.AnswerCounts.TextCounts;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The tokens of a template by pairs {@code server/ours} of counts. */
class TextCountsTest {

  @ParameterizedTest
  @CsvSource({
    "'', , ",
    "24/10, 14, ", // one length shows no line
    "24/10 24/10, 14, ",
    "24/10 114/100, 14, 14",
    "10/10 100/100, 0, 0",
    "7/10 97/100, -3, -3",
    "417/3 1414/1000, 414, 414", // the caller bounds the length of a template
    "25/10 124/100, , 14", // 1.1 tokens for each of ours
    "26/10 124/100 222/200, , 18", // 1.03 tokens, and 17.5 of no text
    "10/10 55/100, , ", // no more than half
    "10/10 190/100, , ", // nor twice as many
    "114/100 24/10 64/50, 14, 14",
  })
  void isWhatTheServerCountsMore(String counts, Integer constant, Long atLengthZero) {
    TextCounts texts = new TextCounts();
    for (String each : counts.isEmpty() ? new String[0] : counts.split(" ", -1)) {
      String[] both = each.split("/", -1);
      texts.add(Integer.parseInt(both[0]), Integer.parseInt(both[1]));
    }
    assertThat(texts.constant()).isEqualTo(constant);
    assertThat(texts.atLengthZero()).isEqualTo(atLengthZero);
  }
}
