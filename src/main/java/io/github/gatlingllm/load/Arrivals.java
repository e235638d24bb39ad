package io.github.gatlingllm.load;

import java.io.Serializable;
import java.util.Iterator;
import java.util.PrimitiveIterator;
import java.util.SplittableRandom;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * An arrival process: when virtual users arrive, in nanoseconds since the start of their schedule.
 *
 * <p>Every call of {@link #offsets()} draws the same sequence again, so that a schedule can be
 * counted, printed and run without being kept.
 */
public sealed interface Arrivals extends Serializable {

  /** Planned arrivals in nanoseconds, ascending, drawn one by one; may be endless. */
  PrimitiveIterator.OfLong offsets();

  /** What is known of the request of that arrival, from 0; null for all but replayed ones. */
  default @Nullable TokenLengths lengths(int index) {
    return null;
  }

  /** The arrivals before {@code untilNanos}, with what is known of each. */
  default Iterator<Planned> plannedBefore(long untilNanos) {
    return Planned.of(this, offsetsBefore(untilNanos));
  }

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
   * A renewal process with gamma-distributed gaps: bursts and lulls where {@code cv} is above 1,
   * evener than Poisson where it is below. It starts as if an arrival had just been.
   *
   * @param perSecond mean rate, above 0
   * @param cv coefficient of variation of the gaps, above 0, at most 100; 1 is Poisson
   * @param seed the same seed draws the same schedule
   */
  record Gamma(double perSecond, double cv, long seed) implements Arrivals {
    public Gamma {
      requireRate(perSecond);
      Gaps.requireCv(cv);
    }

    @Override
    public PrimitiveIterator.OfLong offsets() {
      DoubleSupplier gaps = new Gaps.Gamma(cv, seed).draws();
      double meanGapNanos = 1e9 / perSecond;
      return Offsets.endless(
          new LongSupplier() {
            private long at;

            @Override
            public long getAsLong() {
              at += Math.round(gaps.getAsDouble() * meanGapNanos);
              return at;
            }
          });
    }
  }

  /**
   * Arrivals at a rate that changes with time: with exponential gaps a non-homogeneous Poisson
   * process. {@link TimeRescaling} says how and how exactly.
   *
   * @param rate users per second at each instant; read every 10 ms
   * @param lengthNanos the curve ends here
   * @param gaps how arrivals are spread around the rate
   */
  record Curve(RateFunction rate, long lengthNanos, Gaps gaps) implements Arrivals {
    @Override
    public PrimitiveIterator.OfLong offsets() {
      return new TimeRescaling(rate, lengthNanos, gaps.draws());
    }

    @Override
    public String toString() {
      return "Curve[" + gaps + "]";
    }
  }

  /**
   * The arrivals of recorded traffic.
   *
   * @param speed 2 replays it twice as fast; above 0
   */
  record Replay(Trace trace, double speed) implements Arrivals {
    public Replay {
      if (!(speed > 0 && speed <= 1e6)) {
        throw new IllegalArgumentException(
            "Speed " + speed + " replays nothing; expected a factor above 0, at most 1000000");
      }
    }

    @Override
    public PrimitiveIterator.OfLong offsets() {
      return IntStream.range(0, trace.size())
          .mapToLong(i -> Math.round(trace.offsetNanos(i) / speed))
          .iterator();
    }

    @Override
    public @Nullable TokenLengths lengths(int index) {
      return trace.lengths(index);
    }

    /** How long the replay lasts. */
    public long lengthNanos() {
      return Math.max(1, Math.round(trace.lengthNanos() / speed));
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
