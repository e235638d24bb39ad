package io.github.gatlingllm.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.stats.SteadyState.Trend;
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
  void neitherWay() {
    assertThat(z(7, 7, 7, 7, 7, 7, 7, 7, 7, 7)).isZero();
    assertThat(Math.abs(z(1, 9, 1, 9, 1, 9, 1, 9, 1, 9))).isLessThan(1);
  }

  @Test
  void needsTenValues() {
    assertThat(Trend.of(new double[] {1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 9)).isNull();
  }

  @Test
  void changeOfTheQuarters() {
    double[] rising = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    assertThat(Trend.of(rising, 9, 11).change()).isEqualTo(0.2, within(1e-12));
    assertThat(Trend.of(rising, 11, 9).change()).isEqualTo(0.2, within(1e-12));
    assertThat(Trend.of(rising, 0, 0).change()).isZero();
  }

  private static double z(double... values) {
    double last = Arrays.stream(values).max().orElseThrow();
    return Trend.of(values, values[0], last).z();
  }
}
