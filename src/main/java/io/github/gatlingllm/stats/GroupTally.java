package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.Distribution.Interval;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Figures.Goodput;
import io.github.gatlingllm.metric.Figures.MaxGoodput;
import io.github.gatlingllm.metric.Figures.Throughput;
import io.github.gatlingllm.metric.Figures.Trials;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.record.SloCounts;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The requests of one stage and one name; cells are joined into stages, targets and the run. */
record GroupTally(Tally tally, WindowThroughput flow) {

  static GroupTally empty() {
    return new GroupTally(new Tally(), new WindowThroughput());
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
    return new Figures(
        latencies(),
        throughput(window, trials),
        judge == null ? null : goodput(window, judge, max),
        tally.jitter(),
        tally.errors(),
        tally.finishReasons(),
        tally.counts(planned));
  }

  /** Rates of single requests stand with the throughput. */
  private Map<Metric, Distribution> latencies() {
    Map<Metric, Distribution> all = new EnumMap<>(Metric.class);
    for (Metric metric : Metric.distributions()) {
      if (metric.unit() != Metric.Unit.TOKENS_PER_S) {
        all.put(metric, tally.distribution(metric));
      }
    }
    return all;
  }

  private Throughput throughput(double window, @Nullable Trials trials) {
    Double requests = per((double) flow.ok, window);
    return new Throughput(
        window == 0 ? null : (Double) window,
        per(flow.tokens, window),
        flow.promptKnown ? per(flow.tokens + flow.promptTokens, window) : null,
        requests,
        requests == null ? null : (Double) (requests * 60),
        tally.spans().wallTokensPerS(),
        tally.distribution(Metric.USER_TOKENS_PER_S),
        tally.distribution(Metric.DECODE_TOKENS_PER_S),
        tally.distribution(Metric.PREFILL_TOKENS_PER_S),
        trials);
  }

  /**
   * What requests are judged by.
   *
   * @param quote the objectives with their clock
   * @param level when a load level holds them; null where the requests are no load level
   */
  record Judge(String quote, @Nullable Slo level) {}

  private Goodput goodput(double window, Judge judge, @Nullable MaxGoodput max) {
    SloCounts.Count all = tally.slo().all();
    Slo level = judge.level();
    return new Goodput(
        judge.quote(),
        all.share(),
        all.isUndefined() ? null : Interval.ofShare(all.met(), all.judged()),
        per((double) flow.met, window),
        per(flow.sloTokens, window),
        all.judged(),
        all.met(),
        all.unknown(),
        level == null ? null : tally.slo().decide(level.rule(), level.percentile()).holds(),
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
    private long arrived;
    private long ok;
    private long met;
    private long inFlightNanos;
    private final Moments staysMs = new Moments();

    void tokens(double count, boolean inSlo) {
      tokens += count;
      sloTokens += inSlo ? count : 0;
    }

    void promptTokens(int count) {
      promptTokens += count;
      promptKnown = true;
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

    void inFlight(long nanos) {
      inFlightNanos += nanos;
    }

    void add(WindowThroughput other) {
      tokens += other.tokens;
      sloTokens += other.sloTokens;
      promptTokens += other.promptTokens;
      promptKnown |= other.promptKnown;
      arrived += other.arrived;
      ok += other.ok;
      met += other.met;
      inFlightNanos += other.inFlightNanos;
      staysMs.add(other.staysMs);
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
