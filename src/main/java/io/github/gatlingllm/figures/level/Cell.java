package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Amount;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figures.Counts;
import io.github.gatlingllm.figures.metric.Figures.ErrorCount;
import io.github.gatlingllm.figures.metric.Figures.Pacing;
import io.github.gatlingllm.figures.metric.Figures.Quota;
import io.github.gatlingllm.figures.metric.Figures.RateLimits;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.Objectives.SloCounts;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.ServerReport;
import io.github.gatlingllm.record.RequestStatus;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The accumulator of some requests: the only one, whatever they are counted under. It has a sum for
 * each {@link Amount}, a recorder for each {@link Metric} that its {@link Detail} stores, and
 * counts of what answers contained. Cells add up to the cell of all their requests. Not
 * thread-safe.
 */
@SuppressWarnings("EnumOrdinal") // arrays: every value of every request is added
public final class Cell {

  /** What a cell stores besides sums. */
  enum Detail {
    /** All metrics, statuses, errors and timings of servers: what {@link Figures} are made of. */
    FIGURES(
        false,
        Stream.concat(Metric.distributions().stream(), Stream.of(Metric.JITTER_PER_REQUEST))
            .toList()),
    /** Metrics that are compared, for a part of a window. */
    SLICE(true, Stream.concat(Metric.ofRequests().stream(), Stream.of(Metric.ITL_MS)).toList()),
    /** Figures over time. */
    CHART(true, List.of(Metric.TTFT_FROM_SCHEDULE_MS, Metric.ITL_MS)),
    SCENARIO(true, List.of(Metric.TTFT_MS, Metric.E2E_MS)),
    TURN(false, List.of(Metric.TTFT_MS, Metric.E2E_MS)),
    INJECTOR(false, List.of(Metric.TTFT_MS)),
    /** Figures of a run that is on. */
    LIVE(false, List.of(Metric.TTFT_MS, Metric.ITL_MS)),
    SUMS(false, List.of());

    private final boolean isCoarse;

    @SuppressWarnings("ImmutableEnumChecker") // an unmodifiable list
    private final List<Metric> metrics;

    private final boolean storesGaps;

    @SuppressWarnings("ImmutableEnumChecker") // never changed
    private final Metric[] ofRequests;

    Detail(boolean isCoarse, List<Metric> metrics) {
      this.isCoarse = isCoarse;
      this.metrics = metrics;
      storesGaps = metrics.contains(Metric.ITL_MS);
      ofRequests = metrics.stream().filter(metric -> !metric.isPooled()).toArray(Metric[]::new);
    }

    /** The metrics of which a request has one value. */
    List<Metric> ofRequests() {
      return List.of(ofRequests);
    }

    private ValueRecorder recorder(Metric metric) {
      return isCoarse ? ValueRecorder.coarse() : metric.recorder();
    }
  }

  private record Cause(String verdict, String message) {}

  private static final ValueRecorder NONE = ValueRecorder.coarse();

  private final Detail detail;
  private final double[] sums = new double[Amount.values().length];

  private final @Nullable ValueRecorder[] values =
      new @Nullable ValueRecorder[Metric.values().length];

  /** Gaps that are both ICL and ITL: counted once until the cell is added to another. */
  private final ValueRecorder gapsOfOne;

  /** The first planned instant and the last end of closed requests. */
  private long from = Long.MAX_VALUE;

  private long to = Long.MIN_VALUE;
  final Map<RequestStatus, Long> statuses = new EnumMap<>(RequestStatus.class);
  private final KeyCounts<Cause> errors = new KeyCounts<>(new Cause("other", "further causes"));
  final KeyCounts<String> finishReasons = new KeyCounts<>("other");
  final KeyCounts<String> missed = new KeyCounts<>("other");
  final SloCounts slo = new SloCounts();
  private final ServerTally server = new ServerTally();

  /** Of one window; null unless figures are made of it. */
  @Nullable Peaks peaks;

  /** How late requests of a plan started. */
  final ValueRecorder lagMs;

  Cell(Detail detail) {
    this.detail = detail;
    gapsOfOne = detail == Detail.FIGURES ? Metric.ITL_MS.recorder() : NONE;
    lagMs = detail == Detail.INJECTOR ? new ValueRecorder(ValueRecorder.MICROS) : NONE;
  }

  static Cell ofWindow(long from, long to) {
    Cell cell = new Cell(Detail.FIGURES);
    cell.peaks = new Peaks(from, to);
    return cell;
  }

  public static Cell ofSlice() {
    return new Cell(Detail.SLICE);
  }

  public double of(Amount amount) {
    return sums[amount.ordinal()];
  }

  long count(Amount amount) {
    return (long) of(amount);
  }

  /** Null where the part or the total is 0 requests. */
  @Nullable Double share(Amount part, Amount total) {
    return of(total) == 0 ? null : (Double) (of(part) / of(total));
  }

