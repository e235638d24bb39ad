package io.github.gatlingllm.run;

import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.Objectives.TargetSlo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.run.Observers.MetricsPage;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Hears what happens in a run, one event at a time and in order, on a thread of its own. An
 * observer that throws, blocks or cannot keep up costs its own output and one line on the console.
 */
interface RunObserver {

  record ObservedLevel(RunningLevel running, LevelInfo.Key key, TargetSlo slo) {

    @Override
    public String toString() {
      return "%s (%s, %s)".formatted(key.label(), key.target(), key.scenario());
    }
  }

  String name();

  /** Longest wait of the run for an event that it waits for. */
  default Duration patience() {
    return Duration.ofSeconds(3);
  }

  /** A target will be used. The run waits, so that the counters before the load are known. */
  default void targetUsed(List<MetricsPage> pages) {}

  /** The warm-up is over. The load starts when all observers have returned. */
  default void loadAhead() {}

  /** The first request is about to be sent. */
  default void runBegan() {}

  /** The first virtual user has started, or the last one has left; happens often. */
  default void usersChanged(boolean isAnyActive) {}

  default void phaseBegan(ObservedLevel level, Phase phase) {}

  /** A measure window has an edge at that instant; comes when it is known, and again after it. */
  default void windowEdge(long nanoTime) {}

  /** A request has ended and its record is in the file, or will be. */
  default void requestEnded(RequestRecord record) {}

  default void secondPassed() {}

  /** A level has ended and its last record was counted. */
  default void levelEnded(ObservedLevel level, @Nullable LiveFigures figures) {}

  default void message(String line) {}

  /** All requests have ended and all records are written. */
  default void runEnded() {}

  /** All files but the report are complete. */
  default void recordsWritten(RunInfo info) {}

  default void reportWritten(RunInfo info) {}

  /** Whether output was lost that the user must not miss, so that the build fails. */
  default boolean isOutputLost() {
    return false;
  }
}
