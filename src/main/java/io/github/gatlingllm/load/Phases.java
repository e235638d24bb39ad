package io.github.gatlingllm.load;

import io.github.gatlingllm.figures.metric.NumberText;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The lengths of the phases of a level. The measure phase is bounded by time, by a number of
 * iterations, or by both, whichever is reached first. {@link Settling} decides when automatic
 * phases end.
 *
 * <p>A level sets automatic phases to 0 where they have no use: all phases if a number of
 * iterations bounds the level, because exactly that number is sent; fill of open levels and of a
 * single user; stabilize of rate curves and traces, which are measured from their first arrival.
 *
 * @param fillNanos time over which users start one after the other; 0 for all at once; null for
 *     automatic
 * @param stabilizeNanos time between fill and measure; null for automatic
 * @param measureNanos length of the measure phase; 0 if only {@code requests} bounds it
 * @param requests iterations to start in the measure phase, shared by all users; the phase ends
 *     when the last of them has ended; null if time alone bounds it. 0 only for a share of one of
 *     several injectors
 */
public record Phases(
    @Nullable Long fillNanos,
    @Nullable Long stabilizeNanos,
    long measureNanos,
    boolean cooldown,
    long drainNanos,
    @Nullable Integer requests) {

  /** Automatic fill and stabilize, 30 s of measure, cooldown, at most 30 s of drain. */
  public static final Phases DEFAULT =
      new Phases(
          null, null, TimeUnit.SECONDS.toNanos(30), true, TimeUnit.SECONDS.toNanos(30), null);

  private static final long MIN_BOUND = TimeUnit.SECONDS.toNanos(5);

  public Phases {
    notNegative("fill", fillNanos);
    notNegative("stabilize", stabilizeNanos);
    notNegative("drain", drainNanos);
    if (requests == null && measureNanos <= 0) {
      throw new IllegalArgumentException(
          "measure(" + seconds(measureNanos) + ") measures nothing; expected more than 0 s");
    }
    if (requests != null && (requests < 0 || measureNanos < 0)) {
      throw new IllegalArgumentException(
          "requests(" + requests + ") measures nothing; expected 1 or more");
    }
  }

  /** Fixed phases without cooldown. */
  public Phases(
      long fillNanos,
      long stabilizeNanos,
      long measureNanos,
      long drainNanos,
      @Nullable Integer requests) {
    this(fillNanos, stabilizeNanos, measureNanos, false, drainNanos, requests);
  }

  /**
   * Length of fill, stabilize and measure in nanoseconds, automatic phases excluded; null if only a
   * number of iterations bounds the measure phase. Cooldown and drain are not planned: they last as
   * long as requests are in flight.
   */
  public @Nullable Long plannedNanos() {
    return isTimed() ? (Long) knownNanos() : null;
  }

  /** Whether time bounds the measure phase, alone or together with a number of iterations. */
  public boolean isTimed() {
    return measureNanos > 0;
  }

  long knownNanos() {
    return orZero(fillNanos) + orZero(stabilizeNanos) + measureNanos;
  }

  /** Whether the start of measuring is determined while the level runs. */
  public boolean isAutomatic() {
    return fillNanos == null || stabilizeNanos == null;
  }

  /**
   * Longest time by which automatic phases delay measuring: the length of the measure phase, at
   * least 5 s; 0 without automatic phases.
   */
  long boundNanos() {
    return isAutomatic() ? Math.max(MIN_BOUND, measureNanos) : 0;
  }

  /** Longest possible duration of all phases together, for phases bounded by time. */
  public long longestNanos() {
    return knownNanos() + boundNanos() + (cooldown ? 2 : 1) * drainNanos;
  }

  /**
   * The same with automatic phases fixed at their longest, one quarter of it fill. Several
   * injectors use them to measure at the same time, as none knows when the others have settled.
   */
  Phases fixed() {
    long quarter = boundNanos() / 4;
    Phases filled = orFill(quarter);
    return filled.orStabilize(boundNanos() - (fillNanos == null ? quarter : 0));
  }

  Phases bounded() {
    return requests == null
        ? this
        : new Phases(orZero(fillNanos), orZero(stabilizeNanos), measureNanos, drainNanos, requests);
  }

  Phases orFill(long nanos) {
    return fillNanos == null ? withFill(nanos) : this;
  }

  Phases orStabilize(long nanos) {
    return stabilizeNanos == null ? withStabilize(nanos) : this;
  }

  private static long orZero(@Nullable Long nanos) {
    return nanos == null ? 0 : nanos;
  }

  private static void notNegative(String name, @Nullable Long nanos) {
    if (nanos != null && nanos < 0) {
      throw new IllegalArgumentException(
          name + "(" + seconds(nanos) + ") is no duration; expected 0 s or more");
    }
  }

  private static String seconds(long nanos) {
    return NumberText.plain(nanos / 1e9) + " s";
  }

  public Phases withFill(long nanos) {
    return new Phases(nanos, stabilizeNanos, measureNanos, cooldown, drainNanos, requests);
  }

  public Phases withStabilize(long nanos) {
    return new Phases(fillNanos, nanos, measureNanos, cooldown, drainNanos, requests);
  }

  /** Bounded by time; replaces a number of requests. */
  public Phases withMeasure(long nanos) {
    return new Phases(fillNanos, stabilizeNanos, nanos, cooldown, drainNanos, null);
  }

  public Phases withCooldown(boolean on) {
    return new Phases(fillNanos, stabilizeNanos, measureNanos, on, drainNanos, requests);
  }

  public Phases withDrain(long nanos) {
    return new Phases(fillNanos, stabilizeNanos, measureNanos, cooldown, nanos, requests);
  }

  /** Bounded by number; replaces a duration. */
  public Phases withRequests(int count) {
    return withRequests(count, 0);
  }

  /** Bounded by number and by time, whichever comes first. */
  public Phases withRequests(int count, long mostNanos) {
    if (count == 0) {
      throw new IllegalArgumentException("requests(0) measures nothing; expected 1 or more");
    }
    return counted(count, mostNanos);
  }

  Phases counted(int count, long mostNanos) {
    return new Phases(fillNanos, stabilizeNanos, mostNanos, cooldown, drainNanos, count);
  }
}
