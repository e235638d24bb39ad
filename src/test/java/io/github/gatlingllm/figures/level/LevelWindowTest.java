package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.level.RunStatistics.RecordSource;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Series.Breakdown;
import io.github.gatlingllm.figures.level.Series.Bucket;
import io.github.gatlingllm.figures.level.Series.Part;
import io.github.gatlingllm.figures.level.Series.ScenarioLoad;
import io.github.gatlingllm.figures.metric.Figures.ArrivalFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PlannedArrival;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class LevelWindowTest {

  private static final RunInfo RUN = Runs.run(10, Runs.stage(1, 0, 10_000));

  private static Breakdown breakdown(Recorded... records) {
    return Runs.figures(RUN, records).series().breakdowns().get(0);
  }

  /*
   *      start lag  gate  connect  first token  last token   parts, ms
   * r1      2        4       1         100         300       2 4 1 99 200     = 306
   * r2      0        0       -          50         150       0 0 0 50 100     = 150
   * mean    1        2      0.5                              1 2 0.5 74.5 150 = 228
   */
  @Test
  void meansOfPartsAddUpToTheMeanFromSchedule() {
    RunFigures figures =
        Runs.figures(
            RUN,
            at(100).lag(2).gate(4.0).connect(1).tokens(100, 300),
            at(500).tokens(50, 150),
            at(900).tokens(10).failed(RequestStatus.TRUNCATED, "cut"));
    Breakdown stage = figures.series().breakdowns().get(0);
    assertThat(stage.meansMs())
        .containsExactly(
            entry(Part.START_LAG, 1.0),
            entry(Part.GATE_WAIT, 2.0),
            entry(Part.CONNECT, 0.5),
            entry(Part.FIRST_TOKEN, 74.5),
            entry(Part.DECODE, 150.0));
    assertThat(stage.count()).isEqualTo(2);
    assertThat(stage.reporting()).isZero();
    assertThat(stage.totalMs())
        .isEqualTo(228)
        .isEqualTo(figures.summary().figures().metric(Metric.E2E_FROM_SCHEDULE_MS).mean());
  }

  @Test
  void serverReportedPartsAreTakenWhereTheyFit() {
    Breakdown stage =
        breakdown(
            at(0).connect(1).tokens(100, 200).server(Map.of("queue_s", 0.02, "prefill_s", 0.03)),
            at(1).connect(1).tokens(100, 200).server(Map.of("queue_s", 5.0)),
            at(2).body(300, 7).connect(1));
    assertThat(stage.reporting()).isEqualTo(1);
    assertThat(stage.meansMs())
        .containsExactly(
            entry(Part.CONNECT, 1.0),
            entry(Part.SERVER_QUEUE, 20 / 3.0),
            entry(Part.SERVER_PREFILL, 10.0),
            entry(Part.FIRST_TOKEN, 148 / 3.0),
            entry(Part.DECODE, 200 / 3.0),
            entry(Part.ANSWER, 299 / 3.0));
    assertThat(stage.totalMs()).isEqualTo(700 / 3.0, within(1e-9));
  }

  /**
   * Ends of decode are stamped elsewhere by the server: 105 ms of 100 that were seen are cut to
   * those 100, 111 ms are something else.
   */
  @Test
  void reportedDecodeIsAPartOfTheTimeBetweenFirstAndLastToken() {
    Breakdown stage =
        breakdown(
            at(0).tokens(100, 200).server(Map.of("decode_s", 0.040)),
            at(1).tokens(100, 200).server(Map.of("decode_s", 0.105)),
            at(2).tokens(100, 200).server(Map.of("decode_s", 0.111)),
            at(3).tokens(100, 200).server(Map.of("decode_s", -1.0)));
    assertThat(stage.reporting()).isEqualTo(2);
    assertThat(stage.meansMs())
        .containsExactly(
            entry(Part.FIRST_TOKEN, 100.0),
            entry(Part.SERVER_DECODE, 35.0),
            entry(Part.DECODE, 65.0));
  }

  @Test
  void scenariosAgainstLoadNeedTwoScenarios() {
    RunInfo judged = RUN.slo(Slo.parse("ttft<100ms"));
    assertThat(Runs.figures(RUN, at(0).tokens(5)).series().scenarios()).isEmpty();
    List<ScenarioLoad> loads =
        Runs.figures(
                judged,
                at(0).scenario("chat").tokens(50),
                at(1).scenario("chat").tokens(150),
                at(2).scenario("summary").tokens(60, 80),
                at(3).scenario("summary").phase(Phase.DRAIN).tokens(900))
            .series()
            .scenarios();
    assertThat(loads).extracting(ScenarioLoad::scenario).containsExactly("chat", "summary");
    assertThat(loads).extracting(ScenarioLoad::count).containsExactly(2L, 1L);
    assertThat(loads).extracting(ScenarioLoad::sloShare).containsExactly(0.5, 1.0);
    assertThat(loads.get(0).ttftP95Ms()).isEqualTo(150, within(1.5));
    assertThat(loads.get(1).e2eP95Ms()).isEqualTo(80, within(0.8));
  }

  /**
   * A plan of 1, 3, 0, 2 arrivals in the four seconds of the window: variance 1.25, mean 1.5; one
   * before the window, one after the run. Three requests were sent, all in the last second.
   */
  @Test
  void plannedIsThePlansWhateverWasSent() {
    RunInfo run = Runs.run(5, Runs.planned(99, Runs.rate(2, 1_000, 5_000)));
    List<PlannedArrival> plan =
        Stream.of(500, 1_500, 2_000, 2_500, 2_999, 4_000, 4_999, 9_000)
            .map(ms -> Runs.arrival("r=2", ms))
            .toList();
    List<RequestRecord> sent =
        Stream.of(4_100, 4_200, 4_300)
            .map(ms -> at(ms).lag(100).stage("r=2").tokens(5).record())
            .toList();
    RunFigures figures = Runs.figures(run, plan, sent);
    ArrivalFigures arrivals = figures.summary().arrivals();
    assertThat(arrivals.count()).isEqualTo(6);
    assertThat(arrivals.plannedPerS()).isEqualTo(1.5);
    assertThat(arrivals.plannedDispersion()).isEqualTo(1.25 / 1.5, within(1e-12));
    assertThat(arrivals.realisedPerS()).isEqualTo(0.75);
    assertThat(arrivals.realisedDispersion()).isEqualTo(2.25, within(1e-12));
    assertThat(arrivals.lagP99Ms()).isEqualTo(100, within(0.1));
    assertThat(figures.series().overTime())
        .extracting(Bucket::plannedArrivals)
        .containsExactly(1L, 3L, 0L, 2L);

    // without the file of the plan nothing is known of it
    RunFigures unknown = Runs.figures(run, sent);
    assertThat(unknown.summary().arrivals())
        .extracting(ArrivalFigures::plannedPerS, ArrivalFigures::plannedDispersion)
        .containsOnlyNulls();
    assertThat(unknown.series().overTime()).extracting(Bucket::plannedArrivals).containsOnly(0L);
  }

  /** Of three levels one sent nothing, and one has no arrival in its window. */
  @Test
  void arrivalsOfALevelThatSentNothingArePlannedToo() {
    RunInfo run =
        Runs.run(
            9, Runs.rate(2, 1_000, 5_000), Runs.rate(1, 5_000, 7_000), Runs.rate(3, 7_000, 9_000));
    List<PlannedArrival> plan =
        List.of(Runs.arrival("r=2", 2_000), Runs.arrival("r=2", 3_000), Runs.arrival("r=1", 6_000));
    List<RequestRecord> sent =
        Stream.of(2_000, 3_000).map(ms -> at(ms).lag(1).stage("r=2").tokens(5).record()).toList();
    ArrivalFigures arrivals = Runs.figures(run, plan, sent).summary().arrivals();
    assertThat(arrivals.count()).isEqualTo(3);
    assertThat(arrivals.plannedPerS()).isEqualTo(0.5);
    assertThat(arrivals.realisedPerS()).isEqualTo(2 / 6.0, within(1e-12));
  }

  @Test
  void aRunWithoutRequestsHasNothingToShow() {
    Series nothing = Runs.figures(RUN, List.of()).series();
    assertThat(nothing.breakdowns()).isEmpty();
    assertThat(nothing.levelQuantiles()).isEmpty();
  }

  private static Summary.WorkloadSummary workload(Recorded... records) {
    return Runs.summary(RUN, records).workload();
  }

  @Test
  void eachTurnHasItsOwnFigures() {
    Summary.WorkloadSummary workload =
        workload(
            at(0).turn(1).prompt(20).cached(0).tokens(50, 60),
            at(100).turn(2).prompt(60).cached(32).tokens(30, 40),
            at(200).turn(1).prompt(40).cached(0).tokens(70, 80),
            at(300).turn(2).prompt(68).cached(32).idealCached(51).tokens(20, 40));
    assertThat(workload.turns()).isEqualTo(Map.of(1, 2L, 2, 2L));
    assertThat(workload.byTurn()).extracting(Summary.TurnSummary::turn).containsExactly(1, 2);
    Summary.TurnSummary second = workload.byTurn().get(1);
    assertThat(second.requests()).isEqualTo(2);
    assertThat(second.meanPromptTokens()).isEqualTo(64);
    assertThat(second.cachedShare()).isEqualTo(0.5);
    assertThat(second.idealCachedShare()).isEqualTo(0.75);
    assertThat(second.ttftMs().mean()).isEqualTo(25);
    assertThat(second.e2eMs().mean()).isEqualTo(40);
    assertThat(workload.byTurn().get(0).cachedShare()).isZero();
    assertThat(workload.byTurn().get(0).idealCachedShare()).as("not known").isNull();
  }

  /** Very long conversations share the last row; requests outside conversations have none. */
  @Test
  void turnsAreBounded() {
    assertThat(workload(at(0).turn(100), at(9).turn(7_000)).turns()).isEqualTo(Map.of(100, 2L));
    assertThat(workload(at(0).tokens(5, 6)).byTurn()).isEmpty();
  }

  @Test
  void namesCausesAndReasonsAreBounded() throws IOException {
    RecordSource source =
        sink -> {
          for (int i = 0; i < 5_000; i++) {
            Recorded ok = at(i).name("ask " + i).model("model " + i).replica("gpu " + i);
            sink.accept(ok.tokens(5, 9).finish("reason " + i).record());
            sink.accept(at(i).failed(RequestStatus.HTTP_ERROR, "cause " + i).record());
          }
          return ReadReport.of(10_000);
        };
    Summary summary = RunStatistics.of(RUN, source).summary();
    assertThat(summary.requests()).hasSize(101);
    assertThat(summary.requests()).extracting(g -> g.name()).contains("(other names)", "ask 0");
    assertThat(summary.by().values()).hasSize(2).allSatisfy(by -> assertThat(by).hasSize(101));
    assertThat(summary.figures().errors()).hasSize(201);
    assertThat(summary.figures().finishReasons()).hasSizeLessThanOrEqualTo(201);
    assertThat(summary.figures().counts().ok()).isEqualTo(5_000);
    assertThat(summary.figures().errors().stream().mapToLong(e -> e.count()).sum())
        .isEqualTo(5_000);
  }

  @Test
  void absurdTimesAndCounts() {
    Summary summary =
        Runs.summary(RUN, at(0).tokens(1e6, 2e6).perEvent(1, 2_000_000_000), at(8e7).tokens(5));
    assertThat(summary.figures().metric(Metric.ITL_MS).count()).isEqualTo(2_000_000_000L);
    assertThat(summary.figures().counts().ok()).isEqualTo(2);
  }
}
