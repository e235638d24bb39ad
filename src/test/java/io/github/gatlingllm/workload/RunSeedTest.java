package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;

class RunSeedTest {

  private static final Map<String, String> NONE = Map.of();

  @Test
  void sameSeedGivesTheSameDrawsOneAfterTheOther() {
    RunSeed one = new RunSeed(42);
    RunSeed other = new RunSeed(42);
    assertThat(one.isDrawnFrom()).isFalse();
    long first = one.next();

    assertThat(other.next()).isEqualTo(first);
    assertThat(other.next()).isEqualTo(one.next()).isNotEqualTo(first);
    assertThat(new RunSeed(43).next()).isNotEqualTo(first);
    assertThat(one.isDrawnFrom()).isTrue();
    assertThat(one.value()).isEqualTo(42);
  }

  @Test
  void randomOneIsExactInJavaScript() {
    assertThat(RunSeed.random()).isBetween(0L, 1L << 53);
  }

  @Test
  void settingIsReadLikeAnyOther() {
    assertThat(RunSeed.setting(Map.of("llm.seed", " 42 "), NONE)).isEqualTo(42);
    assertThat(RunSeed.setting(NONE, Map.of("LLM_SEED", "-7"))).isEqualTo(-7);
    assertThat(RunSeed.setting(NONE, NONE)).isNull();
    assertThat(RunSeed.setting(Map.of("llm.seed", " "), Map.of("LLM_SEED", "7"))).isNull();
    assertThatThrownBy(() -> RunSeed.setting(Map.of("llm.seed", "soon"), NONE))
        .hasMessage("llm.seed=soon: expected a whole number, or leave it out");
  }
}
