package io.github.gatlingllm.figures.level;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.partitioningBy;
import static java.util.stream.Collectors.toList;

import io.github.gatlingllm.figures.level.Fold.FoldPart;
import io.github.gatlingllm.figures.metric.Amount;
import io.github.gatlingllm.figures.metric.Amount.WindowFact;
import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.Trial;
import io.github.gatlingllm.figures.metric.Figures.Trials;
import io.github.gatlingllm.figures.metric.GeneratorHealth;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.LevelFigures.InjectorFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.InjectorRun;
import io.github.gatlingllm.record.InjectorRun.InjectorLevel;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RunInfo.TargetFacts;
import io.github.gatlingllm.record.RunOutcome.SingleStream;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Adds up cells: by load level, target, name, model, injector, and of the run. */
final class FigureGroups {

  private final RunStatistics counted;
  private final List<InjectorRun> injectors;
  private final Map<LevelWindow, List<Trial>> trials;
  private final boolean isClockNamed;

  /**
   * @param injectors those of a merged run; else empty
   */
  FigureGroups(RunStatistics counted, List<InjectorRun> injectors) {
    this.counted = counted;
    this.injectors = injectors;
    trials =
        counted
            .fold
            .parts(Grouping.TRIAL)
            .filter(part -> part.cell().of(Amount.STARTED) > 0)
            .collect(groupingBy(FoldPart::level, mapping(FigureGroups::trial, toList())));
    isClockNamed =
        levels().stream().anyMatch(level -> level.arrivals != null)
            || levels().stream()
                .map(level -> joined(level::equals, null))
                .anyMatch(group -> LoadCurve.differsFromSchedule(group::distribution));
  }

  /** The requests of some levels; of some keys unless that is null. */
  Pooled joined(Predicate<LevelWindow> within, @Nullable Predicate<FoldPart> only) {
    Map<Boolean, List<FoldPart>> parts =
        counted
            .fold
            .figures()
            .collect(
                partitioningBy(
                    part -> within.test(part.level()) && (only == null || only.test(part))));
    Cell cell = new Cell(Cell.Detail.FIGURES);
    Map<LevelWindow, long[]> spans = new HashMap<>();
    for (FoldPart part : parts.get(true)) {
      cell.add(part.cell());
      long[] span = part.cell().span();
      if (span != null) {
        spans.merge(
            part.level(), span, (a, b) -> new long[] {Math.min(a[0], b[0]), Math.max(a[1], b[1])});
      }
    }
    List<LevelWindow> used = parts.get(true).stream().map(FoldPart::level).distinct().toList();
    List<LevelWindow> others = parts.get(false).stream().map(FoldPart::level).toList();
    boolean isOneTarget = used.stream().map(LevelWindow::target).distinct().count() == 1;
    boolean isOneLevel = used.stream().map(level -> level.index).distinct().count() == 1;
    boolean isEntireTarget =
        isOneTarget && others.stream().noneMatch(other -> isBeside(other, used));
    boolean isEntireLevel =
        isOneLevel && others.stream().noneMatch(other -> other.index == used.get(0).index);
    List<Cell> slices = isEntireLevel ? steadySlices(used.get(0)) : null;
    Map<WindowFact, @Nullable Double> facts = new EnumMap<>(WindowFact.class);
    facts.put(WindowFact.WINDOW_S, windowNanos(within) / 1e9);
    facts.put(WindowFact.WALL_S, Windows.unionNanos(spans.values()) / 1e9);
    if (isEntireLevel) {
      facts.put(WindowFact.COLD_START_S, longest(used, LevelWindow::coldStartS));
      facts.put(WindowFact.SLO_HELD_AFTER_S, longest(used, LevelWindow::heldAfterS));
    }
    TargetFacts target = isOneTarget ? counted.targets.get(used.get(0).target()) : null;
    if (target != null) {
      facts.put(WindowFact.GPUS, target.gpus());
      facts.put(WindowFact.COST_PER_HOUR, target.costOfAllPerHour());
    }
    if (isEntireTarget) {
      facts.put(WindowFact.JOULES, counted.engines.joules(used));
      EngineFigures engine = counted.engines.of(within);
      facts.put(WindowFact.CACHED_BY_ENGINE, engine == null ? null : engine.prefixCacheHitRate());
    }
    // A request that had the target to itself, beside a level that has it to itself.
    SingleStream alone =
        isEntireTarget && isOneLevel ? counted.alone.get(used.get(0).target()) : null;
    facts.put(WindowFact.TOKENS_PER_S_ALONE, alone == null ? null : (Double) alone.tokensPerS());
    return new Pooled(
        cell,
        parts.get(true).stream().flatMap(part -> Stream.ofNullable(part.cell().peaks)).toList(),
        facts,
        isEntireTarget,
        only == null ? trials(within) : null,
        slices == null ? null : intervals(used.get(0), slices),
        counted.readingSpeed);
  }

