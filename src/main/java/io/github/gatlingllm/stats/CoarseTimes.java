package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.LogLinearHistogram;
import org.jspecify.annotations.Nullable;

/**
 * Times to 2 significant digits (error ≤ 1 %): nothing while it is empty, then 1 to 15 KiB, so that
 * there can be one for every bucket of time.
 */
final class CoarseTimes {

  private @Nullable LogLinearHistogram micros;

  /** Adds a time in nanoseconds; nothing when it is null. */
  void add(@Nullable Long nanos) {
    if (nanos != null) {
      add(nanos / 1_000, 1);
    }
  }

  /** Adds a time in microseconds that stands for so many values. */
  void add(double value, int weight) {
    if (weight > 0) {
      add(Math.round(value), weight);
    }
  }

  /** Adds a time in whole microseconds that stands for so many values. */
  void add(long value, int weight) {
    histogram().add(value, weight);
  }

  private LogLinearHistogram histogram() {
    LogLinearHistogram made = micros;
    if (made == null) {
      made = new LogLinearHistogram(2);
      micros = made;
    }
    return made;
  }

  void add(CoarseTimes other) {
    if (other.micros != null) {
      histogram().add(other.micros);
    }
  }

  /** Nearest rank, in milliseconds; null without a value. */
  @Nullable Double percentileMs(double percent) {
    return micros == null ? null : (Double) (micros.percentile(percent) / 1e3);
  }

  /** The values in microseconds; null without one. */
  @Nullable LogLinearHistogram micros() {
    return micros;
  }
}
