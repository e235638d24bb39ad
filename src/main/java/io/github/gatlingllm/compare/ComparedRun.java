package io.github.gatlingllm.compare;

import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.stats.RunStatistics;
import io.github.gatlingllm.stats.RunStatistics.RecordSource;
import io.github.gatlingllm.stats.RunStatistics.RunFigures;
import io.github.gatlingllm.stats.SliceTally;
import io.github.gatlingllm.stats.SliceTally.TimeSlice;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A recorded run, read so that it can be compared with others: its figures, and its time slices.
 */
public final class ComparedRun {

  private final RunInfo info;
  private final RecordSource source;
  private final RunFigures figures;

  private ComparedRun(RunInfo info, RecordSource source, RunFigures figures) {
    this.info = info;
    this.source = source;
    this.figures = figures;
  }

  /**
   * Reads a run.
   *
   * @param info null when {@code run.json} is missing
   * @param judge the run by whose SLO goodput is judged; null for its own
   */
  public static ComparedRun read(
      @Nullable RunInfo info, @Nullable RunInfo judge, RecordSource source) throws IOException {
    RunInfo known = RunStatistics.completed(info, source);
    RunInfo whole = judge == null ? known : judgedAs(judge, known);
    return new ComparedRun(whole, source, RunStatistics.of(whole, source));
  }

  /**
   * By the SLO and the readers of the base. Where that has one target, its SLO is that of every
   * target of the other.
   */
  private static RunInfo judgedAs(RunInfo judge, RunInfo given) {
    double readingSpeed = judge.reportOptions().readingSpeed();
    RunInfo run = given.report(given.reportOptions().readAt(readingSpeed));
    List<String> targets = judge.stages().stream().map(LevelInfo::target).distinct().toList();
    if (targets.size() == 1) {
      return run.slo(judge.judgeOf(targets.get(0)), Map.of());
    }
    return run.slo(judge.judge(), judge.sloByTarget());
  }

  /** The run, with stages and windows that were inferred where {@code run.json} had none. */
  public RunInfo info() {
    return info;
  }

  /** All its figures. */
  public RunFigures figures() {
    return figures;
  }

  List<LevelInfo> stages() {
    return info.stages();
  }

  Figures figuresOf(int stage) {
    return figures.summary().stages().get(stage).figures();
  }

  /** Null where nothing was measured. */
  @Nullable SliceSample sampleOf(int stage) {
    List<TimeSlice> parts = figures.slices().slices(stage);
    Double seconds = figures.summary().stages().get(stage).durationS();
    return parts == null || seconds == null
        ? null
        : new SliceSample(parts, seconds / SliceTally.COUNT);
  }

  /** The figures of those stages pooled; reads the records again unless they are all there are. */
  Figures pooled(Set<Integer> which) throws IOException {
    return which.size() == figures.summary().stages().size()
        ? figures.summary().figures()
        : RunStatistics.ofLevels(info, which, source).summary().figures();
  }

  /** The p90 of E2E in a stage, in seconds; 0 where no request succeeded. */
  double staySeconds(int stage) {
    Double p90 = figuresOf(stage).metric(Metric.E2E_MS).p90();
    return Objects.requireNonNullElse(p90, 0.0) / 1e3;
  }
}
