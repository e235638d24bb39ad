package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

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

  static Stream<Arguments> warmUps() {
    return Stream.of(
        arguments("at least a second", (LongUnaryOperator) now -> 0, 1_000),
        arguments("until idle for half a second", until(1_700), 2_500),
        arguments("1 % is idle", (LongUnaryOperator) now -> now / 100, 1_000),
        arguments("at most six seconds", (LongUnaryOperator) now -> now, 6_000),
        arguments("the JVM reports none", (LongUnaryOperator) now -> -1, 2_500));
  }

  /** Compilers that use half of the time until then. */
  private static LongUnaryOperator until(long millis) {
    return now -> Math.min(now, millis) / 2;
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("warmUps")
  void lastsUntilTheCompilersAreIdle(String name, LongUnaryOperator compilers, long millis) {
    assertThat(millisOf(compilers)).isEqualTo(millis);
  }
}
