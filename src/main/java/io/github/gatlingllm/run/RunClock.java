package io.github.gatlingllm.run;

import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;

/**
 * Turns monotonic time into epoch time by one anchor per run: a step of the wall clock during the
 * run moves nothing.
 *
 * @param anchorUnixNanos epoch time of the anchor, in nanoseconds
 * @param anchorNanoTime the monotonic clock at the same instant
 */
record RunClock(long anchorUnixNanos, long anchorNanoTime) {

  /** An anchor at this instant of {@link System#nanoTime()} and the system's clock. */
  static RunClock system() {
    return anchor(InstantSource.system(), System::nanoTime);
  }

  /** An anchor at this instant of the two clocks. */
  static RunClock anchor(InstantSource wall, LongSupplier nanoClock) {
    long before = nanoClock.getAsLong();
    Instant now = wall.instant();
    long after = nanoClock.getAsLong();
    return new RunClock(
        now.getEpochSecond() * 1_000_000_000L + now.getNano(), before + (after - before) / 2);
  }

  /** The reading of the monotonic clock at that epoch time in nanoseconds. */
  long nanoTime(long unixNanos) {
    return anchorNanoTime + (unixNanos - anchorUnixNanos);
  }

  /** Epoch time in nanoseconds of a reading of the monotonic clock. */
  long unixNanos(long nanoTime) {
    return anchorUnixNanos + (nanoTime - anchorNanoTime);
  }
}
