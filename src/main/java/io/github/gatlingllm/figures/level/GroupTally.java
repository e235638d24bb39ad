package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Amounts.Span;
import io.github.gatlingllm.figures.level.FigureGroups.Judge;
import io.github.gatlingllm.figures.level.FigureGroups.Scope;
import io.github.gatlingllm.figures.level.Series.Quantile;
import io.github.gatlingllm.figures.level.WorkloadTally.KeyCounts;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.Counts;
import io.github.gatlingllm.figures.metric.Figures.ErrorCount;
import io.github.gatlingllm.figures.metric.Figures.Goodput;
import io.github.gatlingllm.figures.metric.Figures.MaxGoodput;
import io.github.gatlingllm.figures.metric.Figures.Reader;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Metric.Amount;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.Objectives.SloCounts;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo.RunEnvironment.TargetFacts;
import io.github.gatlingllm.record.Slo;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one load level and one kind, or of several added up: those scheduled in measure,
 * and what happened inside the measure windows, where requests of all phases count.
 */
@SuppressWarnings("EnumOrdinal") // an array: every value of every request is added
final class GroupTally extends Amounts {

  private static final RequestKind NONE = new RequestKind("", "", "");

  private static final int STALL_MICROS = 100_000;

  private static final List<Metric> DRAWN =
      List.of(Metric.TTFT_MS, Metric.ITL_MS, Metric.TPOT_MS, Metric.E2E_MS);

  private final RequestKind kind;
  private final double readingSpeed;
  private final Scope scope;
  private final Map<LevelTally, Span> spans = new LinkedHashMap<>();
  private final Span ownSpan = new Span();
  private final List<Peaks> peaks = new ArrayList<>();
  final Moments durationsMs = new Moments();

  private final @Nullable ValueRecorder[] metrics =
      new @Nullable ValueRecorder[Metric.values().length];

  /** Gaps that are both ICL and ITL: counted once until the group is added to a sum. */
  private final ValueRecorder gapsOfOne = Metric.ITL_MS.recorder();

  private final ValueRecorder ratio = new ValueRecorder(ValueRecorder.THOUSANDTHS);
  private final KeyCounts<Cause> errors = new KeyCounts<>(new Cause("other", "further causes"));
  private final KeyCounts<String> finishReasons = new KeyCounts<>("other");
  private final KeyCounts<String> missed = new KeyCounts<>("other");
  private final Map<RequestStatus, Long> verdicts = new EnumMap<>(RequestStatus.class);
  private final SloCounts slo = new SloCounts();
  private final ServerTally server = new ServerTally();

  private record Cause(String verdict, String message) {}

  /** Requests of several levels and kinds, to be added. */
  GroupTally(double readingSpeed, Scope scope) {
    this.kind = NONE;
    this.readingSpeed = readingSpeed;
    this.scope = scope;
  }

  GroupTally(LevelTally level, RequestKind kind, double readingSpeed) {
    this.kind = kind;
    this.readingSpeed = readingSpeed;
    this.scope = Scope.NONE;
    spans.put(level, ownSpan);
    peaks.add(new Peaks(level.from, level.to));
  }

  RequestKind kind() {
    return kind;
  }

  Set<LevelTally> levels() {
    return spans.keySet();
  }

  /** Adds tokens that arrived in one second of the clock. */
  void tokens(long unixNanos, double count, boolean inSlo) {
    tokens(count, inSlo);
    peaks.get(0).tokens(unixNanos, count);
  }

  void inFlight(long admitted, long closed, long nanos) {
    add(Amount.IN_FLIGHT_NANOS, (double) nanos);
    peaks.get(0).inFlight(admitted, closed);
  }

  void ended(double durationMs, boolean wasOk, boolean inSlo) {
    durationsMs.add(durationMs, 1);
    ended(wasOk, inSlo);
  }

