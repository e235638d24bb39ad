package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The tokens of a chat template by the counts of a long prompt and of one of 3 tokens. */
class ChatTemplateTest {

  @ParameterizedTest
  @CsvSource({
    "1014, 1000, 17, 14", // the same tokenizer
    "1000, 1000, 3, 0",
    "1105, 1000, 17, 14", // 9.1 % more tokens a text: 1,000 of them are 1,091
    "142, 128, 17, 14",
    "1000, 1000, 300, 298", // a template with a separate text
    "3014, 1000, 23, ", // three for each of ours are no tokens of this text
    "21, 11, 13, ", // too short to tell
    "1014, 1000, , ", // the short one was not counted
  })
  void isWhatIsLeftAtLength0(int server, int local, Integer ofShort, Integer template) {
    assertThat(WarmUpRounds.template(server, local, 3, ofShort)).isEqualTo(template);
  }
}
