package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.level.Recorded.summary;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import io.github.gatlingllm.record.Slo;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class VerdictSentenceTest {

  private static final Slo SLO = Slo.parse("ttft<200ms,tpot<50ms");

  private static final Slo REQUESTS = SLO.judgedBy(99, Slo.Rule.REQUESTS);

  private static final RunInfo ONE = Recorded.run(1, Recorded.stage(1, 0, 1_000));

  private static Levels levels() {
    return new Levels();
  }

  private static Levels two() {
    return levels().level(1, 10, 100).level(2, 20, 100);
  }

  private static Recorded good() {
    return Recorded.at(0).tokens(100, 120);
  }

  private static Recorded failed(RequestStatus status, String error) {
    return Recorded.at(0).failed(status, error).closed(100);
  }

  /** What the verdict is about, the verdict, and its words and numbers in their order. */
  static Stream<Arguments> verdicts() {
    // 57 − 10 late ones (1.8 s) arrive inside their second: 47 tok/s after 50; p99 150 → 1,800.
    Levels sweep = levels().level(1, 10, 100).level(8, 50, 150).level(16, 57, 180, 10);
    // Four of the ten late ones of the first level arrive in its window: a cold start.
    Levels cold = levels().level(1, 10, 100, 4);
    Slo median = Slo.parse("ttft<200ms", 50, Slo.Rule.PERCENTILES);
    Recorded bad = failed(RequestStatus.HTTP_ERROR, "HTTP 500");
    Recorded cut = failed(RequestStatus.CANCELLED, "end");
    RunInfo found =
        Recorded.run(1, Recorded.rate(2, 0, 1_000))
            .ended(Recorded.ORIGIN + 1_000_000_000L, RunInfo.State.INTERRUPTED)
            .conclusion(
                new Conclusion("search", "a", null, "r=2 holds", true, null, null, 2.0, null));
    return Stream.of(
        of("met", sweep.verdict(SLO), "met up to 8", "50 tok/s", "50", "381", " 6 %", "1.2 ×"),
        of("met at once", sweep.verdict(REQUESTS), "99 %", "at once up to 8", "50 tok/s", "381"),
        of("all", levels().level(1, 9, 100).level(8, 50, 150).verdict(SLO), "8", "highest load"),
        of("cold start", cold.level(8, 50, 150).verdict(SLO), "1 conc", "6", "60.0 %", "met at 8"),
        // 380 without a miss are by Wilson's interval at least 98.9990 %, 381 are 99.0017 %.
        of("too few", levels().level(8, 380, 150).level(1, 9, 1).verdict(SLO), "380", "381"),
        of("enough", levels().level(8, 381, 150).level(1, 9, 1).verdict(SLO), "(381 tok/s), the"),
        // Half of the requests are asked: 4 requests can show it.
        of("median", levels().level(1, 3, 100).level(2, 4, 100).verdict(median), "(4 tok/s), the"),
        of("few", levels().level(1, 4, 100).level(2, 3, 100).verdict(median), "only 3", "needs 4"),
        of(
            "none",
            levels().level(1, 10, 100, 4).level(8, 50, 300).verdict(SLO),
            "No load level meets",
            "1 concurrent",
            "60.0 % of 10"),
        of(
            "none at once",
            levels().level(1, 10, 100, 4).level(8, 50, 300).verdict(REQUESTS),
            "No load level meets",
            "60.0 % of 10 requests met",
            "at once",
            "less than the required 99 %"),
        // Two of three requests were cancelled before their first token.
        of(
            "undecided",
            Recorded.summary(ONE.slo(SLO), good(), cut, cut).verdict(),
            "2 tok/s",
            "not known",
            "2 of 3"),
        of(
            "one",
            levels().level(8, 50, 100, 1).verdict(SLO),
            "49",
            "not all",
            "98.0",
            "89.5",
            "99.6"),
        of("one met", levels().level(8, 50, 100).verdict(SLO), "are met", "100 % of 50", "381"),
        of("surely met", levels().level(8, 381, 100).verdict(SLO), "are met", "100 % of 381 req"),
        of(
            "one by requests",
            levels().level(8, 50, 100, 1).verdict(REQUESTS),
            "98.0 % of 50",
            "less than the required 99 %",
            "89.2 % to 99.7 %"),
        of("met by requests", levels().level(8, 50, 100).verdict(REQUESTS), "100 %", "at least"),
        of(
            "no SLO",
            levels().level(8, 50, 100).verdict(),
            "8 conc",
            "50 tok/s",
            "50 req",
            "100 ms"),
        // Their latencies are those of one in four: what failed comes first.
        of(
            "failures",
            Recorded.summary(ONE, good(), bad, bad, bad).verdict(),
            "75.0 % of 4 requests failed",
            "2 tok/s",
            "of 1 request."),
        of(
            "failures of a search",
            Recorded.summary(found, good().stage("r=2"), bad.stage("r=2")).verdict(),
            "Interrupted: 50.0 % of 2 requests failed at 2 requests/s",
            "r=2 holds",
            "2 tok/s"),
        of(
            "only failures",
            Recorded.summary(ONE, bad.stage("c=1")).verdict(),
            "The only",
            "HTTP 500"),
        of(
            "knee",
            levels().level(1, 10, 100).level(2, 30, 110).level(4, 32, 220).verdict(),
            "2 concurrent is the knee: 30 tok/s",
            "110 ms of 30",
            "7 %",
            "2 ×"),
        of(
            "saturated",
            levels().level(8, 30, 100).level(16, 31, 210).level(32, 30, 400).verdict(),
            "8 concurrent, the lightest load, saturates",
            "3 %",
            "2.1 ×"),
        of(
            "no knee",
            levels().level(1, 10, 100).level(2, 30, 110).level(4, 90, 120).verdict(),
            "No knee",
            "4 concurrent requests: 90 tok/s",
            "120 ms"),
        of(
            "two targets",
            levels().level(8, 50, 100).target("b").level(8, 40, 120).verdict(),
            "no clear difference at 8",
            "50 against 40 tok/s",
            "100 ms against 120 ms",
            "a: At 8",
            "50 tok/s",
            "b: At 8",
            "40 tok/s"),
        // Of two targets, in a few words.
        of(
            "too few of one",
            two().target("b").level(1, 10, 100).level(2, 400, 100).verdict(SLO),
            "a: 20 tok/s at c=2",
            "only 20",
            "381",
            "b: 400 tok/s at c=2, the highest load within the SLO."),
        // The figures of b are those of four in five.
        of(
            "failures of one",
            two().target("b").level(1, 10, 100).level(2, 20, 100).failing(5).verdict(),
            "a: 20 tok/s at c=2",
            "b: 20.0 % of 25 requests failed at 2",
            "20 tok/s at c=2"),
        // The knees are at c=2 with 90 and 30 tok/s; what is said of each alone is short.
        of(
            "ranks",
            levels()
                .level(1, 50, 100)
                .level(2, 90, 110)
                .level(4, 91, 400)
                .target("b")
                .level(1, 20, 100)
                .level(2, 30, 200)
                .level(4, 30, 900)
                .verdict(),
            "a delivers 3× as much as b at 2",
            "90 against 30 tok/s",
            "110 ms against 200 ms",
            "a: 90 tok/s at c=2, the knee",
            "b: 30 tok/s at c=2, the knee"),
        // What mostly failed comes first and is compared with nothing.
        of(
            "dead target",
            levels().level(1, 50, 100).target("b").level(1, 5, 100).failing(20).verdict(),
            "b: 80.0 % of 25 requests failed. a: At 1 concurrent request: 50 tok/s"),
        of(
            "mostly failed",
            levels().level(1, 5, 100).failing(20).level(2, 10, 100).failing(6).verdict(),
            "63.4 % of 41 requests failed. No knee"),
        of(
            "no level",
            Recorded.summary(Recorded.run(1), good().stage("")).verdict(),
            "Over the whole"),
        of(
            "bodies",
            Recorded.summary(ONE, Recorded.at(0).body(400, 12)).verdict(),
            "12",
            "E2E p50 400"));
  }

  private static Arguments of(String about, String verdict, String... parts) {
    return Arguments.of(about, verdict, List.of(parts));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("verdicts")
  void verdictHasItsNumbers(String about, String verdict, List<String> parts) {
    assertThat(verdict).containsSubsequence(parts);
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

  /** Records that a full disk cut off: the levels after them say nothing about the server. */
  @Test
  void levelsWithoutARequestWereNotTried() {
    Summary summary =
        new Levels().level(1, 10, 100).level(2, 30, 110).level(4, 90, 120).level(8, 0, 1).summary();

    assertThat(summary.verdict())
        .startsWith("No knee up to the highest load tried, 4 concurrent requests: ");
    assertThat(summary.knee().reached()).isFalse();
  }

  /** Both deliver the same at c=2, the highest load at which a meets its SLO: b misses it. */
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
  }

  @Test
  void interrupted() {
    RunInfo info =
        Recorded.run(1, Recorded.stage(8, 0, 1_000))
            .ended(Recorded.ORIGIN + 1_000_000_000L, RunInfo.State.INTERRUPTED);
    Summary summary = summary(info, Recorded.at(0).stage("c=8").tokens(100));
    assertThat(summary.verdict()).startsWith("Interrupted: At 8 concurrent requests: 1 tok/s");
    assertThat(summary.run().state()).isEqualTo("interrupted");
  }

  private static final Sentences<Integer> TABLE =
      new Sentences<Integer>(Map.of("users", n -> n + " $users", "text", n -> "many"))
          .row("none", n -> n == 0, "Nobody came.")
          .row("few", n -> n < 10, "There were {users}, {users}.")
          .otherwise("many", "{Text}: {users}.");

  @Test
  void firstRowWhoseConditionHoldsMakesTheSentence() {
    assertThat(TABLE.id(0)).isEqualTo("none");
    assertThat(TABLE.id(9)).isEqualTo("few");
    assertThat(TABLE.id(10)).isEqualTo("many");
  }

  @Test
  void fieldsAreFilledIn() {
    assertThat(TABLE.of(0)).isEqualTo("Nobody came.");
    assertThat(TABLE.of(2)).isEqualTo("There were 2 $users, 2 $users.");
    assertThat(TABLE.of(12)).isEqualTo("Many: 12 $users.");
  }
}
