package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.metric.NumberText.count;
import static io.github.gatlingllm.figures.metric.NumberText.counted;
import static io.github.gatlingllm.figures.metric.NumberText.ms;
import static io.github.gatlingllm.figures.metric.NumberText.number;
import static io.github.gatlingllm.figures.metric.NumberText.percent;
import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.metric.Check;
import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.EngineFigures.WholeRun;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import java.util.Comparator;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Checks that compare the server's own metrics with what was measured here. */
final class EngineChecks {

  /** With fewer ok requests, tokens matter that the engine counts and that never arrived. */
  private static final double MIN_OK = 0.99;

  /** Least number of foreign requests, besides their share: a manual request does not matter. */
  private static final int MIN_OTHERS = 3;

  /** Shorter times are not reported. */
  private static final double MIN_MS = 20;

  private static final double HALF = 0.5;

  private static final double SPIKES = 3;

  private EngineChecks() {}

  static @Nullable Finding tokensAgree(CheckInput in) {
    WholeRun worst =
        worst(
            in,
            run ->
                run.generatedTokens() != null
                    && run.outputTokens() > 0
                    && run.ok() >= MIN_OK * run.sent()
                    && !hasOthers(run),
            EngineChecks::tokenDifference);
    return worst == null
        ? null
        : Finding.of(
            tokenDifference(worst),
            "The engine counted %s output tokens in the whole run%s, the report %s."
                .formatted(
                    count(Math.round(generated(worst))), at(worst), count(worst.outputTokens())));
  }

  private static @Nullable WholeRun worst(
      CheckInput in, Predicate<WholeRun> isComparable, ToDoubleFunction<WholeRun> figure) {
    return in.facts().engines().stream()
        .filter(isComparable)
        .max(Comparator.comparingDouble(figure))
        .orElse(null);
  }

  private static double generated(WholeRun run) {
    return requireNonNull(run.generatedTokens());
  }

  private static double tokenDifference(WholeRun run) {
    return Math.abs(generated(run) / run.outputTokens() - 1);
  }

  static @Nullable Finding otherTraffic(CheckInput in) {
    WholeRun worst = worst(in, run -> run.finishedRequests() != null, EngineChecks::others);
    return worst == null
        ? null
        : Finding.of(
                others(worst),
                "The engine finished %s%s, this run sent %s."
                    .formatted(
                        counted(Math.round(requireNonNull(worst.finishedRequests())), "request"),
                        at(worst),
                        count(worst.sent())))
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

  /** A figure of the server's metrics at a level; null if it reports none. */
  private static @Nullable Double engine(
      LevelFigures level, Function<EngineFigures, @Nullable Double> figure) {
    EngineFigures engine = level.serverMetrics();
    return engine == null ? null : figure.apply(engine);
  }

  private static @Nullable Double timing(LevelFigures level, EngineMetric timing) {
    return engine(level, engine -> engine.meanMs(timing));
  }

  private static @Nullable Double clientTtftMs(LevelFigures level) {
    return level.figures().metric(Metric.TTFT_MS).mean();
  }

  /** TTFT that is not spent in the engine. */
  private static @Nullable Double outsideMs(LevelFigures level) {
    Double engine = timing(level, EngineMetric.ENGINE_TTFT_S);
    Double client = clientTtftMs(level);
    return engine == null || client == null ? null : (Double) (client - engine);
  }

  /**
   * Excludes levels whose queue grows: the engine's times in a window are of requests whose first
   * token was in it, ours of requests sent in it, which wait longer.
   */
  static @Nullable Finding ttft(CheckInput in) {
    LevelFigures worst = in.worst(level -> level.isPilingUp() ? null : outsideMs(level));
    if (worst == null) {
      return null;
    }
    double outside = requireNonNull(outsideMs(worst));
    double client = requireNonNull(clientTtftMs(worst));
    boolean isMost = outside > HALF * client;
    Check.Level level =
        isMost && outside > 100
            ? Check.Level.WARNING
            : isMost && outside > MIN_MS ? Check.Level.NOTE : Check.Level.OK;
    return Finding.of(
            outside,
            "At %s the mean TTFT is %s for the client and %s in the engine: a difference of %s."
                .formatted(
                    worst.place(),
                    ms(client),
                    ms(timing(worst, EngineMetric.ENGINE_TTFT_S)),
                    ms(outside)))
        .level(level);
  }

  static @Nullable Finding metricsCovered(CheckInput in) {
    LevelFigures worst =
        in.worst(
            level -> {
              Double covered = covered(level.serverMetrics());
              return covered == null ? null : (Double) (-covered);
            });
    Double covered = worst == null ? null : covered(worst.serverMetrics());
    return worst == null || covered == null
        ? null
        : Finding.of(
                covered,
                "At %s the readings of a counter cover %s of the measure window."
                    .formatted(worst.place(), percent(Math.min(1, covered))))
            .warnsIf(covered < EngineFigures.Growth.MIN_COVERED);
  }

  /** Covered share of the counter with the fewest readings; null without counters. */
  private static @Nullable Double covered(@Nullable EngineFigures engine) {
    return engine == null
        ? null
        : engine.counters().values().stream()
            .map(EngineFigures.Growth::covered)
            .min(Comparator.naturalOrder())
            .orElse(null);
  }

  static @Nullable Finding queue(CheckInput in) {
    LevelFigures worst =
        in.worst(
            level -> outsideMs(level) == null ? null : timing(level, EngineMetric.ENGINE_QUEUE_S));
    if (worst == null) {
      return null;
    }
    double queue = requireNonNull(timing(worst, EngineMetric.ENGINE_QUEUE_S));
    double client = requireNonNull(clientTtftMs(worst));
    double share = client == 0 ? 0 : queue / client;
    return Finding.of(
            share,
            "At %s requests waited %s in the engine's queue on average, %s of their mean TTFT of %s."
                .formatted(worst.place(), ms(queue), percent(Math.min(1, share)), ms(client)))
        .notesIf(share > HALF && queue > MIN_MS);
  }

  static @Nullable Finding preemptions(CheckInput in) {
    LevelFigures worst = in.worst(EngineChecks::preemptions);
    if (worst == null) {
      return null;
    }
    Double jitter = worst.figures().number(Metric.JITTER);
    long times = Math.round(requireNonNull(preemptions(worst)));
    return Finding.of(
            preemptions(worst),
            times == 0
                ? "The engine preempted no request."
                : "At %s the engine preempted requests %s times, for lack of KV cache memory%s."
                    .formatted(
                        worst.place(),
                        count(times),
                        jitter == null || jitter <= SPIKES
                            ? ""
                            : ", which is visible in the gaps between tokens: ITL p99 is "
                                + number(jitter)
                                + " × p50"))
        .notesIf(times > 0);
  }

  private static @Nullable Double preemptions(LevelFigures level) {
    return engine(level, engine -> engine.total(EngineMetric.PREEMPTIONS));
  }

  static @Nullable Finding kvCacheFull(CheckInput in) {
    LevelFigures fullest = in.worst(EngineChecks::kvCacheUse);
    return fullest == null
        ? null
        : Finding.of(
            kvCacheUse(fullest),
            "The KV cache was at most %s full, at %s."
                .formatted(
                    percent(Math.min(1, requireNonNull(kvCacheUse(fullest)))), fullest.place()));
  }

  private static @Nullable Double kvCacheUse(LevelFigures level) {
    return engine(level, engine -> engine.max(EngineMetric.KV_CACHE_USE));
  }
}
