package io.github.gatlingllm.figures.level;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.Repeated;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.Assertion.Condition;
import io.github.gatlingllm.record.Objectives.Assertion.Scope;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Two levels that are measured twice, for 10 s each; c=1 has twice the requests the second time.
 */
class RepeatedLevelsTest {

  private static final double T_OF_ONE = 12.7062047;

  private static LevelInfo level(String label, double users, double fromS) {
    double from = fromS * 1e3;
    return Recorded.stage(label, "a", "closed loop", users, "users", from, from + 10_000);
  }

  private static void requests(
      List<RequestRecord> to, String label, double fromS, int count, double ttftMs) {
    for (int i = 0; i < count; i++) {
      double at = fromS * 1e3 + i * 400;
      to.add(Recorded.at(at).target("a").stage(label).tokens(ttftMs, ttftMs + 10).record());
    }
  }

  private static RunFigures figures(boolean isWhole) {
    List<RequestRecord> records = new ArrayList<>();
    requests(records, "c=2#1", 0, 10, 50);
    requests(records, "c=1#1", 20, 10, 100);
    requests(records, "c=1#2", 40, 20, 130);
    List<LevelInfo> levels =
        new ArrayList<>(
            List.of(level("c=2#1", 2, 0), level("c=1#1", 1, 20), level("c=1#2", 1, 40)));
    if (isWhole) {
      requests(records, "c=2#2", 60, 10, 50);
      levels.add(level("c=2#2", 2, 60));
    }
    RunInfo info = Recorded.run(80, levels.toArray(LevelInfo[]::new));
    Assertion ttft =
        new Assertion(null, Scope.STAGE, "c=1", "ttft.mean", Condition.LT, List.of(125.0));
    return Recorded.figures(info.assertions(List.of(ttft)), records);
  }

  @Test
  void repeatsOfALevelAreOneLevel() {
    Summary summary = figures(true).summary();
    assertThat(summary.stages()).extracting(LevelFigures::label).containsExactly("c=1", "c=2");
    assertThat(summary.curves().get(0).stages()).containsExactly("c=1", "c=2");
    LevelFigures level = summary.stages().get(0);
    assertThat(level.durationS()).isEqualTo(20);
    assertThat(level.startS()).isEqualTo(20);
    assertThat(level.phases()).hasSize(2);
    assertThat(level.figures().counts().started()).isEqualTo(30);
    assertThat(summary.assertions().get(0).value()).isEqualTo(120);
    assertThat(figures(true).slices()).containsOnlyKeys(0, 1);
  }

  /**
   * By hand: mean TTFT (10 × 100 + 20 × 130) ÷ 30 = 120, deviations 20 and 10, standard error
   * √((400 + 100) ÷ 1 ÷ 2) = √250; 1 and 2 requests/s around 1.5, standard error √(0.5 ÷ 2) = 0.5.
   */
  @Test
  void intervalIsByTheSpreadAroundTheValueOfAllRequests() {
    Figures level = figures(true).summary().stages().get(0).figures();
    Map<String, Repeated> between = level.betweenRepeats();
    assertThat(level.metric(Metric.TTFT_MS).mean()).isEqualTo(120);
    Repeated ttft = between.get("ttft.mean");
    assertThat(ttft.values()).containsExactly(100.0, 130.0);
    assertThat(ttft.interval().high()).isCloseTo(120 + T_OF_ONE * Math.sqrt(250), within(1e-6));
    Repeated rate = between.get("requests_per_s");
    assertThat(rate.values()).containsExactly(1.0, 2.0);
    assertThat(rate.interval().low()).as("not below 0").isZero();
    assertThat(rate.interval().high()).isCloseTo(1.5 + T_OF_ONE * 0.5, within(1e-6));
    assertThat(level.spread(Figure.parse("ttft.mean")::of).freedom()).isEqualTo(1);
  }

  /** All levels together: 20 and 30 requests in 20 s each. */
  @Test
  void roundsAreTheRepeatsOfTheRun() {
    Figures run = figures(true).summary().figures();
    assertThat(run.betweenRepeats().get("requests_per_s").values()).containsExactly(1.0, 1.5);
  }

  /** A run that ended in its second round: what is known of one repeat has no interval. */
  @Test
  void aSingleRepeatHasNoInterval() {
    Summary summary = figures(false).summary();
    assertThat(summary.stages().get(1).label()).isEqualTo("c=2");
    assertThat(summary.stages().get(1).figures().betweenRepeats()).isEmpty();
    assertThat(summary.stages().get(0).figures().repeats()).hasSize(2);
    assertThat(summary.figures().repeats()).isEmpty();
  }

  /** 30 requests against 27 are within noise, but not where each of three repeats says the same. */
  @Test
  void targetsAreRankedByTheSpreadBetweenRepeats() {
    assertThat(verdict(10, 10, 10)).contains(" 11 % ");
    assertThat(verdict(13, 8, 9)).doesNotContain(" 11 % ");
  }

  private static String verdict(int... requestsOfA) {
    List<RequestRecord> records = new ArrayList<>();
    List<LevelInfo> levels = new ArrayList<>();
    for (int i = 0; i < requestsOfA.length; i++) {
      for (String target : List.of("a", "b")) {
        double from = (2 * i + (target.equals("a") ? 0 : 1)) * 10_000;
        String label = "c=1#" + (i + 1);
        levels.add(Recorded.stage(label, target, "closed loop", 1.0, "users", from, from + 10_000));
        for (int r = 0; r < (target.equals("a") ? requestsOfA[i] : 9); r++) {
          records.add(
              Recorded.at(from + r * 400).target(target).stage(label).tokens(50, 60).record());
        }
      }
    }
    RunInfo info = Recorded.run(80, levels.toArray(LevelInfo[]::new));
    return Recorded.figures(info, records).summary().verdict();
  }
}
