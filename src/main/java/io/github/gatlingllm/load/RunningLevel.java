package io.github.gatlingllm.load;

import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan.LevelResult;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.Phase;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A level while it runs: where its phases lie on {@link System#nanoTime()}, and how many of its
 * requests have no record yet. Virtual users carry it in their session under {@link #KEY}; a
 * request belongs to the level its user carries and to {@link #phaseAt} of the instant at which it
 * was scheduled. Safe for use by several threads.
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
  private final InFlightGauge inFlight = new InFlightGauge();
  private int unrecorded;
  private @Nullable Runnable whenRecorded;

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

  /** Start of the level, and the anchor of its schedule. */
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
          "Level " + label() + " measures until its requests ended; ask when it ended");
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

  /** A request of it, whose record is to come, is in flight from now on. */
  public synchronized void requestAdmitted(long nanoTime) {
    inFlight.change(1, nanoTime - startNanos, stabilizeEnd, measureEnd);
  }

  /** A request of it that was in flight is over. */
  public synchronized void requestClosed(long nanoTime) {
    inFlight.change(-1, nanoTime - startNanos, stabilizeEnd, measureEnd);
  }

  /** Its requests in flight in the measure window, once that is over; null where it has none. */
  public synchronized LevelInfo.@Nullable InFlight inFlight() {
    return measureEndKnown() ? inFlight.over(stabilizeEnd, measureEnd) : null;
  }

  /** A request of it has started, whose record is to come. */
  public synchronized void requestStarted() {
    unrecorded++;
  }

  /** The record of one of its requests has been handed over. */
  public void requestRecorded() {
    Runnable told = null;
    synchronized (this) {
      unrecorded--;
      if (unrecorded == 0) {
        told = whenRecorded;
        whenRecorded = null;
      }
    }
    if (told != null) {
      told.run();
    }
  }

  /**
   * Calls back once the records of all its requests have been handed over: now, or on the thread
   * that hands over the last one. To be asked for once, after its end.
   *
   * @param task returns at once
   */
  public void whenRecorded(Runnable task) {
    synchronized (this) {
      if (unrecorded > 0) {
        whenRecorded = task;
        return;
      }
    }
    task.run();
  }

  @Override
  public String toString() {
    return label();
  }

  /**
   * Is told what becomes of the levels of one plan, from the start of the first one. Calls come one
   * at a time and in order, while the driver decides: they must return at once.
   */
  public interface Listener {

    default void levelStarted(RunningLevel level, long nanoTime) {}

    /** A phase began; phases without length are left out. */
    default void phaseStarted(RunningLevel level, Phase phase, long nanoTime) {}

    /**
     * A level ended: nothing of it is in flight, or its drain time is over. The next one starts
     * right after this call.
     *
     * @param running iterations that its drain time did not suffice for, 0 or more; what is to be
     *     cancelled is cancelled from here
     */
    default void levelEnded(RunningLevel level, long nanoTime, int running) {}

    /**
     * Is told, as a level starts, how many requests of it may fail.
     *
     * @param tooMany to be called once more than {@code most} have failed, on any thread
     */
    default void watchFailures(RunningLevel level, long most, Runnable tooMany) {}

    /**
     * Is asked for the result of a level that has ended, where the next level depends on it.
     *
     * @param goOn takes it as soon as it is known, on any thread
     */
    default void whenSettled(RunningLevel level, Consumer<LevelResult> goOn) {
      goOn.accept(new LevelResult(level.label(), 0, null, 100, 0, 0, null, 0, 0, false));
    }

    /** The plan has come to its end, and has this to say. */
    default void concluded(LoadPlan.Conclusion conclusion) {}
  }
}
