package io.github.gatlingllm.run;

import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.Objectives.TargetSlo;
import io.github.gatlingllm.run.Observers.MetricsPage;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What observers see of a run. Immutable: each change makes a new one, which has all that was in
 * those before, so that an observer that missed some catches up with the next.
 *
 * @param seconds that have passed since the run was opened
 * @param pages metrics pages of the targets in use
 * @param beganNanos when the first request was about to be sent
 * @param isIdle whether the last virtual user has left; false before the first
 * @param levels in the order of their latest change
 * @param windowEdges instants at which a measure window begins or ends, as far as known
 * @param messages lines for the console
 */
record RunView(
    long seconds,
    List<MetricsPage> pages,
    @Nullable Long beganNanos,
    boolean isIdle,
    List<LevelView> levels,
    List<Long> windowEdges,
    List<String> messages,
    Stage stage) {

  static final RunView OPENED =
      new RunView(0, List.of(), null, false, List.of(), List.of(), List.of(), Stage.RUNNING);

  enum Stage {
    RUNNING,
    /** All files but the report are complete. */
    RECORDED,
    REPORTED
  }

  record ObservedLevel(RunningLevel running, LevelInfo.Key key, TargetSlo slo) {

    @Override
    public String toString() {
      return "%s (%s, %s)".formatted(key.label(), key.target(), key.scenario());
    }
  }

  /**
   * A level since its first phase began.
   *
   * @param isOver whether it has ended and its last record was counted
   * @param figures of its measure window once it is over; null if there are none
   */
  record LevelView(
      ObservedLevel level,
      @Nullable Phase phase,
      boolean isMeasured,
      boolean isOver,
      @Nullable LiveFigures figures) {}

  RunView secondPassed() {
    return new RunView(
        seconds + 1, pages, beganNanos, isIdle, levels, windowEdges, messages, stage);
  }

  RunView using(List<MetricsPage> more) {
    List<MetricsPage> all = Stream.concat(pages.stream(), more.stream()).toList();
    return new RunView(seconds, all, beganNanos, isIdle, levels, windowEdges, messages, stage);
  }

  RunView began(long nanoTime) {
    return new RunView(seconds, pages, nanoTime, isIdle, levels, windowEdges, messages, stage);
  }

  RunView idle(boolean isNow) {
    return new RunView(seconds, pages, beganNanos, isNow, levels, windowEdges, messages, stage);
  }

  RunView phaseBegan(ObservedLevel level, Phase phase) {
    boolean isMeasured = phase == Phase.MEASURE || of(level).isMeasured;
    return with(new LevelView(level, phase, isMeasured, false, null));
  }

  RunView levelEnded(ObservedLevel level, @Nullable LiveFigures figures) {
    LevelView before = of(level);
    return with(new LevelView(level, before.phase, before.isMeasured, true, figures));
  }

  private LevelView of(ObservedLevel level) {
    return levels.stream()
        .filter(each -> each.level.equals(level))
        .findFirst()
        .orElse(new LevelView(level, null, false, false, null));
  }

  private RunView with(LevelView changed) {
    List<LevelView> others =
        levels.stream().filter(each -> !each.level.equals(changed.level)).toList();
    List<LevelView> all = plus(others, changed);
    return new RunView(seconds, pages, beganNanos, isIdle, all, windowEdges, messages, stage);
  }

  RunView windowEdge(long nanoTime) {
    List<Long> all = windowEdges.contains(nanoTime) ? windowEdges : plus(windowEdges, nanoTime);
    return new RunView(seconds, pages, beganNanos, isIdle, levels, all, messages, stage);
  }

  RunView message(String line) {
    List<String> all = plus(messages, line);
    return new RunView(seconds, pages, beganNanos, isIdle, levels, windowEdges, all, stage);
  }

  RunView at(Stage next) {
    return new RunView(seconds, pages, beganNanos, isIdle, levels, windowEdges, messages, next);
  }

  private static <T> List<T> plus(List<T> some, T one) {
    return Stream.concat(some.stream(), Stream.of(one)).toList();
  }
}
