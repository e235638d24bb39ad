package io.github.gatlingllm.run;

import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.Objectives.TargetSlo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Hears what happens in a run: console, level tally, generator health, server metrics, live page,
 * meters and upload are observers. Events come one at a time and in order, on a thread of the
 * observer's own. One that throws, blocks or cannot keep up costs its own output and one line on
 * the console; the run and its records go on.
 */
public interface RunObserver {

  record ObservedLevel(RunningLevel running, Run.Schedule schedule, TargetSlo slo) {

    @Override
    public String toString() {
      return "%s (%s, %s)".formatted(schedule.level(), schedule.target(), schedule.scenario());
    }
  }

  String name();

  /** Longest wait of the run for {@link #loadAhead}, {@link #runEnded} and written files. */
  default Duration patience() {
    return Duration.ofSeconds(3);
  }

  /** The warm-up is over. The load starts when all observers have returned. */
  default void loadAhead() {}

  /** The first request is about to be sent. */
  default void runBegan() {}

  /** The first virtual user has started, or the last one has left; happens often. */
  default void usersChanged(boolean isAnyActive) {}

  default void levelBegan(ObservedLevel level) {}

  default void phaseBegan(ObservedLevel level, Phase phase) {}

  /**
   * A measure window starts or ends at that instant of {@link System#nanoTime()}. Comes as soon as
   * the instant is known, and again when it has passed.
   */
  default void windowEdge(long nanoTime) {}

  /** A request has ended and its record is in the file, or will be. */
  default void requestEnded(RequestRecord record) {}

  default void secondPassed() {}

  /** A level has ended and its last record was counted. */
  default void levelEnded(ObservedLevel level, @Nullable LiveFigures figures) {}

  default void message(String line) {}

  /** All requests have ended and all records are written. */
  default @Nullable UnaryOperator<RunInfo> runEnded(RunInfo info) {
    return null;
  }

  /** All files but the report are complete. */
  default void recordsWritten(RunInfo info) {}

  default void reportWritten(RunInfo info) {}

  /** Whether output was lost that the user must not miss, so that the build fails. */
  default boolean isOutputLost() {
    return false;
  }
}
