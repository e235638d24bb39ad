package io.github.gatlingllm.figures.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.compare.Comparison.Change;
import io.github.gatlingllm.figures.compare.Comparison.ComparedRun;
import io.github.gatlingllm.figures.compare.Comparison.FailCondition;
import io.github.gatlingllm.figures.compare.Comparison.Judged;
import io.github.gatlingllm.figures.compare.Comparison.Outcome;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.figures.metric.Distribution.Spread;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunComparisonTest {

  /**
   * Levels in the form {@code users:TTFT:seconds:failing}, of 30 s in which no request fails where
   * it ends before, else one in that number; another word is the target of the levels after it. 20
   * requests per second at equal intervals; TTFT alternates around its mean. Users with a number
   * are a repeat.
   */
  private static ComparedRun run(String text) throws IOException {
    List<RequestRecord> records = new ArrayList<>();
    List<LevelInfo> stages = new ArrayList<>();
    String target = "a";
    for (String word : text.split(" ", -1)) {
      if (!word.contains(":")) {
        target = word;
        continue;
      }
      String[] of = word.split(":", -1);
      boolean isRepeat = of[0].contains("#");
      String label = "c=" + of[0];
      double users = Double.parseDouble(isRepeat ? of[0].substring(0, of[0].indexOf('#')) : of[0]);
      double ttft = Double.parseDouble(of[1]);
      int seconds = of.length > 2 ? Integer.parseInt(of[2]) : 30;
      int failOneIn = of.length > 3 ? Integer.parseInt(of[3]) : Integer.MAX_VALUE;
      double from = stages.size() * 100_000.0;
      for (int i = 0; i < seconds * 20; i++) {
        double first = ttft * (1 + 0.2 * ((i * 7919) % 11 - 5) / 5.0);
        Recorded request = Recorded.at(from + i * 50).stage(label).target(target);
        records.add(
            ((i + 1) % failOneIn == 0
                    ? request.failed(RequestStatus.HTTP_ERROR, "503").closed(2)
                    : request.tokens(first, first + 10, first + 20, first + 30))
                .record());
      }
      double to = from + seconds * 1e3;
      stages.add(Runs.stage(label, target, "closed loop", users, "users", from, to));
    }
    RunInfo info = Runs.run(stages.size() * 100.0, stages.toArray(LevelInfo[]::new));
    return ComparedRun.read(info, null, Runs.source(records));
  }

  private static Comparison compared(String base, String run) throws IOException {
    return Comparison.of(run(base), run(run), 1);
  }

  /** Of the first place. */
  private static Change change(String base, String run, String figure) throws IOException {
    return change(compared(base, run), figure);
  }

  private static Change change(Comparison comparison, String figure) {
    return comparison.places().get(0).change(figure).orElseThrow();
  }

  @Test
  void runIsUnchangedAgainstItself() throws IOException {
    Comparison same = compared("1:100 2:150", "1:100 2:150");
    assertThat(same.places()).hasSize(3);
    assertThat(same.places())
        .flatExtracting(Comparison.ComparedPlace::changes)
        .isNotEmpty()
        .allSatisfy(change -> assertThat(change.outcome().isClear()).isFalse());
    assertThat(same.unmatched()).isEmpty();
  }

  @Test
  void changesEqualTheDifferencesOfTheSummaries() throws IOException {
    ComparedRun base = run("1:100");
    Comparison slower = Comparison.of(base, run("1:125"), 1);
    Change mean = change(slower, "ttft.mean");
    assertThat(mean.base())
        .isEqualTo(base.figures().summary().figures().metric(Metric.TTFT_MS).mean());
    assertThat(mean.percent()).isCloseTo(25, within(0.1));
    assertThat(mean.interval().low()).isGreaterThan(20).isLessThan(25);
    assertThat(mean.outcome()).isEqualTo(Outcome.WORSE);
    assertThat(change(slower, "tpot.mean").outcome()).isEqualTo(Outcome.NO_CLEAR_CHANGE);
    assertThat(change("1:125", "1:100", "ttft.mean").outcome()).isEqualTo(Outcome.BETTER);
  }

  /** Requests of one run are alike: only the repeats show how much runs differ. */
  @Test
  void repeatsJudgeChanges() throws IOException {
    String base = "1#1:100 1#2:130 1#3:80";
    Comparison noisy = compared(base, "1#1:125 1#2:160 1#3:100");
    assertThat(noisy.places())
        .singleElement()
        .extracting(Comparison.ComparedPlace::stage)
        .isEqualTo("c=1");
    assertThat(change(noisy, "ttft.mean").outcome()).isEqualTo(Outcome.NO_CLEAR_CHANGE);
    assertThat(noisy.notes()).hasSize(1);

    String quiet = "1#1:100 1#2:100.1 1#3:99.9";
    assertThat(change(quiet, "1#1:125 1#2:125.1 1#3:124.9", "ttft.mean").outcome())
        .isEqualTo(Outcome.WORSE);
    Comparison oneSided = compared(base, "1:125");
    assertThat(change(oneSided, "ttft.mean").outcome()).as("by slices").isEqualTo(Outcome.WORSE);
    assertThat(oneSided.notes()).isEmpty();
  }

  /** Standard errors 3 of 3 repeats and 4 of 5: 625 ÷ (81 ÷ 2 + 256 ÷ 4) degrees of freedom. */
  @Test
  void noiseBetweenRepeatsIsWelchs() {
    Spread noise = new Spread(9, 3, 2).difference(new Spread(9, 4, 4));
    assertThat(noise.error()).isEqualTo(5);
    assertThat(noise.freedom()).isCloseTo(625 / 104.5, within(1e-12));
    assertThat(new Spread(9, 0, 2).difference(new Spread(9, 0, 4)).freedom()).isEqualTo(2);
  }

  @Test
  void smallChangeIsNotRelevant() throws IOException {
    Change mean = change("1:100", "1:102.5", "ttft.mean");
    assertThat(mean.interval().low()).isGreaterThan(0);
    assertThat(mean.outcome()).isEqualTo(Outcome.NO_CLEAR_CHANGE);
  }

  @Test
  void failuresAreComparedInPercentagePoints() throws IOException {
    Change errors = change("1:100", "1:100:30:5", "errors.percent");
    assertThat(errors.base()).isZero();
    assertThat(errors.figure().unit()).isEqualTo(Metric.Unit.PERCENT);
    assertThat(errors.percent()).isCloseTo(20, within(0.01));
    assertThat(errors.outcome()).isEqualTo(Outcome.WORSE);
  }

  @Test
  void fewRequestsGiveNoVerdict() throws IOException {
    Change few = change("1:100:1", "1:300:1", "ttft.mean");
    assertThat(few.outcome()).isEqualTo(Outcome.TOO_FEW_VALUES);
    assertThat(few.percent()).isCloseTo(200, within(0.1));
  }

  @Test
  void levelsAreMatchedByLabelAndPooledOverCommonOnes() throws IOException {
    Comparison comparison = compared("1:100 2:200", "2:220 4:900");
    assertThat(comparison.unmatched())
        .containsExactly("c=1 is only in the base", "c=4 is only in the other run");
    assertThat(comparison.places()).singleElement().returns("c=2", Comparison.ComparedPlace::stage);
    assertThat(change(comparison, "ttft.mean").percent()).isCloseTo(10, within(0.1));
    assertThat(change(comparison, "requests_per_s").base()).isCloseTo(20, within(0.3));
  }

  @Test
  void singleTargetsMatchWhateverTheirNames() throws IOException {
    assertThat(compared("old 1:100", "new 1:100").places()).hasSize(1);
    assertThat(change("old 1:100", "new 1:100 old 1:300", "ttft.mean").percent())
        .isCloseTo(200, within(0.1));
  }

  @Test
  void conditionsApplyToTheMeasuredChange() throws IOException {
    Comparison slower = compared("1:100", "1:125");
    assertThat(judged("ttft.mean>+10%", slower)).isTrue();
    assertThat(judged("ttft.mean>+30%", slower)).isFalse();
    assertThat(judged("ttft.mean<-10%", slower)).isFalse();
    assertThat(judged("c=1:ttft.p95>10%", slower)).isTrue();
    assertThat(judged("errors>+1%", slower)).isFalse();
    assertThat(judged("c=9:ttft.mean>+900%", slower)).as("no such stage").isTrue();
    assertThat(judged("goodput<-1%", slower)).as("no SLO").isTrue();
  }

  private static boolean judged(String condition, Comparison comparison) {
    List<Judged> judged = judge(condition, comparison, false);
    assertThat(judged).hasSize(1);
    return judged.get(0).hasFailed();
  }

  private static List<Judged> judge(String condition, Comparison comparison, boolean allowThin) {
    return FailCondition.parse(condition).get(0).judge(comparison, allowThin);
  }

  /** Pooled, the two changes cancel out. */
  @Test
  void conditionIsJudgedAtEachLevelUnlessItNamesOneOrAll() throws IOException {
    Comparison mixed = compared("1:100 2:200", "1:150 2:150");
    assertThat(judge("ttft.mean>+10%", mixed, false))
        .extracting(Judged::place, Judged::hasFailed)
        .containsExactly(tuple("c=1", true), tuple("c=2", false));
    assertThat(judge("c=2:ttft.mean>+10%", mixed, false))
        .extracting(Judged::place, Judged::hasFailed)
        .containsExactly(tuple("c=2", false));
    assertThat(judge("all:ttft.mean>+10%", mixed, false))
        .extracting(Judged::place, Judged::hasFailed)
        .containsExactly(tuple("all 2 load levels pooled", false));
  }

  /** 100 values are enough for p50, but not for p95 or p99, which need 200 and 1,000. */
  @ParameterizedTest
  @CsvSource({
    "ttft.p50>+10%, false, false",
    "ttft.p75>+10%, false, false",
    "ttft.p95>+10%, true, true",
    "ttft.p95>-10%, true, true"
  })
  void tooFewValuesFailUnlessAllowed(String condition, boolean hasTooFewValues, boolean fails)
      throws IOException {
    Comparison same = compared("1:100:5", "1:100:5");
    assertThat(judge(condition, same, false).get(0))
        .returns(hasTooFewValues, Judged::hasTooFewValues)
        .returns(fails, Judged::hasFailed);
    assertThat(judge(condition, same, true).get(0).hasFailed())
        .isEqualTo(condition.contains("-10%"));
  }

  @Test
  void noneInBothRunsIsNoChange() throws IOException {
    Comparison same = compared("1:100", "1:100");
    Judged judged = judge("stalls_per_1k_tokens>+10%", same, false).get(0);
    assertThat(judged.hasFailed()).isFalse();
    assertThat(judged.change())
        .returns(0.0, Change::base)
        .returns(0.0, Change::percent)
        .returns(Outcome.NO_CLEAR_CHANGE, Change::outcome);
  }

  @ParameterizedTest
  @CsvSource({"ttft.p95", "ttft.p95>10", "ttft.p95=10%", "speed>+10%", "'ttft.p95>+1%,'"})
  void invalidConditionIsNamed(String text) {
    assertThatThrownBy(() -> FailCondition.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageMatching("(?s).*(ttft\\.p95|speed).*")
        .hasMessageNotContaining("\n");
  }

  /** Each of three runs against one base gets a third of the 5 %, so intervals are wider. */
  @Test
  void severalRunsHaveSimultaneousIntervals() throws IOException {
    ComparedRun base = run("1:100");
    ComparedRun slower = run("1:125");
    Change alone = change(Comparison.of(base, slower, 1), "ttft.mean");
    Change oneOfThree = change(Comparison.of(base, slower, 3), "ttft.mean");
    assertThat(oneOfThree.percent()).isEqualTo(alone.percent());
    assertThat(oneOfThree.interval().low()).isLessThan(alone.interval().low());
    assertThat(oneOfThree.interval().high()).isGreaterThan(alone.interval().high());
  }
}
