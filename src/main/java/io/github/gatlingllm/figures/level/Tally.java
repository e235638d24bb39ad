package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Series.Quantile;
import io.github.gatlingllm.figures.metric.Figures.Counts;
import io.github.gatlingllm.figures.metric.Figures.ErrorCount;
import io.github.gatlingllm.figures.metric.Figures.Reader;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.record.Objectives.SloCounts;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Slo;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Counts the requests that were scheduled in a measure window: latency distributions and jitter of
 * ok requests; numbers, errors and goodput of all.
 */
@SuppressWarnings("EnumOrdinal") // an array: every value of every request is added
final class Tally {

  /** The shortest gap that counts as a stall. */
  private static final int STALL_MICROS = 100_000;

  private static final List<Metric> DRAWN =
      List.of(Metric.TTFT_MS, Metric.ITL_MS, Metric.TPOT_MS, Metric.E2E_MS);

  private static final double[] NINES = {
    1, 5, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.75, 99.9, 99.95, 99.99, 99.995, 99.999
  };

  private final @Nullable ValueRecorder[] metrics =
      new @Nullable ValueRecorder[Metric.values().length];

  /** Gaps of streams with one token per event, where ICL and ITL are the same. */
  private ValueRecorder singles = Metric.ICL_MS.recorder();

  private final ValueRecorder ratio = new ValueRecorder(ValueRecorder.THOUSANDTHS);
  private final KeyCounts<Cause> errors = new KeyCounts<>(new Cause("other", "further causes"));
  private final KeyCounts<String> finishReasons = new KeyCounts<>("other");
  private final KeyCounts<String> missed = new KeyCounts<>("other");
  private final Map<RequestStatus, Long> verdicts = new EnumMap<>(RequestStatus.class);
  private final SloCounts slo = new SloCounts();
  private final Spans spans = new Spans();
  private final ServerTally server = new ServerTally();
  private long started;
  private long ok;
  private long cancelled;
  private long streamedTokens;
  private long events;
  private long stalls;
  private final double readingSpeed;
  private long readers;
  private long stalledReaders;

  Tally(double readingSpeed) {
    this.readingSpeed = readingSpeed;
  }

  private record Cause(String verdict, String message) {}

  void add(
      RequestRecord record,
      RequestValues values,
      TokenStream stream,
      int stage,
      String owner,
      Slo.Judgement judgement) {
    RequestRecord.Outcome outcome = record.outcome();
    boolean wasCancelled = outcome.status() == RequestStatus.CANCELLED;
    started++;
    verdicts.merge(outcome.status(), 1L, Long::sum);
    if (wasCancelled) {
      cancelled++;
    } else if (!outcome.ok()) {
      String error = outcome.error();
      errors.add(new Cause(outcome.status().key(), error == null ? "no message" : error));
    }
    slo.add(owner, judgement);
    judgement.missed().forEach(missed::add);
    span(record, stage);
    server.add(record);
    if (outcome.ok()) {
      ok++;
      String reason = outcome.finishReason();
      if (record.tokens().inputs() == null) {
        finishReasons.add(reason == null ? "none" : reason);
      }
      values.forEach((metric, value) -> made(metric).add(value));
      readers += values.hasReader() ? 1 : 0;
      stalledReaders += values.readerStalls() ? 1 : 0;
      gaps(record, stream);
    } else if (outcome.hasFailed()) {
      Double stay = Metric.FAILED_E2E_MS.of(record, readingSpeed);
      if (stay != null) {
        recorder(Metric.FAILED_E2E_MS).add(stay);
      }
    }
  }

  private void span(RequestRecord record, int stage) {
    Long closed = record.timing().closedUnixNanos();
    if (closed != null) {
      Integer tokens = record.tokens().n();
      spans.add(stage, record.timing().scheduledUnixNanos(), closed, tokens == null ? 0 : tokens);
    }
  }

