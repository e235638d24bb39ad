package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.metric.NumberText.number;
import static io.github.gatlingllm.figures.metric.NumberText.percent;
import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.EngineFigures.AtLimit;
import io.github.gatlingllm.figures.metric.EngineFigures.EngineRun;
import io.github.gatlingllm.figures.metric.EngineFigures.Gpu;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Checks of the server's own metrics: whether they agree with what was measured here, and of its
 * GPUs.
 */
final class EngineChecks {

  /** With fewer ok requests, tokens matter that the engine counts and that never arrived. */
  private static final double MIN_OK = 0.99;

  /** As the check allows, or tokens on their way would be a warning. */
  private static final double AGREES = 0.02;

  /** Minimum number of foreign requests, besides their share: a manual request does not matter. */
  private static final int MIN_OTHERS = 3;

  /** Shorter times are not reported. */
  private static final double MIN_MS = 20;

  private static final double HALF = 0.5;

  private static final double SPIKES = 3;

  private static final double MANY_TOKENS = 0.02;

  /** Tokens of a stream that are on their way when its user leaves. */
  private static final int UNDER_WAY = 10;

  /** Share of time in which a kernel ran; below it GPUs wait for work, and differ by chance. */
  private static final double BUSY = 0.5;

  /** Share of its memory that a GPU uses at least if the server uses it. */
  private static final double IN_USE = 0.05;

  private static final List<EngineMetric> COMPARED =
      List.of(EngineMetric.GPU_UTILIZATION, EngineMetric.GPU_CLOCK_MHZ, EngineMetric.GPU_POWER_W);

  private EngineChecks() {}

  static @Nullable Finding tokensAgree(CheckInput in) {
    return CheckInput.atWorst(
        in.run().engines(),
        run ->
            run.generatedTokens() == null
                    || run.outputTokens() == 0
                    || (run.ok() < MIN_OK * run.sent() && !countsCutAnswers(run))
                    || hasOthers(run)
                ? null
                : (Double) Math.abs(run.generatedTokens() / run.outputTokens() - 1),
        (run, difference) ->
            Finding.of(
                difference,
                "engine_tokens_agree.found",
                run.targets(),
                Math.round(requireNonNull(run.generatedTokens())),
                run.outputTokens()));
  }

  /** Not all engines do; this one's tokens are those that were received, cut answers included. */
  private static boolean countsCutAnswers(EngineRun run) {
    return Math.abs(requireNonNull(run.generatedTokens()) / run.tokensByServer() - 1) <= AGREES;
  }

  static @Nullable Finding stopsForAbandoned(CheckInput in) {
    return CheckInput.atWorst(
        in.run().engines(),
        EngineChecks::unreceived,
        (run, share) -> {
          double tokens = share * requireNonNull(run.generatedTokens());
          Double later = secondsAfterLeaving(in, run);
          return Finding.of(
                  share,
                  "abandoned_stop.found",
                  run.abandoned(),
                  run.targets(),
                  Math.round(tokens),
                  share,
                  tokens / run.abandoned(),
                  later == null ? null : (Double) (1_000 * later))
              .warnsIf(share > MANY_TOKENS && tokens > UNDER_WAY * run.abandoned());
        });
  }

  /** Share of the tokens that no record has; null where others than those who left cause it. */
  private static @Nullable Double unreceived(EngineRun run) {
    Double made = run.generatedTokens();
    boolean isKnown = run.abandoned() > 0 && run.ok() >= MIN_OK * (run.sent() - run.abandoned());
    return made == null || made == 0 || !isKnown || hasOthers(run)
        ? null
        : (Double) (Math.max(0, made - run.tokensByServer()) / made);
  }

  /**
   * By Little's law: requests that the engine has and no user awaits ÷ users who leave per second.
   * Null where the engine does not say how many it has, or has those of several targets.
   */
  private static @Nullable Double secondsAfterLeaving(CheckInput in, EngineRun run) {
    double unawaitedS = 0;
    long abandoned = 0;
    for (LevelFigures level : in.levels()) {
      if (!run.targets().equals(List.of(level.target()))) {
        continue;
      }
      EngineFigures engine = level.serverMetrics();
      Double running = engine == null ? null : engine.mean(EngineMetric.REQUESTS_RUNNING);
      Double awaited = level.meanInFlight();
      Double seconds = level.durationS();
      if (engine == null || running == null || awaited == null || seconds == null) {
        return null;
      }
      Double waiting = engine.mean(EngineMetric.REQUESTS_WAITING);
      unawaitedS += (running + (waiting == null ? 0 : waiting) - awaited) * seconds;
      abandoned += level.figures().counts().abandoned();
    }
    return abandoned == 0 ? null : (Double) Math.max(0, unawaitedS / abandoned);
  }

