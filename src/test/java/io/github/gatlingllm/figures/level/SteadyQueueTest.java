package io.github.gatlingllm.figures.level;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.level.MultiServerQueue.Visit;
import io.github.gatlingllm.figures.metric.LevelFigures.Drift;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Metric.Amount;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is called unsteady of simulated queues: see {@link MultiServerQueue}. */
class SteadyQueueTest {

  private static final int RUNS = 100;

  /** Queues in steady state since long, at 0.9 with a memory of 24 s. */
  @ParameterizedTest
  @CsvSource({"0.5, 60", "0.8, 60", "0.9, 60", "0.9, 150", "0.9, 400"})
  void steadyQueuesAreNotCalledUnsteady(double utilisation, double seconds) {
    int alarms = 0;
    for (int seed = 0; seed < RUNS; seed++) {
      alarms += isUnsteady(drift(new MultiServerQueue(utilisation), seed, seconds, 0)) ? 1 : 0;
    }
    System.out.printf(
        "%d of %d steady queues at %s in %s s called unsteady%n",
        alarms, RUNS, utilisation, seconds);
    assertThat(alarms).isLessThanOrEqualTo(RUNS * 6 / 100);
  }

  /** The load grows from half of what is possible to 1.25 times that. */
  @Test
  void queuesThatGrow() {
    int found = 0;
    for (int seed = 0; seed < RUNS; seed++) {
      MultiServerQueue queue = new MultiServerQueue(0.5).load(at -> 1 + 1.5 * at / 120);
      Drift drift = drift(queue, seed, 120, 0);
      found += isUnsteady(drift) && drift.up() && drift.steadyFromS() == null ? 1 : 0;
    }
    assertThat(found).isGreaterThanOrEqualTo(RUNS * 9 / 10);
  }

  /** First tokens come a second late in the first 6 s of 60. */
  @ParameterizedTest
  @CsvSource({"0.5, 0.9", "0.8, 0.75"})
  void transientsAtTheStart(double utilisation, double least) {
    int found = 0;
    int right = 0;
    for (int seed = 0; seed < RUNS; seed++) {
      Drift drift = drift(new MultiServerQueue(utilisation), seed, 60, 6);
      if (isUnsteady(drift) && drift.steadyFromS() != null) {
        found++;
        right += Math.abs(drift.steadyFromS() - 6) <= 2.5 ? 1 : 0;
      }
    }
    System.out.printf(
        "%d of %d transients found at %s, %d of them in time%n", found, RUNS, utilisation, right);
    assertThat(found).isGreaterThanOrEqualTo((int) (least * RUNS));
    assertThat(right).isGreaterThanOrEqualTo(found * 85 / 100);
  }

  private static boolean isUnsteady(Drift drift) {
    return drift != null && drift.chance() < Drift.SIGNIFICANT && drift.change() > 0.2;
  }

  /**
   * What a level shows.
   *
   * @param cold for how many seconds first tokens come a second later
   */
  private static Drift drift(MultiServerQueue queue, long seed, double seconds, double cold) {
    List<TimeSlice> slices = Stream.generate(TimeSlice::new).limit(TimeSlice.COUNT).toList();
    double warmUp = 30;
    for (Visit visit : queue.visits(seed, warmUp, seconds)) {
      double late = visit.at() >= 0 && visit.at() < cold ? 1 : 0;
      double at = visit.at() / seconds * TimeSlice.COUNT;
      double end = at + (visit.e2e() + late) / seconds * TimeSlice.COUNT;
      if (at >= 0) {
        TimeSlice slice = slices.get((int) at);
        slice.add(Metric.TTFT_FROM_SCHEDULE_MS, (visit.ttft() + late) * 1e3, 1);
        slice.add(Metric.E2E_FROM_SCHEDULE_MS, (visit.e2e() + late) * 1e3, 1);
      }
      if (end >= 0 && end < TimeSlice.COUNT) {
        slices.get((int) end).add(Amount.TOKENS, 100 * (visit.e2e() - visit.ttft()));
      }
    }
    return SteadyState.of((long) (seconds * 1e9), slices).likeliest();
  }
}
