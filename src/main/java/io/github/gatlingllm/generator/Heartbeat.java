package io.github.gatlingllm.generator;

import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * A task that an event loop is to run every {@link #PERIOD_NANOS}, and how late it does: as late is
 * what is ready to be read meanwhile. Beats are due at fixed instants, and those that a blocked
 * loop missed run once it goes on, each as late as it is; so a share of beats is a share of time.
 *
 * <p>The loop beats, one other thread reads. A beat takes no lock and makes no object.
 */
final class Heartbeat implements Runnable {

  static final long PERIOD_NANOS = 20_000_000;

  /** Beats that are kept until they are read: 20 s. */
  private static final int KEPT = 1_024;

  private final LongSupplier clock;
  private final long firstNanos;
  private final AtomicIntegerArray lateMicros = new AtomicIntegerArray(KEPT);
  private final AtomicLong beats = new AtomicLong();

  /**
   * A heart needs no more time from its first instant until its loop has it: what it takes, every
   * beat would seem to be late.
   */
  private static final long EXACT_NANOS = 500_000;

  private static final int MOST_STARTS = 50;

  /** Beats that were read, and those that were counted, some of them when they were overdue. */
  private long read;

  private long counted;

  /**
   * A heartbeat.
   *
   * @param delayNanos from now to the first beat
   */
  Heartbeat(LongSupplier clock, long delayNanos) {
    this.clock = clock;
    firstNanos = clock.getAsLong() + delayNanos;
  }

  /** What a loop beats. */
  record Beating(Heartbeat heart, Future<?> beats) {}

  /**
   * Has a loop beat. Where the thread was held up between the two readings of the clock, the
   * heart's and the loop's, it starts again.
   *
   * @param delayNanos from now to the first beat
   * @param loop has it run at a fixed rate, first after that delay
   */
  static Beating start(
      LongSupplier clock, long delayNanos, Function<Heartbeat, ? extends Future<?>> loop) {
    for (int starts = 1; ; starts++) {
      Heartbeat heart = new Heartbeat(clock, delayNanos);
      Future<?> beats = loop.apply(heart);
      long took = clock.getAsLong() + delayNanos - heart.firstNanos;
      if (took <= EXACT_NANOS || starts == MOST_STARTS) {
        return new Beating(heart, beats);
      }
      var unused = beats.cancel(false);
    }
  }

  @Override
  public void run() {
    long beat = beats.getPlain();
    lateMicros.setPlain((int) (beat % KEPT), late(beat, clock.getAsLong()));
    beats.setRelease(beat + 1);
  }

  private int late(long beat, long now) {
    long micros = (now - firstNanos - beat * PERIOD_NANOS) / 1_000;
    return (int) Math.min(Integer.MAX_VALUE, Math.max(0, micros));
  }

  /** How late the beats were that were due since the call before, up to an instant. */
  Lateness take(long untilNanos) {
    Lateness lateness = new Lateness();
    long due = Math.max(read, -Math.floorDiv(firstNanos - untilNanos, PERIOD_NANOS));
    long ran = Math.min(due, beats.getAcquire());
    long now = clock.getAsLong();
    for (long beat = Math.max(read, ran - KEPT); beat < ran; beat++) {
      int micros = lateMicros.getPlain((int) (beat % KEPT));
      if (beat < counted) {
        lateness.atLeast(micros);
      } else {
        lateness.add(micros);
      }
    }
    read = ran;
    counted = Math.max(counted, ran);
    if (counted > ran) {
      lateness.atLeast(late(ran, now));
    }
    while (counted < due && late(counted, now) >= PERIOD_NANOS / 1_000) {
      lateness.add(late(counted, now));
      counted++;
    }
    return lateness;
  }
}
