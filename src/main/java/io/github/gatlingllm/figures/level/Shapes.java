package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Series.Bar;
import io.github.gatlingllm.figures.level.Series.Cell;
import io.github.gatlingllm.figures.level.Series.HeatMap;
import io.github.gatlingllm.figures.level.Series.Quantile;
import io.github.gatlingllm.figures.level.Series.Shape;
import io.github.gatlingllm.figures.metric.LogLinearHistogram;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Draws histograms, percentile curves and heat maps out of recorded values. */
final class Shapes {

  private static final List<Metric> DRAWN =
      List.of(Metric.TTFT_MS, Metric.ITL_MS, Metric.TPOT_MS, Metric.E2E_MS);

  private static final int BARS = 60;
  private static final int RATIOS = 40;
  private static final double WIDE = 8;
  private static final int HEAT_ROWS = 30;
  private static final double[] NINES = {
    1, 5, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.75, 99.9, 99.95, 99.99, 99.995, 99.999
  };

  private Shapes() {}

  /**
   * A histogram of times in microseconds with 2 significant digits, small enough for each bucket.
   */
  static LogLinearHistogram coarse() {
    return new LogLinearHistogram(2);
  }

  /** Adds a time in nanoseconds; nothing when it is null. */
  static void add(LogLinearHistogram micros, @Nullable Long nanos) {
    if (nanos != null) {
      micros.add(nanos / 1_000, 1);
    }
  }

  /** Nearest rank, in milliseconds; null without a value. */
  static @Nullable Double percentileMs(LogLinearHistogram micros, double percent) {
    return micros.total() == 0 ? null : (Double) (micros.percentile(percent) / 1e3);
  }

  /** The shapes of TTFT, ITL, TPOT and E2E; a metric without values is missing. */
  static Map<Metric, Shape> of(Tally tally) {
    Map<Metric, Shape> shapes = new EnumMap<>(Metric.class);
    for (Metric metric : DRAWN) {
      ValueRecorder values = tally.recorder(metric);
      if (!values.isEmpty()) {
        boolean isWide = metric == Metric.TTFT_MS && values.moments().max() > WIDE * least(values);
        shapes.put(metric, new Shape(isWide ? ratios(values) : bars(values), quantiles(values)));
      }
    }
    return shapes;
  }

  /** The shape of at least one value. */
  static Shape of(ValueRecorder values) {
    return new Shape(bars(values), quantiles(values));
  }

  /** The smallest value, at least 1 µs, which is the resolution of times. */
  private static double least(ValueRecorder values) {
    return Math.max(values.moments().min(), 0.001);
  }

  /** Bars of equal ratio, for values that differ by orders of magnitude. */
  private static List<Bar> ratios(ValueRecorder values) {
    double from = least(values);
    double ratio = Math.pow(values.moments().max() * (1 + 1e-9) / from, 1.0 / RATIOS);
    long[] counts = new long[RATIOS];
    values.forEach(
        (value, count) -> {
          int bar = (int) (Math.log(Math.max(value, from) / from) / Math.log(ratio));
          counts[Math.min(RATIOS - 1, bar)] += count;
        });
    List<Bar> bars = new ArrayList<>();
    for (int i = 0; i < RATIOS; i++) {
      bars.add(new Bar(from * Math.pow(ratio, i), from * Math.pow(ratio, i + 1), counts[i]));
    }
    return bars;
  }

  private static List<Bar> bars(ValueRecorder values) {
    double from = values.moments().min();
    double max = values.moments().max();
    // A tail beyond 1.5 × p99 gets one bar: else all other values would be in the first bars.
    double top = Math.min(max, 1.5 * Objects.requireNonNull(values.percentile(99)));
    double width = Math.max((top - from) / (BARS - 1), 0.001);
    long[] counts = new long[BARS];
    values.forEach(
        (value, count) -> {
          int bar = (int) Math.max(0, (value - from) / width);
          counts[Math.min(BARS - 1, bar)] += count;
        });
    int last = BARS - 1;
    while (last > 0 && counts[last] == 0) {
      last--;
    }
    List<Bar> bars = new ArrayList<>();
    for (int i = 0; i <= last; i++) {
      double end = from + (i + 1) * width;
      bars.add(new Bar(from + i * width, i == BARS - 1 ? Math.max(end, max) : end, counts[i]));
    }
    return bars;
  }

  private static List<Quantile> quantiles(ValueRecorder values) {
    List<Quantile> curve = new ArrayList<>();
    curve.add(new Quantile(0, values.moments().min()));
    for (double percent : NINES) {
      // A higher percentile would be the maximum.
      if (values.moments().count() * (100 - percent) / 100 >= 1 - 1e-9) {
        curve.add(new Quantile(percent, Objects.requireNonNull(values.percentile(percent))));
      }
    }
    curve.add(new Quantile(100, values.moments().max()));
    return curve;
  }

  /** Counts by time bucket and value row; rows have equal ratios. */
  static HeatMap heat(List<LogLinearHistogram> byBucket) {
    long low = Long.MAX_VALUE;
    long high = 0;
    for (LogLinearHistogram micros : byBucket) {
      if (micros.total() > 0) {
        low = Math.min(low, Math.max(1, micros.low()));
        high = Math.max(high, micros.high());
      }
    }
    if (high == 0) {
      return new HeatMap(List.of(), List.of());
    }
    double ratio = Math.pow((high + 1.0) / low, 1.0 / HEAT_ROWS);
    List<Double> edges = new ArrayList<>();
    for (int row = 0; row <= HEAT_ROWS; row++) {
      edges.add(low * Math.pow(ratio, row) / 1e3);
    }
    List<Cell> cells = new ArrayList<>();
    for (int bucket = 0; bucket < byBucket.size(); bucket++) {
      LogLinearHistogram micros = byBucket.get(bucket);
      if (micros.total() > 0) {
        addRow(micros, bucket, low, ratio, cells);
      }
    }
    return new HeatMap(edges, cells);
  }

  private static void addRow(
      LogLinearHistogram micros, int bucket, long low, double ratio, List<Cell> cells) {
    long[] rows = new long[HEAT_ROWS];
    micros.forEach(
        (from, to, count) -> {
          int row = (int) (Math.log((double) Math.max(low, to) / low) / Math.log(ratio));
          rows[Math.min(HEAT_ROWS - 1, row)] += count;
        });
    for (int row = 0; row < HEAT_ROWS; row++) {
      if (rows[row] > 0) {
        cells.add(new Cell(bucket, row, rows[row]));
      }
    }
  }
}
