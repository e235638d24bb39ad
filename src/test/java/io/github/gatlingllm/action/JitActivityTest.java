package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class JitActivityTest {

  private static final long STEP_MILLIS = 10;

  private long nowMillis;
  private long compiledMillis;
  private long queuedMillis;

  static Stream<Arguments> warmUps() {
    return Stream.of(
        arguments("nothing to compile: one slice of requests", 0, 0, false, 330),
        arguments("each slice gives the compilers 300 ms, the third nothing", 300, 2, false, 1_570),
        arguments("never idle: 10 s at most", 400, 1_000, false, 10_000),
        arguments("the JVM does not say", 0, 0, true, 2_500));
  }

  /**
   * A request per millisecond. Each slice of them queues that much work, which is done while no
   * requests are sent.
   */
  @ParameterizedTest(name = "{0}")
  @MethodSource("warmUps")
  void sendsAndWaitsUntilTheCompilersAreIdle(
      String name, long workMillis, int slices, boolean unknown, long lasts) {
    JvmWarmUp.JitActivity watch =
        new JvmWarmUp.JitActivity(
            () -> nowMillis * 1_000_000,
            () -> compiledMillis,
            () -> unknown ? -1 : (int) Math.min(queuedMillis, 5),
            () -> nowMillis);
    int begun = 0;
    boolean sent = false;
    while (watch.isWarmingUp()) {
      boolean sends = watch.isSending();
      if (sends && !sent && begun++ < slices) {
        queuedMillis = workMillis;
      }
      sent = sends;
      if (!sends && queuedMillis > 0) {
        queuedMillis -= STEP_MILLIS;
        compiledMillis += STEP_MILLIS;
      }
      nowMillis += STEP_MILLIS;
    }
    assertThat(nowMillis).isEqualTo(lasts);
  }
}