  void measured(
      RequestRecord record,
      RequestValues values,
      TokenStream stream,
      String owner,
      Slo.Judgement judgement) {
    RequestRecord.Outcome outcome = record.outcome();
    started(record, judgement.met());
    verdicts.merge(outcome.status(), 1L, Long::sum);
    if (!outcome.ok() && !outcome.status().isCut()) {
      String error = outcome.error();
      errors.add(new Cause(outcome.status().key(), error == null ? "no message" : error));
    }
    slo.add(owner, judgement);
    if (!Boolean.TRUE.equals(judgement.met())) {
      judgement.missed().forEach(missed::add);
    }
    ownSpan.add(record);
    server.add(record);
    if (outcome.hasFirstToken()) {
      values.forEach((metric, value) -> recorder(metric).add(value));
    }
    if (outcome.ok()) {
      String reason = outcome.finishReason();
      if (record.tokens().inputs() == null) {
        finishReasons.add(reason == null ? "none" : reason);
      }
      reader(values);
      gaps(record, stream);
    } else if (outcome.hasFailed()) {
      double stay = Metric.FAILED_E2E_MS.of(record, readingSpeed);
      if (!Double.isNaN(stay)) {
        recorder(Metric.FAILED_E2E_MS).add(stay);
      }
    }
  }

  private Span span(LevelTally level) {
    return spans.computeIfAbsent(level, l -> new Span());
  }

  private void gaps(RequestRecord record, TokenStream stream) {
    if (!record.isOneBody()) {
      Integer n = record.tokens().n();
      int count = record.events().count();
      add(Amount.EVENTS, count);
      add(Amount.STREAMED_TOKENS, n == null ? count : n);
    }
    if (stream.gaps == 0) {
      return;
    }
    if (stream.isOneEach) {
      stream.addChunkGaps(gapsOfOne);
    } else {
      stream.addChunkGaps(recorder(Metric.ICL_MS));
      stream.addTokenGaps(recorder(Metric.ITL_MS));
    }
    add(Amount.STALLS, stream.gapsAbove(STALL_MICROS));
    double jitter = stream.jitter(record);
    if (jitter > 0) {
      ratio.add(jitter);
    }
  }

  void add(GroupTally other) {
    add((Amounts) other);
    for (Metric metric : Metric.distributions()) {
      ValueRecorder values = other.values(metric);
      if (values != null) {
        recorder(metric).add(values);
      }
    }
    if (!other.gapsOfOne.isEmpty()) {
      recorder(Metric.ICL_MS).add(other.gapsOfOne);
      recorder(Metric.ITL_MS).add(other.gapsOfOne);
    }
    other.spans.forEach((level, s) -> span(level).add(s));
    peaks.addAll(other.peaks);
    durationsMs.add(other.durationsMs);
    ratio.add(other.ratio);
    errors.add(other.errors);
    finishReasons.add(other.finishReasons);
    missed.add(other.missed);
    slo.add(other.slo);
    server.add(other.server);
    other.verdicts.forEach((verdict, count) -> verdicts.merge(verdict, count, Long::sum));
  }

  /** The values of a metric; made when first used. */
  ValueRecorder recorder(Metric metric) {
    ValueRecorder values = metrics[metric.ordinal()];
    if (values == null) {
      values = metric.recorder();
      metrics[metric.ordinal()] = values;
    }
    return values;
  }

  /** The values of a metric; null where nothing was recorded. */
  @Nullable ValueRecorder values(Metric metric) {
    return metrics[metric.ordinal()];
  }

  /** The percentile curves of TTFT, ITL, TPOT and E2E; a metric without values is missing. */
  Map<Metric, List<Quantile>> quantiles() {
    Map<Metric, List<Quantile>> curves = new EnumMap<>(Metric.class);
    for (Metric metric : DRAWN) {
      ValueRecorder values = recorder(metric);
      if (!values.isEmpty()) {
        curves.put(metric, Quantile.curve(values));
      }
    }
    return curves;
  }

