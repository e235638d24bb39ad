package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.RunStatistics.Outlier;
import io.github.gatlingllm.figures.metric.Check;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.LevelFigures.GeneratorHealth;
import io.github.gatlingllm.figures.metric.LevelFigures.InjectorFigures;
import io.github.gatlingllm.figures.metric.TimeBuckets;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.InjectorRun;
import io.github.gatlingllm.record.InjectorRun.LevelPart;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.DoubleUnaryOperator;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.commons.statistics.distribution.TDistribution;
import org.jspecify.annotations.Nullable;

/**
 * Counts the requests of each injector of a merged run by load level, and finds the injector that
 * differs from the others. About 100 KiB per injector and level; empty in a run of one injector.
 */
final class InjectorTally {

  /** Pairs of injector and load level with figures of their own. */
  private static final int MAX_CELLS = 2_000;

  /** Parts of a measure window. Within a part all injectors meet the server in the same state. */
  private static final int SLICES = 48;

  private static final int MIN_SLICES = 8;
  private static final int MIN_VALUES = 100;

  /** Probability that chance alone makes any injector at any level an outlier. */
  private static final double CHANCE = 0.01;

  /** Smaller differences are not reported. */
  private static final double MIN_SHARE = 0.1;

  private static final List<Compared> COMPARED =
      List.of(
          new Compared("TTFT", slice -> slice.logTtft, Math::exp, 1),
          new Compared("mean TTFT", slice -> slice.ttftMs, ms -> ms, 1),
          new Compared("mean start lag", slice -> slice.lagMs, ms -> ms, 5));

  private final List<InjectorRun> injectors;
  private final Set<String> names;
  private final Map<Key, Cell> cells = new HashMap<>();

  private record Key(String injector, int level) {}

  /**
   * A figure by which injectors are compared.
   *
   * @param toMs from the mean of its values
   * @param minMs smaller differences are not reported
   */
  private record Compared(
      String figure, Function<Slice, Moments> values, DoubleUnaryOperator toMs, double minMs) {}

  InjectorTally(List<InjectorRun> injectors) {
    this.injectors = injectors;
    names = injectors.stream().map(InjectorRun::name).collect(Collectors.toSet());
  }

  /** An injector at a load level. */
  private static final class Cell {
    private final ValueRecorder ttftMs = new ValueRecorder(ValueRecorder.MICROS);
    private final ValueRecorder lagMs = new ValueRecorder(ValueRecorder.MICROS);
    private final @Nullable TimeBuckets<Slice> slices;
    private long started;
    private long ended;
    private long ok;
    private long failed;
    private long completed;
    private double tokens;

    private Cell(@Nullable TimeBuckets<Slice> slices) {
      this.slices = slices;
    }

    private void add(Cell other) {
      ttftMs.add(other.ttftMs);
      lagMs.add(other.lagMs);
      started += other.started;
      ended += other.ended;
      ok += other.ok;
      failed += other.failed;
      completed += other.completed;
      tokens += other.tokens;
    }
  }

  /** An injector in a part of a measure window. */
  private static final class Slice {
    private final Moments ttftMs = new Moments();
    private final Moments logTtft = new Moments();
    private final Moments lagMs = new Moments();
  }

  private @Nullable Cell cell(String injector, LevelTally level) {
    if (!names.contains(injector)) {
      return null;
    }
    Key key = new Key(injector, level.index());
    if (cells.size() >= MAX_CELLS && !cells.containsKey(key)) {
      return null;
    }
    return cells.computeIfAbsent(
        key,
        k ->
            new Cell(
                level.nanos() > 0
                    ? TimeBuckets.within(level.from(), level.nanos(), SLICES, Slice::new)
                    : null));
  }

