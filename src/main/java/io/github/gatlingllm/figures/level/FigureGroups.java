package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.Figures.Trials;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RunInfo.RunEnvironment.TargetFacts;
import io.github.gatlingllm.record.RunOutcome.SingleStream;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Adds up the tallies of load levels and kinds of requests: by level, target, name, model, run. */
final class FigureGroups {

  record Judge(String quote, boolean isOfLevel) {}

  /**
   * What figures need to know of requests that were added up.
   *
   * @param facts of the target to which all requests went
   * @param isWhole whether cost and energy of that target belong to these requests alone
   * @param alone a request that had the target to itself; for all requests of one level that has
   *     the target to itself
   * @param intervals for all requests of one level of constant load
   */
  record Scope(
      long windowNanos,
      @Nullable Trials trials,
      @Nullable TargetFacts facts,
      boolean isWhole,
      @Nullable Double joules,
      @Nullable Double cachedByEngine,
      @Nullable SingleStream alone,
      @Nullable ConfidenceIntervals intervals) {

    static final Scope NONE = new Scope(0, null, null, false, null, null, null, null);
  }

  private final RunStatistics counted;
  private final LatencyOrigin clock;

  FigureGroups(RunStatistics counted) {
    this.counted = counted;
    clock =
        new LatencyOrigin(
            levels().stream().anyMatch(level -> level.arrivals != null)
                || levels().stream()
                    .map(level -> joined(level::equals, null))
                    .anyMatch(group -> LatencyOrigin.waited(group::distribution)));
  }

  /** The requests of some levels; of some kinds unless that is null. */
  GroupTally joined(Predicate<LevelTally> within, @Nullable Predicate<RequestKind> only) {
    Map<Boolean, List<GroupTally>> groups =
        counted.groups.stream()
            .collect(
                Collectors.partitioningBy(
                    group ->
                        within.test(level(group)) && (only == null || only.test(group.kind()))));
    GroupTally sum = new GroupTally(counted.readingSpeed, scope(within, only == null, groups));
    groups.get(true).forEach(sum::add);
    return sum;
  }

  private static LevelTally level(GroupTally group) {
    return group.levels().iterator().next();
  }

  private Scope scope(
      Predicate<LevelTally> within, boolean all, Map<Boolean, List<GroupTally>> groups) {
    List<LevelTally> used = groups.get(true).stream().map(FigureGroups::level).distinct().toList();
    List<LevelTally> others = groups.get(false).stream().map(FigureGroups::level).toList();
    boolean isOneTarget = used.stream().map(LevelTally::target).distinct().count() == 1;
    boolean isOneLevel = used.stream().map(level -> level.index).distinct().count() == 1;
    boolean isWhole = isOneTarget && others.stream().noneMatch(other -> runsBeside(other, used));
    List<TimeSlice> slices =
        isOneLevel && others.stream().noneMatch(other -> other.index == used.get(0).index)
            ? steadySlices(used.get(0))
            : null;
    return new Scope(
        windowNanos(within),
        !all
            ? null
            : TrialTally.pooled(
                levels().stream()
                    .filter(within)
                    .map(level -> level.trials)
                    .filter(Objects::nonNull)
                    .toList()),
        isOneTarget ? counted.targets.get(used.get(0).target()) : null,
        isWhole,
        isWhole ? counted.engines.joules(used) : null,
        isWhole ? cached(counted.engines.of(within)) : null,
        isWhole && isOneLevel ? counted.alone.get(used.get(0).target()) : null,
        slices == null ? null : intervals(used.get(0), slices));
  }

  private static @Nullable Double cached(@Nullable EngineFigures engine) {
    return engine == null ? null : engine.prefixCacheHitRate();
  }

  private ConfidenceIntervals intervals(LevelTally level, List<TimeSlice> slices) {
    boolean isOpen = level.arrivals != null || level.info.isOpen();
    return new ConfidenceIntervals(
        slices,
        isOpen ? level.nanos() / 1e6 : Double.POSITIVE_INFINITY,
        counted.slo.limited(level.target()));
  }

  /** Length of the measure windows of some levels; time in which they overlap counts once. */
  long windowNanos(Predicate<LevelTally> within) {
    return Windows.unionNanos(
        levels().stream().filter(within).map(level -> new long[] {level.from, level.to}).toList());
  }

  private static boolean runsBeside(LevelTally other, List<LevelTally> levels) {
    return other.target().equals(levels.get(0).target())
        && levels.stream().anyMatch(own -> own.overlapNanos(other.from, other.to) > 0);
  }

  /** The time slices of a level of constant load; null for other levels and for batch trials. */
  @Nullable List<TimeSlice> steadySlices(LevelTally level) {
    return level.nanos() > 0 && hasConstantLoad(level.info) && level.trials == null
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
  @Nullable Judge judge(@Nullable String target) {
    boolean judged = target == null ? hasSlo() : !counted.slo.isEmpty(target);
    return judged ? new Judge(counted.slo.quote(target, clock), false) : null;
  }

  @Nullable Judge judge(LevelTally level) {
    return counted.slo.isEmpty(level.target())
        ? null
        : new Judge(counted.slo.quote(level.target(), level.index, clock), true);
  }

  Windows runLevels() {
    return counted.levels;
  }

  List<LevelTally> levels() {
    return counted.levels.all();
  }

  /** Selects the levels of a target; all if that is null. */
  static Predicate<LevelTally> of(@Nullable String target) {
    return level -> target == null || target.equals(level.target());
  }

  List<String> requests(@Nullable String target) {
    return counted.groups.stream()
        .filter(group -> group.levels().stream().anyMatch(of(target)))
        .map(group -> group.kind().name())
        .distinct()
        .toList();
  }
}
