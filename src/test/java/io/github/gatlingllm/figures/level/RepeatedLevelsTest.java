package io.github.gatlingllm.figures.level;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.Repeated;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.Assertion.Condition;
import io.github.gatlingllm.record.Objectives.Assertion.Scope;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Two levels that are measured twice; c=1 has twice the requests the second time. */
class RepeatedLevelsTest {

  private static final double T_OF_ONE = 12.7062047;

  private static RunFigures figures(boolean isWhole) {
    Levels levels = new Levels();
    levels.level("c=2#1", 2, 10, 50, 0).level("c=1#1", 1, 10, 100, 0);
    levels.level("c=1#2", 1, 20, 130, 0);
    if (isWhole) {
      levels.level("c=2#2", 2, 10, 50, 0);
    }
    return levels.figures(
        new Assertion(null, Scope.STAGE, "c=1", "ttft.mean", Condition.LT, List.of(125.0)));
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
    Map<String, Repeated> between = level.betweenRepeats();
    assertThat(level.metric(Metric.TTFT_MS).mean()).isEqualTo(120);
    Repeated ttft = between.get("ttft.mean");
    assertThat(ttft.values()).containsExactly(100.0, 130.0);
    assertThat(ttft.interval().high()).isCloseTo(120 + T_OF_ONE * Math.sqrt(250), within(1e-6));
    Repeated rate = between.get("requests_per_s");
    assertThat(rate.values()).containsExactly(10.0, 20.0);
    assertThat(rate.interval().low()).as("not below 0").isZero();
    assertThat(rate.interval().high()).isCloseTo(15 + T_OF_ONE * 5, within(1e-6));
    assertThat(level.spread(Figure.parse("ttft.mean")::of).freedom()).isEqualTo(1);
  }

  /** All levels together: 20 and 30 requests in 2 s each. */
  @Test
  void roundsAreTheRepeatsOfTheRun() {
    Figures run = figures(true).summary().figures();
    assertThat(run.betweenRepeats().get("requests_per_s").values()).containsExactly(10.0, 15.0);
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
    Levels levels = new Levels();
    for (int i = 0; i < requestsOfA.length; i++) {
      String label = "c=1#" + (i + 1);
      levels.target("a").level(label, 1, requestsOfA[i], 60, 0);
      levels.target("b").level(label, 1, 9, 60, 0);
    }
    return levels.verdict();
  }
}
