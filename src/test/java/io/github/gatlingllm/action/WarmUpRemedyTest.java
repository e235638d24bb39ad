package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.RequestStatus;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a refused first request advises; {@link io.github.gatlingllm.e2e.WarmUpIT} has the rest. */
class WarmUpRemedyTest {

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
}