  /** Of the repeats of a level; null where it is not known of one of them. */
  private static @Nullable Double longest(
      List<LevelWindow> repeats, Function<LevelWindow, @Nullable Double> seconds) {
    List<Double> all = repeats.stream().map(seconds).filter(Objects::nonNull).toList();
    return all.size() < repeats.size() ? null : all.stream().max(Double::compare).orElse(null);
  }

  private @Nullable Trials trials(Predicate<LevelWindow> within) {
    List<List<Trial>> windows =
        levels().stream()
            .filter(level -> within.test(level) && trials.containsKey(level))
            .map(trials::get)
            .toList();
    List<Trial> all =
        windows.stream()
            .flatMap(level -> level.stream().sorted(Comparator.comparing(Trial::trial)))
            .toList();
    return Trials.of(all, windows.size() == 1);
  }

  private static Trial trial(FoldPart part) {
    Cell cell = part.cell();
    double seconds = cell.spanS();
    return new Trial(
        Integer.parseInt(part.key(Grouping.TRIAL)),
        cell.count(Amount.STARTED),
        cell.count(Amount.OK),
        cell.count(Amount.CLOSED_TOKENS),
        seconds > 0 ? (Double) seconds : null,
        seconds > 0 ? (Double) (cell.of(Amount.CLOSED_TOKENS) / seconds) : null);
  }

  private ConfidenceIntervals intervals(LevelWindow level, List<Cell> slices) {
    boolean isOpen = level.arrivals != null || level.info.isOpen();
    return new ConfidenceIntervals(
        slices,
        isOpen ? level.nanos() / 1e6 : Double.POSITIVE_INFINITY,
        counted.slo.limited(level.target()));
  }

  /** Length of the measure windows of some levels; time in which they overlap counts once. */
  long windowNanos(Predicate<LevelWindow> within) {
    return Windows.unionNanos(
        levels().stream().filter(within).map(level -> new long[] {level.from, level.to}).toList());
  }

  private static boolean isBeside(LevelWindow other, List<LevelWindow> levels) {
    return other.target().equals(levels.get(0).target())
        && levels.stream().anyMatch(own -> own.overlapNanos(other.from, other.to) > 0);
  }

  /** The time slices of a level of constant load; null for other levels and for batch trials. */
  @Nullable List<Cell> steadySlices(LevelWindow level) {
    return level.nanos() > 0 && hasConstantLoad(level.info) && !trials.containsKey(level)
        ? level.usedSlices()
        : null;
  }

  private static boolean hasConstantLoad(LevelInfo level) {
    return level.kind().equals(LevelInfo.INJECTION)
        ? level.offered() != null
        : !List.of(LevelInfo.RATE_CURVE, LevelInfo.TRACE, LevelInfo.BATCH).contains(level.kind());
  }

  boolean hasSlo() {
    return !counted.slo.isEmpty();
  }

  /** The SLO of the requests to a target, or to all if that is null; null without SLO. */
  @Nullable String slo(@Nullable String target) {
    boolean isJudged = target == null ? hasSlo() : !counted.slo.isEmpty(target);
    return isJudged ? counted.slo.quote(target, isClockNamed) : null;
  }

  @Nullable String slo(LevelWindow level) {
    return counted.slo.isEmpty(level.target()) || counted.slo.isWithout(level.target(), level.index)
        ? null
        : counted.slo.quote(level.target(), level.index, isClockNamed);
  }

  Windows runLevels() {
    return counted.levels;
  }

