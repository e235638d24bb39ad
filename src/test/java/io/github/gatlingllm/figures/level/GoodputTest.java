package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static io.github.gatlingllm.figures.level.Runs.run;
import static io.github.gatlingllm.figures.level.Runs.stage;
import static io.github.gatlingllm.figures.level.Runs.summary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.Goodput;
import io.github.gatlingllm.figures.metric.LevelFigures.ObjectiveRow;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.Objectives.TargetSlo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class GoodputTest {

  private static final RunInfo RUN =
      run(3, stage(1, 0, 2_000)).slo(Slo.parse("ttft<200ms,tpot<50ms", 60, Slo.Rule.PERCENTILES));

  /*
   * good      TTFT 100, TPOT 20              met      2 tokens, ends in the window
   * late      TTFT 250                       missed   ttft
   * slow      TPOT 90                        missed   tpot
   * both      TTFT 300, TPOT 60              missed   ttft, tpot
   * short     one token: no TPOT             met      1 token
   * broken    http error                     missed   ttft (none came), failed
   * given up  cancelled after 300 ms         missed   ttft
   * after     met, but ends past the window  met      1 of its 2 tokens inside
   *
   * attempted 8, met 3; share 0.375; ended in the window: good, short: 2 ÷ 2 s = 1/s
   * tokens in SLO 2 + 1 + 1 = 4 ÷ 2 s = 2/s
   */
  private static final List<RequestRecord> CASES =
      List.of(
          at(0).tokens(100, 120).record(),
          at(0).tokens(250, 260).record(),
          at(0).tokens(100, 190).record(),
          at(0).tokens(300, 360).record(),
          at(0).tokens(100).record(),
          at(0).failed(RequestStatus.HTTP_ERROR, "503").closed(5).record(),
          at(0).failed(RequestStatus.CANCELLED, "end").closed(300).record(),
          at(1_900).tokens(80, 120).record());

  private final Summary summary = summary(RUN, CASES);
  private final Goodput goodput = summary.figures().goodput();

  @Test
  void everyAttemptedRequestCounts() {
    assertThat(goodput.attempted()).isEqualTo(8);
    assertThat(goodput.met()).isEqualTo(3);
    assertThat(goodput.excluded()).isZero();
    assertThat(goodput.share()).isEqualTo(0.375);
    assertThat(goodput.slo()).isEqualTo("ttft<200ms,tpot<50ms");
    assertThat(goodput.requestsPerS()).isEqualTo(1);
    assertThat(goodput.tokensPerS()).isEqualTo(2);
    assertThat(summary.figures().number(Metric.REQUESTS_PER_S)).isEqualTo(2.5);
    assertThat(goodput.missed())
        .containsOnly(Map.entry("ttft", 4L), Map.entry("tpot", 2L), Map.entry("failed", 1L));
  }

  /**
   * Of each objective by itself; a failed request meets none, one token has no TPOT, and that of
   * the cancelled one is not judged: 1 of 7.
   */
  @Test
  void everyObjectiveIsCounted() {
    assertThat(goodput.objectives())
        .containsExactly(
            new Figures.ObjectiveCount("ttft<200ms", 8, 4, 0, 0.5),
            new Figures.ObjectiveCount("tpot<50ms", 6, 3, 1, null));
  }

  /** Cancelled after 100 ms without a token: 1 of 9 cannot be judged, more than 1 %. */
  @Test
  void undefinedWhereTooManyRequestsWereCancelled() {
    List<RequestRecord> records = new ArrayList<>(CASES);
    records.add(at(0).failed(RequestStatus.CANCELLED, "end").closed(100).record());
    Summary with = summary(RUN, records);
    Goodput figures = with.figures().goodput();
    assertThat(figures.excluded()).isEqualTo(1);
    assertThat(figures.attempted()).isEqualTo(8);
    assertThat(figures.share()).isNull();
    assertThat(figures.worth()).isNull();
    assertThat(figures.undefined())
        .isEqualTo("1 of 9 requests were ended by the client before they could be judged");
    ObjectiveRow ttft = with.slo().objectives().get(0);
    assertThat(ttft.metShare()).isNull();
    assertThat(ttft.actualMs()).isNull();
    assertThat(ttft.noValue())
        .isEqualTo("11.1 % of 9 requests were ended by the client before they could be judged");
  }

  /** 99 of 100 meet each of two objectives, 98 both. */
  @Test
  void rulesForSeveralObjectives() {
    List<RequestRecord> records = Recorded.requests(98, i -> at(0).tokens(100, 120));
    records.add(at(0).tokens(300, 320).record());
    records.add(at(0).tokens(100, 190).record());
    Slo slo = Slo.parse("ttft<200ms,tpot<50ms");
    RunInfo info = run(3, stage(1, 0, 2_000)).slo(slo);

    Summary percentiles = summary(info, records);
    assertThat(percentiles.figures().goodput().share()).isEqualTo(0.98);
    assertThat(percentiles.figures().goodput().max().stage()).isEqualTo("c=1");
    assertThat(percentiles.slo().objectives()).extracting(ObjectiveRow::ok).containsOnly(true);
    assertThat(percentiles.stages().get(0).figures().goodput().holds()).isTrue();

    Summary requests = summary(info.sloHeldBy(null, Slo.Rule.REQUESTS), records);
    assertThat(requests.figures().goodput().share()).isEqualTo(0.98);
    assertThat(requests.figures().goodput().max()).isNull();
    assertThat(requests.slo().rule()).isEqualTo(Slo.Rule.REQUESTS);
  }

  /**
   * Percentile 60 over the 8 attempted, broken and given up above all: 80 100 100 100 250 300 ∞ ∞,
   * rank ⌈4.8⌉ = 5th. TTFT met by good, slow, short, after: 4 of 8.
   */
  @Test
  void rowOfAnObjective() {
    ObjectiveRow ttft = summary.slo().objectives().get(0);
    assertThat(ttft.measure()).isEqualTo("ttft");
    assertThat(ttft.limitMs()).isEqualTo(200);
    assertThat(ttft.actualMs()).isEqualTo(250, within(0.2));
    assertThat(ttft.marginMs()).isEqualTo(-50, within(0.2));
    assertThat(ttft.metShare()).isEqualTo(0.5);
    assertThat(ttft.ok()).isFalse();
    assertThat(summary.slo().text()).isEqualTo("ttft<200ms,tpot<50ms");
  }

  /** At percentile 90 the rank is ⌈7.2⌉ = 8th, one of those that never came: 2 of 8. */
  @Test
  void noValueWhereTheRankIsOfARequestWithoutOne() {
    ObjectiveRow ttft =
        summary(RUN.slo(Slo.parse("ttft<200ms", 90, Slo.Rule.PERCENTILES)), CASES)
            .slo()
            .objectives()
            .get(0);
    assertThat(ttft.actualMs()).isNull();
    assertThat(ttft.marginMs()).isNull();
    assertThat(ttft.noValue()).isEqualTo("25.0 % of 8 requests failed or had none");
    assertThat(ttft.ok()).isFalse();
  }

  @Test
  void runJudgedByAnotherSlo() throws IOException {
    Summary other =
        RunStatistics.of(RUN, run -> run.slo(Slo.parse("ttft<1s")), Runs.source(CASES)).summary();
    assertThat(other.figures().goodput().met()).isEqualTo(6);
    // The cancelled request had not waited a second.
    assertThat(other.figures().goodput().excluded()).isEqualTo(1);
    assertThat(other.figures().goodput().attempted()).isEqualTo(7);
  }

  /** Half of the slow ones are in time, which is enough for them and would not be for others. */
  @Test
  void requestNameWithItsOwnPercentile() {
    RunInfo own =
        run(1, stage(1, 0, 1_000))
            .slo(
                TargetSlo.of(
                    Slo.parse("ttft<1s"),
                    Map.of("slow", Slo.parse("e2e<200ms", 50, Slo.Rule.PERCENTILES))),
                Map.of());
    List<RequestRecord> records =
        List.of(
            at(0).tokens(100, 110).record(),
            at(0).name("slow").tokens(100, 150).record(),
            at(0).name("slow").tokens(100, 250).record());
    Summary s = summary(own, records);
    assertThat(s.figures().goodput().max().stage()).isEqualTo("c=1");
    assertThat(s.slo().text()).isEqualTo("ttft<1s; slow: e2e<200ms (50 %)");
    assertThat(s.slo().objectives())
        .extracting(ObjectiveRow::measure, ObjectiveRow::ok, ObjectiveRow::percentile)
        .containsExactly(tuple("ttft", true, 99.0), tuple("slow: e2e", true, 50.0));
    Summary stricter = summary(own.sloHeldBy(90.0, null), records);
    assertThat(stricter.slo().objectives())
        .extracting(ObjectiveRow::measure, ObjectiveRow::ok, ObjectiveRow::metShare)
        .containsExactly(tuple("ttft", true, 1.0), tuple("slow: e2e", false, 0.5));
    assertThat(stricter.figures().goodput().max()).isNull();
  }

  @Test
  void onlyOneRequestNameHasObjectives() {
    RunInfo own =
        run(1, stage(1, 0, 1_000))
            .slo(TargetSlo.of(Slo.NONE, Map.of("slow", Slo.parse("e2e<200ms"))), Map.of());
    Summary s = summary(own, at(0).tokens(50), at(0).name("slow").tokens(250));
    assertThat(s.slo().objectives())
        .extracting(ObjectiveRow::measure, ObjectiveRow::ok, ObjectiveRow::metShare)
        .containsExactly(tuple("slow: e2e", false, 0.0));
  }

  /** A mix: every request has an objective for TTFT, and slow ones a separate one for E2E. */
  private static RunInfo mixed(RunInfo run) {
    return run.slo(
        TargetSlo.of(Slo.parse("ttft<1s"), Map.of("slow", Slo.parse("e2e<200ms"))), Map.of());
  }

  /**
   * A mix at two loads. At the higher one no request was called slow: its goodput does not quote
   * what slow requests have to meet.
   */
  @Test
  void objectivesOfANameThatTheQuotedLevelLacksAreNotQuoted() {
    RunInfo own = mixed(run(2, stage(1, 0, 1_000), stage(2, 1_000, 2_000)));
    List<RequestRecord> records = new ArrayList<>();
    addLevel(records, 1_000, "c=2", 100, 110);
    records.add(at(0).stage("c=1").tokens(100).record());
    records.add(at(0).name("slow").stage("c=1").tokens(100, 150).record());
    Summary s = summary(own, records);
    assertThat(s.figures().goodput().max().stage()).isEqualTo("c=2");
    assertThat(s.stages())
        .extracting(level -> level.figures().goodput().slo())
        .containsExactly("ttft<1s; slow: e2e<200ms", "ttft<1s");
    assertThat(s.figures().goodput().slo()).isEqualTo("ttft<1s; slow: e2e<200ms");

    records.add(at(1_000).stage("c=2").tokens(1_500).record());
    assertThat(summary(own, records).figures().goodput().max().stage()).isEqualTo("c=1");
  }

  /** A level that misses only what slow requests have to meet does not miss the others'. */
  @Test
  void missedLevelsAreQuotedWithTheirOwnObjectives() {
    RunInfo own = mixed(run(2, stage(1, 0, 1_000), stage(2, 1_000, 2_000)));
    List<RequestRecord> records = new ArrayList<>();
    addLevel(records, 0, "c=1", 100, 110);
    records.add(at(1_000).name("slow").stage("c=2").tokens(100, 250).record());
    Summary s = summary(own, records);
    assertThat(s.figures().goodput().max().stage()).isEqualTo("c=1");
    assertThat(s.stages())
        .extracting(level -> level.figures().goodput().slo())
        .containsExactly("ttft<1s", "slow: e2e<200ms");

    // No level holds: the lowest has no slow requests, the other one misses only what they must.
    List<RequestRecord> none = new ArrayList<>();
    none.add(at(0).stage("c=1").tokens(1_500).record());
    none.add(at(1_000).name("slow").stage("c=2").tokens(100, 250).record());
    assertThat(summary(own, none).figures().goodput().max()).isNull();
  }

  /** Each target is judged by its own: 150 ms is in time at b only, of which half are required. */
  @Test
  void targetsWithObjectivesOfTheirOwn() {
    RunInfo info =
        run(2, stage("a", 1, 0, 1_000), stage("b", 1, 1_000, 2_000), stage("free", 1, 1_000, 2_000))
            .slo(
                TargetSlo.of(Slo.parse("ttft<100ms"), Map.of()),
                Map.of(
                    "a", new TargetSlo("ttft<100ms", 99, Slo.Rule.PERCENTILES, Map.of(), Map.of()),
                    "b",
                        new TargetSlo(
                            "ttft<200ms",
                            50,
                            Slo.Rule.PERCENTILES,
                            Map.of("slow", "ttft<1s"),
                            Map.of()),
                    "free", new TargetSlo("", 99, Slo.Rule.PERCENTILES, Map.of(), Map.of())));
    Summary s =
        summary(
            info,
            at(0).tokens(50),
            at(0).tokens(150),
            at(1_000).target("b").tokens(150),
            at(1_000).target("b").tokens(250),
            at(1_000).target("b").name("slow").tokens(500),
            at(1_000).target("free").tokens(150));
    assertThat(s.targets().get(0).figures().goodput().share()).isEqualTo(0.5);
    assertThat(s.targets().get(0).figures().goodput().max()).as("99 % of them").isNull();
    assertThat(s.targets().get(1).figures().goodput().share()).isEqualTo(2 / 3.0);
    assertThat(s.targets().get(1).figures().goodput().max().stage()).isEqualTo("c=1");
    assertThat(s.targets().get(2).figures().goodput()).as("no SLO").isNull();
    assertThat(s.figures().goodput().attempted()).isEqualTo(5);
    assertThat(s.figures().goodput().max().target()).isEqualTo("b");
    assertThat(s.slo().text().split("; ", -1))
        .containsExactlyInAnyOrder(
            "a: ttft<100ms (99 %)", "b: ttft<200ms", "slow: ttft<1s (50 %)", "free: no SLO");
    assertThat(s.slo().objectives())
        .extracting(ObjectiveRow::measure, ObjectiveRow::metShare, ObjectiveRow::percentile)
        .containsExactlyInAnyOrder(
            tuple("a: ttft", 0.5, 99.0),
            tuple("b: ttft", 0.5, 50.0),
            tuple("b: slow: ttft", 1.0, 50.0));
  }

  private static void addLevel(
      List<RequestRecord> records, double startMs, String stage, double... ttfts) {
    for (double ttft : ttfts) {
      records.add(at(startMs).stage(stage).tokens(ttft).record());
    }
  }
}
