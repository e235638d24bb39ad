package io.github.gatlingllm.stats;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Whether a series goes one way, by the two-sided Mann–Kendall test: S = Σ sign(xⱼ − xᵢ) over i
 * &lt; j, var S = (n(n − 1)(2n + 5) − Σ t(t − 1)(2t + 5)) ÷ 18 with t the sizes of ties, Z = (S −
 * sign S) ÷ √var S. Sources: Mann, Nonparametric tests against trend, Econometrica 13 (1945);
 * Kendall, Rank correlation methods (1975).
 *
 * @param from the mean of its first quarter
 * @param to the mean of its last quarter
 * @param z 0 without a trend, positive when it grows; standard normal when nothing changes
 */
record Trend(double from, double to, double z) {

  /** From so many values on S is close to normal (Kendall 1975). */
  private static final int LEAST = 10;

  /** Of values in order of time; null for fewer than 10. */
  static @Nullable Trend of(double[] values, double from, double to) {
    if (values.length < LEAST) {
      return null;
    }
    long s = 0;
    Map<Double, Integer> ties = new HashMap<>();
    for (int j = 0; j < values.length; j++) {
      ties.merge(values[j], 1, Integer::sum);
      for (int i = 0; i < j; i++) {
        s += (long) Math.signum(values[j] - values[i]);
      }
    }
    double variance = spread(values.length);
    for (int size : ties.values()) {
      variance -= spread(size);
    }
    double z = variance > 0 ? (s - Long.signum(s)) / Math.sqrt(variance) : 0;
    return new Trend(from, to, z);
  }

  private static double spread(int n) {
    return n * (n - 1.0) * (2.0 * n + 5) / 18;
  }

  /** Whether the test finds one at |Z| &gt; {@code least}, and the quarters go its way. */
  boolean isBeyond(double least) {
    return Math.abs(z) > least && Math.signum(to - from) == Math.signum(z);
  }

  /** Difference of the quarters ÷ their mean, ≥ 0; 0 where both are 0. */
  double change() {
    double mean = (from + to) / 2;
    return mean == 0 ? 0 : Math.abs(to - from) / mean;
  }
}
