package io.github.gatlingllm.action;

import java.time.Instant;

/** {@link System#nanoTime()} put on the epoch, so that two processes can compare instants. */
final class EpochNanos {
  private static final long SHIFT = shift();

  private EpochNanos() {}

  private static long shift() {
    Instant now = Instant.now();
    return now.getEpochSecond() * 1_000_000_000L + now.getNano() - System.nanoTime();
  }

  static long now() {
    return of(System.nanoTime());
  }

  static long of(long nanoTime) {
    return nanoTime + SHIFT;
  }
}
