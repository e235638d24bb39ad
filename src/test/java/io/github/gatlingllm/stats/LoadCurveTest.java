package io.github.gatlingllm.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.stats.Summary.Knee;
import org.junit.jupiter.api.Test;

class LoadCurveTest {

  /**
   *
   *
   * <pre>
   * level  tok/s  median E2E  power
   * c=1       10      0.10 s    100
   * c=2       20      0.12 s    167
   * c=4       30      0.15 s    200   the knee
   * c=8       36      0.30 s    120
   * </pre>
   */
  @Test
  void highestPower() {
    Knee knee =
        new Levels()
            .level(1, 10, 100)
            .level(2, 20, 120)
            .level(4, 30, 150)
            .level(8, 36, 300)
            .summary()
            .knee();
    assertThat(knee.reached()).isTrue();
    assertThat(knee.stage()).isEqualTo("c=4");
    assertThat(knee.offered()).isEqualTo(4);
    assertThat(knee.outputTokensPerS()).isEqualTo(30);
    assertThat(knee.medianE2eMs()).isEqualTo(150, within(0.2));
    assertThat(knee.power()).isEqualTo(200, within(0.3));
  }

  @Test
  void orderOfLoadNotOfTime() {
    Knee knee = new Levels().level(8, 36, 300).level(4, 30, 150).level(1, 10, 100).summary().knee();
    assertThat(knee.stage()).isEqualTo("c=4");
    assertThat(knee.reached()).isTrue();
  }

  @Test
  void notReachedAtTheHighestLoad() {
    Knee knee = new Levels().level(1, 10, 100).level(2, 20, 110).level(4, 40, 120).summary().knee();
    assertThat(knee.stage()).isEqualTo("c=4");
    assertThat(knee.reached()).isFalse();
  }

  @Test
  void notReachedWithFewerThanThreeLevels() {
    Knee knee = new Levels().level(1, 30, 100).level(2, 20, 300).summary().knee();
    assertThat(knee.stage()).isEqualTo("c=1");
    assertThat(knee.reached()).isFalse();
  }

  @Test
  void eachTargetHasItsOwn() {
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
        .extracting(t -> t.label() + " " + t.knee().stage())
        .containsExactly("a c=2", "b c=1");
    assertThat(summary.knee().target()).isEqualTo("b");
  }
}
