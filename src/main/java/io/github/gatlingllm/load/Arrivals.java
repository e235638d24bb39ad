package io.github.gatlingllm.load;

import io.github.gatlingllm.figures.metric.NumberText;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.DoubleStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.statistics.distribution.ContinuousDistribution;
import org.apache.commons.statistics.distribution.GammaDistribution;
import org.jspecify.annotations.Nullable;

/** When virtual users arrive, in nanoseconds; each {@link #offsets()} is the same sequence. */
public sealed interface Arrivals permits Arrivals.Steady, VaryingRate, Trace {

  /** Users per second that can be offered. */
  double MAX_PER_SECOND = 1e6;

  /** Arrivals in nanoseconds, unbounded and in order: a curve continues at its last rate. */
  LongStream offsets();

  /** Its length in nanoseconds; {@link Long#MAX_VALUE} for a process without end. */
  default long lengthNanos() {
    return Long.MAX_VALUE;
  }

  /** Null for replayed traffic. */
  default @Nullable Gaps gaps() {
    return null;
  }

  /** The same rate with other interarrival times; replayed traffic does not change. */
  Arrivals with(Gaps gaps);

  /** Token counts of the request of that arrival, from index 0; null unless it is replayed. */
  default @Nullable Lengths lengths(int index) {
    return null;
  }

  default LongStream offsetsBefore(long untilNanos) {
    return offsets().takeWhile(offset -> offset < untilNanos);
  }

  /** Number of arrivals before {@code untilNanos}; draws them all. */
  default long countBefore(long untilNanos) {
    return offsetsBefore(untilNanos).count();
  }

  /** All arrivals, with the token counts of replayed requests. */
  default Stream<Planned> planned() {
    AtomicInteger next = new AtomicInteger();
    return offsets()
        .mapToObj(
            offset -> {
              int index = next.getAndIncrement();
              return new Planned(index, offset, lengths(index));
            });
  }

  default Stream<Planned> plannedBefore(long untilNanos) {
    return planned().takeWhile(arrival -> arrival.offsetNanos() < untilNanos);
  }

  /** The arrivals before {@code fromNanos}, and the next {@code count} from there on. */
  default Stream<Planned> plannedUntil(long fromNanos, long count) {
    AtomicLong remaining = new AtomicLong(count);
    return planned()
        .takeWhile(
            arrival ->
                remaining.get() > 0
                    && (arrival.offsetNanos() < fromNanos || remaining.getAndDecrement() > 0));
  }

  record Planned(long index, long offsetNanos, @Nullable Lengths lengths) {}

  /** Token counts of a recorded request, for the prompt and answer of the replayed one. */
  record Lengths(@Nullable Integer input, @Nullable Integer output) {
    /** Session attribute of a replayed user: tokens of the prompt, an {@code Integer}. */
    public static final String INPUT_KEY = "inputTokens";

    /** Session attribute of a replayed user: tokens to generate, an {@code Integer}. */
    public static final String OUTPUT_KEY = "outputTokens";
  }

  static Arrivals poisson(double perSecond, long seed) {
    return new Steady(perSecond, Gaps.poisson(seed));
  }

  /** Evenly spaced arrivals, the first at 0. */
  static Arrivals constant(double perSecond) {
    return new Steady(perSecond, Gaps.EQUAL);
  }

  static Arrivals gamma(double perSecond, double cv, long seed) {
    return new Steady(perSecond, Gaps.gamma(cv, seed));
  }

  /** Arrivals at a constant mean rate, from an arbitrary instant on; with equal gaps from 0. */
  record Steady(double perSecond, Gaps gaps) implements Arrivals {
    public Steady {
      requireRate(perSecond);
    }

