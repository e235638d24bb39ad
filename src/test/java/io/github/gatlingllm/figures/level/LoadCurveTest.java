package io.github.gatlingllm.figures.level;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Summary.Knee;
import io.github.gatlingllm.record.Slo;
import org.junit.jupiter.api.Test;

class LoadCurveTest {

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
        new Levels()
            .level(4, 333, 12)
            .level(8, 500, 16)
            .level(16, 667, 24)
            .level(32, 800, 40)
            .level(64, 889, 72)
            .level(128, 941, 136)
            .level(256, 970, 264)
            .summary()
            .knee();

    assertThat(knee.reached()).isTrue();
    assertThat(knee.saturatedFromFirst()).isFalse();
    assertThat(knee.stage()).isEqualTo("c=64");
    assertThat(knee.offered()).isEqualTo(64);
    assertThat(knee.outputTokensPerS()).isEqualTo(889);
    assertThat(knee.medianE2eMs()).isEqualTo(72, within(0.1));
  }

  @Test
  void orderOfLoadNotOfTime() {
    Knee knee = new Levels().level(8, 31, 300).level(4, 30, 150).level(1, 10, 100).summary().knee();
    assertThat(knee.stage()).isEqualTo("c=4");
    assertThat(knee.reached()).isTrue();
  }

  /** The step from 2 to 4 doubles the output, and the next adds exactly a tenth: not flat yet. */
  @Test
  void notReachedWhereOutputGrowsToTheEnd() {
    Knee rising =
        new Levels().level(1, 10, 100).level(2, 20, 110).level(4, 40, 120).summary().knee();
    assertThat(rising.stage()).isEqualTo("c=4");
    assertThat(rising.reached()).isFalse();
    assertThat(rising.saturatedFromFirst()).isFalse();
    Knee tenth =
        new Levels().level(1, 15, 100).level(2, 30, 110).level(4, 33, 220).summary().knee();
    assertThat(tenth.stage()).isEqualTo("c=2");
    assertThat(tenth.reached()).isFalse();
  }

  /** More users only wait. */
  @Test
  void notReachedWhereTheFirstLevelSaturates() {
    Knee knee =
        new Levels().level(32, 96, 320).level(64, 100, 640).level(128, 99, 990).summary().knee();
    assertThat(knee.stage()).isEqualTo("c=32");
    assertThat(knee.reached()).isFalse();
    assertThat(knee.saturatedFromFirst()).isTrue();
  }

  /** A server that breaks down under the highest load delivers most before. */
  @Test
  void reachedWhereOutputFalls() {
    Knee knee = new Levels().level(1, 10, 100).level(2, 30, 110).level(4, 12, 900).summary().knee();
    assertThat(knee.stage()).isEqualTo("c=2");
    assertThat(knee.reached()).isTrue();
  }

  /** 7 % more output for 7 % more load is no flattening: from 11 to 14 it grows in proportion. */
  @Test
  void smallStepsAreJudgedTogether() {
    Levels levels = new Levels();
    for (int users = 10; users <= 14; users++) {
      levels.level(users, 10 * users, 100);
    }
    Knee knee = levels.summary().knee();
    assertThat(knee.reached()).isFalse();
    assertThat(knee.saturatedFromFirst()).isFalse();
  }

  @Test
  void oneLevelHasNoStep() {
    Knee knee = new Levels().level(4, 30, 100).summary().knee();
    assertThat(knee.reached()).isFalse();
    assertThat(knee.saturatedFromFirst()).isFalse();
  }

  @Test
  void eachTargetHasItsOwnKnee() {
    Summary summary =
        new Levels()
            .level(1, 10, 100)
            .level(2, 30, 110)
            .level(4, 31, 200)
            .target("b")
            .level(1, 40, 100)
            .level(2, 41, 200)
            .level(4, 42, 300)
            .summary();
    assertThat(summary.targets())
        .extracting(t -> t.label() + " " + t.knee().stage() + " " + t.knee().reached())
        .containsExactly("a c=2 true", "b c=1 false");
    assertThat(summary.knee().target()).isEqualTo("b");
  }

  /** c=4 held the SLO at first, and missed it when it was measured again. */
  @Test
  void secondMeasurementOfALevelReplacesTheFirst() {
    Levels levels = new Levels().level(2, 100, 100).level(4, 100, 100);
    Slo slo = Slo.parse("ttft<200ms");

    assertThat(maxGoodput(levels.figures(slo))).isEqualTo("c=4");
    assertThat(maxGoodput(levels.again(4, 100, 100, 20).figures(slo))).isEqualTo("c=2");
  }

  private static String maxGoodput(RunFigures figures) {
    return figures.summary().figures().goodput().max().stage();
  }
}
