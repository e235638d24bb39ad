package io.github.gatlingllm.check;

import static io.github.gatlingllm.metric.NumberText.count;
import static io.github.gatlingllm.metric.NumberText.counted;
import static io.github.gatlingllm.metric.NumberText.ms;
import static io.github.gatlingllm.metric.NumberText.number;
import static io.github.gatlingllm.metric.NumberText.percent;

import io.github.gatlingllm.check.CheckInput.MeasuredLevel;
import io.github.gatlingllm.enginestats.EngineFigures;
import io.github.gatlingllm.enginestats.EngineFigures.WholeRun;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.record.EngineMetric;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Checks that hold what the server's own metrics say beside what this tool saw. */
final class EngineChecks {

  /** Failed and cancelled requests have tokens that nobody saw. */
  private static final double LEAST_OK = 0.99;

  /** Requests more than this are needed beside the share: one by hand is nothing. */
  private static final int LEAST_OTHERS = 3;

  /** A shorter time is not worth a word. */
  private static final double LEAST_MS = 20;

  private static final double HALF = 0.5;

  /** Pauses that users see, see the figure jitter. */
  private static final double SPIKES = 3;

  private EngineChecks() {}

  // ---- the engine's counters against what was sent

  /** The runs of which both counts are known, and nothing else explains a difference. */
  static List<WholeRun> comparable(CheckInput in) {
    return in.engines().stream()
        .filter(run -> run.generatedTokens() != null && run.outputTokens() > 0)
        .filter(run -> run.ok() >= LEAST_OK * run.sent())
        .filter(run -> !hasOthers(run))
        .toList();
  }

  static Finding tokensAgree(CheckInput in) {
    WholeRun worst = most(comparable(in), EngineChecks::tokenDifference);
    return Finding.of(
        tokenDifference(worst),
        "The engine counted %s output tokens in the whole run%s, the answers have %s."
            .formatted(
                count(Math.round(generated(worst))), at(worst), count(worst.outputTokens())));
  }

  private static double generated(WholeRun run) {
    return Objects.requireNonNull(run.generatedTokens());
  }

  private static double tokenDifference(WholeRun run) {
    return Math.abs(generated(run) / run.outputTokens() - 1);
  }