    @Override
    public LongStream offsets() {
      if (gaps.isEqual()) {
        // From the index each time: adding a rounded gap would drift.
        return LongStream.iterate(0, index -> index + 1)
            .map(index -> Math.round(index * 1e9 / perSecond));
      }
      DoubleSupplier draws = gaps.draws();
      LongSupplier gapNanos = () -> Math.round(draws.getAsDouble() * (1e9 / perSecond));
      return LongStream.iterate(gapNanos.getAsLong(), at -> at + gapNanos.getAsLong());
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

  /** The unit of time stamps that are plain numbers. */
  enum StampUnit {
    S("seconds", 1e9, 1e9),
    MS("milliseconds", 1e6, 1e11),
    US("microseconds", 1e3, 1e14),
    NS("nanoseconds", 1, 1e17);

    /** A mean gap between requests that is too short, or too long, to be one. */
    private static final double SHORT_MILLIS = 10;

    private static final double SHORT_FRACTION_MILLIS = 100;
    private static final double LONG_SECONDS = 100;

    private static final Pattern SUFFIX = Pattern.compile("(.+)@1(s|ms|us|ns)");

    private final String words;
    public final double nanos;

    /** Smaller time stamps are not of our days, counted from 1970. */
    private final double epoch;

    StampUnit(String words, double nanos, double epoch) {
      this.words = words;
      this.nanos = nanos;
      this.epoch = epoch;
    }

    /** The unit that follows the name of a file; null without. */
    public static @Nullable StampUnit after(String location) {
      Matcher set = SUFFIX.matcher(location);
      return set.matches() ? valueOf(set.group(2).toUpperCase(Locale.ROOT)) : null;
    }

    public static String file(String location) {
      Matcher set = SUFFIX.matcher(location);
      return set.matches() ? set.group(1) : location;
    }

    @Override
    public String toString() {
      return words;
    }
  }

  /** What numbers look like: seen in all lines, so that the first does not decide alone. */
  public static final class Seen {
    private double min = Double.POSITIVE_INFINITY;
    private double max = Double.NEGATIVE_INFINITY;
    private long count;
    private boolean hasFractions;

    public void add(double stamp) {
      min = Math.min(min, stamp);
      max = Math.max(max, stamp);
      hasFractions |= stamp != Math.rint(stamp);
      count++;
    }

    public boolean isEmpty() {
      return count == 0;
    }

    /**
     * Since 1970 by their size; else that of their format, unless the mean gap contradicts it:
     * integer seconds of 100 s and more are milliseconds; milliseconds of less than 10, or with
     * fractions less than 100, are seconds.
     */
    public StampUnit unit(StampUnit ofFormat) {
      double gap = count < 2 ? 0 : (max - min) / (count - 1);
      for (StampUnit unit : List.of(StampUnit.NS, StampUnit.US, StampUnit.MS, StampUnit.S)) {
        if (min >= unit.epoch) {
          return unit;
        }
      }
      double tooShort = hasFractions ? StampUnit.SHORT_FRACTION_MILLIS : StampUnit.SHORT_MILLIS;
      if (gap > 0 && ofFormat == StampUnit.MS && gap < tooShort) {
        return StampUnit.S;
      }
      return ofFormat == StampUnit.S && !hasFractions && gap >= StampUnit.LONG_SECONDS
          ? StampUnit.MS
          : ofFormat;
    }
  }

  /**
   * Interarrival times in units of their mean, independent and gamma-distributed with shape 1 /
   * cv²: evenly spaced with a cv of 0, a Poisson process with 1, burstier above. But for these two
   * the first gap is the remainder of one that began before the start, (1 + cv²) / 2 on average, so
   * bursty traffic may begin with a long pause.
   */
  record Gaps(double cv, long seed) {

    /** Constant; the first arrival is at the start. */
    public static final Gaps EQUAL = new Gaps(0, 0);

    public static Gaps poisson(long seed) {
      return new Gaps(1, seed);
    }

    public static Gaps gamma(double cv, long seed) {
      if (!(cv > 0 && cv <= 100)) {
        throw new IllegalArgumentException(
            "cv(" + cv + ") is not valid; expected above 0, at most 100; 1 is Poisson");
      }
      return new Gaps(cv, seed);
    }

    public boolean isEqual() {
      return cv == 0;
    }

    public boolean isPoisson() {
      return cv == 1;
    }

    /** Supplies the gaps in order, the same for each call. */
    DoubleSupplier draws() {
      if (isEqual()) {
        return startingWith(0, () -> 1);
      }
      SplittableRandom bits = new SplittableRandom(seed);
      if (isPoisson()) {
        return () -> -Math.log1p(-bits.nextDouble());
      }
      UniformRandomProvider random = bits::nextLong;
      double shape = 1 / (cv * cv);
      // A uniform share of the gap around an arbitrary instant, whose length is distributed as
      // X(shape + 1) (Cox, "Renewal Theory", 1962).
      double first = random.nextDouble() * gamma(shape + 1, 1 / shape, random).sample();
      return startingWith(first, gamma(shape, 1 / shape, random)::sample);
    }

    private static DoubleSupplier startingWith(double first, DoubleSupplier others) {
      return DoubleStream.concat(DoubleStream.of(first), DoubleStream.generate(others)).iterator()
          ::nextDouble;
    }

    private static ContinuousDistribution.Sampler gamma(
        double shape, double scale, UniformRandomProvider random) {
      return GammaDistribution.of(shape, scale).createSampler(random);
    }

    public Gaps withSeed(long other) {
      return isEqual() ? this : new Gaps(cv, other);
    }

    @Override
    public String toString() {
      return isEqual()
          ? "evenly spaced"
          : (isPoisson() ? "Poisson" : "gamma with cv " + NumberText.plain(cv))
              + " (seed "
              + seed
              + ")";
    }
  }

  static double requireRate(double perSecond) {
    if (perSecond > 0 && perSecond <= MAX_PER_SECOND) {
      return perSecond;
    }
    throw new IllegalArgumentException(
        "Rate "
            + perSecond
            + " is out of range; expected users per second above 0, at most 1,000,000");
  }
}
