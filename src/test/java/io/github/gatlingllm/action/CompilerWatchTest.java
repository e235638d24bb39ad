package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;

/** How long the JVM is warmed up, by what its compilers do. */
class CompilerWatchTest {

  private static final long STEP_MILLIS = 10;

  private long nowMillis;

  /** Asked every 10 ms, until when it goes on. */
  private long millisOf(LongUnaryOperator compilerMillis) {
    CompilerWatch watch =
        new CompilerWatch(() -> nowMillis * 1_000_000, () -> compilerMillis.applyAsLong(nowMillis));
    while (watch.goesOn()) {
      nowMillis += STEP_MILLIS;
    }
    return nowMillis;
  }

  @Test
  void atLeastASecond() {
    assertThat(millisOf(now -> 0)).isEqualTo(1_000);
  }

  @Test
  void untilCompilersStandStillForHalfASecond() {
    assertThat(millisOf(now -> Math.min(now, 1_700) / 2)).isEqualTo(2_500);
  }

  @Test
  void littleIsNotWaitedFor() {
    assertThat(millisOf(now -> now / 100)).isEqualTo(1_000);
  }

  @Test
  void notUntilAnOptimisingCompilerHasDone() {
    assertThat(millisOf(now -> now)).isEqualTo(6_000);
  }

  @Test
  void aFixedTimeWhereTheJvmDoesNotTell() {
    assertThat(millisOf(now -> -1)).isEqualTo(2_500);
  }
}