  /** The runs of which it is known how many requests the engine finished. */
  static List<WholeRun> countedRequests(CheckInput in) {
    return in.engines().stream().filter(run -> run.finishedRequests() != null).toList();
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

  /** Requests of others ÷ own. */
  private static double others(WholeRun run) {
    Double finished = run.finishedRequests();
    return finished == null ? 0 : Math.max(0, finished - run.sent()) / Math.max(1, run.sent());
  }

  private static boolean hasOthers(WholeRun run) {
    return others(run) > 0.01 && others(run) * run.sent() >= LEAST_OTHERS;
  }

  private static String at(WholeRun run) {
    return run.target() == null ? "" : " at " + run.target();
  }

  // ---- by load level

  /** A load level, and what its server says of it. */
  private record Seen(MeasuredLevel level, EngineFigures engine) {

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

  private static Stream<Seen> levels(CheckInput in, Function<EngineFigures, ?> needed) {
    return in.levels().stream()
        .flatMap(level -> Stream.ofNullable(level.engine()).map(engine -> new Seen(level, engine)))
        .filter(seen -> needed.apply(seen.engine()) != null);
  }

  private static Stream<Seen> withTtft(CheckInput in) {
    return levels(in, engine -> engine.meanMs(EngineMetric.ENGINE_TTFT_S))
        .filter(seen -> seen.level().figures().metric(Metric.TTFT_MS).mean() != null);
  }

  /**
   * Not where requests pile up: the engine's times of a window are of the requests whose first
   * token came in it, ours of those that were sent in it, and wait longer.
   */
  private static List<Seen> withTtftOfTheSame(CheckInput in) {
    return withTtft(in).filter(seen -> !seen.level().isPilingUp()).toList();
  }

  static boolean hasTtft(CheckInput in) {
    return !withTtftOfTheSame(in).isEmpty();
  }

  static Finding ttft(CheckInput in) {
    Seen worst = most(withTtftOfTheSame(in), Seen::outsideMs);
    double outside = worst.outsideMs();
    boolean isMost = outside > HALF * worst.clientTtftMs();
    Check.Level level =
        isMost && outside > 100
            ? Check.Level.WARNING
            : isMost && outside > LEAST_MS ? Check.Level.NOTE : Check.Level.OK;
    return Finding.of(
            outside,
            "At %s the mean TTFT is %s here and %s in the engine: %s lie between them."
                .formatted(
                    worst.level().label(),
                    ms(worst.clientTtftMs()),
                    ms(worst.ms(EngineMetric.ENGINE_TTFT_S)),
                    ms(outside)))
        .level(level);
  }

  private static List<Seen> withQueue(CheckInput in) {
    return withTtft(in)
        .filter(seen -> seen.engine().meanMs(EngineMetric.ENGINE_QUEUE_S) != null)
        .toList();
  }

  static boolean hasQueue(CheckInput in) {
    return !withQueue(in).isEmpty();
  }

  static Finding queue(CheckInput in) {
    Seen worst = most(withQueue(in), seen -> seen.ms(EngineMetric.ENGINE_QUEUE_S));
    double queue = worst.ms(EngineMetric.ENGINE_QUEUE_S);
    double share = worst.clientTtftMs() == 0 ? 0 : queue / worst.clientTtftMs();
    return Finding.of(
            share,
            "At %s requests waited %s in the engine's queue on average, %s of their mean TTFT of %s."
                .formatted(
                    worst.level().label(),
                    ms(queue),
                    percent(Math.min(1, share)),
                    ms(worst.clientTtftMs())))
        .notesIf(share > HALF && queue > LEAST_MS);
  }

  static boolean hasPreemptions(CheckInput in) {
    return levels(in, engine -> engine.total(EngineMetric.PREEMPTIONS)).findAny().isPresent();
  }

  static Finding preemptions(CheckInput in) {
    List<Seen> levels = levels(in, engine -> engine.total(EngineMetric.PREEMPTIONS)).toList();
    Seen worst = most(levels, EngineChecks::preemptions);
    Double jitter = worst.level().figures().number(Metric.JITTER);
    long times = Math.round(preemptions(worst));
    return Finding.of(
            preemptions(worst),
            times == 0
                ? "The engine took no request out of its batch."
                : "At %s the engine took requests out of its batch %s times for want of KV memory%s."
                    .formatted(
                        worst.level().label(),
                        count(times),
                        jitter == null || jitter <= SPIKES
                            ? ""
                            : ", which shows in the gaps between tokens: ITL p99 is "
                                + number(jitter)
                                + " × p50"))
        .notesIf(times > 0);
  }

  private static double preemptions(Seen seen) {
    return orZero(seen.engine().total(EngineMetric.PREEMPTIONS));
  }

  static boolean hasKvCache(CheckInput in) {
    return levels(in, engine -> engine.max(EngineMetric.KV_CACHE_USE)).findAny().isPresent();
  }

  static Finding kvCacheFull(CheckInput in) {
    List<Seen> levels = levels(in, engine -> engine.max(EngineMetric.KV_CACHE_USE)).toList();
    Seen fullest = most(levels, EngineChecks::kvCacheUse);
    return Finding.of(
        kvCacheUse(fullest),
        "The KV cache was %s full at most, at %s."
            .formatted(percent(Math.min(1, kvCacheUse(fullest))), fullest.level().label()));
  }

  private static double kvCacheUse(Seen seen) {
    return orZero(seen.engine().max(EngineMetric.KV_CACHE_USE));
  }

  private static <T> T most(List<T> of, ToDoubleFunction<T> figure) {
    return of.stream().max(Comparator.comparingDouble(figure)).orElseThrow();
  }
}
