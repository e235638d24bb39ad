package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.RequestStatus;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a refused first request advises; {@link io.github.gatlingllm.e2e.WarmUpIT} has the rest. */
class WarmUpRemedyTest {

  @ParameterizedTest
  @CsvSource({
    "http://a/v1/embeddings, may have no embeddings",
    "http://a/embeddings, most servers expect …/v1",
    "http://a/v1/messages, most servers expect …/v1"
  })
  void serverWithoutEmbeddings(String url, String advice) {
    assertThat(WarmUpRounds.remedy(url, RequestStatus.HTTP_ERROR, 404)).contains(advice);
  }
}