  Figures figures(
      @Nullable Judge judge,
      @Nullable Long planned,
      @Nullable MaxGoodput max,
      List<Figures> repeats) {
    double window = scope.windowNanos() / 1e9;
    Map<Metric, Distribution> distributions = new EnumMap<>(Metric.class);
    Metric.distributions().forEach(metric -> distributions.put(metric, distribution(metric)));
    Counts counts = counts(planned);
    return new Figures(
        distributions,
        numbers(window, judge != null),
        window == 0 ? null : (Double) window,
        scope.trials(),
        judge == null ? null : goodput(window, judge, max),
        new Reader(
            readingSpeed,
            count(Amount.READERS),
            count(Amount.READERS_STALLED),
            ratio(of(Amount.READERS_STALLED), of(Amount.READERS))),
        errors.byCount().entrySet().stream()
            .map(e -> new ErrorCount(e.getKey().verdict(), e.getKey().message(), e.getValue()))
            .toList(),
        finishReasons.byCount(),
        counts,
        server.timings(),
        server.rateLimits(counts),
        repeats);
  }

  private Counts counts(@Nullable Long planned) {
    Map<String, Long> byKey = new LinkedHashMap<>();
    verdicts.forEach((verdict, count) -> byKey.put(verdict.key(), count));
    long started = count(Amount.STARTED);
    long ended = count(Amount.ENDED);
    return new Counts(
        planned,
        started,
        ended,
        count(Amount.OK),
        verdicts.getOrDefault(RequestStatus.CANCELLED, 0L),
        byKey);
  }

  Distribution distribution(Metric metric) {
    ValueRecorder values = values(metric);
    ConfidenceIntervals intervals = scope.intervals();
    return values == null
        ? Distribution.EMPTY
        : intervals == null ? values.distribution() : intervals.distribution(metric, values);
  }

  private Map<Metric, @Nullable Double> numbers(double window, boolean isJudged) {
    boolean generates = generates();
    boolean hasPrompts = of(Amount.PROMPTS) > 0;
    double tokens = of(Amount.TOKENS);
    TargetFacts facts = scope.facts();
    Double gpus = facts == null ? null : facts.gpus();
    Map<Metric, @Nullable Double> all = new EnumMap<>(Metric.class);
    all.put(Metric.OUTPUT_TOKENS_PER_S, per(tokens, window, generates));
    all.put(
        Metric.BILLED_OUTPUT_TOKENS_PER_S,
        per(tokens + of(Amount.HIDDEN_TOKENS), window, of(Amount.BILLED) > 0));
    all.put(
        Metric.PEAK_OUTPUT_TOKENS_PER_S, generates ? Peaks.most(peaks, Peaks::tokensPerS) : null);
    all.put(
        Metric.OUTPUT_TOKENS_PER_S_PER_GPU,
        gpus == null ? null : per(tokens / gpus, window, generates));
    all.put(
        Metric.BATCHING_GAIN,
        scope.alone() == null ? null : per(tokens / scope.alone().tokensPerS(), window, generates));
    all.put(Metric.INPUT_TOKENS_PER_S, per(of(Amount.PROMPT_TOKENS), window, hasPrompts));
    all.put(
        Metric.TOTAL_TOKENS_PER_S,
        per(tokens + of(Amount.PROMPT_TOKENS), window, generates && hasPrompts));
    all.put(Metric.WALL_OUTPUT_TOKENS_PER_S, generates ? wallTokensPerS() : null);
    all.put(Metric.REQUESTS_PER_S, per(of(Amount.COMPLETED), window, true));
    all.put(Metric.INPUTS_PER_S, per(of(Amount.INPUTS), window, of(Amount.EMBEDDINGS) > 0));
    all.put(Metric.EFFECTIVE_CONCURRENCY, per(of(Amount.IN_FLIGHT_NANOS) / 1e9, window, true));
    all.put(Metric.ACTIVE_CONCURRENCY, per(of(Amount.RECEIVING_NANOS) / 1e9, window, generates));
    all.put(Metric.PEAK_IN_FLIGHT, Peaks.most(peaks, Peaks::inFlight));
    all.put(Metric.CACHED_PERCENT, cachedPercent());
    addJitter(all);
    addEfficiency(all, window, isJudged);
    return all;
  }

