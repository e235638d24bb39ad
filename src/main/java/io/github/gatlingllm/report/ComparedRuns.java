package io.github.gatlingllm.report;

import io.github.gatlingllm.compare.Comparison;
import io.github.gatlingllm.compare.Comparison.FailCondition;
import io.github.gatlingllm.stats.RunStatistics.RunFigures;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A base and the runs that were compared with it: what the page and the text show.
 *
 * @param base the run that the others are measured by
 * @param others in the order in which they were given
 */
record ComparedRuns(Side base, List<Other> others) {

  ComparedRuns {
    others = List.copyOf(others);
  }

  /**
   * One run.
   *
   * @param name what it is called beside the others
   */
  record Side(String name, RunFigures figures) {}

  /**
   * A run that is not the base.
   *
   * @param judged the conditions under which the comparison fails
   */
  record Other(Side side, Comparison comparison, List<FailCondition.Judged> judged) {

    Other {
      judged = List.copyOf(judged);
    }
  }

  /** All runs, the base first. */
  List<Side> sides() {
    List<Side> sides = new ArrayList<>();
    sides.add(base);
    others.forEach(other -> sides.add(other.side()));
    return sides;
  }

  /** Whether any condition failed. */
  boolean hasFailed() {
    return others.stream()
        .flatMap(other -> other.judged().stream())
        .anyMatch(FailCondition.Judged::hasFailed);
  }

  /** What runs are called beside each other: by their directories' names where those differ. */
  static List<String> names(List<Path> runs) {
    List<String> names = runs.stream().map(run -> last(run)).toList();
    return names.stream().distinct().count() == names.size()
        ? names
        : runs.stream().map(Path::toString).toList();
  }

  private static String last(Path run) {
    Path name = run.toAbsolutePath().normalize().getFileName();
    return name == null ? run.toString() : name.toString();
  }
}
