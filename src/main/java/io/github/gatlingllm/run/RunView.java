package io.github.gatlingllm.run;

import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.run.Observers.MetricsPage;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What observers see of a run. Immutable: each change makes a new one, whose lists have all that
 * was in those before, so that an observer that missed some catches up with the next.
 *
 * @param beganNanos when the first request was about to be sent
 * @param isIdle whether the last virtual user has left; false before the first
 * @param levels in the order of their latest change
 * @param edges instants at which a measure window begins or ends, as far as they are known
 */
record RunView(
    long seconds,
    List<MetricsPage> pages,
    @Nullable Long beganNanos,
    boolean isIdle,
    List<LevelView> levels,
    List<Long> edges,
    List<String> lines,
    @Nullable GeneratorSecond generator,
    Stage stage) {

  static final RunView OPENED =
      new RunView(0, List.of(), null, false, List.of(), List.of(), List.of(), null, Stage.RUNNING);

  enum Stage {
    RUNNING,
    /** All files but the report are complete. */
    RECORDED,
    REPORTED
  }

  /**
   * A level since its first phase began.
   *
   * @param isOver whether it has ended and its last record was counted
   * @param figures of its measure window once it is over; null if there are none
   */
  record LevelView(LevelInfo info, boolean isOver, @Nullable LiveFigures figures) {

    @Override
    public String toString() {
      return "%s (%s, %s)".formatted(info.label(), info.target(), info.scenario());
    }
  }

  RunView secondPassed() {
    return new RunView(
        seconds + 1, pages, beganNanos, isIdle, levels, edges, lines, generator, stage);
  }

  RunView using(List<MetricsPage> more) {
    List<MetricsPage> all = Stream.concat(pages.stream(), more.stream()).toList();
    return new RunView(seconds, all, beganNanos, isIdle, levels, edges, lines, generator, stage);
  }

  RunView began(long nanoTime) {
    return new RunView(seconds, pages, nanoTime, isIdle, levels, edges, lines, generator, stage);
  }

  RunView idle(boolean isNow) {
    return new RunView(seconds, pages, beganNanos, isNow, levels, edges, lines, generator, stage);
  }

  RunView level(LevelView changed) {
    LevelInfo.Key key = changed.info.key();
    List<LevelView> others = levels.stream().filter(each -> !each.info.key().equals(key)).toList();
    List<LevelView> all = plus(others, changed);
    return new RunView(seconds, pages, beganNanos, isIdle, all, edges, lines, generator, stage);
  }

  RunView windowEdge(long nanoTime) {
    List<Long> all = edges.contains(nanoTime) ? edges : plus(edges, nanoTime);
    return new RunView(seconds, pages, beganNanos, isIdle, levels, all, lines, generator, stage);
  }

  RunView message(String line) {
    List<String> all = plus(lines, line);
    return new RunView(seconds, pages, beganNanos, isIdle, levels, edges, all, generator, stage);
  }

  RunView generator(GeneratorSecond now) {
    return new RunView(seconds, pages, beganNanos, isIdle, levels, edges, lines, now, stage);
  }

  RunView at(Stage next) {
    return new RunView(seconds, pages, beganNanos, isIdle, levels, edges, lines, generator, next);
  }

  private static <T> List<T> plus(List<T> some, T one) {
    return Stream.concat(some.stream(), Stream.of(one)).toList();
  }
}
