package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.Goodput;
import io.github.gatlingllm.figures.metric.Figures.MaxGoodput;
import io.github.gatlingllm.figures.metric.Figures.Trials;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.Objectives.SloCounts;
import io.github.gatlingllm.record.RunInfo.RunEnvironment.TargetFacts;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one load level and one name, or of several added up: those that were scheduled in
 * the phase measure, and what happened inside the measure windows (tokens that arrived, requests
 * that ended, time in flight), where requests of all phases count.
 */
final class GroupTally {

  private final String name;
  private final Set<LevelTally> levels = new LinkedHashSet<>();
  private final Tally tally;
  private final List<Peaks> peaks = new ArrayList<>();
  private final Moments durationsMs = new Moments();
  private double tokens;
  private double sloTokens;
  private long promptTokens;
  private boolean promptKnown;
  private long inputs;
  private boolean inputsKnown;
  private long hiddenTokens;
  private boolean billedKnown;
  private long arrived;
  private long ok;
  private long met;
  private long inFlightNanos;
  private long receivingNanos;
  private @Nullable TargetFacts facts;
  private boolean isWhole;
  private @Nullable Double joules;
  private @Nullable ConfidenceIntervals intervals;
  private @Nullable Trials trials;
  private long windowNanos;

  /** The requests of no level. */
  GroupTally(double readingSpeed) {
    name = "";
    tally = new Tally(readingSpeed);
  }

  GroupTally(LevelTally level, String name, double readingSpeed) {
    this.name = name;
    tally = new Tally(readingSpeed);
    levels.add(level);
    peaks.add(new Peaks(level.from(), level.to()));
  }

  String name() {
    return name;
  }

  Set<LevelTally> levels() {
    return levels;
  }

  Tally tally() {
    return tally;
  }

  /** All requests went to one target, so that its cost and energy belong to them. */
  void servedBy(@Nullable TargetFacts target, boolean all, @Nullable Double energy) {
    facts = target;
    isWhole = all;
    joules = energy;
  }

  /** These are all requests of one level of constant load. */
  void intervals(ConfidenceIntervals intervals) {
    this.intervals = intervals;
  }

  /** Length of the measure windows, and their batch trials. */
  void windows(long nanos, @Nullable Trials trials) {
    windowNanos = nanos;
    this.trials = trials;
  }

  long windowNanos() {
    return windowNanos;
  }

  Figures figures(@Nullable Judge judge, @Nullable Long planned, @Nullable MaxGoodput max) {
    double window = windowNanos / 1e9;
    Figures.Counts counts = tally.counts(planned);
    return new Figures(
        distributions(),
        numbers(window, judge != null),
        window == 0 ? null : (Double) window,
        trials,
        judge == null ? null : goodput(window, judge, max),
        tally.reader(),
        tally.errors(),
        tally.finishReasons(),
        counts,
        tally.server().timings(),
        tally.server().rateLimits(counts));
  }

  private Map<Metric, Distribution> distributions() {
    Map<Metric, Distribution> all = new EnumMap<>(Metric.class);
    Metric.distributions().forEach(metric -> all.put(metric, distribution(metric)));
    return all;
  }

  private Distribution distribution(Metric metric) {
    ValueRecorder values = tally.values(metric);
    return values == null
        ? Distribution.EMPTY
        : intervals == null ? values.distribution() : intervals.distribution(metric, values);
  }

  private Map<Metric, @Nullable Double> numbers(double window, boolean isJudged) {
    boolean generates = generates();
    Double gpus = facts == null ? null : facts.gpus();
    Map<Metric, @Nullable Double> all = new EnumMap<>(Metric.class);
    all.put(Metric.OUTPUT_TOKENS_PER_S, generates ? per(tokens, window) : null);
    all.put(
        Metric.BILLED_OUTPUT_TOKENS_PER_S, billedKnown ? per(tokens + hiddenTokens, window) : null);
    all.put(Metric.PEAK_OUTPUT_TOKENS_PER_S, generates ? peak(Peaks::tokensPerS) : null);
    all.put(
        Metric.OUTPUT_TOKENS_PER_S_PER_GPU,
        gpus == null || !generates ? null : per(tokens / gpus, window));
    all.put(Metric.INPUT_TOKENS_PER_S, promptKnown ? per((double) promptTokens, window) : null);
    all.put(
        Metric.TOTAL_TOKENS_PER_S,
        generates && promptKnown ? per(tokens + promptTokens, window) : null);
    all.put(Metric.WALL_OUTPUT_TOKENS_PER_S, generates ? tally.spans().wallTokensPerS() : null);
    all.put(Metric.REQUESTS_PER_S, per((double) ok, window));
    all.put(Metric.INPUTS_PER_S, inputsKnown ? per((double) inputs, window) : null);
    all.put(Metric.EFFECTIVE_CONCURRENCY, per(inFlightNanos / 1e9, window));
    all.put(Metric.ACTIVE_CONCURRENCY, generates ? per(receivingNanos / 1e9, window) : null);
    all.put(Metric.PEAK_IN_FLIGHT, peak(Peaks::inFlight));
    tally.addJitter(all);
    addEfficiency(all, window, isJudged);
    return all;
  }