  /** Adds a request; only those of the phase measure count. */
  void add(RequestRecord record, LevelTally level) {
    RequestRecord.Identity id = record.identity();
    Cell cell = id.phase() == Phase.MEASURE ? cell(id.injector(), level) : null;
    if (cell == null) {
      return;
    }
    RequestRecord.Timing timing = record.timing();
    Slice slice = cell.slices == null ? null : cell.slices.at(timing.scheduledUnixNanos());
    cell.started++;
    cell.ended += record.outcome().status() == RequestStatus.CANCELLED ? 0 : 1;
    cell.ok += record.outcome().ok() ? 1 : 0;
    cell.failed += record.outcome().hasFailed() ? 1 : 0;
    if (timing.scheduledOffsetNanos() != null) {
      double lag = timing.startLagNanos() / 1e6;
      cell.lagMs.add(lag);
      if (slice != null) {
        slice.lagMs.add(lag, 1);
      }
    }
    Long ttft = record.outcome().ok() ? timing.ttftNanos() : null;
    if (ttft != null) {
      double ms = ttft / 1e6;
      cell.ttftMs.add(ms);
      if (slice != null) {
        slice.ttftMs.add(ms, 1);
        slice.logTtft.add(Math.log(Math.max(1e-3, ms)), 1);
      }
    }
  }

  void tokens(String injector, LevelTally level, double tokens) {
    Cell cell = cell(injector, level);
    if (cell != null) {
      cell.tokens += tokens;
    }
  }

  void completed(String injector, LevelTally level) {
    Cell cell = cell(injector, level);
    if (cell != null) {
      cell.completed++;
    }
  }

  List<InjectorFigures> at(LevelTally level, Figures of, List<GeneratorHealth> generators) {
    return injectors.stream()
        .filter(injector -> cells.containsKey(new Key(injector.name(), level.index())))
        .map(
            injector ->
                figures(
                    injector,
                    planned(injector, level),
                    cells.get(new Key(injector.name(), level.index())),
                    level.nanos(),
                    of(injector, generators),
                    of(injector, generators).map(health -> health.verdict(of).level())))
        .toList();
  }

  private static @Nullable Long planned(InjectorRun injector, LevelTally level) {
    return level.info().planned() == null
        ? null
        : injector.levels().stream()
            .filter(part -> part.isOf(level.info()))
            .map(LevelPart::planned)
            .findFirst()
            .orElse(null);
  }

  InjectorFigures pooled(InjectorRun injector, long windowNanos, List<LevelFigures> stages) {
    Cell all = new Cell(null);
    cells.forEach(
        (key, cell) -> {
          if (key.injector.equals(injector.name())) {
            all.add(cell);
          }
        });
    return figures(
        injector,
        injector.planned(),
        all,
        windowNanos,
        stages.stream().flatMap(level -> of(injector, level.generators())),
        stages.stream()
            .flatMap(
                level ->
                    of(injector, level.generators())
                        .map(health -> health.verdict(level.figures()).level())));
  }

  private static Stream<GeneratorHealth> of(InjectorRun injector, List<GeneratorHealth> all) {
    return all.stream().filter(health -> health.injector().equals(injector.name()));
  }

  private static InjectorFigures figures(
      InjectorRun injector,
      @Nullable Long planned,
      Cell cell,
      long windowNanos,
      Stream<GeneratorHealth> generators,
      Stream<Check.Level> verdicts) {
    double seconds = windowNanos / 1e9;
    List<GeneratorHealth> health = generators.toList();
    return new InjectorFigures(
        injector.name(),
        planned,
        cell.started,
        cell.ended,
        cell.ok,
        cell.failed,
        windowNanos > 0 ? (Double) (cell.completed / seconds) : null,
        windowNanos > 0 ? (Double) (cell.tokens / seconds) : null,
        cell.ttftMs.distribution(),
        cell.lagMs.distribution(),
        health.stream().map(GeneratorHealth::lagMaxMs).max(Comparator.naturalOrder()).orElse(null),
        mean(health, GeneratorHealth::own),
        mean(health, GeneratorHealth::idle),
        verdicts.max(Comparator.naturalOrder()).orElse(null));
  }

