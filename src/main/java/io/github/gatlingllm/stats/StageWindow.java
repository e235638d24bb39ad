package io.github.gatlingllm.stats;

import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.Phase;
import java.util.Optional;

/**
 * A stage and its measure window [{@code from}, {@code to}) in epoch nanoseconds; empty where the
 * stage never came to measure.
 *
 * @param index position among the stages of the run
 */
record StageWindow(int index, LevelInfo stage, long from, long to) {

  /** The window of a stage; one that is still open ends at {@code runEnd}. */
  static StageWindow of(int index, LevelInfo stage, long runEnd) {
    Optional<PhaseWindow> measure = stage.window(Phase.MEASURE);
    if (measure.isEmpty()) {
      return new StageWindow(index, stage, 0, 0);
    }
    Long end = measure.get().endUnixNanos();
    long from = measure.get().startUnixNanos();
    return new StageWindow(index, stage, from, Math.max(from, end == null ? runEnd : end));
  }

  boolean contains(long unixNanos) {
    return unixNanos >= from && unixNanos < to;
  }

  /** How much of [{@code start}, {@code end}) lies in the window. */
  long overlapNanos(long start, long end) {
    return Math.max(0, Math.min(end, to) - Math.max(start, from));
  }

  /** Where an instant lies in the window: 0 at its start, 1 at its end. */
  double position(long unixNanos) {
    return (double) (unixNanos - from) / Math.max(1, nanos());
  }

  long nanos() {
    return to - from;
  }
}
