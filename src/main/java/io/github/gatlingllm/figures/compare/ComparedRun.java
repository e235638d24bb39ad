package io.github.gatlingllm.figures.compare;

import io.github.gatlingllm.figures.check.Checks;
import io.github.gatlingllm.figures.level.RunStatistics;
import io.github.gatlingllm.figures.level.RunStatistics.RecordSource;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.TimeSlice;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RunInfo;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A recorded run that was read for a comparison: its figures and its time slices.
 *
 * @param info with load levels and windows inferred where {@code run.json} has none
 */
public record ComparedRun(RunInfo info, RecordSource source, RunFigures figures) {

  /**
   * Reads a run.
   *
   * @param info null when {@code run.json} is missing
   * @param judge the run whose SLO defines goodput; null for the run itself
   */
  public static ComparedRun read(
      @Nullable RunInfo info, @Nullable RunInfo judge, RecordSource source) throws IOException {
    RunInfo known = RunStatistics.completed(info, source);
    RunInfo whole = judge == null ? known : judgedAs(judge, known);
    return new ComparedRun(whole, source, Checks.judged(RunStatistics.of(whole, source)));
  }

  /**
   * The run with the SLO and the reading speed of the base. If the base has one target, its SLO
   * applies to every target of the run.
   */
  private static RunInfo judgedAs(RunInfo judge, RunInfo given) {
    double readingSpeed = judge.reportOptions().readingSpeed();
    RunInfo run = given.report(given.reportOptions().readAt(readingSpeed));
    List<String> targets = judge.stages().stream().map(LevelInfo::target).distinct().toList();
    return targets.size() == 1
        ? run.slo(judge.objectives().of(targets.get(0)), Map.of())
        : run.slo(judge.objectives().common(), judge.objectives().sloByTarget());
  }

  boolean hasOneTarget() {
    return info.stages().stream().map(LevelInfo::target).distinct().count() == 1;
  }

  Figures figuresOf(int stage) {
    return figures.summary().stages().get(stage).figures();
  }

  /** The slices of a load level; null where nothing was measured. */
  @Nullable SliceSample sampleOf(int stage) {
    List<TimeSlice> parts = figures.slices().get(stage);
    Double seconds = figures.summary().stages().get(stage).durationS();
    return parts == null || seconds == null
        ? null
        : new SliceSample(parts, seconds / TimeSlice.COUNT);
  }

  /** The figures of these load levels pooled; reads the records again unless these are all. */
  Figures pooled(Set<Integer> which) throws IOException {
    return which.size() == figures.summary().stages().size()
        ? figures.summary().figures()
        : RunStatistics.ofLevels(info, which, source).summary().figures();
  }

  /** The p90 of E2E in a load level, in seconds; 0 where no request succeeded. */
  double requestSeconds(int stage) {
    Double p90 = figuresOf(stage).metric(Metric.E2E_MS).p90();
    return Objects.requireNonNullElse(p90, 0.0) / 1e3;
  }
}
