package io.github.gatlingllm.load;

import java.util.function.DoubleSupplier;
import java.util.function.LongToDoubleFunction;
import java.util.stream.LongStream;

/**
 * Arrivals at a changing rate; with exponential gaps Poisson.
 *
 * @param rate users per second, 0 or more, by nanoseconds after the start
 */
public record VaryingRate(LongToDoubleFunction rate, long lengthNanos, Gaps gaps)
    implements Arrivals {
  @Override
  public LongStream offsets() {
    LongStream planned = new TimeRescaling(rate, lengthNanos, gaps.draws()).offsets();
    double last = rate.applyAsDouble(lengthNanos);
    return last > 0 && last <= MAX_PER_SECOND
        ? LongStream.concat(
            planned,
            new Steady(last, gaps.withSeed(gaps.seed() + lengthNanos))
                .offsets()
                .map(offset -> lengthNanos + offset))
        : planned;
  }

  @Override
  public VaryingRate with(Gaps others) {
    return new VaryingRate(rate, lengthNanos, others);
  }

  @Override
  public String toString() {
    return gaps + " along a rate curve";
  }

  /**
   * An arrival is the instant at which the integral of the rate, sampled every 10 ms and
   * interpolated linearly, reaches the sum of gaps with mean 1. The expected number differs from
   * the curve's own by at most max|rate''| · (10 ms)² / 12 per second.
   */
  private static final class TimeRescaling {
    private static final long STEP_NANOS = 10_000_000L;

    /** In users; because of rounding, an arrival this close to the end of a step is in the next. */
    private static final double ROUNDING = 1e-9;

    private final LongToDoubleFunction rate;
    private final long lengthNanos;
    private final DoubleSupplier gaps;

    private long stepStart;
    private long stepNanos;
    private double from;
    private double to;
    private double area;

    /** Integral of the rate from the start of the step to the next arrival. */
    private double remaining;

    TimeRescaling(LongToDoubleFunction rate, long lengthNanos, DoubleSupplier gaps) {
      this.rate = rate;
      this.lengthNanos = lengthNanos;
      this.gaps = gaps;
      this.to = at(0);
      enter(0);
      this.remaining = gaps.getAsDouble();
    }

    LongStream offsets() {
      return LongStream.iterate(next(), offset -> offset >= 0, offset -> next());
    }

    /** The next arrival; negative after the end. */
    private long next() {
      while (remaining >= area - ROUNDING) {
        if (stepStart + stepNanos >= lengthNanos) {
          return -1;
        }
        remaining -= area;
        enter(stepStart + stepNanos);
      }
      // The smaller root of from·x + slope·x²/2 = remaining, in the form without cancellation.
      double slope = (to - from) / (stepNanos / 1e9);
      double reach = Math.max(0, remaining);
      double root = from + Math.sqrt(Math.max(0, from * from + 2 * slope * reach));
      double seconds = reach == 0 ? 0 : 2 * reach / root;
      remaining += gaps.getAsDouble();
      return Math.min(lengthNanos - 1, stepStart + Math.min(stepNanos, Math.round(seconds * 1e9)));
    }

    private void enter(long start) {
      stepStart = start;
      stepNanos = Math.min(STEP_NANOS, lengthNanos - start);
      from = to;
      to = at(start + stepNanos);
      area = (from + to) / 2 * (stepNanos / 1e9);
    }

    private double at(long nanos) {
      double perSecond = rate.applyAsDouble(nanos);
      if (perSecond >= 0 && perSecond <= 1e6) {
        return perSecond;
      }
      throw new IllegalArgumentException(
          "The rate curve is %s at %s s; expected users per second of 0 or more, at most 1,000,000"
              .formatted(perSecond, nanos / 1e9));
    }
  }
}
