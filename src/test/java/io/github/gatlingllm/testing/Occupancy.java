package io.github.gatlingllm.testing;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Number of concurrent requests at a server, by its own log. */
public final class Occupancy {

  private Occupancy() {}

  /** One request: the time in which the server had it, in nanoseconds. */
  public record Stay(long fromNanos, long untilNanos) {}

  /** Highest number at any time. */
  public static int most(List<Stay> stays) {
    List<long[]> steps = new ArrayList<>();
    for (Stay stay : stays) {
      steps.add(new long[] {stay.fromNanos(), 1});
      steps.add(new long[] {stay.untilNanos(), -1});
    }
    steps.sort(Comparator.<long[]>comparingLong(s -> s[0]).thenComparingLong(s -> s[1]));
    int now = 0;
    int most = 0;
    for (long[] step : steps) {
      now += (int) step[1];
      most = Math.max(most, now);
    }
    return most;
  }

  /** The time-weighted mean within a window. */
  public static double mean(List<Stay> stays, long fromNanos, long untilNanos) {
    long busy =
        stays.stream()
            .mapToLong(
                stay ->
                    Math.min(stay.untilNanos(), untilNanos) - Math.max(stay.fromNanos(), fromNanos))
            .filter(nanos -> nanos > 0)
            .sum();
    return (double) busy / (untilNanos - fromNanos);
  }
}