  public void add(Amount amount, double more) {
    sums[amount.ordinal()] += more;
  }

  void add(RequestParts parts) {
    parts.addTo(sums);
  }

  public void add(Metric metric, double value, long weight) {
    recorder(metric).add(value, weight);
  }

  /** Adds the values and the answer of a request that was scheduled in measure. */
  void measured(RequestParts parts) {
    for (Metric metric : detail.ofRequests) {
      double value = parts.value(metric);
      if (!Double.isNaN(value)) {
        recorder(metric).add(value);
      }
    }
    if (parts.record().outcome().ok() && parts.stream.gaps > 0) {
      addGaps(parts.stream);
    }
    RequestRecord record = parts.record();
    if (detail == Detail.INJECTOR && record.timing().scheduledOffsetNanos() != null) {
      lagMs.add(record.timing().startLagNanos() / 1e6);
    }
    Long closed = record.timing().closedUnixNanos();
    if (closed != null) {
      from = Math.min(from, parts.scheduled);
      to = Math.max(to, closed);
    }
    if (detail == Detail.FIGURES || detail == Detail.LIVE) {
      statuses.merge(record.outcome().status(), 1L, Long::sum);
    }
    if (detail == Detail.FIGURES) {
      addAnswer(parts, record);
    }
  }

  void addTokenGaps(TokenStream stream, int from, int to) {
    stream.addTokenGaps(recorder(Metric.ITL_MS), from, to);
  }

  private void addGaps(TokenStream stream) {
    if (detail != Detail.FIGURES) {
      if (detail.storesGaps) {
        stream.addTokenGaps(recorder(Metric.ITL_MS));
      }
    } else if (stream.isOneEach) {
      stream.addChunkGaps(gapsOfOne);
    } else {
      stream.addChunkGaps(recorder(Metric.ICL_MS));
      stream.addTokenGaps(recorder(Metric.ITL_MS));
    }
  }

  private void addAnswer(RequestParts parts, RequestRecord record) {
    RequestRecord.RequestOutcome outcome = record.outcome();
    if (!outcome.ok() && !outcome.status().isCut()) {
      String error = outcome.error();
      errors.add(new Cause(outcome.status().key(), error == null ? "no message" : error));
    }
    slo.add(parts.owner, parts.judgement());
    if (!Boolean.TRUE.equals(parts.met())) {
      parts.judgement().missed().forEach(missed::add);
    }
    server.add(record);
    if (outcome.ok() && record.tokens().inputs() == null) {
      String reason = outcome.finishReason();
      finishReasons.add(reason == null ? "none" : reason);
    }
  }

  void add(Cell other) {
    for (int i = 0; i < sums.length; i++) {
      sums[i] += other.sums[i];
    }
    for (Metric metric : detail.metrics) {
      ValueRecorder theirs = other.values[metric.ordinal()];
      if (theirs != null) {
        recorder(metric).add(theirs);
      }
    }
    if (!other.gapsOfOne.isEmpty()) {
      recorder(Metric.ICL_MS).add(other.gapsOfOne);
      recorder(Metric.ITL_MS).add(other.gapsOfOne);
    }
    if (detail == Detail.INJECTOR) {
      lagMs.add(other.lagMs);
    }
    from = Math.min(from, other.from);
    to = Math.max(to, other.to);
    other.statuses.forEach((status, count) -> statuses.merge(status, count, Long::sum));
    errors.add(other.errors);
    finishReasons.add(other.finishReasons);
    missed.add(other.missed);
    slo.add(other.slo);
    server.add(other.server);
  }

  /** Most frequent first. */
  List<ErrorCount> errors() {
    List<ErrorCount> all = new ArrayList<>();
    errors
        .byCount()
        .forEach((cause, count) -> all.add(new ErrorCount(cause.verdict, cause.message, count)));
    return all;
  }

  /** The timings that servers reported in their answers, by name. */
  Map<String, Distribution> timings() {
    return server.timings();
  }

  @Nullable RateLimits rateLimits(Counts counts) {
    return server.rateLimits(counts);
  }

  /** The values of a metric; made when first used. */
  private ValueRecorder recorder(Metric metric) {
    ValueRecorder made = values[metric.ordinal()];
    if (made == null) {
      made = detail.recorder(metric);
      values[metric.ordinal()] = made;
    }
    return made;
  }

  /** The values of a metric; empty where none was recorded. */
  public ValueRecorder values(Metric metric) {
    ValueRecorder made = values[metric.ordinal()];
    return made == null ? NONE : made;
  }

  /** From the first planned instant to the last end of closed requests; null without one. */
  long @Nullable [] span() {
    return to < from ? null : new long[] {from, to};
  }

  /** The length of {@link #span} in seconds; 0 without one. */
  double spanS() {
    return to < from ? 0 : (to - from) / 1e9;
  }