  /** The SLO that requests are judged by. */
  record Judge(String quote, boolean isOfLevel) {}

  private Goodput goodput(double window, Judge judge, @Nullable MaxGoodput max) {
    SloCounts.Count all = tally.slo().all();
    SloCounts.Decision decision = tally.slo().decide();
    return new Goodput(
        judge.quote(),
        all.share(),
        intervals == null || all.isUndefined() ? null : intervals.share(all.met(), all.judged()),
        per((double) met, window),
        generates() ? per(sloTokens, window) : null,
        all.judged(),
        all.met(),
        all.unknown(),
        (!judge.isOfLevel() || decision == null) ? null : decision.holds(),
        max,
        tally.missed(),
        tally.slo().objectives().entrySet().stream()
            .map(each -> objective(each.getKey(), each.getValue()))
            .toList());
  }

  private static Goodput.Objective objective(String name, SloCounts.Count count) {
    return new Goodput.Objective(name, count.judged(), count.met(), count.unknown(), count.share());
  }

  private static @Nullable Double per(double amount, double window) {
    return window == 0 ? null : (Double) (amount / window);
  }

  /** Power and cost per token; none where neither energy nor cost is known. */
  private void addEfficiency(
      Map<Metric, @Nullable Double> numbers, double window, boolean isJudged) {
    Double cost = facts == null ? null : facts.costOfAllPerHour();
    if (!isWhole || window == 0 || (joules == null && cost == null)) {
      return;
    }
    numbers.put(Metric.POWER_W, joules == null ? null : (Double) (joules / window));
    numbers.put(
        Metric.OUTPUT_TOKENS_PER_JOULE,
        joules == null || joules == 0 ? null : (Double) (tokens / joules));
    numbers.put(Metric.COST_PER_MILLION_OUTPUT_TOKENS, costPerMillion(tokens, window, cost));
    numbers.put(
        Metric.COST_PER_MILLION_SLO_TOKENS,
        isJudged ? costPerMillion(sloTokens, window, cost) : null);
  }

  private static @Nullable Double costPerMillion(
      double tokens, double seconds, @Nullable Double costPerHour) {
    return costPerHour == null || tokens == 0
        ? null
        : (Double) (costPerHour * seconds / 3_600 / tokens * 1e6);
  }

  void tokens(long unixNanos, double count, boolean inSlo) {
    tokens += count;
    sloTokens += inSlo ? count : 0;
    peaks.get(0).tokens(unixNanos, count);
  }

  void promptTokens(int count) {
    promptTokens += count;
    promptKnown = true;
  }

  /** False for embeddings, which generate no tokens: their token figures are absent, not 0. */
  private boolean generates() {
    return !inputsKnown || tokens > 0;
  }

  /** A request for embeddings ended, with {@code count} vectors; a failed one has 0. */
  void inputs(int count) {
    inputs += count;
    inputsKnown = true;
  }

  /** Adds the tokens that an answer billed and did not send, where the server reports usage. */
  void hiddenTokens(int count) {
    hiddenTokens += count;
    billedKnown = true;
  }

  void arrival() {
    arrived++;
  }

  /** A request ended, {@code durationMs} after it was admitted. */
  void ended(double durationMs, boolean wasOk, boolean inSlo) {
    durationsMs.add(durationMs, 1);
    ok += wasOk ? 1 : 0;
    met += inSlo ? 1 : 0;
  }

  void inFlight(long admitted, long closed, long nanos) {
    inFlightNanos += nanos;
    peaks.get(0).inFlight(admitted, closed);
  }

  /** A request received tokens for {@code nanos} of the window. */
  void receiving(long nanos) {
    receivingNanos += nanos;
  }

  void add(GroupTally other) {
    levels.addAll(other.levels);
    tally.add(other.tally);
    tokens += other.tokens;
    sloTokens += other.sloTokens;
    promptTokens += other.promptTokens;
    promptKnown |= other.promptKnown;
    inputs += other.inputs;
    inputsKnown |= other.inputsKnown;
    hiddenTokens += other.hiddenTokens;
    billedKnown |= other.billedKnown;
    arrived += other.arrived;
    ok += other.ok;
    met += other.met;
    inFlightNanos += other.inFlightNanos;
    receivingNanos += other.receivingNanos;
    peaks.addAll(other.peaks);
    durationsMs.add(other.durationsMs);
  }

  /** The largest value of all windows; windows that overlap count as one. */
  @Nullable Double peak(Function<Peaks, @Nullable Number> of) {
    return Peaks.joined(peaks).stream()
        .map(of)
        .filter(Objects::nonNull)
        .map(Number::doubleValue)
        .max(Double::compare)
        .orElse(null);
  }

  /** Requests that were scheduled in the window. */
  long arrived() {
    return arrived;
  }

  long inFlightNanos() {
    return inFlightNanos;
  }

  /** Closed − admitted of the requests that ended in the window, in milliseconds. */
  Moments durationsMs() {
    return durationsMs;
  }
}
