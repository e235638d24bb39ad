package io.github.gatlingllm.testing;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * How many requests a server had at a time, by its own account.
 *
 * @param mean time-weighted, over a window
 * @param max at any time
 */
public record Occupancy(double mean, int max) {

  /** One request: from when it was there until it was answered, in nanoseconds of one clock. */
  public record Stay(long fromNanos, long untilNanos) {}

  /** The mean within the window, and the most of all the time. */
  public static Occupancy of(List<Stay> stays, long fromNanos, long untilNanos) {
    long busy = 0;
    List<long[]> steps = new ArrayList<>();
    for (Stay stay : stays) {
      busy +=
          Math.max(
              0, Math.min(stay.untilNanos(), untilNanos) - Math.max(stay.fromNanos(), fromNanos));
      steps.add(new long[] {stay.fromNanos(), 1});
      steps.add(new long[] {stay.untilNanos(), -1});
    }
    steps.sort(Comparator.<long[]>comparingLong(s -> s[0]).thenComparingLong(s -> s[1]));
    int now = 0;
    int max = 0;
    for (long[] step : steps) {
      now += (int) step[1];
      max = Math.max(max, now);
    }
    return new Occupancy((double) busy / (untilNanos - fromNanos), max);
  }
}
