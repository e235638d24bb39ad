package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.level.MultiServerQueue.Visit;
import io.github.gatlingllm.figures.metric.Amount;
import io.github.gatlingllm.figures.metric.Figures.Check;
import io.github.gatlingllm.figures.metric.Figures.CheckLevel;
import io.github.gatlingllm.figures.metric.LevelFigures.Drift;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.DoubleUnaryOperator;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One level of 60 s, 400 requests: what drifts is warned of, what only varies is not. */
class SteadyStateTest {

  private static final double WINDOW_MS = 60_000;

  @Test
  void steady() {
    Check check = judged(even(400, u -> 1_200)).orElseThrow();
    assertThat(check.level()).isEqualTo(CheckLevel.OK);
    assertThat(check.value()).isNull();
    assertThat(check.threshold()).isEqualTo(0.2);
  }

  /**
   * TTFT = 1,200 ms + 2,200 ms × i ÷ 400; its quarters are i = 0 … 99 and 300 … 399, of mean i 49.5
   * and 349.5.
   */
  @Test
  void queueThatGrows() {
    Check check = judged(even(400, u -> 1_200 + 2_200 * u)).orElseThrow();
    assertThat(check.level()).isEqualTo(CheckLevel.WARNING);
    assertThat(check.value()).isEqualTo(1_650 / ((1_472.25 + 3_122.25) / 2), within(1e-9));
    assertThat(check.message())
        .startsWith("c=64: TTFT from schedule grew from 1,472 ms to 3,122 ms");
    assertThat(check.remedy()).contains("longer stabilize", "offer less");
  }

  @Test
  void warmUpInsideTheWindow() {
    Check check = judged(even(400, u -> 3_400 - 2_200 * u)).orElseThrow();
    assertThat(check.level()).isEqualTo(CheckLevel.WARNING);
    assertThat(check.message()).contains("TTFT from schedule fell from 3,");
  }

  /** Waits before the request was admitted are part of what a growing queue costs. */
  @Test
  void queueInTheClient() {
    List<RequestRecord> records =
        spread(i -> at(i * 150).stage("c=64").gate(i * 10.0).tokens(500, 1_000).record());
    assertThat(judged(records).orElseThrow().level()).isEqualTo(CheckLevel.WARNING);
  }

  /** Equal latencies, but arrivals thin out: at u of the requests 1 − √(1 − u) of the time. */
  @Test
  void outputThatFalls() {
    List<RequestRecord> records =
        Recorded.requests(
            400,
            i -> at((1 - Math.sqrt(1 - i / 400.0)) * WINDOW_MS).stage("c=64").tokens(100, 200));
    Check check = judged(records).orElseThrow();
    assertThat(check.level()).isEqualTo(CheckLevel.WARNING);
    assertThat(check.message()).startsWith("c=64: output tok/s fell from ");
  }

  /** 9 % more, without any noise: certain, and too small to matter. */
  @Test
  void smallTrendIsFine() {
    Check check = judged(even(400, u -> 1_000 + 100 * u)).orElseThrow();
    assertThat(check.level()).isEqualTo(CheckLevel.OK);
    assertThat(check.value()).isBetween(0.05, 0.1);
  }

  /** TTFT 500 ms for the first 6 s of 60, then about 103 ms: 5 of 48 slices of 1.25 s. */
  @Test
  void coldStart() {
    List<RequestRecord> records = new ArrayList<>(before(500));
    records.addAll(
        spread(i -> at(i * 150).stage("c=64").tokens(i < 40 ? 500 : 100 + i % 7, 1_500).record()));
    Check check = judged(records).orElseThrow();
    assertThat(check.level()).isEqualTo(CheckLevel.WARNING);
    assertThat(check.message())
        .contains("c=64: TTFT from schedule was 481 ms", "6.25 s", "then 103 ms");
  }

  @Test
  void tooLittleToJudge() {
    assertThat(judged(even(39, u -> 1_200 + 2_200 * u))).isEmpty();
    assertThat(judged(even(40, u -> 1_200 + 2_200 * u))).isPresent();
    List<RequestRecord> many = even(400, u -> 1_200 + 2_200 * u);
    assertThat(judged(Runs.run(60, Runs.stage(64, 0, 19_999)), many)).isEmpty();
    assertThat(judged(Runs.run(60, Runs.stage(64, 0, 20_000)), many)).isPresent();
  }

  @Test
  void batchTrialsAreNotJudged() {
    List<RequestRecord> records =
        spread(i -> at(i * 150).stage("c=64").trial(1 + i / 100).tokens(1_000 + i * 10).record());
    assertThat(judged(records)).isEmpty();
  }

