package io.github.gatlingllm.load;

import io.github.gatlingllm.record.Phase;
import org.jspecify.annotations.Nullable;

/**
 * A level while it runs: where its phases lie on {@link System#nanoTime()}. Virtual users carry it
 * in their session under {@link #KEY}; a request belongs to the stage its user carries and to
 * {@link #phaseAt} of the instant at which it was scheduled. Safe for use by several threads.
 */
public final class RunningLevel {
  /** Session attribute; the prefix lets it survive {@code session.reset()}. */
  public static final String KEY = "gatling.llm.stage";

  private static final long OPEN_END = Long.MAX_VALUE;

  private final LoadLevel level;
  private final long startNanos;
  // Offsets since startNanos: nanoTime itself may overflow between two readings.
  private final long fillEnd;
  private final long stabilizeEnd;
  private volatile long measureEnd;
  private volatile long cutAt = OPEN_END;
  private volatile boolean over;
  private volatile int trial;

  RunningLevel(LoadLevel level, long startNanos) {
    this.level = level;
    this.startNanos = startNanos;
    Phases phases = level.phases();
    this.fillEnd = phases.fillNanos();
    this.stabilizeEnd = fillEnd + phases.stabilizeNanos();
    this.measureEnd = phases.requests() == null ? stabilizeEnd + phases.measureNanos() : OPEN_END;
  }

  public LoadLevel level() {
    return level;
  }

  /** The level's label, e.g. {@code c=8}. */
  public String label() {
    return level.label();
  }

  /** Start of the stage, and the anchor of its schedule. */
  public long startNanos() {
    return startNanos;
  }

  /** Start of the measure window. */
  public long measureStartNanos() {
    return startNanos + stabilizeEnd;
  }

  /** Whether the end of the measure window is known: always but for a running count of requests. */
  public boolean measureEndKnown() {
    return measureEnd != OPEN_END;
  }

  /**
   * End of the measure window.
   *
   * @throws IllegalStateException while {@link #measureEndKnown()} is false
   */
  public long measureEndNanos() {
    if (!measureEndKnown()) {
      throw new IllegalStateException(
          "Stage " + label() + " measures until its requests ended; ask when it ended");
    }
    return startNanos + measureEnd;
  }

  /** The phase at that instant; instants before the start belong to the first phase. */
  public Phase phaseAt(long nanoTime) {
    long offset = nanoTime - startNanos;
    if (offset >= cutAt) {
      return Phase.DRAIN;
    }
    if (offset < fillEnd) {
      return Phase.FILL;
    }
    if (offset < stabilizeEnd) {
      return Phase.STABILIZE;
    }
    return offset < measureEnd ? Phase.MEASURE : Phase.DRAIN;
  }

  /** Start of a phase; that of the drain phase only once it is known. */
  long startOf(Phase phase) {
    return switch (phase) {
      case FILL -> startNanos;
      case STABILIZE -> startNanos + fillEnd;
      case MEASURE -> measureStartNanos();
      case DRAIN -> measureEndNanos();
    };
  }

  /** Whether a request may be sent in it: until it is over, or cut short. */
  public boolean admits() {
    return !over && !isCut();
  }

  /** Whether a rule ended it before its time. */
  public boolean isCut() {
    return cutAt != OPEN_END;
  }

  /** Ends what it measures, now; what was sent is drained. */
  void cut(long nanoTime) {
    long offset = Math.max(0, nanoTime - startNanos);
    measureEnd = Math.min(measureEnd, offset);
    cutAt = offset;
  }

  /** Whether it has ended: nothing of it may start any more. */
  public boolean isOver() {
    return over;
  }

  /** The number of the batch trial that runs, from 1; null outside batch levels. */
  public @Nullable Integer trial() {
    return level instanceof LoadLevel.Batch ? (Integer) trial : null;
  }

  /** Starts the next trial, once all of the one before have ended. */
  void beginTrial(int number) {
    trial = number;
  }

  /** Ends it, and closes a measure window that was bounded by a number of requests. */
  void end(long nanoTime) {
    over = true;
    if (!measureEndKnown()) {
      measureEnd = Math.max(stabilizeEnd, nanoTime - startNanos);
    }
  }

  @Override
  public String toString() {
    return label();
  }
}
