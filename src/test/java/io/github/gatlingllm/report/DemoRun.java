package io.github.gatlingllm.report;

import io.github.gatlingllm.stats.Check;
import io.github.gatlingllm.stats.Distribution;
import io.github.gatlingllm.stats.Figures;
import io.github.gatlingllm.stats.Metric;
import io.github.gatlingllm.stats.RunFigures;
import io.github.gatlingllm.stats.Series;
import io.github.gatlingllm.stats.Summary;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Figures of an invented run that behave as a batching server does: throughput grows with load
 * until the server is full, then latency grows instead. Seeded, so always the same.
 */
final class DemoRun {

  static final double LEVEL_S = 30;
  static final double LIMIT_MS = 500;
  private static final double FULL = 24;
  private static final long START = 1_795_226_400_000_000_000L;

  private final List<Integer> levels;
  private final List<String> targets;
  private final List<String> names;
  private final Random random = new Random(7);
  private final Samples all = new Samples();
  private final List<Series.Bucket> buckets = new ArrayList<>();
  private boolean slo = true;
  private int failOneIn = 180;
  private long mostRequests = Long.MAX_VALUE;

  DemoRun(List<Integer> levels, List<String> targets, List<String> names) {
    this.levels = levels;
    this.targets = targets;
    this.names = names;
  }

  static DemoRun sweep() {
    return new DemoRun(
        List.of(1, 2, 4, 8, 16, 24, 32, 48, 64),
        List.of("local"),
        List.of("ask", "Chat / follow-up"));
  }

  DemoRun withoutSlo() {
    slo = false;
    return this;
  }

  DemoRun failing() {
    failOneIn = 1;
    return this;
  }

  DemoRun single() {
    mostRequests = 1;
    return this;
  }

  /** The samples of one set of requests. */
  private static final class Samples {
    final List<Double> ttft = new ArrayList<>();
    final List<Double> itl = new ArrayList<>();
    final List<Double> tpot = new ArrayList<>();
    final List<Double> e2e = new ArrayList<>();
    final List<Double> wait = new ArrayList<>();
    long tokens;
    long good;
    long failed;
    double seconds;

    void add(Samples other) {
      ttft.addAll(other.ttft);
      itl.addAll(other.itl);
      tpot.addAll(other.tpot);
      e2e.addAll(other.e2e);
      wait.addAll(other.wait);
      tokens += other.tokens;
      good += other.good;
      failed += other.failed;
      seconds += other.seconds;
    }
  }

  RunFigures figures() {
    List<Summary.Stage> stages = new ArrayList<>();
    List<Summary.Target> byTarget = new ArrayList<>();
    double clock = 0;
    for (int t = 0; t < targets.size(); t++) {
      Samples ofTarget = new Samples();
      double power = 0;
      Summary.Knee knee = null;
      for (int level : levels) {
        Samples samples = run(level, 1 + 0.5 * t, clock);
        ofTarget.add(samples);
        Figures figures = figures(samples);
        stages.add(stage(level, targets.get(t), clock, figures));
        Double output = figures.throughput().outputTokensPerS();
        Double median = figures.metric(Metric.E2E_MS).p50();
        if (output != null && median != null && output / median > power) {
          power = output / median;
          boolean reached = levels.size() > 2 && level != levels.get(levels.size() - 1);
          knee =
              new Summary.Knee(
                  reached,
                  "c=" + level,
                  targets.get(t),
                  (double) level,
                  output,
                  median,
                  power * 1e3);
        }
        clock += LEVEL_S + 4;
      }
      all.add(ofTarget);
      byTarget.add(new Summary.Target(targets.get(t), knee, figures(ofTarget)));
    }
    Summary summary = summary(stages, byTarget, clock);
    return new RunFigures(summary, series());
  }

  private Samples run(int level, double slowness, double clock) {
    Samples samples = new Samples();
    samples.seconds = LEVEL_S;
    double tpotMs = slowness * (9 + 0.45 * Math.min(level, FULL));
    double queueMs = level <= FULL ? 0 : (level - FULL) / FULL * 128 * tpotMs;
    for (int s = 0; s < LEVEL_S + 4; s++) {
      boolean drain = s >= LEVEL_S;
      Samples second = new Samples();
      double e2eMs = 128 * tpotMs + queueMs;
      double rate = level * 1000 / e2eMs;
      long requests = drain ? 0 : (long) (rate + random.nextDouble());
      requests = Math.min(requests, mostRequests);
      mostRequests -= requests;
      for (int i = 0; i < requests; i++) {
        request(second, tpotMs, queueMs);
      }
      second.tokens = drain ? Math.round(level * 30 / tpotMs) : requests * 128;
      if (!drain) {
        samples.add(second);
        samples.seconds = LEVEL_S;
      }
      buckets.add(bucket(clock + s, second, drain ? level / 4.0 : level));
    }
    return samples;
  }

