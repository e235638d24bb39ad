package io.github.gatlingllm.figures.metric;

import io.github.gatlingllm.figures.metric.Distribution.Interval;
import java.util.List;
import org.apache.commons.statistics.distribution.TDistribution;
import org.jspecify.annotations.Nullable;

/**
 * How far a figure of a load level, computed from the requests of all its repeats, varies by chance
 * from run to run. With the values x₁ … xₙ of the repeats and x of all their requests:
 *
 * <pre>
 * standard error = √(Σ (xₖ − x)² ÷ (n − 1) ÷ n)       interval = x ± t(97.5 %, n − 1) × standard error
 * </pre>
 *
 * <p>The value is that of all requests, as a percentile of many values is less biased than the mean
 * of percentiles of few; the deviations are from it, so that this bias counts as error (sectioning:
 * Asmussen and Glynn 2007, III.5a). For rates of equally long windows x is the mean of xₖ.
 */
public record Spread(double value, int count, double error) {

  private static final double OUTSIDE = 0.05;

  /** Null for fewer than two repeats. */
  public static @Nullable Spread of(double value, List<Double> repeats) {
    int n = repeats.size();
    double squares = repeats.stream().mapToDouble(each -> Math.pow(each - value, 2)).sum();
    return n < 2 ? null : new Spread(value, n, Math.sqrt(squares / (n - 1) / n));
  }

  public int freedom() {
    return count - 1;
  }

  /** Half the width of the 95 % interval. */
  public double half() {
    return error * TDistribution.of(freedom()).inverseSurvivalProbability(OUTSIDE / 2);
  }

  /** No figure is below 0. */
  public Interval interval() {
    return new Interval(Math.max(0, value - half()), value + half());
  }
}
