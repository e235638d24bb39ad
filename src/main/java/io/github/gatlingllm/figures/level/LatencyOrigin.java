package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The clock of headlines and of the knee: it starts at the planned arrival, and is named, where
 * that can differ from admission; elsewhere it starts at admission, so that a figure is the same
 * under its name everywhere. The clock of the SLO always starts at the planned arrival.
 */
record LatencyOrigin(boolean isNamed) {

  private static final double AGREE = 0.01;

  static LatencyOrigin of(List<LevelFigures> levels) {
    return new LatencyOrigin(
        levels.stream().anyMatch(s -> s.arrivals() != null || waited(s.figures()::metric)));
  }

  /** Whether the two clocks differ by more than 1 %, at the median or at p99. */
  static boolean waited(Function<Metric, Distribution> figures) {
    return differs(figures, Metric.TTFT_MS) || differs(figures, Metric.E2E_MS);
  }

  static boolean differs(Function<Metric, Distribution> figures, Metric metric) {
    Distribution admitted = figures.apply(metric);
    Distribution scheduled = figures.apply(metric.fromSchedule());
    return differs(admitted.p50(), scheduled.p50()) || differs(admitted.p99(), scheduled.p99());
  }

  static boolean differs(@Nullable Double admitted, @Nullable Double scheduled) {
    return admitted != null && scheduled != null && scheduled > admitted * (1 + AGREE);
  }

  /** The name of a time in a headline: {@code TTFT from schedule}, or {@code TTFT}. */
  String name(Metric metric) {
    return metric(metric).title();
  }

  /** The variant of a metric beside a headline: from schedule where headlines name the clock. */
  Metric metric(Metric metric) {
    return isNamed ? metric.fromSchedule() : metric;
  }
}
