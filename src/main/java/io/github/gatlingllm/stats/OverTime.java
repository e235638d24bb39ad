package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.LogLinearHistogram;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.stats.Series.Bucket;
import io.github.gatlingllm.stats.Series.HeatMap;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Figures over time in buckets of 1 s. A run that needs more than {@value Series#MAX_BUCKETS}
 * buckets gets buckets of 2 s, 4 s, …: neighbours are joined, so that memory stays bounded (about
 * 30 KiB per bucket, where values differ by a factor of 100) whatever the run's length.
 */
final class OverTime {

  /** The kind of failure of an answer that a check of the simulation does not accept. */
  static final String CHECK_FAILED = "check failed";

  private static final long SECOND = 1_000_000_000L;
  private static final List<Metric> DRAWN =
      List.of(Metric.TTFT_MS, Metric.TPOT_MS, Metric.E2E_MS, Metric.JITTER_PER_REQUEST);
  private static final int MOST_QUOTAS = 6;

  private final long origin;
  private final TimeBuckets<Interval> intervals;

  /** Begins at {@code origin}, epoch nanoseconds; what came before counts in the first bucket. */
  OverTime(long origin) {
    this.origin = origin;
    intervals = TimeBuckets.from(origin, SECOND, Series.MAX_BUCKETS, Interval::new, Interval::join);
  }

  private static final class Interval {
    private final Map<Metric, LogLinearHistogram> heat = new EnumMap<>(Metric.class);
    private final Map<String, Long> failures = new TreeMap<>();
    private final LogLinearHistogram ttft = heat(Metric.TTFT_MS);
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

    private LogLinearHistogram heat(Metric metric) {
      return heat.computeIfAbsent(metric, m -> Shapes.coarse());
    }

    private void join(Interval next) {
      next.heat.forEach((metric, values) -> heat(metric).add(values));
      next.failures.forEach((kind, count) -> failures.merge(kind, count, Long::sum));
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

  /**
   * A request ended by itself.
   *
   * @param outcome how
   */
  void ended(long unixNanos, RequestRecord.Outcome outcome) {
    Interval interval = intervals.at(unixNanos);
    interval.ended++;
    if (outcome.hasFailed()) {
      interval.failed++;
      String kind =
          outcome.status() == RequestStatus.COMPLETE ? CHECK_FAILED : outcome.status().key();
      interval.failures.merge(kind, 1L, Long::sum);
    }
  }

  /** An ok request ended; its figures are drawn there. */
  void answered(long unixNanos, RequestRecord record, TokenStream stream) {
    Interval interval = intervals.at(unixNanos);
    Shapes.add(interval.heat(Metric.E2E_MS), record.timing().latencyFromScheduleNanos());
    Double tpot = record.timing().tpotNanos();
    if (tpot != null) {
      Shapes.add(interval.heat(Metric.TPOT_MS), Math.round(tpot));
    }
    if (stream.hasTokenGaps() && stream.tokenMicrosAt(50) > 0) {
      double ratio = stream.tokenMicrosAt(99) / stream.tokenMicrosAt(50);
      interval.heat(Metric.JITTER_PER_REQUEST).add(Math.round(ratio * 1e3), 1);
    }
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
              v.failures,
              v.rateLimited,
              v.quotaLeft,
              (double) v.inFlightNanos / intervals.width(),
              Math.max(0, tokensInFlight),
              v.plannedArrivals,
              v.realisedArrivals));
    }
    return buckets;
  }

  /** What was counted over time and value. */
  Map<Metric, HeatMap> heat() {
    Map<Metric, HeatMap> maps = new EnumMap<>(Metric.class);
    for (Metric metric : DRAWN) {
      HeatMap map = Shapes.heat(intervals.all().stream().map(of -> of.heat(metric)).toList());
      if (!map.cells().isEmpty()) {
        maps.put(metric, map);
      }
    }
    return maps;
  }
}
