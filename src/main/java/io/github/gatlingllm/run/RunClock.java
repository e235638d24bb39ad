package io.github.gatlingllm.run;

import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;

/**
 * Converts monotonic time to epoch time with one anchor per run, so that steps of the wall clock
 * during the run have no effect.
 */
record RunClock(long anchorUnixNanos, long anchorNanoTime) {

  /** A clock anchored now, by {@link System#nanoTime()} and the system's clock. */
  static RunClock system() {
    return anchor(InstantSource.system(), System::nanoTime);
  }

  static RunClock anchor(InstantSource wall, LongSupplier nanoClock) {
    long before = nanoClock.getAsLong();
    Instant now = wall.instant();
    long after = nanoClock.getAsLong();
    return new RunClock(
        now.getEpochSecond() * 1_000_000_000L + now.getNano(), before + (after - before) / 2);
  }

  long nanoTime(long unixNanos) {
    return anchorNanoTime + (unixNanos - anchorUnixNanos);
  }

  long unixNanos(long nanoTime) {
    return anchorUnixNanos + (nanoTime - anchorNanoTime);
  }
}
