package io.github.gatlingllm.simulations;

import io.github.gatlingllm.load.Arrivals;
import java.io.Serializable;
import java.time.Duration;
import java.util.List;

/**
 * A rate over time in straight pieces: each segment goes from its own rate to the next one's, the
 * last one holds.
 *
 * @param segments in order of time; at least one
 */
record RateCurve(List<Segment> segments) implements Arrivals.Rate {

  /**
   * A piece of the curve.
   *
   * @param perSecond requests per second at its start, 0 or more
   * @param duration above 0
   */
  public record Segment(double perSecond, Duration duration) implements Serializable {}

  public RateCurve {
    segments = List.copyOf(segments);
  }

  /** The rate at that many nanoseconds since the start; after the end that of the last segment. */
  @Override
  public double perSecondAt(long sinceStart) {
    long rest = sinceStart;
    for (int i = 0; i < segments.size(); i++) {
      long nanos = segments.get(i).duration().toNanos();
      if (rest < nanos) {
        double from = segments.get(i).perSecond();
        return from + (end(i) - from) * rest / nanos;
      }
      rest -= nanos;
    }
    return end(segments.size() - 1);
  }

  /** How long it is. */
  public long lengthNanos() {
    return segments.stream().mapToLong(segment -> segment.duration().toNanos()).sum();
  }

  /** Requests to expect: the integral. */
  public double requests() {
    double sum = 0;
    for (int i = 0; i < segments.size(); i++) {
      Segment segment = segments.get(i);
      sum += (segment.perSecond() + end(i)) / 2 * segment.duration().toNanos() / 1e9;
    }
    return sum;
  }

  private double end(int index) {
    return segments.get(Math.min(index + 1, segments.size() - 1)).perSecond();
  }
}
