package io.github.gatlingllm.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.load.LoadLevel.Phases;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PlannedNanosTest {

  private static final Phases TIMED = new Phases(1, 20, 300, 4_000, null);
  private static final LoadLevel CLOSED = new LoadLevel.Closed(2, TIMED);
  private static final LoadLevel OPEN =
      new LoadLevel.Open(5, Arrivals.poisson(5, 1), TIMED.withMeasure(500));
  private static final LoadLevel COUNTED = new LoadLevel.Closed(4, TIMED.withRequests(10));

  private record Case(String name, LoadPlan plan, @Nullable Long nanos) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Case> cases() {
    LoadPlan.Sweep sweep = new LoadPlan.Sweep(List.of(CLOSED, OPEN));
    return Stream.of(
        new Case("levels add up, without drain", sweep, 321L + 521L),
        new Case(
            "a sweep at its longest",
            sweep.stopWhen(List.of(StopRule.errorsAbove(1))),
            321L + 521L),
        new Case("a count", new LoadPlan.Sweep(List.of(CLOSED, COUNTED)), null),
        new Case("trials", new LoadPlan.Sweep(List.of(new LoadLevel.Batch(4, 2, 30))), null),
        new Case("a search", new GoodputSearch(1, 0.1, 1, TIMED), null));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void isKnownIfTimeBoundsEveryLevel(Case given) {
    assertThat(given.plan().plannedNanos()).isEqualTo(given.nanos());
  }
}