  private void request(Samples into, double tpotMs, double queueMs) {
    double ttft =
        60
            + 2.4 * tpotMs * Math.exp(0.45 * random.nextGaussian())
            + queueMs * (0.7 + 0.5 * random.nextDouble());
    double tpot = tpotMs * Math.exp(0.06 * random.nextGaussian());
    if (random.nextInt(failOneIn) == 0) {
      into.failed++;
      return;
    }
    into.ttft.add(ttft);
    into.wait.add(0.02 + 0.05 * random.nextDouble());
    into.tpot.add(tpot);
    into.e2e.add(ttft + 127 * tpot);
    for (int i = 0; i < 16; i++) {
      boolean stutter = random.nextInt(60) == 0;
      into.itl.add(tpot * Math.exp(0.12 * random.nextGaussian()) * (stutter ? 2.6 : 1));
    }
    if (ttft < LIMIT_MS) {
      into.good++;
    }
  }

  private static Series.Bucket bucket(double start, Samples second, double inFlight) {
    Distribution ttft = distribution(second.ttft);
    Distribution itl = distribution(second.itl);
    long done = second.ttft.size() + second.failed;
    double good = second.ttft.isEmpty() ? 0 : (double) second.good / second.ttft.size();
    return new Series.Bucket(
        start,
        ttft.p50(),
        ttft.p95(),
        ttft.p99(),
        itl.p50(),
        itl.p99(),
        second.tokens,
        second.tokens * good,
        done,
        done,
        second.failed,
        inFlight);
  }

  private Summary.Stage stage(int level, String target, double start, Figures figures) {
    return new Summary.Stage(
        "c=" + level,
        target,
        "concurrency",
        (double) level,
        "concurrent",
        start,
        LEVEL_S,
        List.of(
            new Summary.PhaseSpan("measure", start, LEVEL_S),
            new Summary.PhaseSpan("drain", start + LEVEL_S, 4)),
        (double) level,
        null,
        figures);
  }

  private Figures figures(Samples samples) {
    Map<Metric, Distribution> metrics = new EnumMap<>(Metric.class);
    for (Metric metric : Metric.values()) {
      metrics.put(metric, Distribution.EMPTY);
    }
    metrics.put(Metric.TTFT_MS, distribution(samples.ttft));
    metrics.put(Metric.TTFT_FROM_SCHEDULE_MS, distribution(samples.ttft));
    metrics.put(Metric.ITL_MS, distribution(samples.itl));
    metrics.put(Metric.TPOT_MS, distribution(samples.tpot));
    metrics.put(Metric.E2E_MS, distribution(samples.e2e));
    metrics.put(Metric.QUEUE_WAIT_MS, distribution(samples.wait));
    metrics.put(Metric.OUTPUT_TOKENS, distribution(samples.ttft.stream().map(t -> 128.0).toList()));
    long ok = samples.ttft.size();
    double seconds = Math.max(1, samples.seconds);
    long started = ok + samples.failed;
    Distribution itl = metrics.get(Metric.ITL_MS);
    @Nullable Double jitter = itl.p99() == null || itl.p50() == null ? null : itl.p99() / itl.p50();
    Figures.Throughput throughput =
        new Figures.Throughput(
            seconds,
            samples.tokens / seconds,
            samples.tokens * 3 / seconds,
            ok / seconds,
            ok * 60 / seconds,
            samples.tokens * 0.97 / seconds,
            distribution(samples.e2e.stream().map(ms -> 128e3 / ms).toList()),
            distribution(samples.tpot.stream().map(ms -> 1e3 / ms).toList()),
            distribution(samples.ttft.stream().map(ms -> 256e3 / ms).toList()),
            null);
    Figures.Goodput goodput =
        !slo
            ? null
            : new Figures.Goodput(
                started == 0 ? null : (double) samples.good / started,
                samples.good / seconds,
                samples.good * 128 / seconds,
                started,
                samples.good,
                0,
                null,
                Map.of("ttft", ok - samples.good, "failed", samples.failed));
    List<Figures.ErrorCount> errors =
        samples.failed == 0
            ? List.of()
            : List.of(
                new Figures.ErrorCount(
                    "http_error",
                    "HTTP 503 instead of 200: the server is overloaded",
                    samples.failed));
    return new Figures(
        metrics,
        throughput,
        goodput,
        new Figures.Jitter(jitter, jitter, itl.std(), 0.4, 1.0),
        errors,
        ok == 0 ? Map.of() : Map.of("length", ok),
        new Figures.Counts(started, started, started, ok, 0));
  }

