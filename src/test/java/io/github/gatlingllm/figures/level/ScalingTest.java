package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static io.github.gatlingllm.figures.level.Recorded.requests;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.testing.Reading;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A level of one minute whose server gets a second replica after 20 s: ten requests a second, of
 * which one every 100 ms is planned. Before that the first token takes 3 s, then 100 ms; each
 * answer ends 50 ms after its first token.
 */
class ScalingTest {

  private static final int PER_S = 10;
  private static final int SCALED_AT_S = 20;

  /** The first 10 s are not measured. */
  private static final LevelInfo LEVEL =
      new LevelInfo(
          "r=10",
          "a",
          null,
          LevelInfo.OPEN_LOOP,
          10.0,
          "requests/s",
          List.of(phase(Phase.STABILIZE, 0, 10), phase(Phase.MEASURE, 10, 60)));

  private static PhaseWindow phase(Phase phase, long fromS, long toS) {
    return new PhaseWindow(
        phase, Recorded.ORIGIN + fromS * 1_000_000_000, Recorded.ORIGIN + toS * 1_000_000_000);
  }

  private static RunInfo run(double percent, Slo.Rule rule) {
    return Runs.run(61, LEVEL).slo(Slo.parse("ttft<1s", percent, rule));
  }

  /** The k-th request, which misses the SLO before the second replica and if it is one of these. */
  private static RequestRecord request(int k, Set<Integer> alsoMissing) {
    boolean isScaled = k >= SCALED_AT_S * PER_S;
    double ttft = !isScaled || alsoMissing.contains(k) ? 3_000 : 100;
    return at(k * 1_000.0 / PER_S)
        .stage("r=10")
        .phase(k < 10 * PER_S ? Phase.STABILIZE : Phase.MEASURE)
        .replica(isScaled && k % 2 == 1 ? "pod-2" : "pod-1")
        .tokens(ttft, ttft + 50)
        .record();
  }

  private static List<RequestRecord> minute(IntFunction<RequestRecord> each) {
    List<RequestRecord> all = requests(0, i -> at(0));
    for (int k = 0; k < 60 * PER_S; k++) {
      all.add(each.apply(k));
    }
    return all;
  }

  private static @Nullable Double heldAfter(RunInfo run, Integer... alsoMissing) {
    Set<Integer> missing = Set.of(alsoMissing);
    LevelFigures level = Runs.summary(run, minute(k -> request(k, missing))).stages().get(0);
    return level.figures().number(Metric.GOODPUT_HELD_AFTER_S);
  }

  /**
   * With 95 % a slice of 20 requests may miss one: seconds are joined in pairs from the end, 58 and
   * 59, 56 and 57, … 20 and 21. The pair of 18 and 19 misses all.
   */
  @Test
  void sloIsHeldFromTheFirstSliceFromWhichAllHoldIt() {
    for (Slo.Rule rule : Slo.Rule.values()) {
      assertThat(heldAfter(run(95, rule))).isEqualTo(20.0);
    }
    RunInfo of95 = run(95, Slo.Rule.REQUESTS);
    assertThat(heldAfter(of95, 405)).as("one of seconds 40 and 41").isEqualTo(20.0);
    assertThat(heldAfter(of95, 405, 415)).as("two of seconds 40 and 41").isEqualTo(42.0);
    assertThat(heldAfter(of95, 405, 425)).as("in two pairs").isEqualTo(20.0);
    assertThat(heldAfter(of95, 598, 599)).as("two at the end").isNull();
    assertThat(heldAfter(run(90, Slo.Rule.REQUESTS), 405, 415)).as("of 10 each").isEqualTo(20.0);
    assertThat(heldAfter(run(100, Slo.Rule.REQUESTS), 405)).isEqualTo(41.0);
  }

  @Test
  void timeBeginsWithTheFirstPlannedRequest() {
    List<RequestRecord> late = minute(k -> request(k, Set.of())).subList(5, 600);
    LevelFigures level = Runs.summary(run(95, Slo.Rule.REQUESTS), late).stages().get(0);
    assertThat(level.figures().number(Metric.GOODPUT_HELD_AFTER_S)).isEqualTo(19.5);
    assertThat(level.heldLaterS()).isEqualTo(19.5);
    assertThat(level.figures().number(Metric.COLD_START_S)).isEqualTo(3.0);
  }

  @Test
  void levelThatHoldsFromItsStartHasNothingToShow() {
    RunInfo run = run(95, Slo.Rule.REQUESTS);
    LevelFigures level =
        Runs.summary(run, minute(k -> at(k * 100).stage("r=10").tokens(100, 150).record()))
            .stages()
            .get(0);
    assertThat(level.figures().number(Metric.GOODPUT_HELD_AFTER_S)).isZero();
    assertThat(level.heldLaterS()).isNull();
    assertThat(level.coldStartS()).isNull();
    Summary none = Runs.summary(Runs.run(61, LEVEL), minute(k -> request(k, Set.of())));
    assertThat(none.stages().get(0).figures().number(Metric.GOODPUT_HELD_AFTER_S)).isNull();
    assertThat(none.figures().number(Metric.COLD_START_S)).as("the only level").isEqualTo(3.0);
  }

