package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static io.github.gatlingllm.figures.level.Runs.check;
import static io.github.gatlingllm.figures.level.Runs.run;
import static io.github.gatlingllm.figures.level.Runs.stage;
import static io.github.gatlingllm.figures.level.Runs.summary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.ErrorCount;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunInfo.TargetFacts;
import io.github.gatlingllm.record.Slo;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class RunStatisticsTest {

  @Test
  void modelsOfOneLoadLevelHaveFiguresOfTheirOwn() throws Exception {
    Summary summary =
        summary(
            run(10, stage(1, 0, 10_000)),
            at(0).model("base").tokens(50, 60),
            at(100).model("lora").tokens(30, 40, 50),
            at(200).model("lora").tokens(70, 80));
    assertThat(summary.by().get(Grouping.MODEL))
        .extracting(
            Summary.RequestGroup::name,
            group -> group.figures().counts().started(),
            group -> group.figures().metric(Metric.TTFT_MS).mean())
        .containsExactly(tuple("base", 1L, 50.0), tuple("lora", 2L, 50.0));
    assertThat(summary.byAtPoints().get(Grouping.MODEL))
        .extracting(point -> Metric.OUTPUT_TOKENS_PER_S.number(point.figures()))
        .containsExactly(0.2, 0.5);
    assertThat(summary.requests()).as("one name").hasSize(1);
  }

  @Test
  void replicasAreThoseThatAnswersNameElseHosts() throws Exception {
    Summary summary =
        summary(
            run(10, stage(1, 0, 10_000)),
            at(0).replica("pod-1").tokens(50, 60),
            at(100).tokens(30, 40),
            at(200).replica("pod-1").tokens(70, 80));
    assertThat(summary.by().get(Grouping.REPLICA))
        .extracting(
            Summary.RequestGroup::name, group -> group.figures().metric(Metric.TTFT_MS).mean())
        .containsExactly(tuple("pod-1", 60.0), tuple("localhost", 30.0));
  }

  @Test
  void oneModelPerTargetIsNoGroup() throws Exception {
    Summary summary =
        summary(
            run(10, stage("a", 1, 0, 10_000), stage("b", 1, 0, 10_000)),
            at(0).target("a").model("base").tokens(50, 60),
            at(0).target("b").model("lora").tokens(50, 60));
    assertThat(summary.by()).isEmpty();
  }

  /**
   * One stage that measures [1.0 s, 3.0 s). Instants in milliseconds of the run; {@code |} is an
   * edge of the window.
   *
   * <pre>
   *       phase    start  tokens at                   closed  in window
   * fill  fill       900  950 | 1050 1150 1250          1250  3 tokens, ended, no latency
   * r1    measure   1000  1100 1120 1140 1200           1200  4 tokens, ended
   * cut   measure   2000  2010 2020, then truncated     2020  2 tokens, failed
   * r2    measure   2800  2900 2950 | 3000 3100         3100  2 tokens, not ended
   *
   * output tok/s   (3 + 4 + 2 + 2) ÷ 2 s                      = 5.5
   * total tok/s    11 + 10 each of r1, cut, r2 (first token inside) = 41 ÷ 2 = 20.5
   * requests/s     fill and r1 ÷ 2 s                          = 1
   * in flight      (250 + 200 + 20 + 200) ms ÷ 2,000 ms       = 0.335
   * wall tok/s     (4 + 2 + 4) ÷ (3.1 − 1.0)                  = 4.7619
   * </pre>
   */
  private static final RunInfo RUN = run(4, stage(2, 1_000, 3_000));

  private static final RequestRecord FILL =
      at(900).stage("c=2").phase(Phase.FILL).tokens(50, 150, 250, 350).record();
  private static final RequestRecord R1 =
      at(1_000).stage("c=2").tokens(100, 120, 140, 200).record();
  private static final RequestRecord CUT =
      at(2_000)
          .stage("c=2")
          .tokens(10, 20)
          .failed(RequestStatus.TRUNCATED, "stream ended early")
          .record();
  private static final RequestRecord R2 =
      at(2_800).stage("c=2").tokens(100, 150, 200, 300).record();

  static final List<RequestRecord> ALL = List.of(FILL, R1, CUT, R2);

  private final Summary summary = summary(RUN, ALL);
  private final Figures figures = summary.figures();

  @Test
  void windowClipsTokensAndHasTheRequestsThatEndedInIt() {
    assertThat(figures.windowS()).isEqualTo(2);
    assertFigures(
        figures,
        "output_tokens_per_s=5.5 total_tokens_per_s=20.5 requests_per_s=1"
            + " wall_output_tokens_per_s=4.7619047619 ttst.min=20 ttst.max=50");
  }

  @Test
  void countsAndErrors() {
    assertThat(figures.counts())
        .isEqualTo(new Figures.Counts(null, 3, 3, 2, 0, Map.of("complete", 2L, "truncated", 1L)));
    assertThat(figures.counts().failed()).isEqualTo(1);
    assertThat(figures.errors())
        .containsExactly(new ErrorCount("truncated", "stream ended early", 1));
    assertThat(figures.finishReasons()).isEqualTo(Map.of("length", 2L));
  }

  /** The server counts 100 tokens of each prompt it accepts; our tokenizer 50 of one it refuses. */
  @Test
  void promptsAreCountedByTheServerOrByUsNotByBoth() {
    Recorded refused = at(1_000).prompt(null).ours(50).failed(RequestStatus.HTTP_ERROR, "HTTP 400");
    RequestRecord accepted = at(1_000).prompt(100).ours(90).tokens(50).record();
    Summary.WorkloadSummary both =
        summary(run(4, stage(1, 1_000, 3_000)), accepted, accepted, refused.record()).workload();
    assertThat(both.promptTokens().count()).isEqualTo(2);
    assertThat(both.promptTokens().mean()).isEqualTo(100);
    assertThat(both.promptsLeftOut()).isEqualTo(1);
    Summary.WorkloadSummary ours =
        summary(run(4, stage(1, 1_000, 3_000)), refused.record()).workload();
    assertThat(ours.promptTokens().mean()).isEqualTo(50);
    assertThat(ours.promptsLeftOut()).isZero();
  }

  @Test
  void stageHasItsWindow() {
    LevelFigures stage = summary.stages().get(0);
    assertThat(stage.startS()).isZero();
    assertThat(stage.durationS()).isEqualTo(2);
    assertThat(stage.meanInFlight()).isEqualTo(0.335, within(1e-9));
    assertThat(stage.figures()).usingRecursiveComparison().isEqualTo(figures);
    assertThat(summary.targets()).hasSize(1);
    assertThat(summary.requests().get(0).figures()).usingRecursiveComparison().isEqualTo(figures);
  }

  /** Figures of requests in the window [1 s, 3 s); those without a value are unknown. */
  static Stream<Arguments> requests() {
    return Stream.of(
        // 1 + 3 tokens in two events, the second one past the edge.
        of(
            "output_tokens_per_s=0.5 itl.count=3 itl.mean=33.3333333333 icl.count=1 icl.mean=100"
                + " batch_ratio=2",
            at(2_900).tokens(50, 150).perEvent(1, 3)),
        // 3 tokens over 2 events: 1.5 each, one event inside, 1.5 ÷ 2 s.
        of("output_tokens_per_s=0.75", at(2_900).tokens(50, 150).output(3)),
        // First token 2.9 s, last 3.2 s, 4 tokens: 2.9 | 3.0 3.1 3.2: one of them inside.
        of(
            "output_tokens_per_s=0.5 itl.count=0 ttst.count=0 jitter=",
            at(2_800).tokens(100, 110, 120, 400).withoutTimes()),
        // A body arrives complete, also one that should have been a stream.
        of(
            "output_tokens_per_s=4 total_tokens_per_s=9 ttft.count=0 e2e.mean=400",
            at(2_500).body(400, 8)),
        of("output_tokens_per_s=0", at(2_500).body(500, 8)),
        of(
            "output_tokens_per_s=50 total_tokens_per_s=55 ttft.count=0 tpot.count=0 e2e.mean=50"
                + " batch_ratio=",
            at(1_000).bodyForStream(50, 100)),
        of(
            "output_tokens_per_s=52 ttft.count=1 batch_ratio=1",
            at(1_000).bodyForStream(50, 100),
            at(1_000).tokens(100, 120, 140, 200)),
        // 4 tokens came and 96 of hidden reasoning are billed: 4 ÷ 2 s and 100 ÷ 2 s, in 0.2 s.
        of(
            "output_tokens_per_s=2 billed_output_tokens_per_s=50 wall_output_tokens_per_s=20"
                + " user_tokens_per_s.mean=20 output_tokens.mean=100",
            at(1_000).tokens(100, 120, 140, 200).hidden(96)),
        // They are billed where the first token is: that of the second is past the edge.
        of(
            "output_tokens_per_s=2 billed_output_tokens_per_s=50",
            at(1_000).tokens(100, 120, 140, 200).hidden(96),
            at(2_950).tokens(100, 200).hidden(96)),
        of(
            "output_tokens_per_s=4 billed_output_tokens_per_s=50",
            at(2_500).bodyForStream(400, 8).hidden(92)),
        of(
            "output_tokens_per_s=4 billed_output_tokens_per_s=50",
            at(2_500).body(400, 8).hidden(92)),
        of("billed_output_tokens_per_s=", at(1_000).tokens(100).estimated()),
        // The second token is of the first choice that spoke, gaps are within each choice.
        of(
            "ttst.mean=20 icl.count=2 icl.min=20 icl.max=30",
            at(1_000).tokens(10, 15, 30, 45).choices(1, 0, 1, 0).output(4)),
        of("ttst.count=0", at(1_000).tokens(10)),
        of("total_tokens_per_s= prompt_tokens.count=0", at(1_000).tokens(100).prompt(null)));
  }

  private static Arguments of(String figures, Recorded... requests) {
    return Arguments.of(figures, Stream.of(requests).map(r -> r.stage("c=2").record()).toList());
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("requests")
  void requestsHaveTheirFigures(String expected, List<RequestRecord> requests) {
    assertFigures(summary(RUN, requests).figures(), expected);
  }

  private static void assertFigures(Figures found, String expected) {
    for (String figure : expected.split(" ", -1)) {
      String[] both = figure.split("=", -1);
      Double value = Figure.parse(both[0]).of(found);
      if (both[1].isEmpty()) {
        assertThat(value).as(figure).isNull();
      } else {
        assertThat(value).as(figure).isEqualTo(Double.parseDouble(both[1]), within(1e-9));
      }
    }
  }

  /**
   * Stages [0, 1) and [2, 4): the first one's request sends 2 tokens in its own window and 3 in the
   * second's. Pooled: 5 tokens ÷ 3 s, not the mean of 2 and 1.5.
   */
  @Test
  void tokensBelongToTheWindowTheyArriveIn() {
    RunInfo info = run(4, stage(1, 0, 1_000), stage(4, 2_000, 4_000));
    Summary s = summary(info, at(0).stage("c=1").tokens(500, 900, 1_500, 2_000, 2_100, 2_200));
    assertThat(s.stages().get(0).figures().number(Metric.OUTPUT_TOKENS_PER_S)).isEqualTo(2);
    assertThat(s.stages().get(1).figures().number(Metric.OUTPUT_TOKENS_PER_S)).isEqualTo(1.5);
    assertThat(s.figures().number(Metric.OUTPUT_TOKENS_PER_S)).isEqualTo(5 / 3.0, within(1e-12));
    assertThat(s.stages().get(1).figures().counts().started()).isZero();
  }

  /**
   * 1,000 tok/s on 2 GPUs, 500 each, at 3.60 an hour: 3.6 million tokens for 7.20, half of them in
   * SLO. 500 tok/s of a server for 1.80: 1.8 million.
   */
  @Test
  void costOfEachTarget() {
    RunInfo info =
        run(1, stage("a", 1, 0, 1_000), stage("b", 1, 0, 1_000))
            .slo(Slo.parse("ttft<150ms"))
            .targets(
                Map.of(
                    "a", new TargetFacts(false, "chars4", 2.0, 3.6, null),
                    "b", new TargetFacts(false, "chars4", null, 1.8, null)));
    Summary s =
        summary(
            info,
            at(0).tokens(100, 200).output(500),
            at(0).name("other").tokens(200, 400).output(500),
            at(0).target("b").tokens(200, 400).output(500));

    List<@Nullable Double> a = Arrays.asList(null, null, 500.0, 2.0, 4.0);
    List<@Nullable Double> b = Arrays.asList(null, null, null, 1.0, null);
    List<@Nullable Double> none = Arrays.asList(null, null, null, null, null);
    assertThat(s.stages()).extracting(of -> efficiency(of.figures())).containsExactly(a, b);
    assertThat(s.targets()).extracting(of -> efficiency(of.figures())).containsExactly(a, b);
    assertThat(s.requests())
        .extracting(r -> efficiency(r.figures()))
        .containsExactly(none, Arrays.asList(null, null, 250.0, null, null));
    assertThat(efficiency(s.figures())).isEqualTo(none);
  }

  private static List<@Nullable Double> efficiency(Figures figures) {
    return Arrays.asList(
        figures.number(Metric.POWER_W),
        figures.number(Metric.OUTPUT_TOKENS_PER_JOULE),
        figures.number(Metric.OUTPUT_TOKENS_PER_S_PER_GPU),
        figures.number(Metric.COST_PER_MILLION_OUTPUT_TOKENS),
        figures.number(Metric.COST_PER_MILLION_SLO_TOKENS));
  }

  /** 2,500 trials of 2 tokens in 0.2 s; a failed request counts, with the tokens it brought. */
  @Test
  void onlyTheFirstTrialsHaveRows() {
    List<RequestRecord> records =
        Recorded.requests(2_500, i -> at(1_001 + i).stage("c=2").trial(i + 1).tokens(100, 200));
    records.add(
        at(1_001).stage("c=2").trial(1).tokens(50).failed(RequestStatus.STALLED, "no").record());
    Figures.Trials trials = summary(RUN, records).figures().trials();
    assertThat(trials.count()).isEqualTo(2_500);
    assertThat(trials.rows()).hasSize(1_000);
    assertThat(trials.rows().get(0)).isEqualTo(new Figures.Trial(1, 2, 1, 3, 0.2, 15.0));
    assertThat(trials.rowsLeftOut()).isEqualTo(1_500);
    assertThat(trials.aggregateTokensPerS()).isEqualTo(5_001 / 500.0, within(1e-9));
    assertThat(trials.minTokensPerS()).isEqualTo(10, within(1e-9));
  }

  /** Its process died while the level was measured: its window ends with the last request. */
  @Test
  void runWithoutAnEndEndsWithItsLastRequest() {
    PhaseWindow open = new PhaseWindow(Phase.MEASURE, Recorded.ORIGIN + 1_000_000_000L, null);
    LevelInfo level = new LevelInfo("c=2", "a", null, "closed loop", 2.0, "users", List.of(open));
    RunInfo died = RunInfo.started("run", "sim", "local", Recorded.ORIGIN).stages(List.of(level));
    Summary s = summary(died, R1, at(1_100).stage("c=2").tokens(100, 900).record());
    assertThat(s.stages().get(0).durationS()).isEqualTo(1);
    assertThat(s.run().state()).isEqualTo("interrupted");
    assertThat(check(s, "windows").level()).isEqualTo(Figures.CheckLevel.OK);
  }

  @Test
  void nothingRecorded() {
    Summary s = summary(RUN, List.of());
    assertThat(s.verdict()).isEqualTo("Invalid run by check errors. No request was measured.");
    assertThat(s.figures().metric(Metric.TTFT_MS)).isEqualTo(Distribution.EMPTY);
    assertThat(s.knee()).isNull();
    assertThat(s.level()).isEqualTo(Figures.CheckLevel.INVALID);
  }

  @Test
  void stageThatIsNotInAPlanHasUnknownRates() {
    Summary s = summary(RUN, at(1_000).stage("c=9").tokens(10, 20));
    LevelFigures unplanned = s.stages().get(1);
    assertThat(unplanned.figures().metric(Metric.E2E_MS).count()).isEqualTo(1);
    assertThat(unplanned.figures().number(Metric.OUTPUT_TOKENS_PER_S)).isNull();
    assertThat(unplanned.startS()).isNull();
    assertThat(check(s, "windows").level()).isEqualTo(Figures.CheckLevel.WARNING);
  }

  @Test
  void serverTimings() {
    Summary s =
        summary(
            RUN,
            at(1_000).stage("c=2").tokens(5).server(Map.of("queue_s", 0.0005), "usage.queue_time"),
            at(2_000).stage("c=2").tokens(5).server(Map.of("queue_s", 0.0015), "x-queue-time"),
            at(2_500).stage("c=9").tokens(5).server(Map.of("queue_s", 0.001), "x-queue-time"),
            at(2_600)
                .stage("c=2")
                .failed(RequestStatus.TRUNCATED, "cut")
                .server(Map.of("queue_s", 9.0), "x-queue-time"));
    assertThat(s.serverNames())
        .isEqualTo(Map.of("queue_s", Set.of("usage.queue_time", "x-queue-time")));
    assertThat(s.figures().server().get("queue_s").mean()).isEqualTo(0.001, within(1e-9));
    assertThat(s.stages())
        .extracting(stage -> stage.figures().server().get("queue_s"))
        .extracting(Distribution::count, Distribution::p50, Distribution::p99)
        .containsExactly(tuple(2L, 0.0005, 0.0015), tuple(1L, 0.001, 0.001));
  }
}
