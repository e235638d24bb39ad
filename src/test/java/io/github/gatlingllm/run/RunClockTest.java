package io.github.gatlingllm.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.run.Run.RunClock;
import java.time.Instant;
import java.util.Map;
import java.util.PrimitiveIterator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class RunClockTest {

  @Test
  void monotonicTimeBecomesEpochTime() {
    PrimitiveIterator.OfLong nanoTime = LongStream.of(-40, -20).iterator();
    RunClock clock =
        RunClock.anchor(() -> Instant.ofEpochSecond(1_795_255_200L, 7), nanoTime::nextLong);
    assertThat(clock).isEqualTo(new RunClock(1_795_255_200_000_000_007L, -30));
    assertThat(clock.unixNanos(-30)).isEqualTo(1_795_255_200_000_000_007L);
    assertThat(clock.unixNanos(1_000_000_000L)).isEqualTo(1_795_255_201_000_000_037L);
  }

  @Test
  void systemClocksAgree() {
    long start = System.nanoTime();
    RunClock clock = RunClock.system();
    long slack = System.nanoTime() - start + 2_000_000;
    long before = System.currentTimeMillis() * 1_000_000L;
    long unixNanos = clock.unixNanos(System.nanoTime());
    long after = System.currentTimeMillis() * 1_000_000L;
    assertThat(unixNanos).isBetween(before - slack, after + slack);
  }

  @Test
  void buildServersGetOnlyOneLinePerLevel() {
    assertThat(RunConsole.isLinesOnly(Map.of("CI", "true"))).isTrue();
    assertThat(RunConsole.isLinesOnly(Map.of("TERM", "dumb"))).isTrue();
    assertThat(RunConsole.isLinesOnly(Map.of("CI", "false", "TERM", "xterm"))).isFalse();
    assertThat(RunConsole.isLinesOnly(Map.of())).isFalse();
  }
}
