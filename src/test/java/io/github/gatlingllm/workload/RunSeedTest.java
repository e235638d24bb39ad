package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class RunSeedTest {

  @Test
  void sameSeedGivesTheSameDrawsOneAfterTheOther() {
    RunSeed one = RunSeed.of("42");
    RunSeed other = RunSeed.of(" 42 ");
    assertThat(one.isDrawnFrom()).isFalse();
    long first = one.next();

    assertThat(other.next()).isEqualTo(first);
    assertThat(other.next()).isEqualTo(one.next()).isNotEqualTo(first);
    assertThat(RunSeed.of("43").next()).isNotEqualTo(first);
    assertThat(one.isDrawnFrom()).isTrue();
    assertThat(one.value()).isEqualTo(42);
  }

  @Test
  void randomOneIsExactInJavaScript() {
    assertThat(RunSeed.of(null).value()).isBetween(0L, 1L << 53);
  }

  @Test
  void whatIsNoNumberIsRefused() {
    assertThatThrownBy(() -> RunSeed.of("soon"))
        .hasMessage("llm.seed=soon: expected a whole number, or leave it out");
  }
}