  private static @Nullable Double mean(
      List<GeneratorHealth> health, Function<GeneratorHealth, @Nullable Double> share) {
    Moments mean = new Moments();
    health.stream().map(share).filter(Objects::nonNull).forEach(value -> mean.add(value, 1));
    return mean.count() == 0 ? null : (Double) mean.mean();
  }

  /**
   * The injector that differs most from the others, of those that differ beyond chance; null where
   * none does. In each part of a measure window all injectors meet the server in the same state, so
   * the mean of each is compared with that of the others part by part: Student's t over the
   * differences, its error raised by their first autocorrelation.
   */
  @Nullable Outlier outlier(Map<String, LevelTally> levels) {
    List<Outlier> found = new ArrayList<>();
    levels.forEach(
        (name, level) ->
            cells.forEach(
                (key, cell) -> {
                  if (key.level == level.index() && cell.slices != null) {
                    addOutliers(key, name, cell, found);
                  }
                }));
    return found.stream()
        .max(
            Comparator.comparing((Outlier one) -> one.valueMs() > one.othersMs())
                .thenComparingDouble(one -> Math.abs(Math.log(one.valueMs() / one.othersMs())))
                .thenComparing(Outlier::injector))
        .orElse(null);
  }

  private void addOutliers(Key key, String level, Cell cell, List<Outlier> found) {
    List<Cell> others =
        cells.entrySet().stream()
            .filter(other -> other.getKey().level == key.level && !other.getKey().equals(key))
            .map(Map.Entry::getValue)
            .toList();
    for (Compared each : COMPARED) {
      Means means = means(cell, others, each.values);
      double own = each.toMs.applyAsDouble(means.own);
      Outlier one =
          new Outlier(key.injector, level, each.figure, own, each.toMs.applyAsDouble(means.others));
      if (means.isSure(COMPARED.size() * cells.size()) && differs(one, each.minMs)) {
        found.add(one);
      }
    }
  }

  /** Whether the difference matters, besides being significant. */
  private static boolean differs(Outlier one, double minMs) {
    double difference = Math.abs(one.valueMs() - one.othersMs());
    return difference >= MIN_SHARE * one.othersMs() && difference >= minMs;
  }

  /**
   * The means of an injector and of the others, over the parts of a window in which both have
   * values.
   */
  private record Means(List<Double> differences, long values, double own, double others) {

    private boolean isSure(int comparisons) {
      int count = differences.size();
      if (count < MIN_SLICES || values < MIN_VALUES) {
        return false;
      }
      Moments moments = new Moments();
      differences.forEach(difference -> moments.add(difference, 1));
      double[] series = differences.stream().mapToDouble(Double::doubleValue).toArray();
      double r = Autocorrelation.autocorrelation(series, moments);
      double slices = Autocorrelation.slices(Math.max(0, Math.min(Autocorrelation.MOST, r)));
      double error = moments.std() / Math.sqrt(count - 1.0) * Math.sqrt(slices);
      return error == 0
          ? moments.mean() != 0
          : 2 * TDistribution.of(count - 1.0).survivalProbability(Math.abs(moments.mean()) / error)
              < CHANCE / comparisons;
    }
  }

  private static Means means(Cell cell, List<Cell> others, Function<Slice, Moments> values) {
    List<Double> differences = new ArrayList<>();
    Moments own = new Moments();
    Moments otherMeans = new Moments();
    for (int i = 0; i < SLICES; i++) {
      Moments here = values.apply(slice(cell, i));
      Moments there = new Moments();
      for (Cell other : others) {
        there.add(values.apply(slice(other, i)));
      }
      if (here.count() > 0 && there.count() > 0) {
        differences.add(here.mean() - there.mean());
        own.add(here);
        otherMeans.add(there);
      }
    }
    return new Means(differences, own.count(), own.mean(), otherMeans.mean());
  }

  private static Slice slice(Cell cell, int i) {
    return Objects.requireNonNull(cell.slices).all().get(i);
  }
}
