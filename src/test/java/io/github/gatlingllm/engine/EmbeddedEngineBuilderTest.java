package io.github.gatlingllm.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class EmbeddedEngineBuilderTest {

  @Test
  void settingLeavesTheOriginalUnmodified() {
    EmbeddedEngineBuilder original = EmbeddedEngine.builder();
    EmbeddedEngineBuilder changed = original.model("other");
    assertThat(changed).isNotSameAs(original);
    try (EmbeddedEngine first = original.start();
        EmbeddedEngine second = changed.start()) {
      assertThat(first.baseUrl()).isNotEqualTo(second.baseUrl()).endsWith("/v1");
    }
  }

  @Test
  void valueOutOfRangeIsNamedWithWhatIsAllowed() {
    EmbeddedEngineBuilder builder = EmbeddedEngine.builder();
    assertThatThrownBy(() -> builder.port(70_000))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("Embedded engine: port is 70000; expected 0 to 65535");
    assertThatThrownBy(() -> builder.maxBatch(0)).hasMessageContaining("maxBatch is 0");
    assertThatThrownBy(() -> builder.decodeStep(Duration.ZERO)).hasMessageContaining("decodeStep");
    assertThatThrownBy(() -> builder.prefillTokensPerSecond(Double.NaN))
        .hasMessageContaining("prefillTokensPerSecond is NaN");
  }
}