  private Summary summary(
      List<Summary.Stage> stages, List<Summary.Target> byTarget, double seconds) {
    Figures pooled = figures(all);
    Summary.Knee knee = byTarget.isEmpty() ? null : byTarget.get(0).knee();
    List<Summary.RequestGroup> requests =
        names.stream().map(name -> new Summary.RequestGroup(name, pooled)).toList();
    Map<String, Long> models =
        new LinkedHashMap<>(Map.of("qwen2.5-7b-instruct", (long) all.ttft.size()));
    Distribution tokens = pooled.metric(Metric.OUTPUT_TOKENS);
    Summary.SloTable table =
        !slo
            ? null
            : new Summary.SloTable(
                "ttft<500ms",
                95,
                List.of(
                    new Summary.ObjectiveRow(
                        "ttft",
                        LIMIT_MS,
                        pooled.metric(Metric.TTFT_MS).p95(),
                        all.ttft.isEmpty() ? null : LIMIT_MS - distribution(all.ttft).p95(),
                        all.ttft.isEmpty() ? null : (double) all.good / all.ttft.size(),
                        all.ttft.isEmpty() ? null : all.good > 0.95 * all.ttft.size())));
    return new Summary(
        new Summary.Run(
            "demosimulation-20261121021500000",
            "simulations.DemoSimulation",
            START,
            START + (long) (seconds * 1e9),
            "complete",
            42L,
            List.of("local"),
            Map.of("gatling", "3.15.1", "java", "17.0.12")),
        all.ttft.isEmpty()
            ? "No request succeeded; there is nothing to judge."
            : "Within TTFT p95 < 500 ms up to c=24 = 1,210 tok/s; above it throughput grows 2 % while TTFT p95 grows 8×.",
        Map.of("tokenizer", "tiktoken:cl100k_base", "dataset", "built in"),
        new Summary.Workload(
            tokens,
            tokens,
            0.31,
            Map.of(),
            Map.of("default", 1L),
            models,
            Map.of("chat", (long) all.ttft.size()),
            Map.of("http://127.0.0.1:8000/v1/chat/completions", 1L),
            all.ttft.size()),
        table,
        pooled,
        null,
        knee,
        checks(),
        List.of(),
        Map.of(),
        Map.of(),
        stages,
        byTarget,
        requests);
  }

  private static List<Check> checks() {
    return List.of(
        new Check(
            "littles_law",
            Check.Level.OK,
            1.2,
            5.0,
            "Little's law holds: rate × mean E2E differs from mean concurrency by 1.2 %",
            ""),
        new Check(
            "generator_lag",
            Check.Level.OK,
            1.7,
            10.0,
            "Event loops were late by 1.7 ms at p99",
            ""),
        new Check(
            "samples",
            Check.Level.WARNING,
            240.0,
            1000.0,
            "The smallest level has 240 samples: its p99 rests on 2 values",
            "Run longer levels: -Dllm.duration=120"));
  }

  private Series series() {
    Map<Metric, Series.Shape> shapes = new EnumMap<>(Metric.class);
    shape(shapes, Metric.TTFT_MS, all.ttft);
    shape(shapes, Metric.ITL_MS, all.itl);
    shape(shapes, Metric.TPOT_MS, all.tpot);
    shape(shapes, Metric.E2E_MS, all.e2e);
    return new Series(1, buckets, new Series.HeatMap(List.of(), List.of()), shapes);
  }

  private static void shape(Map<Metric, Series.Shape> shapes, Metric metric, List<Double> values) {
    if (values.isEmpty()) {
      return;
    }
    List<Double> sorted = values.stream().sorted().toList();
    double max = sorted.get(sorted.size() - 1);
    double width = max / 50;
    List<Series.Bar> bars =
        IntStream.range(0, 50)
            .mapToObj(
                i ->
                    new Series.Bar(
                        i * width,
                        (i + 1) * width,
                        sorted.stream()
                            .filter(v -> v >= i * width && (v < (i + 1) * width || i == 49))
                            .count()))
            .toList();
    List<Series.Quantile> quantiles = new ArrayList<>();
    for (double x = 0; x < Math.log10(sorted.size()); x += 0.05) {
      double percent = 100 * (1 - Math.pow(10, -x));
      quantiles.add(new Series.Quantile(percent, rank(sorted, percent)));
    }
    shapes.put(metric, new Series.Shape(bars, quantiles));
  }

  private static double rank(List<Double> sorted, double percent) {
    int rank = (int) Math.ceil(percent / 100 * sorted.size());
    return sorted.get(Math.max(0, rank - 1));
  }

  static Distribution distribution(List<Double> values) {
    if (values.isEmpty()) {
      return Distribution.EMPTY;
    }
    List<Double> sorted = values.stream().sorted().toList();
    double mean = sorted.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
    double variance =
        sorted.stream().mapToDouble(v -> (v - mean) * (v - mean)).average().orElseThrow();
    List<String> low = new ArrayList<>();
    if (sorted.size() < 1000) {
      low.add("p99");
    }
    if (sorted.size() < 10_000) {
      low.add("p999");
    }
    return new Distribution(
        sorted.size(),
        mean,
        Math.sqrt(variance),
        sorted.get(0),
        rank(sorted, 50),
        rank(sorted, 75),
        rank(sorted, 90),
        rank(sorted, 95),
        rank(sorted, 99),
        rank(sorted, 99.9),
        sorted.get(sorted.size() - 1),
        low);
  }
}
