package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.metric.NumberText.count;
import static io.github.gatlingllm.figures.metric.NumberText.counted;
import static io.github.gatlingllm.figures.metric.NumberText.ms;
import static io.github.gatlingllm.figures.metric.NumberText.number;
import static io.github.gatlingllm.figures.metric.NumberText.percent;

import io.github.gatlingllm.figures.metric.Check;
import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.EngineFigures.WholeRun;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Checks that compare the server's own metrics with what was measured here. */
final class EngineChecks {

  /**
   * Least share of ok requests: the engine also counts tokens of failed and cancelled ones that
   * never arrived.
   */
  private static final double MIN_OK = 0.99;

  /** Least number of foreign requests, besides their share: a manual request does not matter. */
  private static final int MIN_OTHERS = 3;

  /** Shorter times are not reported. */
  private static final double MIN_MS = 20;

  private static final double HALF = 0.5;

  /** Jitter (ITL p99 ÷ p50) above which pauses are visible to users. */
  private static final double SPIKES = 3;

  private EngineChecks() {}

  // ---- counters of the whole run

  /** The runs with both counts known, and with no other cause for a difference. */
  static List<WholeRun> comparable(CheckInput in) {
    return in.facts().engines().stream()
        .filter(run -> run.generatedTokens() != null && run.outputTokens() > 0)
        .filter(run -> run.ok() >= MIN_OK * run.sent())
        .filter(run -> !hasOthers(run))
        .toList();
  }

  static Finding tokensAgree(CheckInput in) {
    WholeRun worst = most(comparable(in), EngineChecks::tokenDifference);
    return Finding.of(
        tokenDifference(worst),
        "The engine counted %s output tokens in the whole run%s, the report %s."
            .formatted(
                count(Math.round(generated(worst))), at(worst), count(worst.outputTokens())));
  }

  private static double generated(WholeRun run) {
    return Objects.requireNonNull(run.generatedTokens());
  }

  private static double tokenDifference(WholeRun run) {
    return Math.abs(generated(run) / run.outputTokens() - 1);
  }

  /** The runs with a known number of requests that the engine finished. */
  static List<WholeRun> countedRequests(CheckInput in) {
    return in.facts().engines().stream().filter(run -> run.finishedRequests() != null).toList();
  }

  static Finding otherTraffic(CheckInput in) {
    WholeRun worst = most(countedRequests(in), EngineChecks::others);
    double finished = Objects.requireNonNull(worst.finishedRequests());
    return Finding.of(
            others(worst),
            "The engine finished %s%s, this run sent %s."
                .formatted(
                    counted(Math.round(finished), "request"), at(worst), count(worst.sent())))
        .warnsIf(hasOthers(worst));
  }

  /** Requests of other clients ÷ own requests. */
  private static double others(WholeRun run) {
    Double finished = run.finishedRequests();
    return finished == null ? 0 : Math.max(0, finished - run.sent()) / Math.max(1, run.sent());
  }

  private static boolean hasOthers(WholeRun run) {
    return others(run) > 0.01 && others(run) * run.sent() >= MIN_OTHERS;
  }

  private static String at(WholeRun run) {
    return run.target() == null ? "" : " at " + run.target();
  }

  // ---- by load level

  /** A load level with the server's metrics. */
  private record EngineLevel(LevelFigures level, EngineFigures engine) {

    double clientTtftMs() {
      return orZero(level.figures().metric(Metric.TTFT_MS).mean());
    }

    double ms(EngineMetric timing) {
      return orZero(engine.meanMs(timing));
    }

    double outsideMs() {
      return clientTtftMs() - ms(EngineMetric.ENGINE_TTFT_S);
    }
  }

  private static double orZero(@Nullable Double value) {
    return value == null ? 0 : value;
  }

  private static Stream<EngineLevel> levels(CheckInput in, Function<EngineFigures, ?> needed) {
    return in.levels().stream()
        .flatMap(
            level ->
                Stream.ofNullable(level.serverMetrics())
                    .map(engine -> new EngineLevel(level, engine)))
        .filter(at -> needed.apply(at.engine()) != null);
  }

  private static Stream<EngineLevel> withTtft(CheckInput in) {
    return levels(in, engine -> engine.meanMs(EngineMetric.ENGINE_TTFT_S))
        .filter(at -> at.level().figures().metric(Metric.TTFT_MS).mean() != null);
  }

