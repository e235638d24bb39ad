package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WarmUpFailureTest {

  @Test
  void requestThatDidNotEnd() {
    assertThat(EndpointCheck.warmUpFailure("vLLM", "http://a:8000/v1/chat/completions", null))
        .isEqualTo(
            "LLM warm-up request to vLLM (http://a:8000/v1/chat/completions) failed: no answer."
                + " Look at the server's log; is it still loading the model? Or allow more time"
                + " (timeout, idleTimeout). No load was sent; warmup=0 skips this request");
  }
}