  /** TTFT changes with it. Kinds of load, and what they offer. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      textBlock =
          """
          open loop  | 3 | true
          rate curve | 3 | false
          trace      | 3 | false
          injection  | 7 | true
          injection  | - | false
          """)
  void loadThatChangesByPlanIsNotJudged(String kind, @Nullable Double offered, boolean isJudged) {
    List<RequestRecord> records =
        spread(i -> at(i * 150).stage("all").lag(0).tokens(1_000 + i * 10).record());
    LevelInfo level = Runs.stage("all", "a", kind, offered, "", 0, WINDOW_MS);
    assertThat(judged(Runs.run(60, level), records).isPresent()).isEqualTo(isJudged);
  }

  @Test
  void targetOfTheWorstStageIsNamed() {
    List<RequestRecord> records = new ArrayList<>(even(400, u -> 1_200));
    records.addAll(
        spread(i -> at(i * 150).target("b").stage("c=64").tokens(1_200 + i * 10).record()));
    RunInfo both = Runs.run(60, Runs.stage(64, 0, WINDOW_MS), Runs.stage("b", 64, 0, WINDOW_MS));
    assertThat(judged(both, records).orElseThrow().message()).startsWith("c=64 of b: TTFT");
  }

  /** 400 requests at even distances over the window. */
  private static List<RequestRecord> spread(IntFunction<RequestRecord> request) {
    return IntStream.range(0, 400).mapToObj(request).toList();
  }

  /** Requests at even distances over the window, TTFT by the share of them that came before. */
  private static List<RequestRecord> even(int count, DoubleUnaryOperator ttftMs) {
    List<RequestRecord> records = new ArrayList<>(before(ttftMs.applyAsDouble(0)));
    for (int i = 0; i < count; i++) {
      double ttft = ttftMs.applyAsDouble((double) i / count);
      records.add(at(i * WINDOW_MS / count).stage("c=64").tokens(ttft, ttft + 1_000).record());
    }
    return records;
  }

  /** The load before the window, for 5 s. */
  private static List<RequestRecord> before(double ttftMs) {
    List<RequestRecord> records = new ArrayList<>();
    for (double start = -5_000; start < 0; start += 150) {
      records.add(
          at(start).phase(Phase.STABILIZE).stage("c=64").tokens(ttftMs, ttftMs + 1_000).record());
    }
    return records;
  }

  private static Optional<Check> judged(List<RequestRecord> records) {
    return judged(Runs.run(60, Runs.stage(64, 0, WINDOW_MS)), records);
  }

  private static Optional<Check> judged(RunInfo info, List<RequestRecord> records) {
    return Runs.summary(info, records).checks().stream()
        .filter(c -> c.id().equals("steady_state") && c.level() != CheckLevel.NOTE)
        .findFirst();
  }

  @Test
  void correlationOfSlicesIsEstimated() {
    double[] alternating = new double[48];
    double[] slow = new double[48];
    for (int i = 0; i < 48; i++) {
      alternating[i] = i % 2;
      slow[i] = Math.sin(i * Math.PI / 12);
    }

    assertThat(TimeSlice.upper(alternating, 1)).isZero();
    // no correlation at all: half a standard error
    assertThat(TimeSlice.upper(new double[48], 1)).isCloseTo(0.5 / Math.sqrt(48), within(1e-12));
    assertThat(TimeSlice.upper(slow, 1)).isEqualTo(0.95);
    // 1 + 2 × ½ × 0.5 of the (1 + 0.5) ÷ (1 − 0.5) is in a block of 2
    assertThat(TimeSlice.within(2, 0.5)).isCloseTo(1.5, within(1e-12));
    assertThat(TimeSlice.slices(0.5)).isCloseTo(3, within(1e-12));
  }

  /**
   * Values, S less 1 and var S: of ten without ties 10 · 9 · 25 ÷ 18 = 125, of five pairs of equals
   * 125 − 5 · 2 · 1 · 9 ÷ 18 = 120, and S is 45 − 5; of two fives 125 − 2 · 5 · 4 · 15 ÷ 18.
   */
  @ParameterizedTest
  @CsvSource({
    "1 2 3 4 5 6 7 8 9 10, 44, 125",
    "10 9 8 7 6 5 4 3 2 1, -44, 125",
    "1 1 2 2 3 3 4 4 5 5, 39, 120",
    "7 7 7 7 7 7 7 7 7 7, 0, 125",
    "1 9 1 9 1 9 1 9 1 9, 4, 91.666666666666667"
  })
  void trend(String values, double s, double variance) {
    double[] each = Stream.of(values.split(" ", -1)).mapToDouble(Double::valueOf).toArray();
    assertThat(SteadyState.trend(each, 0)).isEqualTo(s / Math.sqrt(variance), within(1e-12));
  }