  private void gaps(RequestRecord record, TokenStream stream) {
    if (!record.isOneBody()) {
      Integer n = record.tokens().n();
      int count = record.events().count();
      events += count;
      streamedTokens += n == null ? count : n;
    }
    if (stream.gaps() == 0) {
      return;
    }
    if (stream.isOneEach()) {
      stream.addTokenGaps(singles);
    } else {
      made(Metric.ICL_MS).addMicros(stream.chunkMicros(), stream.gaps());
      stream.addTokenGaps(made(Metric.ITL_MS));
    }
    for (int g = 0; g < stream.gaps(); g++) {
      stalls += stream.chunkMicros(g) > STALL_MICROS ? 1 : 0;
    }
    Double jitter = stream.jitter();
    if (jitter != null) {
      ratio.add(jitter);
    }
  }

  /** The values of a metric; made when first used. */
  ValueRecorder recorder(Metric metric) {
    shareSingles();
    return made(metric);
  }

  private ValueRecorder made(Metric metric) {
    ValueRecorder values = metrics[metric.ordinal()];
    if (values == null) {
      values = metric.recorder();
      metrics[metric.ordinal()] = values;
    }
    return values;
  }

  private void shareSingles() {
    if (!singles.isEmpty()) {
      made(Metric.ICL_MS).add(singles);
      made(Metric.ITL_MS).add(singles);
      singles = Metric.ICL_MS.recorder();
    }
  }

  void add(Tally other) {
    for (Metric metric : Metric.distributions()) {
      ValueRecorder values = other.values(metric);
      if (values != null) {
        made(metric).add(values);
      }
    }
    ratio.add(other.ratio);
    errors.add(other.errors);
    finishReasons.add(other.finishReasons);
    missed.add(other.missed);
    slo.add(other.slo);
    spans.add(other.spans);
    server.add(other.server);
    other.verdicts.forEach((verdict, count) -> verdicts.merge(verdict, count, Long::sum));
    started += other.started;
    ok += other.ok;
    cancelled += other.cancelled;
    streamedTokens += other.streamedTokens;
    events += other.events;
    stalls += other.stalls;
    readers += other.readers;
    stalledReaders += other.stalledReaders;
  }

  /** The values of a metric; null where nothing was recorded. */
  @Nullable ValueRecorder values(Metric metric) {
    shareSingles();
    return metrics[metric.ordinal()];
  }

  Spans spans() {
    return spans;
  }

  ServerTally server() {
    return server;
  }

  /** The percentile curves of TTFT, ITL, TPOT and E2E; a metric without values is missing. */
  Map<Metric, List<Quantile>> quantiles() {
    Map<Metric, List<Quantile>> curves = new EnumMap<>(Metric.class);
    for (Metric metric : DRAWN) {
      ValueRecorder values = recorder(metric);
      if (!values.isEmpty()) {
        curves.put(metric, curve(values));
      }
    }
    return curves;
  }

  private static List<Quantile> curve(ValueRecorder values) {
    List<Quantile> curve = new ArrayList<>();
    curve.add(new Quantile(0, values.moments().min()));
    for (double percent : NINES) {
      // A higher percentile would be the maximum.
      if (values.moments().count() * (100 - percent) / 100 >= 1 - 1e-9) {
        curve.add(new Quantile(percent, Objects.requireNonNull(values.percentile(percent))));
      }
    }
    curve.add(new Quantile(100, values.moments().max()));
    return curve;
  }

  void addJitter(Map<Metric, @Nullable Double> numbers) {
    ValueRecorder itl = recorder(Metric.ITL_MS);
    Double p50 = itl.percentile(50);
    Double p99 = itl.percentile(99);
    numbers.put(
        Metric.JITTER, p50 == null || p99 == null || p50 == 0 ? null : (Double) (p99 / p50));
    numbers.put(Metric.JITTER_PER_REQUEST, ratio.percentile(50));
    numbers.put(
        Metric.STALLS_PER_1K_TOKENS,
        itl.isEmpty() ? null : (Double) (stalls * 1e3 / streamedTokens));
    numbers.put(
        Metric.BATCH_RATIO, events == 0 ? null : (Double) ((double) streamedTokens / events));
  }

