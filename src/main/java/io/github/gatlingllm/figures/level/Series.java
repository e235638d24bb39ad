package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.TimeSlice.SliceValues;
import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Metric.Amount;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The data of charts that the {@link Summary} does not have: figures over time, shapes of
 * distributions. Its size is bounded whatever the length of the run. Not part of {@code
 * summary.json}.
 *
 * @param bucketS width of a bucket of {@code overTime} in seconds: 1, 2, 4 … so that there are at
 *     most 600
 * @param overTime one entry per bucket from the start of the run to its end, empty buckets
 *     included; requests of every phase
 * @param levelQuantiles percentile curves of {@code TTFT_MS}, {@code ITL_MS}, {@code TPOT_MS} and
 *     {@code E2E_MS} by the position of the load level, of the first {@value #MAX_LEVELS} and of
 *     operating points: ok requests scheduled in measure; a metric without values is missing
 */
public record Series(
    double bucketS,
    List<Bucket> overTime,
    Map<Integer, Map<Metric, List<Quantile>>> levelQuantiles,
    List<Breakdown> breakdowns,
    List<ScenarioLoad> scenarios,
    List<GeneratorBucket> generator,
    List<EngineFigures.TargetPoints> engines) {

  public static final int MAX_BUCKETS = 600;

  static final int MAX_LEVELS = 24;

  /**
   * One interval of time. Percentiles have 2 significant digits (error ≤ 1 %).
   *
   * @param ttftP50Ms TTFT from schedule of requests whose first token arrived in the bucket
   * @param itlP50Ms gaps that ended in the bucket
   * @param sloTokensPerS of those, tokens of requests that met the SLO; null without SLO
   * @param quotaLeft by quota of the server, the lowest share that an answer reported as left, 0 to
   *     1; empty where answers report none
   * @param inFlight requests in flight, time-weighted mean over the bucket
   * @param plannedArrivals of the plan, whether or not they were sent; 0 without {@code
   *     arrivals.jsonl}
   */
  public record Bucket(
      double startS,
      @Nullable Double ttftP50Ms,
      @Nullable Double ttftP95Ms,
      @Nullable Double ttftP99Ms,
      @Nullable Double itlP50Ms,
      @Nullable Double itlP99Ms,
      double outputTokensPerS,
      @Nullable Double sloTokensPerS,
      long started,
      long ended,
      long failed,
      Map<String, Long> failures,
      long rateLimited,
      Map<String, Double> quotaLeft,
      double inFlight,
      long plannedArrivals) {}

  /**
   * The health of the load generator in one interval of time.
   *
   * @param lagP99Ms lag of the event loop, of the loop and second where it was largest
   * @param stolenCpu share of the machine's CPU that the hypervisor took; null where unknown
   */
  public record GeneratorBucket(
      double startS,
      double lagP99Ms,
      double lagMaxMs,
      @Nullable Double ownCpu,
      @Nullable Double busyCpu,
      @Nullable Double stolenCpu) {}

  /** The value below or at which {@code percent} % of the values lie. */
  public record Quantile(double percent, double value) {

    private static final double[] NINES = {
      1, 5, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.75, 99.9, 99.95, 99.99, 99.995, 99.999
    };

    /** From the least to the largest value, with a percentile where one value lies beyond it. */
    static List<Quantile> curve(ValueRecorder values) {
      List<Quantile> curve = new ArrayList<>();
      curve.add(new Quantile(0, values.moments().min()));
      for (double percent : NINES) {
        if (values.moments().count() * (100 - percent) / 100 >= 1 - 1e-9) {
          curve.add(new Quantile(percent, Objects.requireNonNull(values.percentile(percent))));
        }
      }
      curve.add(new Quantile(100, values.moments().max()));
      return curve;
    }
  }

  /**
   * The mean time of the ok requests of one load level by part. The means of all parts add up to
   * the mean E2E from schedule.
   *
   * @param reporting number of requests with parts that the server reported
   * @param meansMs in order of time; parts that never occur are left out
   */
  public record Breakdown(LevelInfo level, long count, long reporting, Map<Part, Double> meansMs) {

    /** Mean E2E from schedule. */
    public double totalMs() {
      return meansMs.values().stream().mapToDouble(Double::doubleValue).sum();
    }
  }

  /** The parts of a request's time, in order. */
  public enum Part {
    /** start − scheduled. */
    START_LAG,
    /** admitted − start. */
    GATE_WAIT,
    /** written − admitted. */
    CONNECT,
    SERVER_QUEUE,
    SERVER_PREFILL,
    /** Rest of the time to the first token: network, and time that the server did not report. */
    FIRST_TOKEN,
    SERVER_DECODE,
    /** last token − first token, without the decode time that the server reported. */
    DECODE,
    /** Not streamed: last byte − written. */
    ANSWER
  }

  /** The requests of one scenario at one load level. Percentiles have 2 significant digits. */
  public record ScenarioLoad(
      String scenario,
      LevelInfo level,
      long count,
      @Nullable Double ttftP95Ms,
      @Nullable Double e2eP95Ms,
      @Nullable Double sloShare) {}

  /**
   * Figures over time in buckets of 1 s. In a run that needs more than {@value Series#MAX_BUCKETS}
   * buckets, neighbours are joined into buckets of 2 s, 4 s, …: memory stays bounded whatever the
   * length of the run, at about 30 KiB per bucket where values differ by a factor of 100.
   *
   * <p>The report fills it in its pass over the records, the live page with each record as it
   * arrives. Not thread-safe.
   */
  public static final class OverTime implements Consumer<RequestRecord> {

    private static final long SECOND = 1_000_000_000L;
    private static final int MAX_QUOTAS = 6;

    private final long origin;
    private final TimeBuckets<Interval> intervals;
    private final TokenStream stream = new TokenStream();

    final GeneratorTally generator;

    /** Begins at {@code origin}, epoch nanoseconds; earlier instants count in the first bucket. */
    public OverTime(long origin) {
      this.origin = origin;
      generator = new GeneratorTally(origin);
      intervals =
          new TimeBuckets<>(origin, SECOND, Series.MAX_BUCKETS, Interval::new, Interval::join);
    }

    private static final class Interval extends Amounts {
      private final Map<String, Long> failures = new TreeMap<>();
      private final SliceValues ttft = new SliceValues();
      private final SliceValues itl = new SliceValues();
      private final Map<String, Double> quotaLeft = new TreeMap<>();

      private void join(Interval next) {
        add(next);
        ttft.add(next.ttft);
        next.failures.forEach((kind, count) -> failures.merge(kind, count, Long::sum));
        itl.add(next.itl);
        next.quotaLeft.forEach(this::addQuota);
      }

      private void addQuota(String quota, double share) {
        if (quotaLeft.size() < MAX_QUOTAS || quotaLeft.containsKey(quota)) {
          quotaLeft.merge(quota, share, Math::min);
        }
      }
    }

    /** Adds a request that has ended, as its own record says whether it met the SLO. */
    @Override
    public void accept(RequestRecord record) {
      boolean inSlo = record.outcome().ok() && Boolean.TRUE.equals(record.outcome().sloOk());
      stream.read(record);
      for (int i = 0; i < stream.arrivals; i++) {
        tokens(stream.unixNanos[i], stream.tokens[i], inSlo);
      }
      gaps(stream);
      times(record, record.identity().target() + ": ");
    }

    public void add(GeneratorSecond second) {
      generator.add(second);
    }

    void planned(long unixNanos) {
      intervals.at(unixNanos).add(Amount.ARRIVED, 1);
    }

    void times(RequestRecord record, String owner) {
      RequestRecord.Timing t = record.timing();
      intervals.at(t.startUnixNanos()).add(Amount.STARTED, 1);
      Long admitted = t.admittedUnixNanos();
      if (admitted == null) {
        return;
      }
      Long ttft = t.ttftNanos();
      if (ttft != null) {
        long first = admitted + ttft;
        long micros = (first - t.scheduledUnixNanos()) / 1_000;
        intervals.at(first).ttft.count(micros, 1);
      }
      Long closed = t.closedUnixNanos();
      if (closed != null) {
        inFlight(admitted, closed);
        if (!record.outcome().status().isCut()) {
          Interval interval = intervals.at(closed);
          interval.outcome(record.outcome());
          if (record.outcome().hasFailed()) {
            interval.failures.merge(record.outcome().status().key(), 1L, Long::sum);
          }
          limited(interval, record, owner);
        }
      }
    }

    private void inFlight(long from, long to) {
      long at = Math.max(from, origin);
      while (at < to) {
        Interval interval = intervals.at(at);
        long end = Math.min(to, intervals.endOf(at));
        interval.add(Amount.IN_FLIGHT_NANOS, (double) (end - at));
        at = end;
      }
    }

    private void limited(Interval interval, RequestRecord record, String owner) {
      Map<String, Double> limits = record.server().rateLimits();
      limits.forEach(
          (key, remaining) -> {
            String quota = key.replaceFirst("_remaining$", "");
            Double limit = limits.get(quota + "_limit");
            if (!quota.equals(key) && limit != null && limit > 0) {
              interval.addQuota(owner + quota, Math.min(1, remaining / limit));
            }
          });
    }

    void gaps(TokenStream tokens) {
      for (int g = 0; g < tokens.gaps; g++) {
        int count = tokens.gapTokens[g];
        if (count > 0) {
          SliceValues itl = intervals.at(tokens.unixNanos[tokens.endedBy[g]]).itl;
          itl.count(Math.round(tokens.tokenMicros[g]), count);
        }
      }
    }

    /** The end of the bucket of an instant. */
    long endOf(long unixNanos) {
      return intervals.endOf(unixNanos);
    }

    void tokens(long unixNanos, double tokens, boolean inSlo) {
      intervals.at(unixNanos).tokens(tokens, inSlo);
    }

    public double bucketS() {
      return intervals.width() / 1e9;
    }

    public List<Bucket> buckets(boolean hasSlo) {
      double seconds = bucketS();
      List<Bucket> buckets = new ArrayList<>();
      for (Interval v : intervals.all()) {
        buckets.add(
            new Bucket(
                buckets.size() * seconds,
                v.ttft.percentile(50),
                v.ttft.percentile(95),
                v.ttft.percentile(99),
                v.itl.percentile(50),
                v.itl.percentile(99),
                v.of(Amount.TOKENS) / seconds,
                hasSlo ? (Double) (v.of(Amount.TOKENS_IN_SLO) / seconds) : null,
                v.count(Amount.STARTED),
                v.count(Amount.ENDED),
                v.count(Amount.FAILED),
                v.failures,
                v.count(Amount.RATE_LIMITED),
                v.quotaLeft,
                v.of(Amount.IN_FLIGHT_NANOS) / intervals.width(),
                v.count(Amount.ARRIVED)));
      }
      return buckets;
    }

    /** The data of charts of a run that is still on: all buckets but the current one. */
    public Series soFar(boolean hasSlo) {
      List<Bucket> all = buckets(hasSlo);
      return new Series(
          bucketS(),
          all.subList(0, Math.max(0, all.size() - 1)),
          Map.of(),
          List.of(),
          List.of(),
          generator.buckets(),
          List.of());
    }
  }
}
