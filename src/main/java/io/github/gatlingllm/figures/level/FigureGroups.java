package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.GroupTally.Judge;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RunInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Adds up the tallies of load levels and request names: by level, target, name, run. */
final class FigureGroups {

  /** A step of an injection profile of Gatling that has one rate. */
  private static final Pattern CONSTANT_RATE =
      Pattern.compile("(Poisson|gamma|evenly spaced)[^,]* at [^,]* during [^,]*");

  private final RunStatistics counted;
  private final boolean areInjectionsConstant;
  private final LatencyOrigin clock;

  FigureGroups(RunInfo info, RunStatistics counted) {
    this.counted = counted;
    areInjectionsConstant =
        info.config().entrySet().stream()
            .filter(entry -> entry.getKey().startsWith("arrivals "))
            .map(Map.Entry::getValue)
            .allMatch(steps -> CONSTANT_RATE.matcher(steps).matches());
    clock =
        new LatencyOrigin(
            levels().stream().anyMatch(level -> level.arrivals() != null)
                || levels().stream()
                    .map(level -> joined(level::equals, null).tally())
                    .anyMatch(
                        tally ->
                            LatencyOrigin.waited(
                                metric -> {
                                  ValueRecorder values = tally.values(metric);
                                  return values == null
                                      ? Distribution.EMPTY
                                      : values.distribution();
                                })));
  }

  /** The requests of some levels; of one name unless that is null. */
  GroupTally joined(Predicate<LevelTally> within, @Nullable String name) {
    GroupTally sum = counted.emptyGroup();
    List<LevelTally> others = new ArrayList<>();
    for (GroupTally group : counted.groups) {
      LevelTally level = group.levels().iterator().next();
      if (within.test(level) && (name == null || name.equals(group.name()))) {
        sum.add(group);
      } else {
        others.add(level);
      }
    }
    sum.windows(
        Windows.unionNanos(
            levels().stream()
                .filter(within)
                .map(level -> new long[] {level.from(), level.to()})
                .toList()),
        name != null
            ? null
            : TrialTally.pooled(
                levels().stream()
                    .filter(within)
                    .map(LevelTally::trials)
                    .filter(Objects::nonNull)
                    .toList()));
    List<LevelTally> used = List.copyOf(sum.levels());
    List<String> targets = used.stream().map(LevelTally::target).distinct().toList();
    if (targets.size() == 1) {
      boolean isWhole = others.stream().noneMatch(other -> runsBeside(other, used));
      sum.servedBy(
          counted.targets.get(targets.get(0)),
          isWhole,
          isWhole
              ? counted.engines.joules(used.stream().map(LevelTally::index).sorted().toList())
              : null);
    }
    if (used.size() == 1 && !others.contains(used.get(0))) {
      List<TimeSlice> slices = steadySlices(used.get(0));
      if (slices != null) {
        sum.intervals(new ConfidenceIntervals(slices));
      }
    }
    return sum;
  }

  /** Whether requests of a level share their target with those levels at the same time. */
  private static boolean runsBeside(LevelTally other, List<LevelTally> levels) {
    return other.target().equals(levels.get(0).target())
        && levels.stream().anyMatch(own -> own.overlapNanos(other.from(), other.to()) > 0);
  }

  /** The time slices of a level of constant load; null for other levels and for batch trials. */
  @Nullable List<TimeSlice> steadySlices(LevelTally level) {
    return level.nanos() > 0 && hasConstantLoad(level.info()) && level.trials() == null
        ? level.usedSlices()
        : null;
  }

  private boolean hasConstantLoad(LevelInfo level) {
    if (level.kind().equals(LevelInfo.INJECTION)) {
      return level.offered() != null;
    }
    return level.isSteadyByPlan()
        && !level.kind().equals(LevelInfo.BATCH)
        && (!level.label().equals(LevelInfo.WHOLE_RUN) || areInjectionsConstant);
  }

  boolean hasSlo() {
    return !counted.slo.isEmpty();
  }

  /** The SLO of the requests to a target, or to all if that is null; null without SLO. */
  @Nullable Judge judge(@Nullable String target) {
    boolean judged = target == null ? hasSlo() : !counted.slo.isEmpty(target);
    return judged ? new Judge(counted.slo.quote(target, clock), false) : null;
  }

  /** The SLO of a load level; null without SLO. */
  @Nullable Judge judge(LevelTally level) {
    return counted.slo.isEmpty(level.target())
        ? null
        : new Judge(counted.slo.quote(level.target(), level.index(), clock), true);
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

  /** The names of the requests to a target, or to all if that is null. */
  List<String> requests(@Nullable String target) {
    return counted.groups.stream()
        .filter(group -> group.levels().stream().anyMatch(of(target)))
        .map(GroupTally::name)
        .distinct()
        .toList();
  }
}
