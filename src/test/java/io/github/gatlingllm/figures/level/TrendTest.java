package io.github.gatlingllm.figures.level;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.level.SteadyState.Trend;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Mann–Kendall by hand. */
class TrendTest {

  /** S = 45, var S = 10 · 9 · 25 ÷ 18 = 125: Z = 44 ÷ √125. */
  @Test
  void rising() {
    assertThat(z(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)).isEqualTo(44 / Math.sqrt(125), within(1e-12));
  }

  @Test
  void falling() {
    assertThat(z(10, 9, 8, 7, 6, 5, 4, 3, 2, 1)).isEqualTo(-44 / Math.sqrt(125), within(1e-12));
  }

  /** Five pairs of equals: S = 45 − 5, var S = 125 − 5 · 2 · 1 · 9 ÷ 18 = 120. */
  @Test
  void ties() {
    assertThat(z(1, 1, 2, 2, 3, 3, 4, 4, 5, 5)).isEqualTo(39 / Math.sqrt(120), within(1e-12));
  }

  @Test
  void noTrend() {
    assertThat(z(7, 7, 7, 7, 7, 7, 7, 7, 7, 7)).isZero();
    assertThat(Math.abs(z(1, 9, 1, 9, 1, 9, 1, 9, 1, 9))).isLessThan(1);
  }

  /** Each value like the one before with φ = 0.5: worth a third as many, and Z less by √3. */
  @Test
  void correlatedValues() {
    double[] rising = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    assertThat(Trend.of(rising, 0.5).z()).isEqualTo(44 / Math.sqrt(3 * 125), within(1e-12));
  }

  /** A parabola has no residuals that could be correlated. */
  @Test
  void growthWithoutNoiseIsATrend() {
    double[] growth = new double[48];
    Arrays.setAll(growth, i -> 100 + i * i);
    assertThat(Trend.of(growth)).isEqualTo(Trend.of(growth, 0));
    assertThat(Trend.of(growth).chance()).isLessThan(1e-6);
  }

  /**
   * Ten high values, then constant ones with noise: the mean of the rest is surest without the ten.
   */
  @Test
  void truncation() {
    double[] values = new double[48];
    Arrays.setAll(values, i -> (i < 10 ? 50 - 3 * i : 10) + i % 2);
    assertThat(SteadyState.truncation(values)).isEqualTo(10);
    Arrays.setAll(values, i -> 10 + i % 2);
    assertThat(SteadyState.truncation(values)).isZero();
  }

  private static double z(double... values) {
    return Trend.of(values, 0).z();
  }
}