  /**
   * A server that answers from an instant on, 50 ms after a request is planned, and refuses earlier
   * ones or holds them until then.
   */
  @ParameterizedTest
  @CsvSource({"true, 50, 50.05", "false, 50, 50.05", "true, 2, 2.05", "false, 0.9, ", "true, 0, "})
  void coldStartIsTheTimeToTheFirstAnswer(
      boolean refuses, double upS, @Nullable Double coldStartS) {
    List<RequestRecord> records =
        minute(
            k -> {
              double plannedMs = k * 100.0;
              double waitsMs = Math.max(0, upS * 1e3 - plannedMs);
              Recorded of = at(plannedMs).stage("r=10");
              of.phase(k < 10 * PER_S ? Phase.STABILIZE : Phase.MEASURE);
              return refuses && waitsMs > 0
                  ? of.failed(RequestStatus.CONNECTION_ERROR, "refused").closed(1).record()
                  : of.tokens(waitsMs + 50, waitsMs + 150).record();
            });
    LevelFigures level = Runs.summary(Runs.run(61, LEVEL), records).stages().get(0);
    assertThat(level.coldStartS()).isEqualTo(coldStartS);
  }

  /**
   * The first of four prompts is 64 times as long as the others, and takes 2 s instead of 50 ms.
   */
  @ParameterizedTest
  @CsvSource({"6_400, 0", "100, 2"})
  void longPromptIsNoColdStart(String firstPrompt, double coldStartS) {
    int tokens = Integer.parseInt(firstPrompt.replace("_", ""));
    Summary summary =
        Runs.summary(
            Runs.run(61, LEVEL),
            requests(
                4,
                k ->
                    at(k * 6_000)
                        .stage("r=10")
                        .prompt(k == 0 ? tokens : 100)
                        .tokens(k == 0 ? 2_000 : 50, 2_100)));
    assertThat(summary.figures().number(Metric.COLD_START_S)).isEqualTo(coldStartS);
  }

  /** A text in one body takes longer the longer it is: that is no cold start. */
  @Test
  void firstTextInOneBodyTellsNothing() {
    Summary summary =
        Runs.summary(
            Runs.run(61, LEVEL), requests(9, k -> at(k * 6_000).stage("r=10").body(5_000, 9)));
    assertThat(summary.stages().get(0).figures().number(Metric.COLD_START_S)).isNull();
  }

  /**
   * The first token of request 0 comes after 3 s, the last before the second replica at 22.9 s. The
   * first answer of pod-2 is that of request 201, at 20.2 s; the last is that of 599, which ends at
   * 60.05 s, after that of 598 of pod-1 at 59.95 s.
   */
  @Test
  void replicasAreThoseThatAnswerAndThoseThatAreReady() {
    RunInfo run = run(95, Slo.Rule.REQUESTS);
    List<RequestRecord> records = minute(k -> request(k, Set.of()));
    Summary answered = Runs.summary(run, records);
    assertThat(answered.targets().get(0).replicas())
        .isEqualTo(Map.of("answering", changes(0, 0, 3, 1, 20, 2, 60, 1)));

    Runs.Source read =
        new Runs.Source(
            records,
            List.of(),
            List.of(),
            List.of(reading(0, 1), reading(9, 1), reading(17, 2), reading(59, 2)));
    assertThat(Runs.figures(run, read).summary().targets().get(0).replicas())
        .containsEntry("ready", changes(0, 1, 17, 2));
    assertThat(Runs.figures(run, read).summary().stages().get(0).serverMetrics())
        .returns(2.0, engine -> engine.max(EngineMetric.REPLICAS));

    Summary one = Runs.summary(run, minute(k -> request(k / 2 * 2, Set.of())));
    assertThat(one.targets().get(0).replicas()).as("the same one always answers").isEmpty();
  }

  private static ServerSample reading(long atS, double replicas) {
    return Reading.at(
            Recorded.ORIGIN + atS * 1_000_000_000, Map.of(EngineMetric.REPLICAS, replicas))
        .sample();
  }

  private static SortedMap<Double, Double> changes(double... secondsAndNumbers) {
    SortedMap<Double, Double> all = new TreeMap<>();
    for (int i = 0; i < secondsAndNumbers.length; i += 2) {
      all.put(secondsAndNumbers[i], secondsAndNumbers[i + 1]);
    }
    return all;
  }
}