  /** Each value like the one before with φ = 0.5: worth a third as many, and Z less by √3. */
  @Test
  void correlatedValues() {
    double[] rising = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    assertThat(SteadyState.trend(rising, 0.5)).isEqualTo(44 / Math.sqrt(3 * 125), within(1e-12));
  }

  /** A parabola has no residuals that could be correlated. */
  @Test
  void growthWithoutNoiseIsATrend() {
    double[] growth = new double[48];
    Arrays.setAll(growth, i -> 100 + i * i);
    assertThat(SteadyState.trend(growth)).isEqualTo(SteadyState.trend(growth, 0)).isGreaterThan(5);
  }

  /** Ten high values, then constant ones with noise: no other split is as sure. */
  @Test
  void split() {
    double[] values = new double[48];
    Arrays.setAll(values, i -> (i < 10 ? 50 : 10) + i % 2);
    assertThat(SteadyState.farthest(values)).isEqualTo(10);
    assertThat(SteadyState.chance(SteadyState.distance(values, 10), 48)).isLessThan(1e-6);
    Arrays.setAll(values, i -> 10 + i % 2);
    int cut = SteadyState.farthest(values);
    assertThat(SteadyState.chance(SteadyState.distance(values, cut), 48)).isGreaterThan(1);
  }

  /**
   * Means 4 apart; the variance of a value is 4 ÷ (4 − 2), φ half a standard error, 0.5 ÷ √4, and
   * so that of both means 2 × (1 + 2 × ½ × 0.25) ÷ 2 each.
   */
  @Test
  void distanceOfASplit() {
    double[] values = {-1, 1, 3, 5};
    assertThat(SteadyState.farthest(values)).isEqualTo(2);
    assertThat(SteadyState.distance(values, 2)).isEqualTo(4 / Math.sqrt(2.5), within(1e-12));
  }

  private static final int RUNS = 100;

  /** Queues in steady state since long, at 0.9 with a memory of 24 s. */
  @ParameterizedTest
  @CsvSource({"0.5, 60", "0.8, 60", "0.9, 60", "0.9, 150", "0.9, 400"})
  @Tag("nightly")
  void steadyQueuesAreNotCalledUnsteady(double utilisation, double seconds) {
    int alarms = 0;
    for (int seed = 0; seed < RUNS; seed++) {
      alarms += isUnsteady(drift(new MultiServerQueue(utilisation), seed, seconds, 0)) ? 1 : 0;
    }
    assertThat(alarms).isLessThanOrEqualTo(RUNS * 6 / 100);
  }

  /** The load grows from half of what is possible to 1.25 times that. */
  @Test
  @Tag("nightly")
  void queuesThatGrow() {
    int found = 0;
    for (int seed = 0; seed < RUNS; seed++) {
      Drift drift = drift(new MultiServerQueue(0.5).load(at -> 1 + 1.5 * at / 120), seed, 120, 0);
      found += isUnsteady(drift) && drift.up() && drift.steadyFromS() == null ? 1 : 0;
    }
    assertThat(found).isGreaterThanOrEqualTo(RUNS * 9 / 10);
  }

  /** First tokens come a second late in the first 6 s of 60. */
  @ParameterizedTest
  @CsvSource({"0.5, 0.95", "0.8, 0.8"})
  @Tag("nightly")
  void transientsAtTheStart(double utilisation, double min) {
    int found = 0;
    int right = 0;
    for (int seed = 0; seed < RUNS; seed++) {
      Drift drift = drift(new MultiServerQueue(utilisation), seed, 60, 6);
      if (isUnsteady(drift) && drift.steadyFromS() != null) {
        found++;
        right += Math.abs(drift.steadyFromS() - 6) <= 2.5 ? 1 : 0;
      }
    }
    assertThat(found).isGreaterThanOrEqualTo((int) (min * RUNS));
    assertThat(right).isGreaterThanOrEqualTo(found * 9 / 10);
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
    List<Cell> slices = Stream.generate(Cell::ofSlice).limit(TimeSlice.COUNT).toList();
    double warmUp = 30;
    for (Visit visit : queue.visits(seed, warmUp, seconds)) {
      double late = visit.at() >= 0 && visit.at() < cold ? 1 : 0;
      double at = visit.at() / seconds * TimeSlice.COUNT;
      double end = at + (visit.e2e() + late) / seconds * TimeSlice.COUNT;
      if (at >= 0) {
        Cell slice = slices.get((int) at);
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
