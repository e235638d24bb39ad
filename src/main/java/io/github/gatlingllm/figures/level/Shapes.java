package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Series.Quantile;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.HdrHistogram.IntCountsHistogram;
import org.jspecify.annotations.Nullable;

/** Percentile curves of recorded values, and the coarse histograms of charts. */
final class Shapes {

  private static final List<Metric> DRAWN =
      List.of(Metric.TTFT_MS, Metric.ITL_MS, Metric.TPOT_MS, Metric.E2E_MS);

  private static final double[] NINES = {
    1, 5, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.75, 99.9, 99.95, 99.99, 99.995, 99.999
  };

  private Shapes() {}

  /** A histogram of times in microseconds with 2 significant digits. */
  static IntCountsHistogram coarse() {
    return new IntCountsHistogram(2);
  }

  /** Adds a time in nanoseconds; nothing if it is null. */
  static void add(IntCountsHistogram micros, @Nullable Long nanos) {
    if (nanos != null) {
      micros.recordValue(Math.max(0, nanos / 1_000));
    }
  }

  /** Nearest rank, in milliseconds; null without a value. */
  static @Nullable Double percentileMs(IntCountsHistogram micros, double percent) {
    return micros.getTotalCount() == 0
        ? null
        : (Double) (micros.getValueAtPercentile(percent) / 1e3);
  }

  /** The percentile curves of TTFT, ITL, TPOT and E2E; a metric without values is missing. */
  static Map<Metric, List<Quantile>> quantiles(Tally tally) {
    Map<Metric, List<Quantile>> curves = new EnumMap<>(Metric.class);
    for (Metric metric : DRAWN) {
      ValueRecorder values = tally.recorder(metric);
      if (!values.isEmpty()) {
        curves.put(metric, quantiles(values));
      }
    }
    return curves;
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
}
