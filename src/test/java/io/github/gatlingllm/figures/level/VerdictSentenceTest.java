package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.level.Runs.summary;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import io.github.gatlingllm.record.Slo;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VerdictSentenceTest {

  private static final Slo SLO = Slo.parse("ttft<200ms,tpot<50ms");

  private static final Map<String, Slo> SLOS =
      Map.of(
          "each", SLO,
          "at once", SLO.judgedBy(99, Slo.Rule.REQUESTS),
          "median", Slo.parse("ttft<200ms", 50, Slo.Rule.PERCENTILES));

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

  /** A sweep as {@link Levels#of} has it, and words and numbers of its verdict in their order. */
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          # 57 - 10 late ones (1.8 s) arrive inside their second: 47 tok/s after 50; p99 150 -> 1,800
          met | each | 1:10 8:50:150 16:57:180:10 | met up to 8; 50 tok/s; 50; 381;  6 %; 1.2 ×
          # 40 of 60 are 66.7 %, surely less than 99 %; what is heavier needs no mention
          bracket | each | 1:400 8:400 16:60:100:20 32:60:300 | up to 8; missed at 16 concurrent requests (66.7 %
          # 58 of 60 may be 99 %, 40 of 60 may not
          undecided | each | 1:400 8:60:100:2 16:60:100:20 | up to 1; undecided at 8 concurrent; missed at 16
          # by Student's t of 47 degrees of freedom: 99 × 2.0117² is 400.7
          met at once | at once | 1:10 8:50:150 16:57:180:10 | 99 %; at once up to 8; 50 tok/s; 401
          all | each | 1:9 8:50:150 | 8; highest load
          # four of the ten late ones of the first level arrive in its window
          cold start | each | 1:10:100:4 8:50:150 | 1 conc; 6; 60.0 %; met at 8
          # 380 without a miss are by Wilson's interval at least 98.9990 %, 381 are 99.0017 %
          too few | each | 8:380:150 1:9:1 | 380; 381
          enough | each | 8:381:150 1:9:1 | (381 tok/s), the
          # half of the requests are asked: 4 requests can show it
          median | median | 1:3 2:4 | (4 tok/s), the
          few | median | 1:4 2:3 | only 3; needs 4
          none | each | 1:10:100:4 8:50:300 | No load level meets; 1 concurrent; 60.0 % of 10
          none at once | at once | 1:10:100:4 8:50:300 | No load level meets; 60.0 % of 10; at once; 99 %
          one | each | 8:50:100:1 | 49; not all; 98.0; 89.5; 99.6
          one met | each | 8:50 | are met; 100 % of 50; 381
          surely met | each | 8:381 | are met; 100 % of 381 req
          one by requests | at once | 8:50:100:1 | 98.0 % of 50; less than the required 99 %; 89.2 %; 99.7 %
          met by requests | at once | 8:50 | 100 %; at least
          no SLO | | 8:50 | 8 conc; 50 tok/s; 50 req; 100 ms
          # p90 needs 100 values, p95 200, p99 1,000
          p50 | | 8:99 | p50 100 ms of 99
          p90 | | 8:100 | and p90
          p95 | | 8:200 | and p95
          p99 | | 8:1000 | and p99
          knee | | 1:10 2:30:110 4:32:220 | 2 concurrent is the knee: 30 tok/s; 110 ms of 30; 7 %; 2 ×
          saturated | | 8:30 16:31:210 32:30:400 | 8 concurrent, the lightest load, saturates; 3 %; 2.1 ×
          no knee | | 1:10 2:30:110 4:90:120 | No knee; 4 concurrent requests: 90 tok/s; 120 ms
          # records that a full disk cut off: the level after them says nothing about the server
          not tried | | 1:10 2:30:110 4:90:120 8:0 | No knee up to the highest load tried, 4 concurrent
          two targets | | 8:50 b 8:40:120 | no clear difference at 8; 50 against 40; 100 ms against 120; a: At 8; 50; b: At 8; 40
          too few of one | each | 1:10 2:20 b 1:10 2:400 | a: 20 tok/s at c=2; only 20; 381; b: 400 tok/s at c=2, the highest
          # the figures of b are those of four in five
          failures of one | | 1:10 2:20 b 1:10 2:20+5 | a: 20 tok/s at c=2; b: 10 tok/s at c=1, the highest load that the server accepts
          # the knees are at c=2 with 90 and 30 tok/s; what is said of each alone is short
          ranks | | 1:50 2:90:110 4:91:400 b 1:20 2:30:200 4:30:900 | 3× as much as b at 2; 90 against 30; 110 ms against 200; a: 90 tok/s at c=2, the knee; b: 30 tok/s at c=2, the knee
          # what mostly failed comes first and is compared with nothing
          dead target | | 1:50 b 1:5+20 | b: 80.0 % of 25 requests failed. a: At 1 concurrent request: 50 tok/s
          # every load sheds: the lightest is quoted, and there is no knee
          mostly failed | | 1:5+20 2:10+6 | 63.4 % of 41 requests failed. At 1
          # 4 of 24 are 17 %, 1 of 20 is 5 %
          sheds at the top | | 1:10 2:20 4:20+4 | 2 concurrent requests is the highest load
          sheds below | | 1:10+1 2:20 4:20+4 | 2 concurrent requests is the highest load
          fails a little | | 1:10 2:19+1 4:38+2 | No knee up to the highest load tried, 4
          # both deliver the same at c=2, the highest load at which a meets its SLO
          b misses | each | 1:400 2:400 b 1:400 2:400:100:40 | a meets its SLO up to 2; where b misses it
          # a is quoted at c=8 and b at c=2: they are compared at a load of both
          one load | | 1:10 2:20:110 8:80:400 b 1:10 2:20:110 8:20:900 | at 2 concurrent requests: 20 against 20
          no common load | | 1:10 b 2:90 | a: At 1 concurrent request
          """)
  void verdictHasItsNumbers(String about, @Nullable String slo, String levels, String parts) {
    Slo judge = slo == null ? Slo.NONE : SLOS.get(slo);
    System.out.println("ROW " + about + " | " + Levels.of(levels).figures(judge).summary().findings());
    assertThat(Levels.of(levels).verdict(judge)).containsSubsequence(parts.split("; ", -1));
  }

  @Test
  void failuresComeFirst() {
    Recorded bad = failed(RequestStatus.HTTP_ERROR, "HTTP 500");
    Recorded cut = failed(RequestStatus.CANCELLED, "end");
    RunInfo found =
        INTERRUPTED.conclusion(
            new Conclusion("search", "a", null, "r=2 holds", true, null, null, 2.0, null));
    assertThat(summary(ONE.slo(SLO), good(), cut, cut).verdict())
        .containsSubsequence("2 tok/s", "not known", "2 of 3");
    assertThat(summary(ONE, good(), bad, bad, bad).verdict())
        .containsSubsequence("75.0 % of 4 requests failed", "2 tok/s", "of 1 request.");
    assertThat(summary(found, good().stage("r=2"), bad.stage("r=2")).verdict())
        .containsSubsequence("Interrupted: 50.0 % of 2 requests", "r=2 holds", "2 tok/s");
    assertThat(summary(ONE, bad.stage("c=1")).verdict()).containsSubsequence("The only", "500");
  }

  @Test
  void runsOfOneLevelOrNone() {
    assertThat(summary(Runs.run(1), good().stage("")).verdict()).contains("Over the whole");
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

  /** 10, 40 and 60 tok/s of 4 tok/s alone. With a level of one request the curve itself tells. */
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
