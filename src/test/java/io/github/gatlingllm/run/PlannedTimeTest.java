package io.github.gatlingllm.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.run.Run.RunClock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.PrimitiveIterator;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** In fake nanoseconds, from an instant after which the clock overflows. */
class PlannedTimeTest {
  private static final long START = Math.subtractExact(Long.MAX_VALUE, 50);

  private final List<PlannedTime> plans = new ArrayList<>();

  private PlannedTime plan(@Nullable Long nanos) {
    plans.add(new PlannedTime(nanos));
    return plans.get(plans.size() - 1);
  }

  @ParameterizedTest
  @CsvSource({
    "-20, 0.00, 100", // an open level is announced ahead of its start
    "0, 0.00, 100",
    "10, 0.10, 90",
    "40, 0.40, 60",
    "69, 0.40, 60", // it drains
    "70, 0.40, 60",
    "80, 0.50, 50",
    "130, 1.00, 0",
    "900, 1.00, 0"
  })
  void aLevelPassesUntilItDrainsAndTheNextFollows(long offset, double share, long left) {
    PlannedTime plan = plan(100L);
    plan.begin(START, 40L);
    if (offset >= 70) {
      plan.begin(START + 70, 60L);
    }
    assertAt(offset, share, left);
  }

  private void assertAt(long offset, double share, long left) {
    assertThat(PlannedTime.share(plans, START + offset)).isEqualTo(share);
    assertThat(PlannedTime.leftNanos(plans, START + offset)).isEqualTo(left);
  }

  @Test
  void sequentialPlansAddUp() {
    PlannedTime first = plan(100L);
    PlannedTime second = plan(100L);
    first.begin(START, 100L);
    assertAt(50, 0.25, 150);
    second.begin(START + 110, 100L);
    assertAt(160, 0.75, 50);
  }

  @Test
  void concurrentPlansEndWithTheLongest() {
    plan(100L).begin(START, 100L);
    plan(300L).begin(START, 300L);
    assertAt(50, 0.25, 250);
  }

  @Test
  void aPlanThatStopsEarlyHasNoTimeLeft() {
    PlannedTime first = plan(100L);
    plan(100L);
    first.begin(START, 20L);
    assertThat(PlannedTime.leftNanos(plans, START + 30)).isEqualTo(180);
    first.end();
    assertAt(30, 0.5, 100);
  }

  @Test
  void progressIsUnknownWithoutAPlanAndWithOneOfUnknownLength() {
    assertThat(PlannedTime.share(plans, START)).isNull();
    plan(100L).begin(START, 100L);
    assertThat(PlannedTime.share(plans, START)).isZero();
    plan(null).begin(START, null);
    assertThat(PlannedTime.share(plans, START)).isNull();
    assertThat(PlannedTime.leftNanos(plans, START)).isNull();
  }

  /** A search finds out how many levels it takes: what it expects changes from level to level. */
  @Test
  void timeOfASearchIsEstimated() {
    PlannedTime search = plan(null);
    assertThat(PlannedTime.share(plans, 0)).isNull();
    search.begin(0, 10L);
    search.expect(10L, 9);
    assertThat(PlannedTime.share(plans, 5)).isEqualTo(0.05);
    assertThat(PlannedTime.leftNanos(plans, 5)).isEqualTo(95);
    search.begin(20, 10L);
    search.expect(10L, 3);
    assertThat(PlannedTime.share(plans, 25)).isEqualTo(0.3);
    assertThat(PlannedTime.leftNanos(plans, 25)).isEqualTo(35);
    search.end();
    assertThat(PlannedTime.share(plans, 40)).isEqualTo(1.0);
  }

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
  void buildServersGetOnlyOneLinePerLevel() {
    assertThat(RunConsole.isLinesOnly(Map.of("CI", "true"))).isTrue();
    assertThat(RunConsole.isLinesOnly(Map.of("TERM", "dumb"))).isTrue();
    assertThat(RunConsole.isLinesOnly(Map.of("CI", "false", "TERM", "xterm"))).isFalse();
    assertThat(RunConsole.isLinesOnly(Map.of())).isFalse();
  }
}
