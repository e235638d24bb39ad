package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Amount;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.EngineFigures.EnginePoint;
import io.github.gatlingllm.figures.metric.Figures.Quota;
import io.github.gatlingllm.figures.metric.GeneratorHealth;
import io.github.gatlingllm.figures.metric.GeneratorHealth.Second;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.GeneratorSecond.GeneratorField;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.IntStream;
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
    Map<String, List<EngineFigures.EnginePoint>> engines,
    int sessions,
    List<SessionLane> lanes) {

  public static final int MAX_BUCKETS = 600;

  static final int MAX_LEVELS = 24;

  /**
   * One interval of time. Percentiles have 2 significant digits (error ≤ 1 %).
   *
   * @param ttftP50Ms TTFT from schedule of requests whose first token arrived in the bucket
   * @param itlP50Ms gaps that ended in the bucket
   * @param sloTokensPerS of those, tokens of requests that met the SLO; null without SLO
   * @param quotaLeft by quota of the server, the lowest share that an answer reported as remaining,
   *     0 to 1; empty where answers report none
   * @param inFlight requests in flight, time-weighted mean over the bucket
   * @param plannedArrivals of the plan, whether or not they were sent; 0 without {@code
   *     arrivals.jsonl}
   * @param sessionsAlive replayed sessions, time-weighted mean over the bucket; 0 while a run is on
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
      long plannedArrivals,
      double sessionsAlive) {}

  /** What an agent of a replayed session did. */
  public enum LaneState {
    /** Without a request in flight: for tools, or for agents that it has begun. */
    WAITING,
    /** The request that fills the server's cache before a session begins in its middle. */
    FILL,
    /** From the planned start of a request to its first token. */
    PREFILL,
    /** From the first token to the end of the answer. */
    DECODE,
    FAILED
  }

  /**
   * An agent of a replayed session over time.
   *
   * @param session as in its records
   * @param agent empty for the one that begins the session
   * @param end of the session: complete, failed, out of context, or cut
   * @param parts the state from each second since the start of the load on; null at the end
   */
  public record SessionLane(
      String session,
      String agent,
      String end,
      double startS,
      double lengthS,
      long requests,
      Map<LaneState, Double> seconds,
      SortedMap<Double, @Nullable LaneState> parts) {}

  /** The health of the load generators in one interval of time. */
  public record GeneratorBucket(double startS, GeneratorHealth health) {}

  /** The value below or at which {@code percent} % of the values lie. */
  public record Quantile(double percent, double value) {

    private static final double[] NINES = {
      1, 5, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.75, 99.9, 99.95, 99.99, 99.995, 99.999
    };

    /** Those of TTFT, ITL, TPOT and E2E; a metric without values is missing. */
    static Map<Metric, List<Quantile>> curves(Function<Metric, List<Quantile>> curve) {
      Map<Metric, List<Quantile>> curves = new EnumMap<>(Metric.class);
      for (Metric metric : List.of(Metric.TTFT_MS, Metric.ITL_MS, Metric.TPOT_MS, Metric.E2E_MS)) {
        curves.put(metric, curve.apply(metric));
      }
      curves.values().removeIf(List::isEmpty);
      return curves;
    }

    /** The percentiles that given figures have. */
    static List<Quantile> curve(Distribution values) {
      List<Quantile> curve = new ArrayList<>();
      for (double percent : NINES) {
        Double value = values.percentile("p" + NumberText.plain(percent));
        if (value != null) {
          curve.add(new Quantile(percent, value));
        }
      }
      return curve;
    }

    /** From the least to the largest value, with a percentile where one value lies beyond it. */
    static List<Quantile> curve(ValueRecorder values) {
      List<Quantile> curve = new ArrayList<>();
      if (values.isEmpty()) {
        return curve;
      }
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
   * @param meansMs in order of time; parts that never occur are omitted
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

    /** In one interval; servers may name a replica per answer. */
    private static final int MAX_REPLICAS = 300;

    private final long origin;
    private final TimeBuckets<Interval> intervals;
    private final RequestParts live = new RequestParts(List.of(), 0);

    private final GeneratorTally generator;

    /** Begins at {@code origin}, epoch nanoseconds; earlier instants count in the first bucket. */
    public OverTime(long origin) {
      this.origin = origin;
      generator = new GeneratorTally(origin);
      intervals =
          new TimeBuckets<>(origin, SECOND, Series.MAX_BUCKETS, Interval::new, Interval::join);
    }

    /** A bucket while it fills. */
    private static final class Interval {
      private final Cell cell = new Cell(Cell.Detail.CHART);
      private final Map<String, Double> quotaLeft = new TreeMap<>();
      private final Map<String, Set<String>> answering = new TreeMap<>();
      private double aliveNanos;

      private void join(Interval next) {
        cell.add(next.cell);
        aliveNanos += next.aliveNanos;
        next.quotaLeft.forEach(this::addQuota);
        next.answering.forEach((target, names) -> names.forEach(name -> addReplica(target, name)));
      }

      private void addReplica(String target, String name) {
        Set<String> names = answering.computeIfAbsent(target, of -> new HashSet<>());
        if (names.size() < MAX_REPLICAS) {
          names.add(name);
        }
      }

      private void addQuota(String quota, double share) {
        if (quotaLeft.size() < MAX_QUOTAS || quotaLeft.containsKey(quota)) {
          quotaLeft.merge(quota, share, Math::min);
        }
      }
    }

    /** Adds a request that has ended, as its own record states whether it met the SLO. */
    @Override
    public void accept(RequestRecord record) {
      live.read(record);
      add(live, record.identity().target() + ": ");
    }

    public void add(GeneratorSecond second) {
      generator.add(second);
    }

    /** The health of each injector in some windows: of the seconds whose middle lies in one. */
    List<GeneratorHealth> generators(List<LevelWindow> windows) {
      return generator.in(windows);
    }

    /** Buckets of 1, 2, 4 … s in order of time, without those that no line falls into. */
    List<GeneratorBucket> generatorBuckets() {
      return generator.buckets();
    }

    void planned(long unixNanos) {
      intervals.at(unixNanos).cell.add(Amount.ARRIVED, 1);
    }

    void addSession(long from, long to) {
      long end;
      for (long at = Math.max(from, origin); at < to; at = end) {
        Interval interval = intervals.at(at);
        end = intervals.endOf(at);
        interval.aliveNanos += Math.min(end, to) - at;
      }
    }

    /** Adds a request; {@code owner} is the prefix of its quotas. */
    void add(RequestParts parts, String owner) {
      RequestRecord record = parts.record();
      String replica = Grouping.replica(record);
      boolean isAnswer = record.outcome().ok() || record.timing().ttftNanos() != null;
      long end = parts.end();
      long from = Long.MIN_VALUE;
      for (long at = parts.begin(); at <= end; at = from) {
        Interval interval = intervals.at(at);
        long to = intervals.endOf(at);
        interval.cell.add(parts.during(from, to, Math.max(from, origin)));
        if (isAnswer && to > parts.answered()) {
          interval.addReplica(record.identity().target(), replica);
        }
        from = to;
      }
      addValues(parts, record.timing());
      if (parts.admitted != RequestParts.NEVER
          && parts.closed != RequestParts.NEVER
          && !record.outcome().status().isCut()) {
        Interval interval = intervals.at(parts.closed);
        if (record.outcome().hasFailed()) {
          interval.cell.statuses.merge(record.outcome().status(), 1L, Long::sum);
        }
        Quota.of(record.server().rateLimits())
            .forEach(
                (name, quota) -> {
                  if (quota.lowestShare() != null) {
                    interval.addQuota(owner + name, Math.min(1, quota.lowestShare()));
                  }
                });
      }
    }

    private void addValues(RequestParts parts, RequestRecord.Timing timing) {
      Long admitted = timing.admittedUnixNanos();
      Long ttft = timing.ttftNanos();
      if (admitted != null && ttft != null) {
        long first = admitted + ttft;
        long micros = (first - timing.scheduledUnixNanos()) / 1_000;
        intervals.at(first).cell.add(Metric.TTFT_FROM_SCHEDULE_MS, micros / 1e3, 1);
      }
      TokenStream tokens = parts.stream;
      int end;
      for (int gap = 0; gap < tokens.gaps; gap = end) {
        long at = tokens.endOfGap(gap);
        Cell cell = intervals.at(at).cell;
        long until = intervals.endOf(at);
        end = gap + 1;
        while (end < tokens.gaps && tokens.endOfGap(end) >= at && tokens.endOfGap(end) < until) {
          end++;
        }
        cell.addTokenGaps(tokens, gap, end);
      }
    }

    /**
     * By what counts them, the replicas of a target from each second on: {@code answering}, from
     * first tokens to ends, if they are several, and {@code ready}, by the target's metrics.
     */
    Map<String, SortedMap<Double, Double>> replicas(String target, List<EnginePoint> metrics) {
      Map<String, SortedMap<Double, Double>> all = new TreeMap<>();
      List<Set<String>> names =
          intervals.all().stream().map(of -> of.answering.getOrDefault(target, Set.of())).toList();
      if (names.stream().flatMap(Set::stream).distinct().count() > 1) {
        for (int i = 0; i < names.size(); i++) {
          addChange(all, "answering", i * bucketS(), names.get(i).size());
        }
      }
      for (EnginePoint point : metrics) {
        Double replicas = point.of(EngineMetric.REPLICAS);
        if (replicas != null) {
          addChange(all, "ready", point.startS(), replicas);
        }
      }
      return all;
    }

    private static void addChange(
        Map<String, SortedMap<Double, Double>> all, String key, double fromS, double replicas) {
      SortedMap<Double, Double> changes = all.computeIfAbsent(key, k -> new TreeMap<>());
      if (changes.isEmpty() || changes.get(changes.lastKey()) != replicas) {
        changes.put(fromS, replicas);
      }
    }

    public double bucketS() {
      return intervals.width() / 1e9;
    }

    public List<Bucket> buckets(boolean hasSlo) {
      double seconds = bucketS();
      List<Bucket> buckets = new ArrayList<>();
      for (Interval interval : intervals.all()) {
        Cell cell = interval.cell;
        ValueRecorder ttft = cell.values(Metric.TTFT_FROM_SCHEDULE_MS);
        ValueRecorder itl = cell.values(Metric.ITL_MS);
        Map<String, Long> failures = new TreeMap<>();
        cell.statuses.forEach((status, count) -> failures.put(status.key(), count));
        buckets.add(
            new Bucket(
                buckets.size() * seconds,
                ttft.percentile(50),
                ttft.percentile(95),
                ttft.percentile(99),
                itl.percentile(50),
                itl.percentile(99),
                cell.of(Amount.TOKENS) / seconds,
                hasSlo ? (Double) (cell.of(Amount.TOKENS_IN_SLO) / seconds) : null,
                cell.count(Amount.STARTED),
                cell.count(Amount.ENDED),
                cell.count(Amount.FAILED),
                failures,
                cell.count(Amount.RATE_LIMITED),
                interval.quotaLeft,
                cell.of(Amount.IN_FLIGHT_NANOS) / intervals.width(),
                cell.count(Amount.ARRIVED),
                interval.aliveNanos / intervals.width()));
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
          Map.of(),
          0,
          List.of());
    }
  }

  /** The health of load generators, by injector and over time; at most {@value #MAX} lines. */
  private static final class GeneratorTally {

    /** A day of one injector, or five hours of twenty. */
    private static final int MAX = 400_000;

    private final long origin;
    private final Map<String, List<Second>> seconds = new LinkedHashMap<>();
    private int lines;

    GeneratorTally(long origin) {
      this.origin = origin;
    }

    void add(GeneratorSecond second) {
      if (lines++ >= MAX) {
        return;
      }
      long from = second.number(GeneratorField.START_UNIX_NS) - origin;
      String injector = second.injector();
      double all =
          !second.has(GeneratorField.MACHINE_IDLE_S)
              ? 0
              : (double) second.number(GeneratorField.MACHINE_USER_S)
                  + second.number(GeneratorField.MACHINE_SYSTEM_S)
                  + second.number(GeneratorField.MACHINE_IDLE_S)
                  + second.number(GeneratorField.MACHINE_STEAL_S);
      seconds
          .computeIfAbsent(injector == null ? "" : injector, i -> new ArrayList<>())
          .add(
              new Second(
                  from / 1e9,
                  (from + second.number(GeneratorField.LENGTH_S)) / 1e9,
                  second.largest(GeneratorField.LOOP_LAG_P99_US) / 1e3,
                  second.largest(GeneratorField.LOOP_LAG_MAX_US) / 1e3,
                  second.numbers(GeneratorField.LATEST_LOOP_US),
                  share(second, GeneratorField.MACHINE_IDLE_S, all),
                  second.has(GeneratorField.PROCESS_CPU_S)
                      ? share(second, GeneratorField.PROCESS_CPU_S, all)
                      : null,
                  share(second, GeneratorField.MACHINE_STEAL_S, all),
                  second.number(GeneratorField.COMPILER_S) / 1e9,
                  second.number(GeneratorField.GC_PAUSE_MAX_S) / 1e6));
    }

    /** Of the CPU time of all processors; null where the system does not report that. */
    private static @Nullable Double share(GeneratorSecond of, GeneratorField part, double all) {
      return all <= 0 ? null : (Double) (of.number(part) / all);
    }

    List<GeneratorHealth> in(List<LevelWindow> windows) {
      List<GeneratorHealth> all = new ArrayList<>();
      seconds.forEach(
          (injector, of) -> {
            List<Second> within =
                of.stream()
                    .filter(second -> windows.stream().anyMatch(in -> isIn(in, second)))
                    .toList();
            if (!within.isEmpty()) {
              all.add(new GeneratorHealth(injector, within));
            }
          });
      return all;
    }

    private boolean isIn(LevelWindow window, Second second) {
      double at = (second.fromS() + second.untilS()) / 2;
      return at >= (window.from - origin) / 1e9 && at < (window.to - origin) / 1e9;
    }

    List<GeneratorBucket> buckets() {
      TimeBuckets<List<Second>> buckets =
          new TimeBuckets<>(0, 1_000_000_000L, Series.MAX_BUCKETS, ArrayList::new, List::addAll);
      seconds.values().stream()
          .flatMap(List::stream)
          .filter(second -> second.fromS() >= 0)
          .forEach(second -> buckets.at(Math.round(second.fromS() * 1e9)).add(second));
      List<List<Second>> all = buckets.all();
      return IntStream.range(0, all.size())
          .filter(i -> !all.get(i).isEmpty())
          .mapToObj(
              i ->
                  new GeneratorBucket(
                      i * buckets.width() / 1e9, new GeneratorHealth("", all.get(i))))
          .toList();
    }
  }
}
