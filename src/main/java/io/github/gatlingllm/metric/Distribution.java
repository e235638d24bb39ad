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
 * @param p1 of a rate, whose bad tail is the low one, as {@code p5} and {@code p10}; null for what
 *     is no rate
 * @param p50Ci95 95 % confidence interval of the median, by order statistics; null for too few
 *     values, and for pooled gaps, which depend on each other
 * @param p99Ci95 the same of the 99th percentile; it needs 368 values
 * @param lowN percentiles with fewer than 10 values beyond them (p99 needs 1,000), or below them
 *     where they are under p50 (p1 needs 1,001), e.g. {@code p99}; shown as uncertain
 */
public record Distribution(
    long count,
    @Nullable Double mean,
    @Nullable Double std,
    @Nullable Double min,
    @Nullable Double p1,
    @Nullable Double p5,
    @Nullable Double p10,
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
          0, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
          null, List.of());

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
          case 1 -> p1;
          case 5 -> p5;
          case 10 -> p10;
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

  /** Whether that percentile is uncertain; {@code name} as in {@code p99}. */
  public boolean isLowN(String name) {
    return lowN.contains(name);
  }

  /**
   * Where the true value lies with 95 % confidence, if the values are independent. Requests that
   * share a queue are not quite: under heavy load read it as the narrowest that can be claimed.
   */
  public record Interval(double low, double high) {

    /** The standard normal quantile of 97.5 %. */
    private static final double Z = 1.959963984540054;

    /** Up to this many values the binomial distribution is summed, beyond it taken as normal. */
    private static final long SUMMED = 2_000;

    /** Positions in a sorted sample, from 1. */
    record Ranks(long low, long high) {}

    /**
     * Wilson's score interval of a share.
     *
     * @return null when nothing was counted
     * @see <a href="https://doi.org/10.1080/01621459.1927.10502953">Wilson 1927</a>
     */
    public static @Nullable Interval ofShare(long met, long all) {
      if (all == 0) {
        return null;
      }
      double p = (double) met / all;
      double z2 = Z * Z / all;
      double middle = (p + z2 / 2) / (1 + z2);
      double half = Z * Math.sqrt((p * (1 - p) + z2 / 4) / all) / (1 + z2);
      return new Interval(
          met == 0 ? 0 : Math.max(0, middle - half), met == all ? 1 : Math.min(1, middle + half));
    }

    /**
     * The values between which a quantile lies, whatever the distribution: the number of values
     * below it is binomial.
     *
     * @param share of the values below the quantile, in (0, 1)
     * @return null when a bound would need a value beyond the sample's own
     * @see <a href="https://onlinelibrary.wiley.com/doi/book/10.1002/0471722162">David, Nagaraja:
     *     Order Statistics, 7.1</a>
     */
    static @Nullable Ranks ofQuantile(long n, double share) {
      long low;
      long high;
      if (n <= SUMMED) {
        low = 0;
        high = n + 1;
        double term = n * Math.log1p(-share);
        double sum = 0;
        for (long k = 0; k < n; k++) {
          sum += Math.exp(term);
          if (sum <= 0.025) {
            low = k + 1;
          }
          if (sum >= 0.975) {
            high = k + 1;
            break;
          }
          term += Math.log((double) (n - k) / (k + 1)) + Math.log(share / (1 - share));
        }
      } else {
        double half = Z * Math.sqrt(n * share * (1 - share));
        low = (long) Math.floor(n * share - half);
        high = (long) Math.ceil(n * share + half) + 1;
      }
      return low < 1 || high > n ? null : new Ranks(low, high);
    }
  }
}
