package io.github.gatlingllm.figures.level;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import io.github.gatlingllm.record.Slo;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VerdictSentenceTest {

  private static final Slo SLO = Slo.parse("ttft<200ms,tpot<50ms");

  private final Levels sweep =
      new Levels().level(1, 10, 100).level(8, 50, 150).level(16, 57, 180, 10);

  /** 57 − 10 late ones (1.8 s) arrive inside their second: 47 tok/s after 50; p99 150 → 1,800. */
  @Test
  void sloIsMetUpToALevel() {
    assertThat(sweep.verdict(SLO))
        .isEqualTo(
            "TTFT p99 < 200 ms and TPOT p99 < 50 ms are met up to 8 concurrent requests (50 tok/s;"
                + " only 50 requests, too few to prove 99 %: needs 381). Doubling the load"
                + " costs 6 % of the throughput at 1.2 × the TTFT p50.");
  }

  @Test
  void sloIsMetUpToALevelByTheRuleRequests() {
    assertThat(sweep.verdict(SLO.judgedBy(99, Slo.Rule.REQUESTS)))
        .startsWith(
            "99 % of the requests meet TTFT < 200 ms and TPOT < 50 ms at once up to 8 concurrent"
                + " requests (50 tok/s; only 50 requests, too few to prove 99 %: needs 381)");
  }

  @Test
  void everyLevelHolds() {
    assertThat(new Levels().level(1, 10, 100).level(8, 50, 150).verdict(SLO))
        .isEqualTo(
            "TTFT p99 < 200 ms and TPOT p99 < 50 ms are met up to 8 concurrent requests (50 tok/s;"
                + " only 50 requests, too few to prove 99 %: needs 381), the highest load"
                + " tried.");
  }

  /** Four of the ten late ones of the first level arrive in its window: a cold start. */
  @Test
  void lightestLoadThatSurelyMissesTheSloComesFirst() {
    assertThat(new Levels().level(1, 10, 100, 4).level(8, 50, 150).verdict(SLO))
        .isEqualTo(
            "At 1 concurrent request, the lightest load: 6 tok/s; TTFT p99 < 200 ms and TPOT p99 <"
                + " 50 ms are not all met: TTFT by 60.0 % of 10 requests; met at 8 concurrent"
                + " requests.");
  }

  /** 380 requests without a miss are by Wilson's interval at least 98.9990 %, 381 are 99.0017 %. */
  @Test
  void tooFewRequestsToShowTheSloAreNamed() {
    assertThat(new Levels().level(1, 381, 100).level(8, 380, 150).verdict(SLO))
        .contains(
            "8 concurrent requests (380 tok/s; only 380 requests, too few to prove 99 %: needs 381");
    assertThat(new Levels().level(1, 380, 100).level(8, 381, 150).verdict(SLO))
        .contains("are met up to 8 concurrent requests (381 tok/s), the highest load tried.");
  }

  /** Half of the requests within 100 ms, as is asked: 4 requests can show it. */
  @Test
  void fewRequestsShowAMedian() {
    Slo median = Slo.parse("ttft<200ms", 50, Slo.Rule.PERCENTILES);
    assertThat(new Levels().level(1, 3, 100).level(2, 4, 100).verdict(median))
        .contains("TTFT p50 < 200 ms is met up to 2 concurrent requests (4 tok/s), the highest");
    assertThat(new Levels().level(1, 4, 100).level(2, 3, 100).verdict(median))
        .contains("(3 tok/s; only 3 requests, too few to prove 50 %: needs 4)");
  }

  /** Of two targets, in a few words. */
  @Test
  void tooFewRequestsOfOneOfTwoTargetsAreNamed() {
    Levels levels = new Levels().level(1, 10, 100).level(2, 20, 100);
    levels.target("b").level(1, 10, 100).level(2, 400, 100);
    assertThat(levels.verdict(SLO))
        .contains(
            "a: 20 tok/s at c=2, the highest load that met the SLO, within noise (only 20 requests,"
                + " too few to prove 99 %: needs 381).",
            "b: 400 tok/s at c=2, the highest load within the SLO.");
  }

  @Test
  void noLevelHolds() {
    assertThat(new Levels().level(1, 10, 100, 4).level(8, 50, 300).verdict(SLO))
        .isEqualTo(
            "No load level meets TTFT p99 < 200 ms and TPOT p99 < 50 ms; at the lowest, 1"
                + " concurrent request, TTFT by 60.0 % of 10 requests.");
    Slo requests = SLO.judgedBy(99, Slo.Rule.REQUESTS);
    assertThat(new Levels().level(1, 10, 100, 4).level(8, 50, 300).verdict(requests))
        .isEqualTo(
            "At no load level do 99 % of the requests meet TTFT < 200 ms and TPOT < 50 ms at once;"
                + " at the lowest, 1 concurrent request, 60.0 % do.");
  }

  /** Two of three requests were cancelled before their first token. */
  @Test
  void anUndecidedSloIsNeitherMetNorMissed() {
    RunInfo info = Recorded.run(1, Recorded.stage(1, 0, 1_000)).slo(SLO);
    RequestRecord cut = Recorded.at(0).failed(RequestStatus.CANCELLED, "end").closed(100).record();
    RequestRecord good = Recorded.at(0).tokens(100, 120).record();
    assertThat(Recorded.figures(info, good, cut, cut).summary().verdict())
        .isEqualTo(
            "At 1 concurrent request: 2 tok/s; it is not known whether TTFT p99 < 200 ms and TPOT"
                + " p99 < 50 ms are met: 2 of 3 requests were cancelled before they could be"
                + " judged.");
  }

  @Test
  void oneLevel() {
    assertThat(new Levels().level(8, 50, 100, 1).verdict(SLO))
        .isEqualTo(
            "At 8 concurrent requests: 49 tok/s; TTFT p99 < 200 ms and TPOT p99 < 50 ms are not all"
                + " met: TTFT by 98.0 % of 50 requests (within noise: 89.5 % to 99.6 %).");
    assertThat(new Levels().level(8, 50, 100).verdict(SLO))
        .endsWith(
            "TTFT p99 < 200 ms and TPOT p99 < 50 ms are met: TTFT by 100 % of 50 requests (too few"
                + " to prove 99 %: needs 381).");
    assertThat(new Levels().level(8, 381, 100).verdict(SLO))
        .endsWith("are met: TTFT by 100 % of 381 requests.");
    Slo requests = SLO.judgedBy(99, Slo.Rule.REQUESTS);
    assertThat(new Levels().level(8, 50, 100, 1).verdict(requests))
        .endsWith(
            "98.0 % of 50 requests met TTFT < 200 ms and TPOT < 50 ms at once, less than the"
                + " required 99 % (within noise: 89.2 % to 99.7 %).");
    assertThat(new Levels().level(8, 50, 100).verdict(requests))
        .endsWith(
            "100 % of 50 requests (too few to prove 99 %: needs 381) met TTFT < 200 ms and"
                + " TPOT < 50 ms at once, at least the required 99 %.");
  }

  @Test
  void oneLevelWithoutSlo() {
    assertThat(new Levels().level(8, 50, 100).verdict())
        .isEqualTo(
            "At 8 concurrent requests: 50 tok/s, 50 requests/s completed, TTFT p50 100 ms of 50"
                + " requests.");
  }

  @ParameterizedTest
  @CsvSource({"0.837, 0.84 ×", "0.8, 0.8 ×", "1.44, 1.4 ×", "2, 2 ×", "22.4, 22 ×", "1204, 1204 ×"})
  void ratioHasTwoDigits(double ratio, String text) {
    assertThat(VerdictSentence.times(ratio)).isEqualTo(text);
  }

  /** p90 needs 100 values, p95 200, p99 1,000. */
  @ParameterizedTest
  @CsvSource({"99, p50 100 ms of 99", "100, and p90", "200, and p95", "1000, and p99"})
  void highestCertainPercentileIsQuoted(int requests, String quoted) {
    assertThat(new Levels().level(8, requests, 100).verdict()).contains(quoted);
  }

  /** Their latencies are those of one in four: what failed comes first. */
  @Test
  void failuresComeFirst() {
    RunInfo info = Recorded.run(1, Recorded.stage(1, 0, 1_000));
    RequestRecord bad = Recorded.at(0).failed(RequestStatus.HTTP_ERROR, "HTTP 500").record();
    RequestRecord good = Recorded.at(0).tokens(100, 120).record();
    assertThat(Recorded.figures(info, good, bad, bad, bad).summary().verdict())
        .isEqualTo(
            "75.0 % of 4 requests failed at 1 concurrent request. At 1 concurrent request: 2"
                + " tok/s, 1 request/s completed, TTFT p50 100 ms of 1 request.");
  }

  /** Of two targets, in a few words: the figures of b are those of four in five. */
  @Test
  void failuresOfOneOfTwoTargetsComeFirst() {
    Levels levels = new Levels().level(1, 10, 100).level(2, 20, 100);
    levels.target("b").level(1, 10, 100).level(2, 20, 100).failing(5);
    assertThat(levels.verdict())
        .contains("a: 20 tok/s at c=2, ")
        .contains("b: 20.0 % of 25 requests failed at 2 concurrent requests; 20 tok/s at c=2, ");
  }

  @Test
  void failuresAtTheRateThatASearchFoundComeFirst() {
    LevelInfo level = Recorded.stage("r=2", "a", "open loop", 2.0, "requests/s", 0, 1_000);
    RunInfo info =
        Recorded.run(1, level)
            .ended(Recorded.ORIGIN + 1_000_000_000L, RunInfo.State.INTERRUPTED)
            .conclusion(
                new Conclusion("search", "a", null, "r=2 holds", true, null, null, 2.0, null));
    RequestRecord bad =
        Recorded.at(0).stage("r=2").failed(RequestStatus.HTTP_ERROR, "HTTP 500").record();
    RequestRecord good = Recorded.at(0).stage("r=2").tokens(100, 120).record();
    assertThat(Recorded.figures(info, good, bad).summary().verdict())
        .isEqualTo(
            "Interrupted: 50.0 % of 2 requests failed at 2 requests/s. r=2 holds. At 2 requests/s:"
                + " 2 tok/s, 1 request/s completed, TTFT p50 100 ms of 1 request.");
  }

  @Test
  void kneeWithoutSlo() {
    assertThat(new Levels().level(1, 10, 100).level(2, 30, 110).level(4, 32, 220).verdict())
        .isEqualTo(
            "2 concurrent is the knee: 30 tok/s, TTFT p50 110 ms of 30 requests. Doubling the load"
                + " adds 7 % throughput at 2 × the TTFT p50.");
    assertThat(new Levels().level(8, 30, 100).level(16, 31, 210).level(32, 30, 400).verdict())
        .isEqualTo(
            "8 concurrent, the lightest load, saturates the server: 30 tok/s, TTFT p50 100 ms of"
                + " 30 requests. Doubling the load adds 3 % throughput at 2.1 × the TTFT p50.");
    assertThat(new Levels().level(1, 10, 100).level(2, 30, 110).level(4, 90, 120).verdict())
        .isEqualTo(
            "No knee up to the highest load tried, 4 concurrent requests: 90 tok/s, 90 requests/s"
                + " completed, TTFT p50 120 ms of 90 requests.");
  }

  /** Records that a full disk cut off: the levels after them say nothing about the server. */
  @Test
  void levelsWithoutARequestWereNotTried() {
    Summary summary =
        new Levels().level(1, 10, 100).level(2, 30, 110).level(4, 90, 120).level(8, 0, 1).summary();

    assertThat(summary.verdict())
        .startsWith("No knee up to the highest load tried, 4 concurrent requests: ");
    assertThat(summary.knee().reached()).isFalse();
  }

  /** The knees are at c=2 with 90 and 30 tok/s; what is said of each alone is short. */
  @Test
  void targetsAreRanked() {
    Levels levels = new Levels().level(1, 50, 100).level(2, 90, 110).level(4, 91, 400);
    levels.target("b").level(1, 20, 100).level(2, 30, 200).level(4, 30, 900);
    assertThat(levels.verdict())
        .isEqualTo(
            "a delivers 3× as much as b at 2 concurrent requests: 90 against 30 tok/s, TTFT p50 110"
                + " ms against 200 ms."
                + " a: 90 tok/s at c=2, the knee. b: 30 tok/s at c=2, the knee.");
  }

  /** Two identical servers with 6 % noise at each level: 14 of 15 verdicts name no winner. */
  @Test
  void noWinnerByChance() {
    Random random = new Random(30);
    int named = 0;
    for (int run = 0; run < 15; run++) {
      Levels levels = new Levels();
      for (String target : List.of("a", "b")) {
        levels.target(target);
        for (int i = 0; i < 7; i++) {
          double truth = Math.min(400, 50 << i);
          levels.level(1 << i, (int) (truth * (1 + 0.06 * random.nextGaussian())), 100);
        }
      }
      named += levels.verdict().contains("no clear difference") ? 0 : 1;
    }
    assertThat(named).isLessThanOrEqualTo(1);
  }

  /**
   * Both deliver the same at c=2, the highest load at which a surely meets its SLO: b misses it.
   */
  @Test
  void targetThatMeetsItsSloAtTheHigherLoadIsNamed() {
    Levels levels = new Levels().level(1, 400, 100).level(2, 400, 100);
    levels.target("b").level(1, 400, 100).level(2, 400, 100, 40);
    assertThat(levels.verdict(SLO))
        .startsWith("a meets its SLO up to 2 concurrent requests, where b misses it.");
  }

  /** a is quoted at c=8 and b at c=2: they are compared at a load of both. */
  @Test
  void targetsAreComparedAtOneLoad() {
    Levels levels = new Levels().level(1, 10, 100).level(2, 20, 110).level(8, 80, 400);
    levels.target("b").level(1, 10, 100).level(2, 20, 110).level(8, 20, 900);
    assertThat(levels.verdict()).contains(" at 2 concurrent requests: 20 against 20");
    assertThat(new Levels().level(1, 10, 100).target("b").level(2, 90, 100).verdict())
        .as("no common load")
        .startsWith("a: At 1 concurrent request");
  }

  @Test
  void severalTargets() {
    assertThat(new Levels().level(8, 50, 100).target("b").level(8, 40, 120).verdict())
        .isEqualTo(
            "a and b show no clear difference at 8 concurrent requests: 50 against 40 tok/s, TTFT"
                + " p50 100 ms against 120 ms. a: At 8 concurrent requests: 50 tok/s, 50 requests/s"
                + " completed, TTFT p50 100 ms of 50 requests. b: At 8 concurrent requests: 40"
                + " tok/s, 40 requests/s completed, TTFT p50 120 ms of 40 requests.");
  }

  @Test
  void noSuccess() {
    RunInfo info = Recorded.run(1, Recorded.stage(1, 0, 1_000));
    assertThat(
            Recorded.figures(
                    info,
                    Recorded.at(0)
                        .failed(RequestStatus.CONNECTION_ERROR, "connection refused")
                        .record())
                .summary()
                .verdict())
        .isEqualTo("The only request failed: connection refused.");
  }

  @Test
  void interrupted() {
    RunInfo info =
        Recorded.run(1, Recorded.stage(8, 0, 1_000))
            .ended(Recorded.ORIGIN + 1_000_000_000L, RunInfo.State.INTERRUPTED);
    Summary summary =
        Recorded.figures(info, Recorded.at(0).stage("c=8").tokens(100).record()).summary();
    assertThat(summary.verdict()).startsWith("Interrupted: At 8 concurrent requests: 1 tok/s");
    assertThat(summary.run().state()).isEqualTo("interrupted");
  }

  @Test
  void stageWithoutANumber() {
    Summary summary =
        Recorded.figures(Recorded.run(1), Recorded.at(0).stage("").tokens(100, 500).record())
            .summary();
    assertThat(summary.verdict()).startsWith("Over the whole run: ");
  }

  @Test
  void answersThatWereNotStreamed() {
    RunInfo info = Recorded.run(1, Recorded.stage(8, 0, 1_000));
    assertThat(
            Recorded.figures(info, Recorded.at(0).stage("c=8").body(400, 12).record())
                .summary()
                .verdict())
        .isEqualTo(
            "At 8 concurrent requests: 12 tok/s, 1 request/s completed, E2E p50 400 ms of 1"
                + " request.");
  }
}
