package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Distribution.Spread;
import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import java.util.Arrays;

/**
 * The time slices of a measure window. A request belongs to the slice in which it was scheduled, a
 * token to the slice in which it arrived. Confidence intervals and comparisons of runs are computed
 * from their cells.
 *
 * <p>A slice is correlated with the next one. As a first-order autoregression with coefficient φ, n
 * slices are worth n × (1 − φ) ÷ (1 + φ) independent ones.
 */
public final class TimeSlice {

  /** Number of slices of equal length in a measure window; every block length divides it. */
  public static final int COUNT = 48;

  private static final double MAX_UPPER = 0.95;

  private static final double ROUNDING = 1e-9;

  /** The longest batch of slices, of which there are 12. */
  public static final int LONGEST = 4;

  private TimeSlice() {}

  /**
   * φ for uses where too small a value does harm: half a standard error, √((1 − φ²) ÷ n), above the
   * estimate, 0 to {@value #MAX_UPPER}.
   */
  static double upper(double[] residuals, int fitted) {
    double phi = estimate(residuals, fitted);
    double error = Math.sqrt(Math.max(0, 1 - phi * phi) / residuals.length);
    return Math.max(0, Math.min(MAX_UPPER, phi + error / 2));
  }

  private static double estimate(double[] series, int fitted) {
    int n = series.length;
    Moments moments = new Moments();
    for (double value : series) {
      moments.add(value, 1);
    }
    if (n < 8 || moments.std() == 0) {
      return 0;
    }
    double product = 0;
    for (int i = 1; i < n; i++) {
      product += (series[i] - moments.mean()) * (series[i - 1] - moments.mean());
    }
    double raw = product / (moments.std() * moments.std() * n);
    return raw + (fitted + (fitted + 2) * raw) / n;
  }

  /** Number of slices that are worth one independent slice: (1 + φ) ÷ (1 − φ). */
  static double slices(double phi) {
    return (1 + phi) / (1 - phi);
  }

  /** The part of that factor that a block of slices shows: 1 + 2 Σ (1 − k ÷ length) φᵏ. */
  static double within(int length, double phi) {
    double seen = 1;
    for (int k = 1; k < length; k++) {
      seen += 2 * (1 - (double) k / length) * Math.pow(phi, k);
    }
    return seen;
  }

  /** Each part − (sum of parts ÷ sum of totals) × its total. */
  public static double[] residuals(double[] parts, double[] totals) {
    double total = Arrays.stream(totals).sum();
    double ratio = total == 0 ? 0 : Arrays.stream(parts).sum() / total;
    double[] residuals = new double[parts.length];
    for (int i = 0; i < parts.length; i++) {
      double residual = parts[i] - ratio * totals[i];
      residuals[i] = Math.abs(residual) > ROUNDING * Math.abs(parts[i]) ? residual : 0;
    }
    return residuals;
  }

  /**
   * The spread of the sum of the residuals of all slices: its variance is the largest of those from
   * batches of 1 to {@code longest} slices, each raised by (1 + φ) ÷ (1 − φ), with φ by {@link
   * #upper}.
   */
  public static Spread spread(double[] residuals, int longest) {
    double max = 0;
    int ofMax = residuals.length - 1;
    for (int length = 1; length <= longest; length++) {
      double[] batches = new double[residuals.length / length];
      for (int i = 0; i < batches.length * length; i++) {
        batches[i / length] += residuals[i];
      }
      double squares = 0;
      for (double residual : batches) {
        squares += residual * residual;
      }
      int freedom = batches.length - 1;
      double variance = squares * batches.length / freedom * slices(upper(batches, 1));
      if (variance > max) {
        max = variance;
        ofMax = freedom;
      }
    }
    return new Spread(0, Math.sqrt(max), ofMax);
  }
}
