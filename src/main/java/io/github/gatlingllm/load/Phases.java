package io.github.gatlingllm.load;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How long each phase of a level lasts. The measure phase is bounded by time or by a number of
 * iterations.
 *
 * @param fillNanos users start one after the other over this time; 0 = all at once
 * @param stabilizeNanos wait before measuring
 * @param measureNanos length of the measure phase; 0 where {@code requests} bounds it
 * @param drainNanos at most so long may pending iterations go on once nothing new starts
 * @param requests iterations started in the measure phase, shared by all users; null = {@code
 *     measureNanos} bounds it. The phase ends when the last of them ended
 */
public record Phases(
    long fillNanos,
    long stabilizeNanos,
    long measureNanos,
    long drainNanos,
    @Nullable Integer requests) {

  /** At once, no wait, 30 s of measuring, at most 30 s of drain. */
  public static final Phases DEFAULT =
      new Phases(0, 0, TimeUnit.SECONDS.toNanos(30), TimeUnit.SECONDS.toNanos(30), null);

  public Phases {
    notNegative("fill", fillNanos);
    notNegative("stabilize", stabilizeNanos);
    notNegative("drain", drainNanos);
    if (requests == null && measureNanos <= 0) {
      throw new IllegalArgumentException(
          "measure(" + seconds(measureNanos) + ") measures nothing; expected more than 0 s");
    }
    if (requests != null && (requests <= 0 || measureNanos != 0)) {
      throw new IllegalArgumentException(
          "requests(" + requests + ") measures nothing; expected 1 or more, instead of measure");
    }
  }

  /**
   * Nanoseconds of fill, stabilize and measure; null where a number of iterations bounds these. The
   * drain phase is not planned: it lasts as long as what still runs.
   */
  public @Nullable Long plannedNanos() {
    return requests == null ? (Long) (fillNanos + stabilizeNanos + measureNanos) : null;
  }

  private static void notNegative(String name, long nanos) {
    if (nanos < 0) {
      throw new IllegalArgumentException(
          name + "(" + seconds(nanos) + ") is no duration; expected 0 s or more");
    }
  }

  private static String seconds(long nanos) {
    return nanos / 1e9 + " s";
  }

  public Phases withFill(long nanos) {
    return new Phases(nanos, stabilizeNanos, measureNanos, drainNanos, requests);
  }

  public Phases withStabilize(long nanos) {
    return new Phases(fillNanos, nanos, measureNanos, drainNanos, requests);
  }

  /** Bounded by time; forgets a number of requests given before. */
  public Phases withMeasure(long nanos) {
    return new Phases(fillNanos, stabilizeNanos, nanos, drainNanos, null);
  }

  public Phases withDrain(long nanos) {
    return new Phases(fillNanos, stabilizeNanos, measureNanos, nanos, requests);
  }

  /** Bounded by number; forgets a duration given before. */
  public Phases withRequests(int count) {
    return new Phases(fillNanos, stabilizeNanos, 0, drainNanos, count);
  }
}
