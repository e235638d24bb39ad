package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.GroupTally.Judge;
import io.github.gatlingllm.figures.level.SliceTally.TimeSlice;
import io.github.gatlingllm.figures.level.Windows.LevelWindow;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.MaxGoodput;
import io.github.gatlingllm.figures.metric.Figures.Trials;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RunInfo;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Joins the tallies of load levels and request names into groups: level, target, name, run. */
final class FigureGroups {

  /** A step of an injection profile of Gatling that has one rate. */
  private static final Pattern CONSTANT_RATE =
      Pattern.compile("(Poisson|gamma|evenly spaced)[^,]* at [^,]* during [^,]*");

  private final RunStatistics counted;
  private final List<String> injections;
  private final LatencyOrigin clock;

  FigureGroups(RunInfo info, RunStatistics counted) {
    this.counted = counted;
    injections =
        info.config().entrySet().stream()
            .filter(entry -> entry.getKey().startsWith("arrivals "))
            .map(Map.Entry::getValue)
            .toList();
    clock =
        new LatencyOrigin(
            !counted.arrivals.isEmpty()
                || counted.windows.levels().stream()
                    .map(w -> joined(key -> key.level() == w.index()).tally())
                    .anyMatch(tally -> LatencyOrigin.waited(metric -> values(tally, metric))));
  }

  private static Distribution values(Tally tally, Metric metric) {
    ValueRecorder values = tally.values(metric);
    return values == null ? Distribution.EMPTY : values.distribution();
  }

  GroupTally joined(Predicate<RunStatistics.Key> which) {
    GroupTally sum = counted.emptyGroup();
    Set<String> targets = new HashSet<>();
    Set<Integer> levels = new TreeSet<>();
    counted.groups.forEach(
        (key, group) -> {
          if (which.test(key)) {
            sum.add(group);
            targets.add(window(key).level().target());
            levels.add(key.level());
          }
        });
    if (targets.size() == 1) {
      String target = targets.iterator().next();
      boolean isWhole =
          counted.groups.keySet().stream()
              .filter(key -> !which.test(key))
              .noneMatch(other -> runsBeside(other, target, levels));
      sum.throughput()
          .servedBy(
              counted.targets.get(target),
              isWhole,
              isWhole ? counted.engines.joules(levels) : null);
    }
    return sum.with(intervals(which));
  }

  /**
   * Whether a tally belongs to that target, at one of those levels or at one that overlaps them.
   */
  private boolean runsBeside(RunStatistics.Key group, String target, Set<Integer> levels) {
    LevelWindow window = window(group);
    return window.level().target().equals(target)
        && levels.stream()
            .map(counted.windows.levels()::get)
            .anyMatch(own -> own.overlapNanos(window.from(), window.to()) > 0);
  }

  /** Null unless the tallies are all those of one level of constant load. */
  private @Nullable ConfidenceIntervals intervals(Predicate<RunStatistics.Key> which) {
    List<Integer> levels =
        counted.groups.keySet().stream().filter(which).map(key -> key.level()).distinct().toList();
    if (levels.size() != 1
        || !counted.groups.keySet().stream()
            .allMatch(key -> key.level() != levels.get(0) || which.test(key))) {
      return null;
    }
    List<TimeSlice> slices = steadySlices(counted.windows.levels().get(levels.get(0)));
    return slices == null ? null : new ConfidenceIntervals(slices);
  }

  /** The time slices of a level of constant load; null for other levels and for batch trials. */
  @Nullable List<TimeSlice> steadySlices(LevelWindow window) {
    return window.nanos() > 0
            && hasConstantLoad(window.level())
            && !counted.trials.containsKey(window.index())
        ? counted.slices.slices(window.index())
        : null;
  }

  /** Whether the load of a level stays the same while it is measured. */
  private boolean hasConstantLoad(LevelInfo level) {
    if (level.kind().equals(LevelInfo.INJECTION)) {
      return level.offered() != null;
    }
    return level.isSteadyByPlan()
        && !level.kind().equals(LevelInfo.BATCH)
        && (!level.label().equals(LevelInfo.WHOLE_RUN)
            || injections.stream().allMatch(steps -> CONSTANT_RATE.matcher(steps).matches()));
  }

  /** Length of the union of the measure windows of those levels, in nanoseconds. */
  long windowNanos(Predicate<LevelWindow> which) {
    return Windows.unionNanos(
        counted.windows.levels().stream()
            .filter(which)
            .map(w -> new long[] {w.from(), w.to()})
            .toList());
  }

  /** Whether any target has an SLO. */
  boolean hasSlo() {
    return !counted.slo.isEmpty();
  }

  /** The SLO of the requests to a target; null without SLO. */
  @Nullable Judge judge(@Nullable String target) {
    boolean judged = target == null ? hasSlo() : !counted.slo.isEmpty(target);
    return judged ? new Judge(counted.slo.quote(target, clock), false) : null;
  }

  /** The SLO of a load level; null without SLO. */
  @Nullable Judge levelJudge(LevelWindow level) {
    String target = level.level().target();
    return counted.slo.isEmpty(target)
        ? null
        : new Judge(counted.slo.quote(target, level.index(), clock), true);
  }

  /** The batch trials of those levels; null outside batch mode. */
  @Nullable Trials trials(Predicate<LevelWindow> which) {
    return TrialTally.pooled(
        counted.windows.levels().stream()
            .filter(which)
            .map(w -> counted.trials.get(w.index()))
            .filter(Objects::nonNull)
            .toList());
  }

  /** The label of a level, with its target and scenario where the run has several of them. */
  String place(LevelInfo level) {
    Windows windows = counted.windows;
    boolean scenarios = windows.tracks().size() > windows.targets().size();
    return Summary.named(
        level.label(),
        windows.targets().size() > 1 ? level.target() : null,
        scenarios ? level.scenario() : null);
  }

  Set<String> targets() {
    return counted.windows.targets();
  }

  List<LevelWindow> levels(@Nullable String target) {
    return counted.windows.levels().stream()
        .filter(w -> target == null || target.equals(w.level().target()))
        .toList();
  }

  List<String> requests(@Nullable String target) {
    return counted.groups.keySet().stream()
        .filter(key -> target == null || target.equals(window(key).level().target()))
        .map(RunStatistics.Key::name)
        .distinct()
        .toList();
  }

  /** The figures of the requests to a target, at a load level, of a name; null stands for all. */
  Part part(
      @Nullable String target,
      @Nullable LevelInfo level,
      @Nullable String name,
      @Nullable MaxGoodput max) {
    Predicate<LevelWindow> within =
        w ->
            (target == null || target.equals(w.level().target()))
                && (level == null || level.equals(w.level()));
    GroupTally group =
        joined(key -> within.test(window(key)) && (name == null || name.equals(key.name())));
    return new Part(
        group.figures(windowNanos(within), judge(target), null, max, null), group.tally());
  }

  private LevelWindow window(RunStatistics.Key key) {
    return counted.windows.levels().get(key.level());
  }

  /** Figures and the tally that they come from. */
  record Part(Figures figures, Tally tally) {}
}
