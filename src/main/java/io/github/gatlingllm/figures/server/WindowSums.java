package io.github.gatlingllm.figures.server;

import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.EngineFigures.Growth;
import io.github.gatlingllm.figures.metric.EngineFigures.State;
import io.github.gatlingllm.figures.metric.EngineFigures.Timing;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Sums of the readings of metrics pages in an interval. */
final class WindowSums {

  private long readings;
  private long failed;
  private long resets;
  private boolean isPowerShared;
  private final Map<EngineMetric, Gauge> gauges = new EnumMap<>(EngineMetric.class);
  private final Map<EngineMetric, Counter> counters = new EnumMap<>(EngineMetric.class);
  private final Map<EngineMetric, BucketCounts> histograms = new EnumMap<>(EngineMetric.class);

  private static final class Gauge {
    private double sum;
    private double max = Double.NEGATIVE_INFINITY;
    private long count;
  }

  /** Growth, and the seconds that it was read in. */
  private static final class Counter {
    private double grown;
    private double seconds;
  }

  void reading(boolean isFailed, boolean isReset) {
    readings++;
    failed += isFailed ? 1 : 0;
    resets += isReset ? 1 : 0;
  }

  void gauge(EngineMetric metric, double value, boolean sharesPower) {
    Gauge gauge = gauges.computeIfAbsent(metric, m -> new Gauge());
    gauge.sum += value;
    gauge.max = Math.max(gauge.max, value);
    gauge.count++;
    isPowerShared |= sharesPower;
  }

  void counter(EngineMetric metric, double grown, double seconds, boolean sharesPower) {
    Counter counter = counters.computeIfAbsent(metric, m -> new Counter());
    counter.grown += grown;
    counter.seconds += seconds;
    isPowerShared |= sharesPower;
  }

  void histogram(EngineMetric metric, BucketCounts values) {
    histograms.merge(metric, values, BucketCounts::and);
  }

  void add(WindowSums other) {
    readings += other.readings;
    failed += other.failed;
    resets += other.resets;
    isPowerShared |= other.isPowerShared;
    other.gauges.forEach(
        (metric, theirs) -> {
          Gauge gauge = gauges.computeIfAbsent(metric, m -> new Gauge());
          gauge.sum += theirs.sum;
          gauge.max = Math.max(gauge.max, theirs.max);
          gauge.count += theirs.count;
        });
    other.counters.forEach(
        (metric, theirs) -> counter(metric, theirs.grown, theirs.seconds, false));
    other.histograms.forEach(this::histogram);
  }

  @Nullable EngineFigures figures(double seconds) {
    if (readings == 0 && counters.isEmpty()) {
      return null;
    }
    Map<EngineMetric, State> states = new EnumMap<>(EngineMetric.class);
    gauges.forEach((metric, of) -> states.put(metric, new State(of.sum / of.count, of.max)));
    Map<EngineMetric, Growth> growth = new EnumMap<>(EngineMetric.class);
    counters.forEach((metric, of) -> growth.put(metric, Growth.of(of.grown, of.seconds, seconds)));
    Map<EngineMetric, Timing> timings = new EnumMap<>(EngineMetric.class);
    histograms.forEach(
        (metric, of) -> {
          if (of.count() > 0) {
            timings.put(
                metric,
                new Timing(
                    of.count(),
                    of.sum() / of.count(),
                    of.quantile(0.5),
                    of.quantile(0.9),
                    of.quantile(0.95),
                    of.quantile(0.99)));
          }
        });
    return new EngineFigures(
        seconds, readings, failed, resets, states, growth, timings, isPowerShared);
  }

  /** Means of gauges, growth of counters per second, means of histograms. */
  Map<EngineMetric, Double> values() {
    Map<EngineMetric, Double> values = new EnumMap<>(EngineMetric.class);
    gauges.forEach((metric, of) -> values.put(metric, of.sum / of.count));
    counters.forEach(
        (metric, of) -> {
          if (of.seconds > 0) {
            values.put(metric, of.grown / of.seconds);
          }
        });
    histograms.forEach(
        (metric, of) -> {
          if (of.count() > 0) {
            values.put(metric, of.sum() / of.count());
          }
        });
    return values;
  }
}
