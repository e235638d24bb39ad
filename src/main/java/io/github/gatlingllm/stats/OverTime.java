package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.LogLinearHistogram;
import io.github.gatlingllm.metric.TimeBuckets;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.stats.Series.Bucket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Figures over time in buckets of 1 s. A run that needs more than {@value Series#MAX_BUCKETS}
 * buckets gets buckets of 2 s, 4 s, …: neighbours are joined, so that memory stays bounded (about
 * 30 KiB per bucket) whatever the run's length.
 */
final class OverTime {

  private static final long SECOND = 1_000_000_000L;
  private static final int MOST_QUOTAS = 6;

  private final long origin;
  private final TimeBuckets<Interval> intervals;

  /** Begins at {@code origin}, epoch nanoseconds; what came before counts in the first bucket. */
  OverTime(long origin) {
    this.origin = origin;
    intervals = TimeBuckets.from(origin, SECOND, Series.MAX_BUCKETS, Interval::new, Interval::join);
  }

  private static final class Interval {
    private final LogLinearHistogram ttft = Shapes.coarse();
    private final LogLinearHistogram itl = Shapes.coarse();
    private double tokens;
    private double sloTokens;

    /** By how many the tokens of requests in flight grew. */
    private double grown;

    private long started;
    private long ended;
    private long failed;
    private long rateLimited;
    private final Map<String, Double> quotaLeft = new TreeMap<>();
    private long inFlightNanos;
    private long plannedArrivals;
    private long realisedArrivals;

    private void join(Interval next) {
      ttft.add(next.ttft);
      itl.add(next.itl);
      tokens += next.tokens;
      sloTokens += next.sloTokens;
      grown += next.grown;
      started += next.started;
      ended += next.ended;
      failed += next.failed;
      rateLimited += next.rateLimited;
      next.quotaLeft.forEach(this::left);
      inFlightNanos += next.inFlightNanos;
      plannedArrivals += next.plannedArrivals;
      realisedArrivals += next.realisedArrivals;
    }

    private void left(String quota, double share) {
      if (quotaLeft.size() < MOST_QUOTAS || quotaLeft.containsKey(quota)) {
        quotaLeft.merge(quota, share, Math::min);
      }
    }
  }

  void started(long unixNanos) {
    intervals.at(unixNanos).started++;
  }

  /** When a request of an open loop was planned to start, and when it did. */
  void arrival(long planned, long realised) {
    intervals.at(planned).plannedArrivals++;
    intervals.at(realised).realisedArrivals++;
  }

  /** The instants between which a request was in flight, and how it ended. */
  void inFlight(long from, long to) {
    long at = Math.max(from, origin);
    while (at < to) {
      Interval interval = intervals.at(at);
      long end = Math.min(to, intervals.endOf(at));
      interval.inFlightNanos += end - at;
      at = end;
    }
  }

  /**
   * By how many the tokens of requests in flight grew, or by how many they fell where one ended.
   */
  void tokensInFlight(long unixNanos, double change) {
    intervals.at(unixNanos).grown += change;
  }

  void ended(long unixNanos, boolean failed) {
    Interval interval = intervals.at(unixNanos);
    interval.ended++;
    interval.failed += failed ? 1 : 0;
  }

  /**
   * What a request that ended shows of the server's rate limits.
   *
   * @param owner stands before the names of its quotas
   */
  void limited(long unixNanos, RequestRecord record, String owner) {
    Interval interval = intervals.at(unixNanos);
    interval.rateLimited += record.outcome().status() == RequestStatus.RATE_LIMITED ? 1 : 0;
    Map<String, Double> said = record.server().rateLimits();
    said.forEach(
        (key, remaining) -> {
          String quota = key.replaceFirst("_remaining$", "");
          Double limit = said.get(quota + "_limit");
          if (!quota.equals(key) && limit != null && limit > 0) {
            interval.left(owner + quota, Math.min(1, remaining / limit));
          }
        });
  }

  void ttft(long unixNanos, long nanos) {
    intervals.at(unixNanos).ttft.add(nanos / 1_000, 1);
  }

  /** The gaps of a request; those for no token are left out. */
  void gaps(TokenStream stream) {
    for (int g = 0; g < stream.gaps(); g++) {
      int tokens = stream.gapTokens(g);
      if (tokens > 0) {
        LogLinearHistogram itl = intervals.at(stream.unixNanos(stream.endedBy(g))).itl;
        if (stream.isOneEach()) {
          itl.add((long) stream.chunkMicros(g), tokens);
        } else {
          itl.add(Math.round(stream.tokenMicros(g)), tokens);
        }
      }
    }
  }

  /** When the bucket of an instant ends, epoch nanoseconds. */
  long endOf(long unixNanos) {
    return intervals.endOf(unixNanos);
  }

  void tokens(long unixNanos, double tokens, boolean inSlo) {
    Interval interval = intervals.at(unixNanos);
    interval.tokens += tokens;
    interval.sloTokens += inSlo ? tokens : 0;
    interval.grown += tokens;
  }

  double bucketS() {
    return intervals.width() / 1e9;
  }

  List<Bucket> buckets(boolean hasSlo) {
    double seconds = bucketS();
    List<Bucket> buckets = new ArrayList<>();
    double tokensInFlight = 0;
    for (Interval v : intervals.all()) {
      tokensInFlight += v.grown;
      buckets.add(
          new Bucket(
              buckets.size() * seconds,
              Shapes.percentileMs(v.ttft, 50),
              Shapes.percentileMs(v.ttft, 95),
              Shapes.percentileMs(v.ttft, 99),
              Shapes.percentileMs(v.itl, 50),
              Shapes.percentileMs(v.itl, 99),
              v.tokens / seconds,
              hasSlo ? (Double) (v.sloTokens / seconds) : null,
              v.started,
              v.ended,
              v.failed,
              v.rateLimited,
              v.quotaLeft,
              (double) v.inFlightNanos / intervals.width(),
              Math.max(0, tokensInFlight),
              v.plannedArrivals,
              v.realisedArrivals));
    }
    return buckets;
  }

  /** TTFT by bucket: the material of the heat map. */
  List<LogLinearHistogram> ttft() {
    return intervals.all().stream().map(interval -> interval.ttft).toList();
  }
}
