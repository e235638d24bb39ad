package io.github.gatlingllm.figures.metric;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.Arrays;
import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.apache.commons.statistics.distribution.TDistribution;
import org.jspecify.annotations.Nullable;

/**
 * Statistics of the values of one quantity, in the unit of the {@link Metric}. Mean, standard
 * deviation, minimum and maximum are exact; percentiles are nearest rank on a histogram of 3
 * significant digits (error ≤ 0.1 %); those under p50 only for rates, whose low values are the bad
 * ones. Intervals are null for too few values, pooled gaps and several load levels together.
 *
 * @param lowN names of the percentiles, such as {@code p99}, with fewer than 10 values beyond them
 *     (p99 needs 1,000), or below them for those under p50 (p1 needs 1,001); shown as uncertain
 */
public record Distribution(
    long count,
    @Nullable Double mean,
    @Nullable Double std,
    @Nullable Double min,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Double p1,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Double p5,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Double p10,
    @Nullable Double p50,
    @Nullable Double p75,
    @Nullable Double p90,
    @Nullable Double p95,
    @Nullable Double p99,
    @Nullable Double p999,
    @Nullable Double max,
    @Nullable Interval meanCi95,
    @Nullable Interval p50Ci95,
    @Nullable Interval p99Ci95,
    List<String> lowN) {

  public static final Distribution EMPTY =
      new Distribution(
          0, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
          null, null, List.of());

  /** The mean of the two middle values, or the middle one; null without values. */
  public static @Nullable Double median(DoubleStream values) {
    double[] sorted = values.filter(value -> !Double.isNaN(value)).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length == 0
        ? null
        : (Double)
            Arrays.stream(sorted, sorted.length % 2 == 0 ? middle - 1 : middle, middle + 1)
                .average()
                .orElseThrow();
  }

  public Distribution {
    lowN = List.copyOf(lowN);
  }

  /** A percentile of this record, such as {@code p95} or {@code p99.9}; null for any other. */
  public @Nullable Double percentile(String name) {
    return switch (name) {
      case "p1" -> p1;
      case "p5" -> p5;
      case "p10" -> p10;
      case "p50" -> p50;
      case "p75" -> p75;
      case "p90" -> p90;
      case "p95" -> p95;
      case "p99" -> p99;
      case "p999", "p99.9" -> p999;
      case "p100" -> max;
      default -> null;
    };
  }

  /** The highest of p99, p95 and p90 that is not uncertain, else p50: what headlines quote. */
  public String tail() {
    return Stream.of("p99", "p95", "p90").filter(each -> !isLowN(each)).findFirst().orElse("p50");
  }

  public boolean isEmpty() {
    return count == 0;
  }

  /** Whether that percentile is uncertain; {@code name} as in {@code p99}. */
  public boolean isLowN(String name) {
    return lowN.contains(name);
  }

  /** A 95 % confidence interval, adjusted for autocorrelated requests. */
  public record Interval(double low, double high) {

    private static final double Z = 1.959963984540054;

    private static final double OUTSIDE = 0.05;

    private static final double ROUNDING = 1e-9;

    /** Stands for 100 %, which no number of requests can show. */
    private static final double NEARLY_ALL = 99.99;

    /** The 97.5 % quantile of Student's t. */
    public static double t(double freedom) {
      return TDistribution.of(freedom).inverseSurvivalProbability(OUTSIDE / 2);
    }

    /** Wilson's score interval of a share (1927); null without requests. */
    public static @Nullable Interval ofShare(long met, long all) {
      return all == 0 ? null : ofShare((double) met / all, (double) all, Z);
    }

    /** Half the 95 % interval of the logarithm of a ratio of two counts. */
    public static double halfOfLogRatio(long one, long other) {
      return Z * Math.sqrt(1.0 / Math.max(1, one) + 1.0 / Math.max(1, other));
    }

    /** The number n ÷ z² of independent requests. */
    static double independent(long requests) {
      return requests / (Z * Z);
    }

    /**
     * Minimum number of requests that, all met, show a share: the n with n ÷ (n + z²) = percent.
     */
    public static long minToShow(double percent) {
      double share = Math.min(NEARLY_ALL, percent) / 100;
      return (long) Math.ceil(Z * Z * share / (1 - share));
    }

    /**
     * How many requests show that at least {@code percent} of them meet, if the same share does as
     * of these: the n of which the interval's lower end is that; null for none.
     *
     * @param worth of how many independent requests the share of these is as certain, ÷ z²
     */
    static @Nullable Long toShow(
        @Nullable Double share, long requests, double worth, double percent) {
      double required = Math.min(NEARLY_ALL, percent) / 100;
      double above = share == null ? 0 : share - required;
      return above < ROUNDING
          ? null
          : (Long)
              (long)
                  Math.ceil(
                      requests / worth * required * (1 - required) / (above * above) - ROUNDING);
    }

    /** {@code too few to prove 99 %: needs 381 requests}; null for enough. */
    public static @Nullable Sentence tooFew(long requests, double percent, long needed) {
      return requests >= needed
          ? null
          : Sentence.of("slo.too_few", Math.min(NEARLY_ALL, percent), needed);
    }

    /** The same for an effective number of independent requests. */
    public static Interval ofShare(double share, double independent, double z) {
      double z2 = z * z / independent;
      double middle = (share + z2 / 2) / (1 + z2);
      double half = z * Math.sqrt((share * (1 - share) + z2 / 4) / independent) / (1 + z2);
      return new Interval(
          share == 0 ? 0 : Math.max(0, middle - half), share == 1 ? 1 : Math.min(1, middle + half));
    }
  }

  /**
   * How far a figure of a load level, computed from the requests of all its repeats, varies by
   * chance from run to run. With the values x₁ … xₙ of the repeats and x of all their requests:
   *
   * <pre>
   * standard error = √(Σ (xₖ − x)² ÷ (n − 1) ÷ n)       interval = x ± t(97.5 %, n − 1) × standard error
   * </pre>
   *
   * <p>The value is that of all requests, as a percentile of many values is less biased than the
   * mean of percentiles of few; the deviations are from it, so that this bias counts as error
   * (sectioning: Asmussen and Glynn 2007, III.5a). For rates of equally long windows x is the mean
   * of xₖ.
   */
  public record Spread(double value, double error, double freedom) {

    /** Null for fewer than two repeats. */
    public static @Nullable Spread of(double value, List<Double> repeats) {
      int n = repeats.size();
      double squares = repeats.stream().mapToDouble(each -> Math.pow(each - value, 2)).sum();
      return n < 2 ? null : new Spread(value, Math.sqrt(squares / (n - 1) / n), n - 1);
    }

    /** Half the width of the 95 % interval. */
    public double half() {
      return error * Interval.t(freedom);
    }

    /** Of a figure, which is not below 0. */
    public Interval interval() {
      return new Interval(Math.max(0, value - half()), value + half());
    }

    /**
     * What another figure is more than this one (Welch 1947): s² = b² + r² with the standard errors
     * b and r of both, and s⁴ ÷ (b⁴ ÷ (n − 1) + r⁴ ÷ (m − 1)) degrees of freedom.
     */
    public Spread difference(Spread other) {
      double b = Math.pow(error, 2);
      double r = Math.pow(other.error, 2);
      double terms = b * b / freedom + r * r / other.freedom;
      double min = Math.min(freedom, other.freedom);
      return new Spread(
          other.value - value, Math.sqrt(b + r), terms == 0 ? min : Math.pow(b + r, 2) / terms);
    }
  }
}
