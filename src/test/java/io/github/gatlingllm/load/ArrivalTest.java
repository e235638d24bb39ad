package io.github.gatlingllm.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.load.Arrival.OpenSchedule;
import io.github.gatlingllm.load.Arrivals.Planned;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ArrivalTest {
  private static final long MARGIN = OpenSchedule.MARGIN_NANOS;

  @Test
  void firstToStartTakesFirstArrival() {
    OpenSchedule schedule = schedule(5, 100, 205);

    Arrival first = schedule.next(1_000);
    Arrival second = schedule.next(1_093);
    Arrival third = schedule.next(1_200 + MARGIN + 17);

    assertThat(first.plannedNanos()).isEqualTo(1_000 + MARGIN);
    assertThat(second.plannedNanos()).isEqualTo(1_095 + MARGIN);
    assertThat(second.scheduledOffsetNanos()).isEqualTo(100);
    assertThat(third.plannedNanos()).isEqualTo(1_200 + MARGIN);
    assertThat(schedule.next(2_000)).as("more users than planned").isNull();
  }

  @Test
  void earlyUserWaitsForItsInstant() {
    Arrival arrival = schedule(0).next(1_000);

    assertThat(arrival.untilPlannedNanos(1_500)).isEqualTo(MARGIN - 500);
    assertThat(arrival.startLagNanos()).as("early is not late").isZero();
    arrival.started(1_000 + MARGIN + 42);
    assertThat(arrival.startLagNanos()).isEqualTo(42);
  }

  @Test
  void lateUserDoesNotWait() {
    OpenSchedule schedule = schedule(0, 0);
    Arrival first = schedule.next(1_000);
    Arrival late = schedule.next(1_000 + MARGIN + 3);

    assertThat(first.startLagNanos()).isZero();
    assertThat(late.untilPlannedNanos(1_000 + MARGIN + 900)).isNegative();
    assertThat(late.startLagNanos()).as("its own start, not its first request").isEqualTo(3);
  }

  @Test
  void arrivalIsTakenOnce() {
    Arrival arrival = schedule(0).next(1_000);

    assertThat(arrival.taken()).isFalse();
    assertThat(arrival.take()).isTrue();
    assertThat(arrival.take()).isFalse();
    assertThat(arrival.taken()).isTrue();
  }

  private static OpenSchedule schedule(long... offsets) {
    return new OpenSchedule(
        "test", () -> LongStream.of(offsets).mapToObj(offset -> new Planned(0, offset, null)));
  }
}
