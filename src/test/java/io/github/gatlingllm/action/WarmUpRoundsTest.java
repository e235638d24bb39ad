package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.RequestStatus;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link io.github.gatlingllm.e2e.WarmUpIT} has the rest. */
class WarmUpRoundsTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          http://a/v1/embeddings | Not Found | may not support embeddings
          http://a/v1/rerank     | Not Found | may not support rerank
          http://a/embeddings    | Not Found | most servers expect …/v1
          http://a/v1/messages   | Not Found | most servers expect …/v1
          """)
  void pathIsNotFound(String url, String cause, String advice) {
    assertThat(WarmUpRounds.remedy(url, RequestStatus.HTTP_ERROR, 404, cause)).contains(advice);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"The model `tiny2` does not exist.", "Model not found: x", "no such model: y"})
  void modelIsNotFound(String cause) {
    for (String url : List.of("http://a/v1/chat/completions", "http://a/v1/embeddings")) {
      assertThat(WarmUpRounds.remedy(url, RequestStatus.HTTP_ERROR, 404, cause))
          .contains("name of the model")
          .doesNotContain("path", "/v1");
    }
  }

  /** The tokens of a chat template by the counts of a long prompt and of one of 3 tokens. */
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
  void aTemplateIsWhatRemainsAtLength0(int server, int local, Integer ofShort, Integer template) {
    assertThat(WarmUpRounds.template(server, local, 3, ofShort)).isEqualTo(template);
  }
}
