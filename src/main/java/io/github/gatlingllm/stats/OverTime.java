package io.github.gatlingllm.stats;

import io.github.gatlingllm.stats.Series.Bucket;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.IntCountsHistogram;
import org.jspecify.annotations.Nullable;

/**
 * Figures over time in buckets of 1 s. A run that needs more than {@value Series#MAX_BUCKETS}
 * buckets gets buckets of 2 s, 4 s, …: neighbours are joined, so that memory stays bounded (about
 * 30 KiB per bucket) whatever the run's length.
 */
final class OverTime {

  private static final long SECOND = 1_000_000_000L;

  private final long origin;
  private List<Interval> intervals = new ArrayList<>();
  private long width = SECOND;

  /** Begins at {@code origin}, epoch nanoseconds; what came before counts in the first bucket. */
  OverTime(long origin) {
    this.origin = origin;
  }

  private static final class Interval {
    private @Nullable IntCountsHistogram ttftMicros;
    private @Nullable IntCountsHistogram itlMicros;
    private double tokens;
    private double sloTokens;
    private long started;
    private long ended;
    private long failed;
    private long inFlightNanos;
    private long plannedArrivals;
    private long realisedArrivals;

    private void join(Interval next) {
      ttftMicros = joined(ttftMicros, next.ttftMicros);
      itlMicros = joined(itlMicros, next.itlMicros);
      tokens += next.tokens;
      sloTokens += next.sloTokens;
      started += next.started;
      ended += next.ended;
      failed += next.failed;
      inFlightNanos += next.inFlightNanos;
      plannedArrivals += next.plannedArrivals;
      realisedArrivals += next.realisedArrivals;
    }

    private static @Nullable IntCountsHistogram joined(
        @Nullable IntCountsHistogram a, @Nullable IntCountsHistogram b) {
      if (a == null || b == null) {
        return a == null ? b : a;
      }
      a.add(b);
      return a;
    }
  }

  void started(long unixNanos) {
    at(unixNanos).started++;
  }

  /** When a request of an open loop was planned to start, and when it did. */
  void arrival(long planned, long realised) {
    at(planned).plannedArrivals++;
    at(realised).realisedArrivals++;
  }

  /** The instants between which a request was in flight, and how it ended. */
  void inFlight(long from, long to) {
    long at = Math.max(from, origin);
    while (at < to) {
      Interval interval = at(at);
      long end = Math.min(to, origin + ((at - origin) / width + 1) * width);
      interval.inFlightNanos += end - at;
      at = end;
    }
  }

  void ended(long unixNanos, boolean failed) {
    Interval interval = at(unixNanos);
    interval.ended++;
    interval.failed += failed ? 1 : 0;
  }

  void ttft(long unixNanos, long nanos) {
    Interval interval = at(unixNanos);
    IntCountsHistogram histogram = interval.ttftMicros;
    if (histogram == null) {
      histogram = new IntCountsHistogram(2);
      interval.ttftMicros = histogram;
    }
    histogram.recordValue(Math.max(0, nanos / 1_000));
  }

  void gap(long unixNanos, double micros, int tokens) {
    if (tokens <= 0) {
      return;
    }
    Interval interval = at(unixNanos);
    IntCountsHistogram histogram = interval.itlMicros;
    if (histogram == null) {
      histogram = new IntCountsHistogram(2);
      interval.itlMicros = histogram;
    }
    histogram.recordValueWithCount(Math.max(0, Math.round(micros)), tokens);
  }

  void tokens(long unixNanos, double tokens, boolean inSlo) {
    Interval interval = at(unixNanos);
    interval.tokens += tokens;
    interval.sloTokens += inSlo ? tokens : 0;
  }

  private Interval at(long unixNanos) {
    long since = Math.max(0, unixNanos - origin);
    while (since / width >= Series.MAX_BUCKETS) {
      widen();
    }
    int index = (int) (since / width);
    while (intervals.size() <= index) {
      intervals.add(new Interval());
    }
    return intervals.get(index);
  }

  private void widen() {
    List<Interval> wider = new ArrayList<>();
    for (int i = 0; i < intervals.size(); i++) {
      if (i % 2 == 0) {
        wider.add(intervals.get(i));
      } else {
        wider.get(wider.size() - 1).join(intervals.get(i));
      }
    }
    intervals = wider;
    width *= 2;
  }

  double bucketS() {
    return width / 1e9;
  }

  List<Bucket> buckets(boolean hasSlo) {
    double seconds = bucketS();
    List<Bucket> buckets = new ArrayList<>();
    for (int i = 0; i < intervals.size(); i++) {
      Interval v = intervals.get(i);
      buckets.add(
          new Bucket(
              i * seconds,
              percentileMs(v.ttftMicros, 50),
              percentileMs(v.ttftMicros, 95),
              percentileMs(v.ttftMicros, 99),
              percentileMs(v.itlMicros, 50),
              percentileMs(v.itlMicros, 99),
              v.tokens / seconds,
              hasSlo ? (Double) (v.sloTokens / seconds) : null,
              v.started,
              v.ended,
              v.failed,
              (double) v.inFlightNanos / width,
              v.plannedArrivals,
              v.realisedArrivals));
    }
    return buckets;
  }

  /** TTFT by bucket, null where none came: the material of the heat map. */
  List<@Nullable IntCountsHistogram> ttftMicros() {
    List<@Nullable IntCountsHistogram> histograms = new ArrayList<>();
    intervals.forEach(interval -> histograms.add(interval.ttftMicros));
    return histograms;
  }

  private static @Nullable Double percentileMs(
      @Nullable IntCountsHistogram micros, double percent) {
    return micros == null ? null : (Double) (micros.getValueAtPercentile(percent) / 1e3);
  }
}
