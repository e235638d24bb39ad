package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Figures.MaxGoodput;
import io.github.gatlingllm.metric.Figures.Trials;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.ValueRecorder;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.stats.GroupTally.Judge;
import io.github.gatlingllm.stats.SliceTally.TimeSlice;
import io.github.gatlingllm.stats.Windows.LevelWindow;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Joins what was counted into parts of the run: by stage, target or request name. */
record FigureGroups(RunStatistics counted, HeadlineClock clock) {

  static FigureGroups of(RunStatistics counted) {
    FigureGroups groups = new FigureGroups(counted, new HeadlineClock(true));
    boolean isNamed =
        !counted.arrivals.isEmpty()
            || counted.windows.stages().stream()
                .map(w -> groups.joined(key -> key.stage() == w.index()).tally())
                .anyMatch(tally -> HeadlineClock.waited(metric -> values(tally, metric)));
    return new FigureGroups(counted, new HeadlineClock(isNamed));
  }

  private static Distribution values(Tally tally, Metric metric) {
    ValueRecorder values = tally.values(metric);
    return values == null ? Distribution.EMPTY : values.distribution();
  }

  /** The cells that are wanted, in one. */
  GroupTally joined(Predicate<RunStatistics.Key> which) {
    GroupTally sum = counted.emptyCell();
    Set<String> targets = new HashSet<>();
    Set<Integer> stages = new TreeSet<>();
    counted.cells.forEach(
        (key, cell) -> {
          if (which.test(key)) {
            sum.add(cell);
            targets.add(stage(key).level().target());
            stages.add(key.stage());
          }
        });
    if (targets.size() == 1) {
      String target = targets.iterator().next();
      boolean isWhole =
          counted.cells.keySet().stream()
              .filter(key -> !which.test(key))
              .noneMatch(other -> runsBeside(other, target, stages));
      sum.flow()
          .servedBy(
              counted.targets.get(target),
              isWhole,
              isWhole ? counted.engines.joules(stages) : null);
    }
    return sum.with(intervals(which));
  }

  /** Whether a cell is of that target, and of one of those stages or of one at the same time. */
  private boolean runsBeside(RunStatistics.Key cell, String target, Set<Integer> stages) {
    LevelWindow window = stage(cell);
    return window.level().target().equals(target)
        && stages.stream()
            .map(counted.windows.stages()::get)
            .anyMatch(own -> own.overlapNanos(window.from(), window.to()) > 0);
  }

  /** Null unless the cells are all those of one stage, whose load is constant. */
  private @Nullable ConfidenceIntervals intervals(Predicate<RunStatistics.Key> which) {
    List<Integer> stages =
        counted.cells.keySet().stream().filter(which).map(key -> key.stage()).distinct().toList();
    if (stages.size() != 1
        || !counted.cells.keySet().stream()
            .allMatch(key -> key.stage() != stages.get(0) || which.test(key))) {
      return null;
    }
    List<TimeSlice> slices = steadySlices(counted.windows.stages().get(stages.get(0)));
    return slices == null ? null : new ConfidenceIntervals(slices);
  }

  /** The slices of a stage whose load is constant; null for any other, and for batch trials. */
  @Nullable List<TimeSlice> steadySlices(LevelWindow window) {
    return window.nanos() > 0
            && counted.hasConstantLoad(window.level())
            && !counted.trials.containsKey(window.index())
        ? counted.slices.slices(window.index())
        : null;
  }

  /** Length of the measure windows of those stages together; what overlaps counts once. */
  long windowNanos(Predicate<LevelWindow> which) {
    return Windows.unionNanos(
        counted.windows.stages().stream()
            .filter(which)
            .map(w -> new long[] {w.from(), w.to()})
            .toList());
  }

  /** Whether any target has an SLO. */
  boolean hasSlo() {
    return !counted.slo.isEmpty();
  }

  /** What the requests of that target are judged by, null stands for all; null without SLO. */
  @Nullable Judge judge(@Nullable String target) {
    boolean judged = target == null ? hasSlo() : !counted.slo.isEmpty(target);
    return judged ? new Judge(counted.slo.quote(target, clock), false) : null;
  }

  /** What a load level is judged by; null without SLO. */
  @Nullable Judge levelJudge(LevelWindow level) {
    String target = level.level().target();
    return counted.slo.isEmpty(target)
        ? null
        : new Judge(counted.slo.quote(target, level.index(), clock), true);
  }

  /** The trials of those stages; null outside batch mode. */
  @Nullable Trials trials(Predicate<LevelWindow> which) {
    return TrialTally.pooled(
        counted.windows.stages().stream()
            .filter(which)
            .map(w -> counted.trials.get(w.index()))
            .filter(Objects::nonNull)
            .toList());
  }

  /** The name of a stage where the run has several targets, or scenarios at one. */
  String place(LevelInfo stage) {
    Windows windows = counted.windows;
    boolean scenarios = windows.tracks().size() > windows.targets().size();
    return Summary.named(
        stage.label(),
        windows.targets().size() > 1 ? stage.target() : null,
        scenarios ? stage.scenario() : null);
  }

  /** Labels of the targets. */
  List<String> targets() {
    return counted.windows.targets();
  }

  /** The stages of that target; null stands for all. */
  List<LevelWindow> stages(@Nullable String target) {
    return counted.windows.stages().stream()
        .filter(w -> target == null || target.equals(w.level().target()))
        .toList();
  }

  /** The request names at that target; null stands for all. */
  List<String> requests(@Nullable String target) {
    return counted.cells.keySet().stream()
        .filter(key -> target == null || target.equals(stage(key).level().target()))
        .map(RunStatistics.Key::name)
        .distinct()
        .toList();
  }

  /**
   * The requests of that target, stage and name; null stands for all.
   *
   * @param max the highest load that holds the SLO
   */
  Part part(
      @Nullable String target,
      @Nullable LevelInfo stage,
      @Nullable String name,
      @Nullable MaxGoodput max) {
    Predicate<LevelWindow> within =
        w ->
            (target == null || target.equals(w.level().target()))
                && (stage == null || stage.equals(w.level()));
    GroupTally cell =
        joined(key -> within.test(stage(key)) && (name == null || name.equals(key.name())));
    return new Part(
        cell.figures(windowNanos(within), judge(target), null, max, null), cell.tally());
  }

  private LevelWindow stage(RunStatistics.Key key) {
    return counted.windows.stages().get(key.stage());
  }

  /** Figures, and the values behind them. */
  record Part(Figures figures, Tally tally) {}
}
