package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Figures.Goodput;
import io.github.gatlingllm.metric.Figures.MaxGoodput;
import io.github.gatlingllm.metric.Figures.Trials;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.ValueRecorder;
import io.github.gatlingllm.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.RunInfo.TargetFacts;
import io.github.gatlingllm.record.SloCounts;
import io.github.gatlingllm.stats.Windows.LevelWindow;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one stage and one name; cells are joined into stages, targets and the run.
 *
 * @param intervals null where these are not all requests of one stage of constant load
 */
record GroupTally(Tally tally, WindowThroughput flow, @Nullable ConfidenceIntervals intervals) {

  /**
   * Of no request yet.
   *
   * @param readingSpeed tokens that readers of the answers read in a second
   */
  static GroupTally empty(double readingSpeed) {
    return new GroupTally(new Tally(readingSpeed), new WindowThroughput(), null);
  }

  GroupTally with(@Nullable ConfidenceIntervals theirs) {
    return new GroupTally(tally, flow, theirs);
  }

  static GroupTally of(LevelWindow window, double readingSpeed) {
    GroupTally empty = empty(readingSpeed);
    empty.flow.watch(window);
    return empty;
  }

  void add(GroupTally other) {
    tally.add(other.tally);
    flow.add(other.flow);
  }

  /**
   * The figures.
   *
   * @param windowNanos length of the measure windows; 0 leaves rates null
   * @param judge what the requests are judged by; null without SLO
   * @param trials null outside batch mode
   */
  Figures figures(
      long windowNanos,
      @Nullable Judge judge,
      @Nullable Long planned,
      @Nullable MaxGoodput max,
      @Nullable Trials trials) {
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
    boolean generates = flow.generates();
    Double gpus = flow.facts == null ? null : flow.facts.gpus();
    Map<Metric, @Nullable Double> all = new EnumMap<>(Metric.class);
    all.put(Metric.OUTPUT_TOKENS_PER_S, generates ? per(flow.tokens, window) : null);
    all.put(
        Metric.BILLED_OUTPUT_TOKENS_PER_S,
        flow.billedKnown ? per(flow.tokens + flow.hiddenTokens, window) : null);
    all.put(Metric.PEAK_OUTPUT_TOKENS_PER_S, generates ? flow.peak(Peaks::tokensPerS) : null);
    all.put(
        Metric.OUTPUT_TOKENS_PER_S_PER_GPU,
        gpus == null || !generates ? null : per(flow.tokens / gpus, window));
    all.put(
        Metric.INPUT_TOKENS_PER_S,
        flow.promptKnown ? per((double) flow.promptTokens, window) : null);
    all.put(
        Metric.TOTAL_TOKENS_PER_S,
        generates && flow.promptKnown ? per(flow.tokens + flow.promptTokens, window) : null);
    all.put(Metric.WALL_OUTPUT_TOKENS_PER_S, generates ? tally.spans().wallTokensPerS() : null);
    all.put(Metric.REQUESTS_PER_S, per((double) flow.ok, window));
    all.put(Metric.INPUTS_PER_S, flow.inputsKnown ? per((double) flow.inputs, window) : null);
    all.put(Metric.EFFECTIVE_CONCURRENCY, per(flow.inFlightNanos / 1e9, window));
    all.put(Metric.ACTIVE_CONCURRENCY, generates ? per(flow.receivingNanos / 1e9, window) : null);
    all.put(Metric.PEAK_IN_FLIGHT, flow.peak(Peaks::inFlight));
    tally.addJitter(all);
    flow.addEfficiency(all, window, isJudged);
    return all;
  }

  /**
   * What requests are judged by.
   *
   * @param quote the objectives with their clock
   * @param isOfLevel whether the requests are a load level, which may hold them
   */
  record Judge(String quote, boolean isOfLevel) {}

  private Goodput goodput(double window, Judge judge, @Nullable MaxGoodput max) {
    SloCounts.Count all = tally.slo().all();
    SloCounts.Decision decision = tally.slo().decide();
    return new Goodput(
        judge.quote(),
        all.share(),
        intervals == null || all.isUndefined() ? null : intervals.share(all.met(), all.judged()),
        per((double) flow.met, window),
        flow.generates() ? per(flow.sloTokens, window) : null,
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

  /**
   * What happened inside a measure window, whatever phase the request was scheduled in: tokens that
   * arrived, requests that ended, time in flight.
   */
  static final class WindowThroughput {

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
    private final List<Peaks> peaks = new ArrayList<>();
    private final Moments staysMs = new Moments();

    /** What was most in that window is looked for. */
    void watch(LevelWindow window) {
      peaks.add(new Peaks(window.from(), window.to()));
    }

    /**
     * What one target did.
     *
     * @param target what is known of it
     * @param all whether it did nothing else in the window
     * @param energy that it took in the window; null where not known
     */
    void servedBy(@Nullable TargetFacts target, boolean all, @Nullable Double energy) {
      facts = target;
      isWhole = all;
      joules = energy;
    }

    /** Of tokens that arrived in the window; nothing where neither energy nor cost is known. */
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

    /** Embeddings have no tokens to put out: they have none of those figures, not 0. */
    private boolean generates() {
      return !inputsKnown || tokens > 0;
    }

    /** A request for so many vectors ended; failed ones gave none. */
    void inputs(int count) {
      inputs += count;
      inputsKnown = true;
    }

    /** Of an answer whose billed tokens the server said. */
    void hiddenTokens(int count) {
      hiddenTokens += count;
      billedKnown = true;
    }

    void arrival() {
      arrived++;
    }

    /** A request ended, {@code stayMs} after it was admitted. */
    void ended(double stayMs, boolean wasOk, boolean inSlo) {
      staysMs.add(stayMs, 1);
      ok += wasOk ? 1 : 0;
      met += inSlo ? 1 : 0;
    }

    /** A request was in flight, for so long of it in the window. */
    void inFlight(long admitted, long closed, long nanos) {
      inFlightNanos += nanos;
      peaks.get(0).inFlight(admitted, closed);
    }

    /** A request received tokens for so long of the window. */
    void receiving(long nanos) {
      receivingNanos += nanos;
    }

    void add(WindowThroughput other) {
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
      staysMs.add(other.staysMs);
    }

    /** The largest of all windows; those that overlap are one. */
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
    Moments staysMs() {
      return staysMs;
    }
  }
}
