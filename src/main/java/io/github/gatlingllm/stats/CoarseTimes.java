package io.github.gatlingllm.stats;

import org.HdrHistogram.IntCountsHistogram;
import org.jspecify.annotations.Nullable;

/**
 * Times to 2 significant digits (error ≤ 1 %): nothing while it is empty, then 2 to 15 KiB, so that
 * there can be one for every bucket of time.
 */
final class CoarseTimes {

  /** A year. */
  private static final double LONGEST_MICROS = 3.2e13;

  private @Nullable IntCountsHistogram micros;

  /** Adds a time in nanoseconds; nothing when it is null. */
  void add(@Nullable Long nanos) {
    if (nanos != null) {
      add(nanos / 1_000, 1);
    }
  }

  /** Adds a time in microseconds that stands for so many values. */
  void add(double value, int weight) {
    if (weight > 0) {
      try {
        histogram()
            .recordValueWithCount(Math.max(0, Math.round(Math.min(value, LONGEST_MICROS))), weight);
      } catch (IllegalStateException full) {
        // Two billion values of this size: a few more would change nothing.
      }
    }
  }

  void add(CoarseTimes other) {
    if (other.micros != null) {
      other
          .micros
          .recordedValues()
          .forEach(at -> add(at.getValueIteratedTo(), (int) at.getCountAddedInThisIterationStep()));
    }
  }

  private IntCountsHistogram histogram() {
    IntCountsHistogram made = micros;
    if (made == null) {
      made = new IntCountsHistogram(2);
      micros = made;
    }
    return made;
  }

  /** Nearest rank, in milliseconds; null without a value. */
  @Nullable Double percentileMs(double percent) {
    return micros == null ? null : (Double) (micros.getValueAtPercentile(percent) / 1e3);
  }

  /** The values in microseconds; null without one. */
  @Nullable IntCountsHistogram micros() {
    return micros;
  }
}