  /**
   * Excludes levels whose queue grows: the engine's times in a window are of requests whose first
   * token was in it, ours of requests sent in it, which wait longer.
   */
  private static List<EngineLevel> withComparableTtft(CheckInput in) {
    return withTtft(in).filter(at -> !at.level().isPilingUp()).toList();
  }

  static boolean hasTtft(CheckInput in) {
    return !withComparableTtft(in).isEmpty();
  }

  static Finding ttft(CheckInput in) {
    EngineLevel worst = most(withComparableTtft(in), EngineLevel::outsideMs);
    double outside = worst.outsideMs();
    boolean isMost = outside > HALF * worst.clientTtftMs();
    Check.Level level =
        isMost && outside > 100
            ? Check.Level.WARNING
            : isMost && outside > MIN_MS ? Check.Level.NOTE : Check.Level.OK;
    return Finding.of(
            outside,
            "At %s the mean TTFT is %s for the client and %s in the engine: a difference of %s."
                .formatted(
                    worst.level().place(),
                    ms(worst.clientTtftMs()),
                    ms(worst.ms(EngineMetric.ENGINE_TTFT_S)),
                    ms(outside)))
        .level(level);
  }

  private static List<EngineLevel> withQueue(CheckInput in) {
    return withTtft(in)
        .filter(at -> at.engine().meanMs(EngineMetric.ENGINE_QUEUE_S) != null)
        .toList();
  }

  static boolean hasQueue(CheckInput in) {
    return !withQueue(in).isEmpty();
  }

  static Finding queue(CheckInput in) {
    EngineLevel worst = most(withQueue(in), at -> at.ms(EngineMetric.ENGINE_QUEUE_S));
    double queue = worst.ms(EngineMetric.ENGINE_QUEUE_S);
    double share = worst.clientTtftMs() == 0 ? 0 : queue / worst.clientTtftMs();
    return Finding.of(
            share,
            "At %s requests waited %s in the engine's queue on average, %s of their mean TTFT of %s."
                .formatted(
                    worst.level().place(),
                    ms(queue),
                    percent(Math.min(1, share)),
                    ms(worst.clientTtftMs())))
        .notesIf(share > HALF && queue > MIN_MS);
  }

  static boolean hasPreemptions(CheckInput in) {
    return levels(in, engine -> engine.total(EngineMetric.PREEMPTIONS)).findAny().isPresent();
  }

  static Finding preemptions(CheckInput in) {
    List<EngineLevel> levels =
        levels(in, engine -> engine.total(EngineMetric.PREEMPTIONS)).toList();
    EngineLevel worst = most(levels, EngineChecks::preemptions);
    Double jitter = worst.level().figures().number(Metric.JITTER);
    long times = Math.round(preemptions(worst));
    return Finding.of(
            preemptions(worst),
            times == 0
                ? "The engine preempted no request."
                : "At %s the engine preempted requests %s times, for lack of KV cache memory%s."
                    .formatted(
                        worst.level().place(),
                        count(times),
                        jitter == null || jitter <= SPIKES
                            ? ""
                            : ", which is visible in the gaps between tokens: ITL p99 is "
                                + number(jitter)
                                + " × p50"))
        .notesIf(times > 0);
  }

  private static double preemptions(EngineLevel level) {
    return orZero(level.engine().total(EngineMetric.PREEMPTIONS));
  }

  static boolean hasKvCache(CheckInput in) {
    return levels(in, engine -> engine.max(EngineMetric.KV_CACHE_USE)).findAny().isPresent();
  }

  static Finding kvCacheFull(CheckInput in) {
    List<EngineLevel> levels = levels(in, engine -> engine.max(EngineMetric.KV_CACHE_USE)).toList();
    EngineLevel fullest = most(levels, EngineChecks::kvCacheUse);
    return Finding.of(
        kvCacheUse(fullest),
        "The KV cache was at most %s full, at %s."
            .formatted(percent(Math.min(1, kvCacheUse(fullest))), fullest.level().place()));
  }

  private static double kvCacheUse(EngineLevel level) {
    return orZero(level.engine().max(EngineMetric.KV_CACHE_USE));
  }

  private static <T> T most(List<T> of, ToDoubleFunction<T> figure) {
    return of.stream().max(Comparator.comparingDouble(figure)).orElseThrow();
  }
}
