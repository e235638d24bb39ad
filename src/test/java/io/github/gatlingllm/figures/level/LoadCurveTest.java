package io.github.gatlingllm.figures.level;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Summary.Knee;
import io.github.gatlingllm.figures.metric.Distribution.Spread;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.Objectives.AssertedCondition;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.Scope;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LoadCurveTest {

  private static final Slo SLO = Slo.parse("ttft<200ms");

  /**
   * A server that serves n users at 1,000 × n ÷ (n + 8) tok/s, so that E2E is (n + 8) ms: it
   * flattens smoothly.
   *
   * <pre>
   * level  tok/s  median E2E
   * c=32     800       40 ms   82 % of the most
   * c=64     889       72 ms   92 %: the knee
   * c=256    970      264 ms   adds 3 %
   * </pre>
   */
  @Test
  void lightestLevelWithNineTenthsOfTheMost() {
    Knee knee =
        Levels.of("4:333:12 8:500:16 16:667:24 32:800:40 64:889:72 128:941:136 256:970:264")
            .summary()
            .knee();

    assertThat(knee.reached()).isTrue();
    assertThat(knee.saturatedFromFirst()).isFalse();
    assertThat(knee.stage()).isEqualTo("c=64");
    assertThat(knee.offered()).isEqualTo(64);
    assertThat(knee.outputTokensPerS()).isEqualTo(889);
    assertThat(knee.medianE2eMs()).isEqualTo(72, within(0.1));
  }

  /** Levels as users:requests, each request of one token; where the knee is, and if it is one. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          # in the order of load, not of time
          8:31 4:30 1:10                            | c=4  | true  | false
          # the last step doubles the output, or adds exactly a tenth: not flat yet
          1:10 2:20 4:40                            | c=4  | false | false
          1:15 2:29 4:33                            | c=4  | false | false
          # the last step adds 11 %; a quarter of the load delivers 98 % of the most
          1:20 2:38 4:70 8:118 16:120 32:109 64:121 | c=8  | true  | false
          # 20 and 21 differ by chance; of 2,000 and 2,040 it is known that they hardly do
          1:20 8:21                                 | c=1  | false | false
          1:2000 8:2040                             | c=1  | false | true
          # more users only wait
          32:96 64:100 128:99                       | c=32 | false | true
          # a server that breaks down under the highest load
          1:10 2:30 4:12                            | c=2  | true  | false
          # 7 % more output for 7 % more load is not a flattening
          10:100 11:110 12:120 13:130 14:140        | c=13 | false | false
          """)
  void knee(String levels, String stage, boolean reached, boolean fromFirst) {
    assertThat(Levels.of(levels).summary().knee())
        .extracting(Knee::stage, Knee::reached, Knee::saturatedFromFirst)
        .containsExactly(stage, reached, fromFirst);
  }

  /** All requests at c=64 started before its window: it is tried, and its result is unknown. */
  @Test
  void levelThatNoRequestWasScheduledInStaysOnTheCurve() {
    Summary summary = Levels.of("1:400 8:400").waiting(64, 64).figures(SLO).summary();
    assertThat(summary.verdict())
        .contains("up to 8 concurrent requests (")
        .contains("undecided at 64 concurrent requests")
        .doesNotContain("the highest load tried");
    assertThat(summary.figures().goodput().max().stage()).isEqualTo("c=8");
    assertThat(summary.operatingPoint().stage()).isEqualTo("c=8");
  }

  /**
   * 6 of 400 are 98.5 %, and their interval contains 99 %; 9 of 400 are too many with confidence.
   */
  @Test
  void luckyLevelAboveOneThatMissesIsNotClaimed() {
    Summary summary =
        Levels.of(
                "1:400 2:400:100:3 4:400:100:6 8:400:100:7 16:400:100:7 32:400:100:3 64:400:100:9")
            .figures(SLO)
            .summary();
    assertThat(summary.verdict())
        .contains("up to 2 concurrent requests (")
        .contains("certain up to 1 concurrent request;")
        .contains("undecided from 4 to 32 concurrent requests");
    assertThat(summary.operatingPoint().stage()).isEqualTo("c=1");
    assertThat(summary.figures().goodput().max().stage()).isEqualTo("c=2");
  }

  /** Those of each target stay in the places that its levels had. */
  @Test
  void levelsAreShownInOrderOfLoad() {
    Summary summary = Levels.of("4:10 16:10 8:10 b 2:10 1:10").summary();
    assertThat(summary.byLoad())
        .extracting(level -> level.label() + " " + level.target())
        .containsExactly("c=4 a", "c=8 a", "c=16 a", "c=1 b", "c=2 b");
    assertThat(summary.stages().get(1).label()).as("in order of time").isEqualTo("c=16");
  }

  /**
   * 400 requests in 100 s that all meet the SLO; with slow waves of TTFT they are worth fewer
   * independent ones, and so are more needed than the 381 of those.
   */
  @Test
  void requestsThatAreAlikeProveLess() {
    assertThat(waves(0))
        .contains("is met: TTFT in 100 % of 400 requests")
        .doesNotContain("too few");
    String waves = waves(80);
    assertThat(waves).doesNotContain("within noise");
    Matcher needed =
        Pattern.compile("needs ([\\d,]+) requests, about (\\d+) min of measuring").matcher(waves);
    assertThat(needed.find()).as(waves).isTrue();
    long requests = Long.parseLong(needed.group(1).replace(",", ""));
    assertThat(requests).isGreaterThan(500);
    assertThat(Long.parseLong(needed.group(2))).isEqualTo((long) Math.ceil(requests / 4.0 / 60));
  }

  private static String waves(double ms) {
    List<RequestRecord> records =
        Recorded.requests(
            400, i -> Recorded.at(250 * i).tokens(100 + ms * Math.sin(i / 20.0), 300));
    RunInfo run = Runs.run(100, Runs.stage(1, 0, 100_000)).slo(Slo.parse("ttft<200ms"));
    return Runs.summary(run, records).verdict();
  }

  @Test
  void eachTargetHasItsOwnKnee() {
    Summary summary = Levels.of("1:10 2:30:110 4:31:200 b 1:40 2:41:200 4:42:300").summary();
    assertThat(summary.targets())
        .extracting(t -> t.label() + " " + t.knee().stage() + " " + t.knee().reached())
        .containsExactly("a c=2 true", "b c=1 false");
    assertThat(summary.knee().target()).isEqualTo("b");
  }

  /** c=4 met the SLO at first, and missed it when it was measured again. */
  @Test
  void secondMeasurementOfALevelReplacesTheFirst() {
    Levels levels = Levels.of("2:100 4:100");

    assertThat(maxGoodput(levels.figures(SLO))).isEqualTo("c=4");
    assertThat(maxGoodput(levels.level("c=4 again", 4, 100, 100, 20).figures(SLO)))
        .isEqualTo("c=2");
  }

  private static String maxGoodput(RunFigures figures) {
    return figures.summary().figures().goodput().max().stage();
  }

  /** Half of the 64 are in groups 0 to 3: the median waits 3 × 1.875 s = 5.625 s, E2E 7.625 s. */
  @Test
  void headlinesAndKneeCountFromTheSchedule() {
    Summary summary = Levels.gated(Slo.NONE, 64);
    assertThat(summary.verdict()).contains("TTFT from schedule p50 5,829 ms of 64 requests.");
    assertThat(summary.figures().metric(Metric.TTFT_MS).p99()).isEqualTo(200, within(0.2));
    assertThat(summary.knee().medianE2eMs()).isEqualTo(7_625, within(8.0));
  }

  @Test
  void objectivesNameTheClockFromSchedule() {
    assertThat(Levels.gated(Slo.parse("ttft<1s"), 4, 8, 16, 32, 64).verdict())
        .containsSubsequence("16 requests/s", "grew to 16", "TTFT from schedule", "met up to 8");
  }

  @Test
  void theSloIsQuotedWithItsClock() {
    assertThat(Levels.gated(Slo.parse("ttft<1s,tpot<50ms"), 4, 64).figures().goodput().slo())
        .isEqualTo("ttft<1s,tpot<50ms (ttft from schedule)");
    assertThat(Levels.gated(Slo.parse("tpot<50ms"), 64).figures().goodput().slo())
        .isEqualTo("tpot<50ms");
  }

  @Test
  void closedLoopsWithoutAGateDoNotNameTheClock() {
    Summary summary = Levels.of("8:50").figures(Slo.parse("ttft<1s")).summary();
    assertThat(summary.figures().goodput().slo()).isEqualTo("ttft<1s");
    assertThat(summary.headlineMetric(Metric.TTFT_MS).title()).isEqualTo("TTFT");
  }

  /** 3 ms of 100 ms is more than 1 %. */
  @Test
  void closedLoopsBehindAGateNameTheClock() {
    Summary summary =
        Runs.summary(
            Runs.run(1, Runs.stage(8, 0, 1_000)),
            Recorded.at(0).stage("c=8").gate(3.0).tokens(100));
    assertThat(summary.headlineMetric(Metric.TTFT_MS).title()).isEqualTo("TTFT from schedule");
    assertThat(summary.headlineMetric(Metric.TPOT_MS).title()).isEqualTo("TPOT");
  }

  private static final double T_OF_ONE = 12.7062047;

  /** Two levels that are measured twice; c=1 has twice the requests the second time. */
  private static RunFigures figures(boolean isEntireRun) {
    Levels levels = new Levels();
    levels.level("c=2#1", 2, 10, 50, 0).level("c=1#1", 1, 10, 100, 0);
    levels.level("c=1#2", 1, 20, 130, 0);
    if (isEntireRun) {
      levels.level("c=2#2", 2, 10, 50, 0);
    }
    return levels.figures(
        new Assertion(null, Scope.STAGE, "c=1", "ttft.mean", AssertedCondition.LT, List.of(125.0)));
  }

  @Test
  void repeatsOfALevelAreOneLevel() {
    Summary summary = figures(true).summary();
    assertThat(summary.stages()).extracting(LevelFigures::label).containsExactly("c=1", "c=2");
    assertThat(summary.curves().get(0).stages()).containsExactly("c=1", "c=2");
    LevelFigures level = summary.stages().get(0);
    assertThat(level.durationS()).isEqualTo(2);
    assertThat(level.startS()).isEqualTo(1);
    assertThat(level.phases()).hasSize(2);
    assertThat(level.figures().counts().started()).isEqualTo(30);
    assertThat(summary.assertions().get(0).value()).isEqualTo(120);
    assertThat(figures(true).slices()).containsOnlyKeys(0, 1);
  }

  /**
   * By hand: mean TTFT (10 × 100 + 20 × 130) ÷ 30 = 120, deviations 20 and 10, standard error
   * √((400 + 100) ÷ 1 ÷ 2) = √250; 10 and 20 requests/s around 15, standard error √(50 ÷ 2) = 5.
   */
  @Test
  void intervalIsByTheSpreadAroundTheValueOfAllRequests() {
    Figures level = figures(true).summary().stages().get(0).figures();
    Figure meanTtft = Figure.parse("ttft.mean");
    assertThat(level.repeats()).extracting(meanTtft::of).containsExactly(100.0, 130.0);
    Spread ttft = level.spread(meanTtft::of);
    assertThat(ttft.value()).isEqualTo(120);
    assertThat(ttft.freedom()).isEqualTo(1);
    assertThat(ttft.interval().high()).isCloseTo(120 + T_OF_ONE * Math.sqrt(250), within(1e-6));
    Spread rate = level.spread(Metric.REQUESTS_PER_S::number);
    assertThat(rates(level)).containsExactly(10.0, 20.0);
    assertThat(rate.interval().low()).as("not below 0").isZero();
    assertThat(rate.interval().high()).isCloseTo(15 + T_OF_ONE * 5, within(1e-6));
  }

  private static List<Double> rates(Figures figures) {
    return figures.repeats().stream().map(Metric.REQUESTS_PER_S::number).toList();
  }

  /** All levels together: 20 and 30 requests in 2 s each. */
  @Test
  void roundsAreTheRepeatsOfTheRun() {
    Figures run = figures(true).summary().figures();
    assertThat(rates(run)).containsExactly(10.0, 15.0);
  }

  /** A run that ended in its second round: what is known of one repeat has no interval. */
  @Test
  void aSingleRepeatHasNoInterval() {
    Summary summary = figures(false).summary();
    assertThat(summary.stages().get(1).label()).isEqualTo("c=2");
    assertThat(summary.stages().get(1).figures().spread(Metric.REQUESTS_PER_S::number)).isNull();
    assertThat(summary.stages().get(0).figures().repeats()).hasSize(2);
    assertThat(summary.figures().repeats()).isEmpty();
  }

  /**
   * 30 requests against 27 are within noise, but not where each of three repeats states the same.
   */
  @Test
  void targetsAreRankedByTheSpreadBetweenRepeats() {
    assertThat(verdict(10, 10, 10)).contains(" 11 % ");
    assertThat(verdict(13, 8, 9)).doesNotContain(" 11 % ");
  }

  private static String verdict(int... requestsOfA) {
    Levels levels = new Levels();
    for (int i = 0; i < requestsOfA.length; i++) {
      String label = "c=1#" + (i + 1);
      levels.target("a").level(label, 1, requestsOfA[i], 60, 0);
      levels.target("b").level(label, 1, 9, 60, 0);
    }
    return levels.verdict();
  }
}
