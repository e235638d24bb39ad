package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.level.Runs.summary;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import io.github.gatlingllm.record.Slo;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;

class VerdictSentenceTest {

  private static final Slo SLO = Slo.parse("ttft<200ms,tpot<50ms");

  private static final RunInfo ONE = Runs.run(1, Runs.stage(1, 0, 1_000));

  private static final RunInfo INTERRUPTED =
      Runs.run(1, Runs.rate(2, 0, 1_000))
          .ended(Recorded.ORIGIN + 1_000_000_000L, RunInfo.State.INTERRUPTED);

  private static Recorded good() {
    return Recorded.at(0).tokens(100, 120);
  }

  private static Recorded failed(RequestStatus status, String error) {
    return Recorded.at(0).failed(status, error).closed(100);
  }

  @ParameterizedTest(name = "{0}")
  @CsvFileSource(resources = "verdicts.csv", delimiter = '|')
  void verdictHasItsIdsAndValues(String run, @Nullable String slo, String levels, String parts) {
    assertThat(Levels.of(levels).figures(Levels.slo(slo)).summary().findings().toString())
        .containsSubsequence(parts.split("; ", -1));
  }

  private static String found(Summary summary) {
    return summary.findings().toString();
  }

  @Test
  void failuresComeFirst() {
    Recorded bad = failed(RequestStatus.HTTP_ERROR, "HTTP 500");
    Recorded cut = failed(RequestStatus.CANCELLED, "end");
    RunInfo found =
        INTERRUPTED.conclusion(
            new Conclusion("search", "r=2 holds", true, null, null, 2.0, null).on("a", null));
    assertThat(found(summary(ONE.slo(SLO), good(), cut, cut)))
        .containsSubsequence("2 tok/s", "slo.unknown", "2 of 3");
    assertThat(found(summary(ONE, good(), bad, bad, bad)))
        .containsSubsequence("mostly_failed[0.75, 4", "2 tok/s", "100.0, 1]");
    assertThat(found(summary(found, good().stage("r=2"), bad.stage("r=2"))))
        .containsSubsequence(
            "interrupted", "failed[0.5, 2", "conclusion[null, null, r=2 holds]", "2 tok/s");
    assertThat(found(summary(ONE, bad.stage("c=1")))).contains("none_ok[1, HTTP 500, 1]");
  }

  @Test
  void aReplayIsAgentXOnlyByItsRules() {
    RunInfo locked = Runs.run(900, Runs.stage(1, 0, 900_000)).config("agentxDeviations", "none");
    assertThat(found(summary(locked, good().stage("c=1")))).contains("verdict.agentx[[]]");
    assertThat(summary(locked, good().stage("c=1")).verdict()).endsWith("rules of AgentX.");
    assertThat(summary(locked.config("ignoreEos", "HTTP 400"), good().stage("c=1")).verdict())
        .endsWith("Not AgentX: the server rejected ignore_eos.");
    assertThat(found(summary(ONE.config("agentxDeviations", "none"), good().stage("c=1"))))
        .contains("verdict.agentx[[agentx.measured[1, 900]]]");
    assertThat(found(summary(locked.config("agentxDeviations", "x=1"), good().stage("c=1"))))
        .contains("verdict.agentx[[x=1]]");
    assertThat(found(summary(ONE, good().stage("c=1")))).doesNotContain("agentx");
  }

  @Test
  void runsOfOneLevelOrNone() {
    assertThat(summary(Runs.run(1), good().stage("")).verdict()).startsWith("Over the entire run");
    assertThat(summary(ONE, Recorded.at(0).body(400, 12)).verdict())
        .containsSubsequence("12", "E2E p50 400");
    Summary interrupted = summary(INTERRUPTED, good().stage("r=2"));
    assertThat(interrupted.verdict()).startsWith("Interrupted: At 2 requests/s: 2 tok/s");
    assertThat(interrupted.run().state()).isEqualTo("interrupted");
  }

  /** An open loop delivers what is offered: twice the rate gives twice the output. */
  @Test
  void growthIsNotToldOfAnOpenLoopBelowItsKnee() {
    assertThat(Levels.gated(Slo.parse("ttft<1s"), 4, 8, 16).verdict())
        .contains("up to 8 requests/s")
        .contains("missed at 16 requests/s")
        .doesNotContain("the load");
    assertThat(Levels.of("4:400 8:400 16:60:300").verdict(SLO)).contains("Doubling the load");
  }

  @ParameterizedTest
  @CsvSource({"0.837, 0.84 ×", "0.8, 0.8 ×", "1.44, 1.4 ×", "2, 2 ×", "22.4, 22 ×", "1204, 1204 ×"})
  void ratioHasTwoDigits(double ratio, String text) {
    assertThat(NumberText.times(ratio)).isEqualTo(text);
  }

  /**
   * 10, 40 and 60 tok/s of 4 tok/s alone. With a level of one request the curve itself shows it.
   */
  @Test
  void batchingGainIsOfEachLevelAndOneRequestIsNamedWhereTheSweepLacksIt() {
    Levels sweep = new Levels().alone(4).level(2, 10, 100).level(8, 40, 100).level(16, 60, 100);
    Summary summary = sweep.summary();
    assertThat(summary.stages())
        .extracting(level -> level.figures().number(Metric.BATCHING_GAIN))
        .containsExactly(2.5, 10.0, 15.0);
    assertThat(summary.figures().number(Metric.BATCHING_GAIN)).as("pooled").isNull();
    assertThat(summary.verdict())
        .endsWith("got 4 tok/s, so the batching gain is 15 × at 16 concurrent requests.");
    assertThat(new Levels().alone(4).level(1, 10, 100).level(8, 40, 100).verdict())
        .doesNotContain("gain");
    assertThat(new Levels().level(2, 10, 100).level(8, 40, 100).verdict()).doesNotContain("gain");
    assertThat(new Levels().alone(80).level(2, 10, 100).level(8, 40, 100).verdict())
        .as("less than alone, and the highest load: no knee was reached")
        .doesNotContain("gain");
  }
}