  static @Nullable Finding otherTraffic(CheckInput in) {
    return CheckInput.atWorst(
        in.run().engines(),
        EngineChecks::others,
        (run, others) ->
            Finding.of(
                    others,
                    "other_traffic.found",
                    run.targets(),
                    Math.round(requireNonNull(run.finishedRequests())),
                    run.sent())
                .warnsIf(hasOthers(run)));
  }

  private static @Nullable Double others(EngineRun run) {
    Double finished = run.finishedRequests();
    return finished == null
        ? null
        : (Double) (Math.max(0, finished - run.sent()) / Math.max(1, run.sent()));
  }

  private static boolean hasOthers(EngineRun run) {
    Double others = others(run);
    return others != null && others > 0.01 && others * run.sent() >= MIN_OTHERS;
  }

  private static Function<LevelFigures, @Nullable Double> engine(
      Function<EngineFigures, @Nullable Double> figure) {
    return level -> level.serverMetrics() == null ? null : figure.apply(level.serverMetrics());
  }

  private static @Nullable Double timing(LevelFigures level, EngineMetric timing) {
    return engine(engine -> engine.meanMs(timing)).apply(level);
  }

  private static @Nullable Double clientTtftMs(LevelFigures level) {
    return level.figures().metric(Metric.TTFT_MS).mean();
  }

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
    return in.atWorst(
        level -> level.backlogGrows() ? null : outsideMs(level),
        (level, outside) -> {
          double client = requireNonNull(clientTtftMs(level));
          boolean isMajority = outside > HALF * client;
          boolean isDelayed = AnswerChecks.isDelayedByParser(in, level.target());
          Finding found =
              Finding.at(
                      level,
                      outside,
                      "engine_ttft.found",
                      client,
                      timing(level, EngineMetric.ENGINE_TTFT_S),
                      outside,
                      sharing(in, level),
                      isDelayed)
                  .level(
                      isMajority && outside > 100 && !isDelayed
                          ? Figures.CheckLevel.WARNING
                          : isMajority && outside > MIN_MS
                              ? Figures.CheckLevel.NOTE
                              : Figures.CheckLevel.OK);
          return isDelayed ? found.remedy("engine_ttft.remedy", true) : found;
        });
  }

  /** The targets of one engine that had load while a level was measured; empty for one alone. */
  private static List<String> sharing(CheckInput in, LevelFigures level) {
    return in.run().engines().stream()
        .map(EngineRun::targets)
        .filter(targets -> targets.contains(level.target()))
        .filter(
            targets ->
                in.levels().stream()
                    .anyMatch(
                        other ->
                            !other.target().equals(level.target())
                                && targets.contains(other.target())
                                && other.overlaps(level)))
        .findFirst()
        .orElse(List.of());
  }

  static @Nullable Finding metricsCovered(CheckInput in) {
    return in.atWorst(
        engine(EngineChecks::uncovered),
        (level, uncovered) ->
            Finding.at(level, -uncovered, "metrics_covered.found", Math.min(1, -uncovered))
                .warnsIf(-uncovered < EngineFigures.EngineGrowth.MIN_COVERED));
  }

  /** Less the covered share of the counter with the fewest readings; null without counters. */
  private static @Nullable Double uncovered(EngineFigures engine) {
    return engine.counters().values().stream()
        .map(growth -> -growth.covered())
        .max(Comparator.naturalOrder())
        .orElse(null);
  }

  static @Nullable Finding queue(CheckInput in) {
    return in.atWorst(
        level -> outsideMs(level) == null ? null : timing(level, EngineMetric.ENGINE_QUEUE_S),
        (level, queue) -> {
          double client = requireNonNull(clientTtftMs(level));
          double share = client == 0 ? 0 : queue / client;
          return Finding.at(level, share, "engine_queue.found", queue, Math.min(1, share), client)
              .level(
                  share > HALF && queue > MIN_MS ? Figures.CheckLevel.NOTE : Figures.CheckLevel.OK);
        });
  }

  static @Nullable Finding preemptions(CheckInput in) {
    return in.atWorst(
        engine(engine -> engine.total(EngineMetric.PREEMPTIONS)),
        (level, times) -> {
          Double jitter = level.figures().number(Metric.JITTER);
          return Math.round(times) == 0
              ? Finding.of(times, "preemptions.none").level(Figures.CheckLevel.OK)
              : Finding.at(
                      level,
                      times,
                      "preemptions.found",
                      Math.round(times),
                      jitter == null || jitter <= SPIKES ? null : jitter)
                  .level(Figures.CheckLevel.NOTE);
        });
  }

  static @Nullable Finding kvCacheFull(CheckInput in) {
    return in.atWorst(
        engine(engine -> engine.max(EngineMetric.KV_CACHE_USE)),
        (level, use) -> Finding.at(level, use, "kv_cache_full.found", Math.min(1, use)));
  }

  private record At(LevelFigures level, String name, Gpu gpu) {

    boolean isUsed() {
      Double used = gpu.mean(EngineMetric.GPU_MEMORY_USED_BYTES);
      Double total = gpu.mean(EngineMetric.GPU_MEMORY_TOTAL_BYTES);
      return used == null || total == null || used >= IN_USE * total;
    }
  }

  private static Stream<At> gpus(LevelFigures level) {
    return level.serverMetrics() == null
        ? Stream.of()
        : level.serverMetrics().gpus().entrySet().stream()
            .map(gpu -> new At(level, gpu.getKey(), gpu.getValue()));
  }

  static @Nullable Finding throttling(CheckInput in) {
    List<At> all = in.levels().stream().flatMap(EngineChecks::gpus).toList();
    return CheckInput.atWorst(
        all,
        at -> fall(at, all),
        (at, fall) -> {
          AtLimit limit = at.gpu.atLimit();
          return limit == null
              ? Finding.of(fall, "gpu_throttling.none")
              : Finding.at(
                  at.level,
                  fall,
                  "gpu_throttling.found",
                  at.name,
                  limit.clockMhz(),
                  limit.atS(),
                  fall,
                  limit.limit(),
                  limit.value(),
                  limit.limit().equals("power") ? "W" : "°C");
        });
  }

  /** How far the clock was below the GPU's highest of all levels while the GPU was at a limit. */
  private static @Nullable Double fall(At at, List<At> all) {
    double highest =
        all.stream()
            .filter(other -> other.name.equals(at.name))
            .map(other -> other.gpu.max(EngineMetric.GPU_CLOCK_MHZ))
            .filter(Objects::nonNull)
            .mapToDouble(Double::doubleValue)
            .max()
            .orElse(0);
    AtLimit limit = at.gpu.atLimit();
    return highest == 0
        ? null
        : (Double) (limit == null ? 0 : Math.max(0, 1 - limit.clockMhz() / highest));
  }

  private record Lowest(At at, EngineMetric gauge, double value, double median, int gpus) {}

  static @Nullable Finding imbalance(CheckInput in) {
    List<Lowest> all =
        in.levels().stream()
            .map(level -> gpus(level).filter(At::isUsed).toList())
            .filter(gpus -> median(gpus, EngineMetric.GPU_UTILIZATION) >= BUSY)
            .flatMap(gpus -> COMPARED.stream().map(gauge -> lowest(gpus, gauge)))
            .filter(Objects::nonNull)
            .toList();
    return CheckInput.atWorst(
        all,
        of -> -of.value / of.median,
        (of, share) ->
            Finding.at(
                of.at.level,
                -share,
                "gpu_imbalance.found",
                of.gauge.title().replace("GPU ", ""),
                of.at.name,
                text(of.gauge, of.value),
                -share,
                of.gpus,
                text(of.gauge, of.median)));
  }

  private static String text(EngineMetric gauge, double value) {
    return gauge.unit().equals("share") ? percent(value) : number(value) + " " + gauge.unit();
  }

  private static @Nullable Lowest lowest(List<At> gpus, EngineMetric gauge) {
    double median = median(gpus, gauge);
    List<At> known = gpus.stream().filter(at -> at.gpu.mean(gauge) != null).toList();
    return median == 0 || known.size() < 2
        ? null
        : known.stream()
            .map(
                at ->
                    new Lowest(at, gauge, requireNonNull(at.gpu.mean(gauge)), median, known.size()))
            .min(Comparator.comparingDouble(Lowest::value))
            .orElseThrow();
  }

  private static double median(List<At> gpus, EngineMetric gauge) {
    Double median =
        Distribution.median(
            gpus.stream()
                .map(at -> at.gpu.mean(gauge))
                .filter(Objects::nonNull)
                .mapToDouble(mean -> mean));
    return median == null ? 0 : median;
  }
}