  List<LevelWindow> levels() {
    return counted.levels.all();
  }

  /**
   * Selects the levels of a target, or of all if that is null; none in which a class of traffic was
   * alone, which are compared with the others and judged by nothing.
   */
  static Predicate<LevelWindow> of(@Nullable String target) {
    return level ->
        (target == null || target.equals(level.target())) && !LevelInfo.isAlone(level.info.label());
  }

  List<String> requests(@Nullable String target) {
    return counted.fold.keys(Grouping.REQUEST, part -> of(target).test(part.level()));
  }

  /** The health of a generator at a load level, and what it means for the figures of the level. */
  private record Judged(GeneratorHealth health, Figures.CheckLevel verdict) {
    static Stream<Judged> of(InjectorRun injector, List<GeneratorHealth> all, Figures level) {
      return all.stream()
          .filter(health -> health.injector().equals(injector.name()))
          .map(health -> new Judged(health, health.verdict(level).level()));
    }
  }

  /** The figures of each injector of a merged run at a load level. */
  List<InjectorFigures> injectors(LevelWindow level, Figures of, List<GeneratorHealth> generators) {
    Map<String, Cell> cells =
        injectors.isEmpty()
            ? Map.of()
            : counted.fold.byKey(Grouping.INJECTOR, part -> part.level().equals(level.first()));
    long nanos = level.repeats.stream().mapToLong(LevelWindow::nanos).sum();
    return injectors.stream()
        .filter(injector -> cells.containsKey(injector.name()))
        .map(
            injector ->
                figures(
                    injector,
                    planned(injector, level),
                    cells.get(injector.name()),
                    nanos,
                    Judged.of(injector, generators, of)))
        .toList();
  }

  private static @Nullable Long planned(InjectorRun injector, LevelWindow level) {
    List<@Nullable Long> each =
        injector.levels().stream()
            .filter(part -> level.repeats.stream().anyMatch(window -> part.isOf(window.info)))
            .map(InjectorLevel::planned)
            .toList();
    return level.joined().planned() == null || each.isEmpty() || each.contains(null)
        ? null
        : (Long) each.stream().mapToLong(part -> part).sum();
  }

  /** The figures of an injector, all load levels pooled. */
  InjectorFigures injector(InjectorRun injector, long windowNanos, List<LevelFigures> stages) {
    Cell all =
        counted
            .fold
            .byKey(Grouping.INJECTOR, part -> true)
            .getOrDefault(injector.name(), new Cell(Cell.Detail.INJECTOR));
    return figures(
        injector,
        injector.planned(),
        all,
        windowNanos,
        stages.stream().flatMap(level -> Judged.of(injector, level.generators(), level.figures())));
  }

  private static InjectorFigures figures(
      InjectorRun injector,
      @Nullable Long planned,
      Cell cell,
      long windowNanos,
      Stream<Judged> judged) {
    double seconds = windowNanos / 1e9;
    List<Judged> all = judged.toList();
    List<GeneratorHealth> health = all.stream().map(Judged::health).toList();
    return new InjectorFigures(
        injector.name(),
        planned,
        cell.count(Amount.STARTED),
        cell.count(Amount.ENDED),
        cell.count(Amount.OK),
        cell.count(Amount.FAILED),
        windowNanos > 0 ? (Double) (cell.of(Amount.COMPLETED) / seconds) : null,
        windowNanos > 0 ? (Double) (cell.of(Amount.TOKENS) / seconds) : null,
        cell.values(Metric.TTFT_MS).distribution(),
        cell.lagMs.distribution(),
        health.stream().map(GeneratorHealth::lagMaxMs).max(Comparator.naturalOrder()).orElse(null),
        mean(health, GeneratorHealth::own),
        mean(health, GeneratorHealth::idle),
        all.stream().map(Judged::verdict).max(Comparator.naturalOrder()).orElse(null));
  }

  private static @Nullable Double mean(
      List<GeneratorHealth> health, Function<GeneratorHealth, @Nullable Double> share) {
    Moments mean = new Moments();
    health.stream().map(share).filter(Objects::nonNull).forEach(value -> mean.add(value, 1));
    return mean.count() == 0 ? null : (Double) mean.mean();
  }
}
