package io.github.gatlingllm.load;

import io.github.gatlingllm.figures.metric.NumberText;
import java.io.Serializable;
import java.util.Iterator;
import java.util.PrimitiveIterator;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.DoubleSupplier;
import java.util.function.LongPredicate;
import java.util.stream.DoubleStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.statistics.distribution.ContinuousDistribution;
import org.apache.commons.statistics.distribution.GammaDistribution;
import org.jspecify.annotations.Nullable;

/**
 * An arrival process: when virtual users arrive, in nanoseconds since the start of their schedule.
 *
 * <p>Every call of {@link #offsets()} draws the same sequence again, so that a schedule can be
 * counted, printed and run without being kept.
 */
public sealed interface Arrivals extends Serializable {

  /** Users per second that can be offered. */
  double MAX_PER_SECOND = 1e6;

  /** Arrivals in nanoseconds, unbounded: a curve keeps its last rate, a replay starts again. */
  PrimitiveIterator.OfLong offsets();

  /** Its length in nanoseconds; {@link Long#MAX_VALUE} for a process without end. */
  default long lengthNanos() {
    return Long.MAX_VALUE;
  }

  /** The same rate with other interarrival times; replayed traffic does not change. */
  Arrivals with(Gaps gaps);

  /** Token counts of the request of that arrival, from index 0; null unless it is replayed. */
  default Trace.@Nullable Lengths lengths(int index) {
    return null;
  }

  default PrimitiveIterator.OfLong offsetsBefore(long untilNanos) {
    return stream(offset -> offset < untilNanos).iterator();
  }

  /** The arrivals before {@code untilNanos}, with the token counts of replayed requests. */
  default Iterator<Planned> plannedBefore(long untilNanos) {
    return planned(offset -> offset < untilNanos);
  }

  /** The arrivals before {@code fromNanos}, and the next {@code count} from there on. */
  default Iterator<Planned> plannedUntil(long fromNanos, long count) {
    AtomicLong left = new AtomicLong(count);
    return planned(offset -> left.get() > 0 && (offset < fromNanos || left.getAndDecrement() > 0));
  }

  /** Number of arrivals before {@code untilNanos}; draws them all. */
  default long countBefore(long untilNanos) {
    return stream(offset -> offset < untilNanos).count();
  }

  private LongStream stream(LongPredicate takenWhile) {
    return streamOf(offsets()).takeWhile(takenWhile);
  }

  static <T> Stream<T> streamOf(Iterator<T> each) {
    return StreamSupport.stream(
        Spliterators.spliteratorUnknownSize(each, Spliterator.ORDERED), false);
  }

  private static LongStream streamOf(PrimitiveIterator.OfLong offsets) {
    return StreamSupport.longStream(
        Spliterators.spliteratorUnknownSize(offsets, Spliterator.ORDERED), false);
  }

  private Iterator<Planned> planned(LongPredicate takenWhile) {
    AtomicInteger next = new AtomicInteger();
    return stream(takenWhile)
        .mapToObj(
            offset -> {
              int index = next.getAndIncrement();
              return new Planned(index, offset, lengths(index));
            })
        .iterator();
  }

  record Planned(long index, long offsetNanos, Trace.@Nullable Lengths lengths) {}

  static Arrivals poisson(double perSecond, long seed) {
    return new Steady(perSecond, new Gaps.Exponential(seed));
  }

  /** Evenly spaced arrivals, the first at 0. */
  static Arrivals constant(double perSecond) {
    return new Steady(perSecond, new Gaps.Equal());
  }

  static Arrivals gamma(double perSecond, double cv, long seed) {
    return new Steady(perSecond, new Gaps.Gamma(cv, seed));
  }

  /**
   * Arrivals at a constant mean rate: with exponential gaps a Poisson process, whose number in a
   * window varies as real traffic's does. It starts at an arbitrary instant, so that the expected
   * number in any window is rate × time; with equal gaps the first is at 0.
   */
  record Steady(double perSecond, Gaps gaps) implements Arrivals {
    public Steady {
      requireRate(perSecond);
    }

    @Override
    public PrimitiveIterator.OfLong offsets() {
      if (gaps instanceof Gaps.Equal) {
        // From the index each time: adding a rounded gap would drift.
        return LongStream.iterate(0, index -> index + 1)
            .map(index -> Math.round(index * 1e9 / perSecond))
            .iterator();
      }
      DoubleSupplier draws = gaps.draws();
      double meanGapNanos = 1e9 / perSecond;
      AtomicLong at = new AtomicLong();
      return LongStream.generate(() -> at.addAndGet(Math.round(draws.getAsDouble() * meanGapNanos)))
          .iterator();
    }

    @Override
    public Steady with(Gaps others) {
      return new Steady(perSecond, others);
    }

    @Override
    public String toString() {
      return gaps + " at " + NumberText.of(NumberText.plain(perSecond), "users/s");
    }
  }

