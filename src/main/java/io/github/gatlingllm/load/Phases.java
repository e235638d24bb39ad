package io.github.gatlingllm.load;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How long each phase of a level lasts. The measure phase is bounded by time, by a number of
 * iterations, or by both: whichever comes first. {@link RunningLevel} says when the phases end that
 * are automatic.
 *
 * <p>A level makes automatic phases 0 where it has no use for them: all where a number of
 * iterations bounds it, as that number is exact and nothing is sent beside it; filling of open
 * levels and of a single user; stabilizing of rate curves and traces, which are measured from their
 * first arrival.
 *
 * @param fillNanos users start one after the other over this time; 0 = all at once; null =
 *     automatic
 * @param stabilizeNanos wait before measuring; null = automatic
 * @param measureNanos length of the measure phase; 0 where only {@code requests} bounds it
 * @param cooldown whether the load stays on after the measure phase, unmeasured, until the requests
 *     scheduled in it have ended; never where {@code requests} bounds it
 * @param drainNanos at most so long may requests of the measure phase go on after its end, and
 *     pending iterations once nothing new starts
 * @param requests iterations started in the measure phase, shared by all users; null = {@code
 *     measureNanos} bounds it. The phase ends when the last of them ended. 0 only as the part of
 *     one of several injectors
 */
public record Phases(
    @Nullable Long fillNanos,
    @Nullable Long stabilizeNanos,
    long measureNanos,
    boolean cooldown,
    long drainNanos,
    @Nullable Integer requests) {

  /** All automatic, 30 s of measuring, at most 30 s of drain. */
  public static final Phases DEFAULT =
      new Phases(
          null, null, TimeUnit.SECONDS.toNanos(30), true, TimeUnit.SECONDS.toNanos(30), null);

  /** Automatic phases before measuring take this long at least, if they need to. */
  private static final long LEAST_BOUND = TimeUnit.SECONDS.toNanos(5);

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

  /** Phases of which none is automatic, without cooldown. */
  public Phases(
      long fillNanos,
      long stabilizeNanos,
      long measureNanos,
      long drainNanos,
      @Nullable Integer requests) {
    this(fillNanos, stabilizeNanos, measureNanos, false, drainNanos, requests);
  }

  /**
   * Nanoseconds of fill, stabilize and measure, those of automatic phases excepted; null where a
   * number of iterations bounds these. Neither cooldown nor drain is planned: they last as long as
   * what still runs.
   */
  public @Nullable Long plannedNanos() {
    return isTimed() ? (Long) knownNanos() : null;
  }

  /** Whether time bounds the measure phase, alone or beside a number of iterations. */
  public boolean isTimed() {
    return measureNanos > 0;
  }

  long knownNanos() {
    return orZero(fillNanos) + orZero(stabilizeNanos) + measureNanos;
  }

  /** Whether it shows only while it runs when measuring starts. */
  public boolean isAutomatic() {
    return fillNanos == null || stabilizeNanos == null;
  }

  /**
   * The longest that automatic phases may put off measuring: as long as what is measured, at least
   * 5 s.
   */
  public long boundNanos() {
    return isAutomatic() ? Math.max(LEAST_BOUND, measureNanos) : 0;
  }

  /**
   * The longest that fill, stabilize, measure, cooldown and drain take; without a bound by number.
   */
  public long longestNanos() {
    return knownNanos() + boundNanos() + (cooldown ? 2 : 1) * drainNanos;
  }

  /**
   * The same where nothing is automatic, so that several injectors, none of which knows when the
   * others have settled, measure at the same time: at the latest instant that automatic phases
   * have, filled in its first quarter.
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
    return nanos / 1e9 + " s";
  }

  public Phases withFill(long nanos) {
    return new Phases(nanos, stabilizeNanos, measureNanos, cooldown, drainNanos, requests);
  }

  public Phases withStabilize(long nanos) {
    return new Phases(fillNanos, nanos, measureNanos, cooldown, drainNanos, requests);
  }

  /** Bounded by time; forgets a number of requests given before. */
  public Phases withMeasure(long nanos) {
    return new Phases(fillNanos, stabilizeNanos, nanos, cooldown, drainNanos, null);
  }

  public Phases withCooldown(boolean on) {
    return new Phases(fillNanos, stabilizeNanos, measureNanos, on, drainNanos, requests);
  }

  public Phases withDrain(long nanos) {
    return new Phases(fillNanos, stabilizeNanos, measureNanos, cooldown, nanos, requests);
  }

  /** Bounded by number; forgets a duration given before. */
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