  /** Counts by key; after {@value #MAX_KEYS} keys further ones are counted under a common one. */
  static final class KeyCounts<K> {

    private static final int MAX_KEYS = 200;

    private final K other;
    private final Map<K, long[]> counts = new LinkedHashMap<>();

    KeyCounts(K other) {
      this.other = other;
    }

    void add(K key) {
      add(key, 1);
    }

    void add(KeyCounts<K> more) {
      more.counts.forEach((key, count) -> add(key, count[0]));
    }

    void add(K key, long count) {
      long[] known = counts.get(key);
      if (known == null) {
        known = counts.computeIfAbsent(counts.size() < MAX_KEYS ? key : other, k -> new long[1]);
      }
      known[0] += count;
    }

    /** Most frequent first; among equals the one that was added first. */
    Map<K, Long> byCount() {
      Map<K, Long> sorted = new LinkedHashMap<>();
      counts.entrySet().stream()
          .sorted(Comparator.comparingLong((Map.Entry<K, long[]> e) -> e.getValue()[0]).reversed())
          .forEach(e -> sorted.put(e.getKey(), e.getValue()[0]));
      return Collections.unmodifiableMap(sorted);
    }
  }

  /**
   * The timings and rate limits that servers reported in their answers, and waits of the client.
   */
  private static final class ServerTally {

    /** Timings with separate figures, and quotas; further ones are ignored. */
    private static final int MAX_NAMES = 40;

    private final Map<String, ValueRecorder> timings = new TreeMap<>();
    private @Nullable ValueRecorder retryAfterS;
    private final Map<String, Quota> quotas = new TreeMap<>();
    private final Moments waitsS = new Moments();
    private long passed;
    private long neverSent;

    void add(RequestRecord record) {
      ServerReport report = record.server();
      if (record.outcome().ok()) {
        report.timings().forEach(this::timing);
      }
      Long retryAfter = report.retryAfterNanos();
      if (retryAfter != null && record.outcome().status() == RequestStatus.RATE_LIMITED) {
        retries().add(retryAfter / 1e9);
      }
      Quota.of(report.rateLimits()).forEach(this::join);
      Long wait = record.timing().pacingWaitNanos();
      if (wait != null) {
        passed++;
        if (wait > 0) {
          waitsS.add(wait / 1e9, 1);
          neverSent += record.timing().gateWaitNanos() == null ? 1 : 0;
        }
      }
    }

    private ValueRecorder retries() {
      retryAfterS = retryAfterS == null ? new ValueRecorder(ValueRecorder.MILLIONTHS) : retryAfterS;
      return retryAfterS;
    }

    private void timing(String key, double value) {
      if (timings.size() < MAX_NAMES || timings.containsKey(key)) {
        recorder(key).add(value);
      }
    }

    private ValueRecorder recorder(String key) {
      return timings.computeIfAbsent(key, k -> new ValueRecorder(ValueRecorder.MILLIONTHS));
    }

    private void join(String name, Quota next) {
      if (quotas.size() >= MAX_NAMES && !quotas.containsKey(name)) {
        return;
      }
      quotas.merge(
          name,
          next,
          (a, b) ->
              new Quota(
                  b.limit() == null ? a.limit() : b.limit(),
                  min(a.lowestRemaining(), b.lowestRemaining()),
                  min(a.lowestShare(), b.lowestShare())));
    }

    private static @Nullable Double min(@Nullable Double a, @Nullable Double b) {
      return a == null ? b : b == null ? a : (Double) Math.min(a, b);
    }

    void add(ServerTally other) {
      other.timings.forEach((key, values) -> recorder(key).add(values));
      if (other.retryAfterS != null) {
        retries().add(other.retryAfterS);
      }
      other.quotas.forEach(this::join);
      waitsS.add(other.waitsS);
      passed += other.passed;
      neverSent += other.neverSent;
    }

    Map<String, Distribution> timings() {
      Map<String, Distribution> all = new LinkedHashMap<>();
      timings.forEach((key, values) -> all.put(key, values.distribution()));
      return all;
    }

    @Nullable RateLimits rateLimits(Counts counts) {
      long limited = counts.of(RequestStatus.RATE_LIMITED);
      if (limited == 0 && quotas.isEmpty() && passed == 0) {
        return null;
      }
      long heldBack = waitsS.count();
      return new RateLimits(
          limited,
          counts.ended() == 0 ? null : (Double) ((double) limited / counts.ended()),
          retryAfterS == null ? Distribution.EMPTY : retryAfterS.distribution(),
          Collections.unmodifiableMap(quotas),
          passed == 0
              ? null
              : new Pacing(
                  passed,
                  heldBack,
                  neverSent,
                  heldBack == 0 ? null : (Double) waitsS.mean(),
                  heldBack == 0 ? null : (Double) waitsS.max()));
    }
  }
}
