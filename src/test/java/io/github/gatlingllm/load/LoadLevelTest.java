package io.github.gatlingllm.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.record.LevelInfo.InFlightCount;
import io.github.gatlingllm.record.LevelInfo.Phase;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class LoadLevelTest {
  @ParameterizedTest
  @CsvSource({"16, r=16", "2.5, r=2.5", "1000000, r=1000000", "0.001, r=0.001", "20.10, r=20.1"})
  void rateLabelsHaveNoTrailingZeros(double rate, String label) {
    assertThat(new LoadLevel.Open(rate, Arrivals.constant(rate), Phases.DEFAULT).label())
        .isEqualTo(label);
  }

  static Stream<Arguments> mistakes() {
    return Stream.of(
        mistake(
            () -> Phases.DEFAULT.withMeasure(0),
            "measure(0 s) measures nothing; expected more than 0 s"),
        mistake(
            () -> Phases.DEFAULT.withRequests(0),
            "requests(0) measures nothing; expected 1 or more"),
        mistake(
            () -> Phases.DEFAULT.withDrain(-2_000_000_000L),
            "drain(-2 s) is not a duration; expected 0 s or more"),
        mistake(
            () ->
                new LoadPlan.Sweep(
                    List.of(
                        new LoadLevel.Closed(8, Phases.DEFAULT),
                        new LoadLevel.Closed(8, Phases.DEFAULT))),
            "Level c=8 occurs twice; list each level once"),
        mistake(
            () -> new LoadLevel.FixedBatch(100_000, 100_000, 0),
            "100,000 users times 100,000 trials are too many for one load test; expected"),
        mistake(
            () -> new LoadLevel.Closed(1_000_000_000, Phases.DEFAULT),
            "1,000,000,000 users are too many for one load test; expected"));
  }

  private static Arguments mistake(ThrowingCallable call, String message) {
    return Arguments.of(call, message);
  }

  @ParameterizedTest
  @MethodSource("mistakes")
  void mistakesAreNamed(ThrowingCallable call, String message) {
    assertThatThrownBy(call)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(message);
  }

  private static final Phases TIMED = new Phases(1, 20, 300, 4_000, null);
  private static final LoadLevel CLOSED = new LoadLevel.Closed(2, TIMED);
  private static final LoadLevel OPEN =
      new LoadLevel.Open(5, Arrivals.poisson(5, 1), TIMED.withMeasure(500));
  private static final LoadLevel COUNTED = new LoadLevel.Closed(4, TIMED.withRequests(10));

  static Stream<Arguments> cases() {
    LoadPlan.Sweep sweep = new LoadPlan.Sweep(List.of(CLOSED, OPEN));
    return Stream.of(
        Arguments.of("levels add up, without drain", sweep, 321L + 521L),
        Arguments.of(
            "a sweep at its longest",
            sweep.stopWhen(List.of(StopRule.errorsAbove(1))),
            321L + 521L),
        Arguments.of("a count", new LoadPlan.Sweep(List.of(CLOSED, COUNTED)), null),
        Arguments.of(
            "trials", new LoadPlan.Sweep(List.of(new LoadLevel.FixedBatch(4, 2, 30))), null),
        Arguments.of("a search", LoadPlan.search(1, 0.1, 1, TIMED), null));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cases")
  void isKnownIfTimeBoundsEveryLevel(String name, LoadPlan plan, @Nullable Long nanos) {
    assertThat(plan.plannedNanos()).isEqualTo(nanos);
  }

  /** A level that measures for 10 ns, from 10 ns on or once it has settled. */
  private static RunningLevel measuring(@Nullable Long stabilizeNanos) {
    Phases phases = new Phases(0L, stabilizeNanos, 10, false, 0, null);
    return new RunningLevel(new LoadLevel.Closed(9, phases), 0, false, false, () -> {});
  }

  private static void change(RunningLevel level, int by, long nanos) {
    for (int i = 0; i < Math.abs(by); i++) {
      if (by > 0) {
        level.requestAdmitted(nanos);
      } else {
        level.requestClosed(nanos);
      }
    }
  }

  /** Changes, each at an instant; the mean and the peak from 10 to 20. */
  @ParameterizedTest
  @CsvSource({
    // 2 × 1 + 3 × 2 + 1 × 3 + 3 × 2 + 1 × 1 = 18
    "1@0 1@1 1@2 1@3 -3@9 1@12 1@15 -1@16 -1@19 5@20 1@30, 1.8, 3",
    // what crosses the window counts for all of it
    "2@0 -2@100, 2, 2",
    ", 0, 0",
    // two threads read the clock before either was here
    "1@12 1@11, 1.6, 2"
  })
  void meanAndPeakAreThoseOfTheWindow(@Nullable String changes, double mean, int peak) {
    RunningLevel level = measuring(10L);
    for (String change : changes == null ? new String[0] : changes.split(" ", -1)) {
      String[] both = change.split("@", -1);
      change(level, Integer.parseInt(both[0]), Long.parseLong(both[1]));
    }
    assertThat(level.inFlight()).isEqualTo(new InFlightCount(mean, peak));
  }

  /** Where a window starts is found out at 15: nothing before it counts. */
  @Test
  void theWindowMayBecomeKnownLater() {
    RunningLevel level = measuring(null);
    change(level, 1, 0);
    change(level, 1, 14);
    assertThat(level.inFlight()).isNull();
    level.endPhase(Phase.STABILIZE, 15);
    change(level, -1, 20);
    assertThat(level.inFlight()).isEqualTo(new InFlightCount(1.5, 2));
  }
}