  /** Arrivals at a changing rate, see {@link TimeRescaling}; with exponential gaps Poisson. */
  record Curve(Rate rate, long lengthNanos, Gaps gaps) implements Arrivals {
    @Override
    public PrimitiveIterator.OfLong offsets() {
      LongStream planned = streamOf(new TimeRescaling(rate, lengthNanos, gaps.draws()));
      double last = rate.perSecondAt(lengthNanos);
      return last > 0 && last <= MAX_PER_SECOND
          ? LongStream.concat(planned, held(last).map(offset -> lengthNanos + offset)).iterator()
          : planned.iterator();
    }

    private LongStream held(double perSecond) {
      return streamOf(new Steady(perSecond, gaps.withSeed(lengthNanos)).offsets());
    }

    @Override
    public Curve with(Gaps others) {
      return new Curve(rate, lengthNanos, others);
    }

    @Override
    public String toString() {
      return gaps + " along a rate curve";
    }
  }

  @FunctionalInterface
  interface Rate extends Serializable {

    /** Users per second, 0 or more, {@code nanos} nanoseconds after the start. */
    double perSecondAt(long nanos);
  }

  record Replay(Trace trace, double speed) implements Arrivals {
    public Replay {
      if (!(speed > 0 && speed <= 1e6)) {
        throw new IllegalArgumentException(
            "Speed " + speed + " replays nothing; expected a factor above 0, at most 1,000,000");
      }
    }

    @Override
    public PrimitiveIterator.OfLong offsets() {
      return LongStream.iterate(0, index -> index + 1)
          .map(
              index ->
                  index / trace.size() * lengthNanos()
                      + Math.round(trace.offsetNanos((int) (index % trace.size())) / speed))
          .iterator();
    }

    @Override
    public Replay with(Gaps gaps) {
      return this;
    }

    @Override
    public Trace.@Nullable Lengths lengths(int index) {
      return trace.lengths(index % trace.size());
    }

    @Override
    public String toString() {
      return "replay of "
          + trace
          + (speed == 1 ? "" : ", " + NumberText.plain(speed) + " times as fast");
    }

    @Override
    public long lengthNanos() {
      return Math.max(1, Math.round(trace.lengthNanos() / speed));
    }
  }

  /** Interarrival times in units of their mean: their mean is 1. */
  sealed interface Gaps extends Serializable {

    /** Supplies the gaps in order, the same for each call. */
    DoubleSupplier draws();

    Gaps withSeed(long seed);

    private static DoubleSupplier startingWith(double first, DoubleSupplier others) {
      return DoubleStream.concat(DoubleStream.of(first), DoubleStream.generate(others)).iterator()
          ::nextDouble;
    }

    /** Constant; the first arrival is at the start. */
    record Equal() implements Gaps {
      @Override
      public DoubleSupplier draws() {
        return startingWith(0, () -> 1);
      }

      @Override
      public Gaps withSeed(long seed) {
        return this;
      }

      @Override
      public String toString() {
        return "evenly spaced";
      }
    }

    /** Independent and exponentially distributed, {@code −ln(1 − u)}: a Poisson process. */
    record Exponential(long seed) implements Gaps {
      @Override
      public DoubleSupplier draws() {
        SplittableRandom random = new SplittableRandom(seed);
        return () -> -Math.log1p(-random.nextDouble());
      }

      @Override
      public Gaps withSeed(long other) {
        return new Exponential(other);
      }

      @Override
      public String toString() {
        return "Poisson (seed " + seed + ")";
      }
    }

    /**
     * Independent and gamma-distributed with shape 1 / cv²: burstier than Poisson traffic for
     * {@code cv} above 1, more even below. A cv of 1 gives exactly the gaps of {@link Exponential}.
     * The first gap is the remainder of one that began before the start, (1 + cv²) / 2 on average,
     * so bursty traffic may begin with a long pause.
     */
    record Gamma(double cv, long seed) implements Gaps {
      public Gamma {
        if (!(cv > 0 && cv <= 100)) {
          throw new IllegalArgumentException(
              "cv(" + cv + ") is no spread of gaps; expected above 0, at most 100; 1 is Poisson");
        }
      }

      @Override
      public DoubleSupplier draws() {
        if (cv == 1) {
          return new Exponential(seed).draws();
        }
        UniformRandomProvider random = new SplittableRandom(seed)::nextLong;
        double shape = 1 / (cv * cv);
        // A uniform share of the gap around an arbitrary instant, whose length is distributed as
        // X(shape + 1) (Cox, "Renewal Theory", 1962).
        double first = random.nextDouble() * gamma(shape + 1, 1 / shape, random).sample();
        return startingWith(first, gamma(shape, 1 / shape, random)::sample);
      }

      private static ContinuousDistribution.Sampler gamma(
          double shape, double scale, UniformRandomProvider random) {
        return GammaDistribution.of(shape, scale).createSampler(random);
      }

      @Override
      public Gaps withSeed(long other) {
        return new Gamma(cv, other);
      }

      @Override
      public String toString() {
        return "gamma with cv " + NumberText.plain(cv) + " (seed " + seed + ")";
      }
    }
  }

  static double requireRate(double perSecond) {
    if (perSecond > 0 && perSecond <= MAX_PER_SECOND) {
      return perSecond;
    }
    throw new IllegalArgumentException(
        "Rate " + perSecond + " is no load; expected users per second above 0, at most 1,000,000");
  }
}
