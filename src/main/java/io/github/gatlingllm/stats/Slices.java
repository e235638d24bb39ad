package io.github.gatlingllm.stats;

import io.github.gatlingllm.stats.SteadyState.Trend;
import io.github.gatlingllm.stats.Windows.LevelWindow;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Sum and count of values by time: a measure window cut into {@value #COUNT} equal slices. */
final class Slices {

  /** How many; a multiple of 4. */
  static final int COUNT = 20;

  private static final int QUARTER = COUNT / 4;

  private final LevelWindow window;
  private final double[] sums = new double[COUNT];
  private final long[] counts = new long[COUNT];

  Slices(LevelWindow window) {
    this.window = window;
  }

  /** Adds a value at an instant; nothing when that is outside the window. */
  void add(long unixNanos, double value) {
    if (window.contains(unixNanos)) {
      int slice = (int) ((double) (unixNanos - window.from()) / window.nanos() * COUNT);
      int held = Math.min(slice, COUNT - 1);
      sums[held] += value;
      counts[held]++;
    }
  }

  /** The trend of the mean value of a slice; slices without a value are left out. */
  @Nullable Trend ofMeans() {
    double[] means = new double[COUNT];
    int filled = 0;
    for (int i = 0; i < COUNT; i++) {
      if (counts[i] > 0) {
        means[filled++] = sums[i] / counts[i];
      }
    }
    long first = sum(counts, 0, QUARTER);
    long last = sum(counts, COUNT - QUARTER, COUNT);
    if (first == 0 || last == 0) {
      return null;
    }
    return Trend.of(
        Arrays.copyOf(means, filled),
        sum(sums, 0, QUARTER) / first,
        sum(sums, COUNT - QUARTER, COUNT) / last);
  }

  /** The trend of Σ values per second of a slice; a slice without a value has 0. */
  @Nullable Trend ofRates() {
    double seconds = window.nanos() / 1e9;
    double[] rates = new double[COUNT];
    for (int i = 0; i < COUNT; i++) {
      rates[i] = sums[i] * COUNT / seconds;
    }
    return Trend.of(
        rates,
        sum(sums, 0, QUARTER) * 4 / seconds,
        sum(sums, COUNT - QUARTER, COUNT) * 4 / seconds);
  }

  private static double sum(double[] values, int from, int to) {
    double sum = 0;
    for (int i = from; i < to; i++) {
      sum += values[i];
    }
    return sum;
  }

  private static long sum(long[] values, int from, int to) {
    long sum = 0;
    for (int i = from; i < to; i++) {
      sum += values[i];
    }
    return sum;
  }
}
