package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.workload.Tokenizer;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LlmProtocolTest {

  private static LlmProtocol protocol() {
    return new LlmProtocol()
        .with(
            parts -> {
              parts.baseUrls = List.of("http://a:1/v1");
              parts.notes = Map.of("purpose", "test");
              parts.tokenizer = Tokenizer.cl100k();
            });
  }

  @Test
  void protocolsWithTheSameSettingsAreEqual() {
    assertThat(protocol()).isEqualTo(protocol()).hasSameHashCodeAs(protocol());
    assertThat(protocol().with(parts -> parts.maxInFlight = 8)).isNotEqualTo(protocol());
    assertThat(protocol().with(parts -> parts.seed = 8L)).isNotEqualTo(protocol());
  }
}
