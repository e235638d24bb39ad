package io.github.gatlingllm.metric;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How one quantity is distributed. Mean, standard deviation, minimum and maximum are exact;
 * percentiles are nearest rank on a histogram of 3 significant digits (error ≤ 0.1 %). Unit: that
 * of the metric, see {@link Metric}.
 *
 * @param count how many values; 0 leaves all figures null
 * @param std population standard deviation, √(Σ(x − mean)² ÷ count)
 * @param p50Ci95 95 % confidence interval of the median, by order statistics; null for too few
 *     values, and for pooled gaps, which depend on each other
 * @param p99Ci95 the same of the 99th percentile; it needs 368 values
 * @param lowN percentiles with fewer than 10 values beyond them (p99 needs 1,000), e.g. {@code
 *     p99}; shown as uncertain
 */
public record Distribution(
    long count,
    @Nullable Double mean,
    @Nullable Double std,
    @Nullable Double min,
    @Nullable Double p50,
    @Nullable Double p75,
    @Nullable Double p90,
    @Nullable Double p95,
    @Nullable Double p99,
    @Nullable Double p999,
    @Nullable Double max,
    @Nullable Interval p50Ci95,
    @Nullable Interval p99Ci95,
    List<String> lowN) {

  /** No value at all. */
  public static final Distribution EMPTY =
      new Distribution(
          0, null, null, null, null, null, null, null, null, null, null, null, null, List.of());

  public Distribution {
    lowN = List.copyOf(lowN);
  }

  /** One of the percentiles that it holds, also 100; null for any other. */
  public @Nullable Double percentile(double percent) {
    if (percent == 99.9) {
      return p999;
    }
    return percent != Math.rint(percent)
        ? null
        : switch ((int) percent) {
          case 50 -> p50;
          case 75 -> p75;
          case 90 -> p90;
          case 95 -> p95;
          case 99 -> p99;
          case 100 -> max;
          default -> null;
        };
  }

  /** Whether there is no value. */
  public boolean isEmpty() {
    return count == 0;
  }

  /** Whether fewer than 10 values lie beyond that percentile; {@code name} as in {@code p99}. */
  public boolean isLowN(String name) {
    return lowN.contains(name);
  }
}