  private @Nullable Double cachedPercent() {
    Double share = ratio(of(Amount.CACHED_TOKENS), of(Amount.LOOKED_UP_TOKENS));
    share = share == null ? scope.cachedByEngine() : share;
    return share == null ? null : (Double) (100 * share);
  }

  /** False for embeddings, which generate no tokens: their token figures are absent, not 0. */
  private boolean generates() {
    return of(Amount.EMBEDDINGS) == 0 || of(Amount.TOKENS) > 0;
  }

  private static @Nullable Double per(double amount, double window, boolean isKnown) {
    return isKnown ? ratio(amount, window) : null;
  }

  /** Σ tokens ÷ wall time of all levels, in which overlaps count once; null where that is 0. */
  private @Nullable Double wallTokensPerS() {
    long wall =
        Windows.unionNanos(spans.values().stream().map(s -> new long[] {s.from, s.to}).toList());
    return ratio(
        spans.values().stream().mapToDouble(span -> span.of(Amount.TOKENS)).sum() * 1e9,
        (double) wall);
  }

  private Goodput goodput(double window, Judge judge, @Nullable MaxGoodput max) {
    SloCounts.Count all = slo.all();
    SloCounts.Decision decision = slo.decide();
    ConfidenceIntervals intervals = scope.intervals();
    List<Goodput.Objective> objectives = new ArrayList<>();
    slo.objectives()
        .forEach(
            (name, of) ->
                objectives.add(
                    new Goodput.Objective(name, of.judged(), of.met(), of.unknown(), of.share())));
    return new Goodput(
        judge.quote(),
        all.share(),
        intervals == null || all.isUndefined() ? null : intervals.share(all.met(), all.judged()),
        per(of(Amount.COMPLETED_IN_SLO), window, true),
        per(of(Amount.TOKENS_IN_SLO), window, generates()),
        all.judged(),
        all.met(),
        all.unknown(),
        (!judge.isOfLevel() || decision == null)
            ? null
            : counts(null).sheds() ? Boolean.FALSE : decision.holds(),
        max,
        missed.byCount(),
        objectives);
  }

  private void addJitter(Map<Metric, @Nullable Double> numbers) {
    ValueRecorder itl = recorder(Metric.ITL_MS);
    Double p50 = itl.percentile(50);
    Double p99 = itl.percentile(99);
    numbers.put(Metric.JITTER, p50 == null ? null : ratio(p99, p50));
    numbers.put(Metric.JITTER_PER_REQUEST, ratio.percentile(50));
    numbers.put(
        Metric.STALLS_PER_1K_TOKENS,
        itl.isEmpty() ? null : (Double) (of(Amount.STALLS) * 1e3 / of(Amount.STREAMED_TOKENS)));
    numbers.put(Metric.BATCH_RATIO, ratio(of(Amount.STREAMED_TOKENS), of(Amount.EVENTS)));
  }

  /** Power and cost per token; none where neither energy nor cost is known. */
  private void addEfficiency(
      Map<Metric, @Nullable Double> numbers, double window, boolean isJudged) {
    TargetFacts facts = scope.facts();
    Double cost = facts == null ? null : facts.costOfAllPerHour();
    Double joules = scope.joules();
    if (!scope.isWhole() || window == 0 || (joules == null && cost == null)) {
      return;
    }
    Double costOfAll = cost == null ? null : (Double) (cost * window / 3_600);
    numbers.put(Metric.POWER_W, ratio(joules, window));
    numbers.put(
        Metric.OUTPUT_TOKENS_PER_JOULE, joules == null ? null : ratio(of(Amount.TOKENS), joules));
    numbers.put(Metric.COST_PER_MILLION_OUTPUT_TOKENS, ratio(costOfAll, of(Amount.TOKENS) / 1e6));
    numbers.put(
        Metric.COST_PER_MILLION_SLO_TOKENS,
        isJudged ? ratio(costOfAll, of(Amount.TOKENS_IN_SLO) / 1e6) : null);
  }

  /** Null where a part is not known or the whole is 0. */
  private static @Nullable Double ratio(@Nullable Double part, double whole) {
    return part == null || whole == 0 ? null : (Double) (part / whole);
  }
}
