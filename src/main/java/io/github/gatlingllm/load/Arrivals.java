package io.github.gatlingllm.load;

import java.io.Serializable;
import java.util.PrimitiveIterator;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;

/**
 * An arrival process: when virtual users arrive, in nanoseconds since the start of their schedule.
 *
 * <p>Every call of {@link #offsets()} draws the same sequence again, so that a schedule can be
 * counted, printed and run without being kept.
 */
public sealed interface Arrivals extends Serializable {

  /** Planned arrivals in nanoseconds, ascending, drawn one by one; may be endless. */
  PrimitiveIterator.OfLong offsets();

  /** The arrivals before {@code untilNanos}. */
  default PrimitiveIterator.OfLong offsetsBefore(long untilNanos) {
    return Offsets.head(offsets(), untilNanos, 0, Long.MAX_VALUE);
  }

  /** Number of arrivals before {@code untilNanos}; it draws them all. */
  default long countBefore(long untilNanos) {
    long count = 0;
    for (PrimitiveIterator.OfLong it = offsetsBefore(untilNanos); it.hasNext(); it.nextLong()) {
      count++;
    }
    return count;
  }

  /**
   * A Poisson process: gaps are independent and exponentially distributed, {@code −ln(1 − u) /
   * rate}, so that the number of arrivals in a window varies as real traffic's does (variance =
   * mean). Gatling's {@code randomized()} fixes that number instead.
   *
   * @param perSecond mean rate, above 0
   * @param seed the same seed draws the same schedule
   */
  record Poisson(double perSecond, long seed) implements Arrivals {
    public Poisson {
      requireRate(perSecond);
    }

    @Override
    public PrimitiveIterator.OfLong offsets() {
      SplittableRandom random = new SplittableRandom(seed);
      double meanGapNanos = 1e9 / perSecond;
      return Offsets.endless(
          new LongSupplier() {
            private long at;

            @Override
            public long getAsLong() {
              at += Math.round(-Math.log1p(-random.nextDouble()) * meanGapNanos);
              return at;
            }
          });
    }
  }

  /**
   * Evenly spaced arrivals, the first at 0.
   *
   * @param perSecond rate, above 0
   */
  record Constant(double perSecond) implements Arrivals {
    public Constant {
      requireRate(perSecond);
    }

    @Override
    public PrimitiveIterator.OfLong offsets() {
      return Offsets.endless(
          new LongSupplier() {
            private long index;

            @Override
            public long getAsLong() {
              // From the index each time: adding a rounded gap would drift.
              return Math.round(index++ * 1e9 / perSecond);
            }
          });
    }
  }

  /**
   * A rate that can be offered.
   *
   * @throws IllegalArgumentException unless it is above 0 and at most a million per second
   */
  static double requireRate(double perSecond) {
    if (perSecond > 0 && perSecond <= 1e6) {
      return perSecond;
    }
    throw new IllegalArgumentException(
        "Rate " + perSecond + " is no load; expected users per second above 0, at most 1000000");
  }
}
