package io.github.gatlingllm.load;

import io.github.gatlingllm.record.LevelInfo.InFlight;
import org.jspecify.annotations.Nullable;

/**
 * Counts requests in flight, with their exact mean and their peak over a time window. It is
 * independent of the records, so that the records can be checked against it. Not thread-safe.
 */
final class InFlightGauge {

  private long at;
  private int inFlight;
  private long requestNanos;
  private int peak;

  /** Called when a request was admitted or has ended. */
  void change(int by, long now, long from, long until) {
    pass(now, from, until);
    inFlight += by;
  }

  private void pass(long now, long from, long until) {
    long inside = Math.min(now, until) - Math.max(at, from);
    if (inside > 0) {
      requestNanos += inFlight * inside;
      peak = Math.max(peak, inFlight);
    }
    at = Math.max(at, now);
  }

  /** Mean and peak over the window, which has ended; null for a window without length. */
  @Nullable InFlight over(long from, long until) {
    pass(until, from, until);
    return until <= from ? null : new InFlight((double) requestNanos / (until - from), peak);
  }
}
