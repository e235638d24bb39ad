package io.github.gatlingllm.load;

import java.util.Arrays;
import java.util.function.DoubleUnaryOperator;

/** What tells one arrival process from another, computed from its gaps in seconds. */
final class GapStatistics {

  private GapStatistics() {}

  /** Variance over mean of the counts in windows of equal length, over all the gaps last. */
  static double dispersion(double[] gaps, double windowSeconds) {
    return dispersion(gaps, windowSeconds, (int) (Arrays.stream(gaps).sum() / windowSeconds));
  }

  /** Variance over mean of the counts in the first windows of equal length. */
  static double dispersion(double[] gaps, double windowSeconds, int windows) {
    double[] counts = new double[windows];
    double at = 0;
    for (double gap : gaps) {
      at += gap;
      int index = (int) (at / windowSeconds);
      if (index < counts.length) {
        counts[index]++;
      }
    }
    double mean = Arrays.stream(counts).average().orElseThrow();
    return Arrays.stream(counts).map(c -> (c - mean) * (c - mean)).average().orElseThrow() / mean;
  }

  /** Largest distance of the values' distribution from that one (Kolmogorov–Smirnov). */
  static double distance(double[] values, DoubleUnaryOperator cdf) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    double distance = 0;
    for (int i = 0; i < sorted.length; i++) {
      double expected = cdf.applyAsDouble(sorted[i]);
      distance = Math.max(distance, Math.abs(expected - (double) i / sorted.length));
      distance = Math.max(distance, Math.abs(expected - (i + 1.0) / sorted.length));
    }
    return distance;
  }

  /** Correlation of each gap with the one before. */
  static double lag1Autocorrelation(double[] gaps) {
    double mean = Arrays.stream(gaps).average().orElseThrow();
    double together = 0;
    double own = 0;
    for (int i = 0; i < gaps.length; i++) {
      own += (gaps[i] - mean) * (gaps[i] - mean);
      if (i > 0) {
        together += (gaps[i] - mean) * (gaps[i - 1] - mean);
      }
    }
    return together / own;
  }
}
