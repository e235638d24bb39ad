package io.github.gatlingllm.load;

import io.github.gatlingllm.record.LevelInfo.InFlight;
import org.jspecify.annotations.Nullable;

/**
 * Requests in flight, kept while they come and go: their exact mean over a window of time, and
 * their peak in it. It knows nothing of records, so that these can be held against it. Not
 * thread-safe.
 */
final class InFlightGauge {

  private long at;
  private int inFlight;
  private long requestNanos;
  private int peak;

  /**
   * A request was admitted, or has ended.
   *
   * @param by 1 or −1
   * @param now on any clock; one before the last call's counts as that
   * @param from start of the window on that clock, as far as it is known
   * @param until end of the window, exclusive
   */
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

  /** What it was over the window, which is over; null where that has no length. */
  @Nullable InFlight over(long from, long until) {
    pass(until, from, until);
    return until <= from ? null : new InFlight((double) requestNanos / (until - from), peak);
  }
}