  Reader reader() {
    Double share = readers == 0 ? null : (Double) ((double) stalledReaders / readers);
    return new Reader(readingSpeed, readers, stalledReaders, share);
  }

  List<ErrorCount> errors() {
    return errors.byCount().entrySet().stream()
        .map(e -> new ErrorCount(e.getKey().verdict(), e.getKey().message(), e.getValue()))
        .toList();
  }

  Map<String, Long> finishReasons() {
    return finishReasons.byCount();
  }

  Map<String, Long> missed() {
    return missed.byCount();
  }

  Counts counts(@Nullable Long planned) {
    Map<String, Long> byKey = new LinkedHashMap<>();
    verdicts.forEach((verdict, count) -> byKey.put(verdict.key(), count));
    return new Counts(planned, started, started - cancelled, ok, cancelled, byKey);
  }

  SloCounts slo() {
    return slo;
  }

  /**
   * Σ tokens and the time from the first schedule to the last close, by load level. Time in which
   * levels overlap counts once.
   */
  static final class Spans {

    private static final class Span {
      private long from = Long.MAX_VALUE;
      private long to = Long.MIN_VALUE;
      private long tokens;

      private void add(long start, long end, long more) {
        from = Math.min(from, start);
        to = Math.max(to, end);
        tokens += more;
      }
    }

    private final Map<Integer, Span> stages = new LinkedHashMap<>();

    void add(int stage, long from, long to, long tokens) {
      stages.computeIfAbsent(stage, s -> new Span()).add(from, to, tokens);
    }

    void add(Spans other) {
      other.stages.forEach(
          (k, s) -> stages.computeIfAbsent(k, x -> new Span()).add(s.from, s.to, s.tokens));
    }

    /** Σ tokens ÷ wall time of all levels; null where that time is 0. */
    @Nullable Double wallTokensPerS() {
      List<long[]> intervals = new ArrayList<>();
      long tokens = 0;
      for (Span span : stages.values()) {
        intervals.add(new long[] {span.from, span.to});
        tokens += span.tokens;
      }
      long wall = Windows.unionNanos(intervals);
      return wall == 0 ? null : (Double) (tokens * 1e9 / wall);
    }
  }

  /**
   * The values of one ok request by metric, computed once for all tallies. One object is used for
   * one request after the other.
   */
  static final class RequestValues {

    private static final List<Metric> METRICS = Metric.ofRequests();
    private static final int READER = METRICS.indexOf(Metric.READER_STALL_MS);

    private final double readingSpeed;

    /** NaN where the request has no value. */
    private final double[] values = new double[METRICS.size()];

    RequestValues(double readingSpeed) {
      this.readingSpeed = readingSpeed;
    }

    /** Receives each value that the request has. */
    @FunctionalInterface
    interface Visitor {
      void value(Metric metric, double value);
    }

    void read(RequestRecord record) {
      for (int i = 0; i < values.length; i++) {
        Double value = METRICS.get(i).of(record, readingSpeed);
        values[i] = value == null ? Double.NaN : value;
      }
    }

    /** Whether the request has the metric {@code READER_STALL_MS}. */
    boolean hasReader() {
      return !Double.isNaN(values[READER]);
    }

    /** Whether somebody who reads the answer waits for a late token. */
    boolean readerStalls() {
      return values[READER] > 0;
    }

    void forEach(Visitor visitor) {
      for (int i = 0; i < values.length; i++) {
        if (!Double.isNaN(values[i])) {
          visitor.value(METRICS.get(i), values[i]);
        }
      }
    }
  }

  /**
   * Counts by key, for keys that a server or a script chooses. After {@value #MOST} different keys
   * further ones are counted under one common key, so that memory stays bounded.
   */
  static final class KeyCounts<K> {

    private static final int MOST = 200;

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

    private void add(K key, long count) {
      long[] known = counts.get(key);
      if (known == null) {
        known = counts.computeIfAbsent(counts.size() < MOST ? key : other, k -> new long[1]);
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
}
