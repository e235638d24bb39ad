package io.github.gatlingllm.run;

import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.LevelInfo;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What observers see of a run. Immutable but for {@link #with}, which changes a copy before it is
 * published. Its lists have all that was in those before, so that an observer that missed some
 * catches up with the next.
 */
final class RunView implements Cloneable {

  static final RunView OPENED = new RunView();

  long seconds;

  List<MetricsPage> pages = List.of();

  /** When the first request was about to be sent. */
  @Nullable Long beganNanos;

  /** Whether the last virtual user has left; false before the first. */
  boolean isIdle;

  /** In the order of their latest change. */
  List<LevelView> levels = List.of();

  /** Instants at which a measure window begins or ends, as far as they are known. */
  List<Long> edges = List.of();

  List<String> lines = List.of();
  @Nullable GeneratorSecond generator;
  Stage stage = Stage.RUNNING;

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

  RunView with(Consumer<RunView> change) {
    try {
      RunView copy = (RunView) clone();
      change.accept(copy);
      return copy;
    } catch (CloneNotSupportedException e) {
      throw new AssertionError(e);
    }
  }

  void level(LevelView changed) {
    LevelInfo.Key key = changed.info.key();
    levels = plus(levels.stream().filter(each -> !each.info.key().equals(key)).toList(), changed);
  }

  void windowEdge(long nanoTime) {
    edges = edges.contains(nanoTime) ? edges : plus(edges, nanoTime);
  }

  void message(String line) {
    lines = plus(lines, line);
  }

  private static <T> List<T> plus(List<T> some, T one) {
    return Stream.concat(some.stream(), Stream.of(one)).toList();
  }
}
