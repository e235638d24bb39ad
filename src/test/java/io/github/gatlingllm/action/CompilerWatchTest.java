package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;

/** How long the JVM is warmed up, by the time that its compilers use. */
class CompilerWatchTest {

  private static final long STEP_MILLIS = 10;

  private long nowMillis;

  /** The length of the warm-up, to 10 ms. */
  private long millisOf(LongUnaryOperator compilerMillis) {
    WarmUpRounds.CompilerWatch watch =
        new WarmUpRounds.CompilerWatch(
            () -> nowMillis * 1_000_000, () -> compilerMillis.applyAsLong(nowMillis));
    while (watch.isWarmingUp()) {
      nowMillis += STEP_MILLIS;
    }
    return nowMillis;
  }

  @Test
  void atLeastASecond() {
    assertThat(millisOf(now -> 0)).isEqualTo(1_000);
  }

  @Test
  void untilCompilersAreIdleForHalfASecond() {
    assertThat(millisOf(now -> Math.min(now, 1_700) / 2)).isEqualTo(2_500);
  }

  @Test
  void notForCompilersThatUseOnePercent() {
    assertThat(millisOf(now -> now / 100)).isEqualTo(1_000);
  }

  @Test
  void atMostSixSeconds() {
    assertThat(millisOf(now -> now)).isEqualTo(6_000);
  }

  @Test
  void fixedTimeWhereTheJvmReportsNone() {
    assertThat(millisOf(now -> -1)).isEqualTo(2_500);
  }
}
