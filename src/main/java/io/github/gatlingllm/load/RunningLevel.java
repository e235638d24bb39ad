package io.github.gatlingllm.load;

import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.load.LoadLevel.Open;
import io.github.gatlingllm.load.LoadPlan.LevelResult;
import io.github.gatlingllm.metric.ValueRecorder;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.Phase;
import java.util.Iterator;
import java.util.Objects;
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

  private static final long UNKNOWN = Long.MAX_VALUE;

  private final Phases planned;
  private final long startNanos;
  private final boolean plannedStart;
  private final Runnable requestEnded;
  private volatile LoadLevel level;
  private final String label;

  // Ends of phases, as offsets since startNanos: nanoTime itself may overflow between two readings.
  // Each is set once, none before the one above it, and moves only where measuring goes on.
  private volatile long fillEnd = UNKNOWN;
  private volatile long stabilizeEnd = UNKNOWN;
  private volatile long measureEnd = UNKNOWN;
  private volatile long cooldownEnd = UNKNOWN;
  private volatile long cutAt = UNKNOWN;
  private volatile boolean countReached;
  private volatile boolean over;
  private volatile int trial;

  // Of its requests, guarded by this:
  private final ValueRecorder e2eMillis = new ValueRecorder(ValueRecorder.MICROS);
  private int answeredUsers;
  private int measuring;
  private final InFlightGauge inFlight = new InFlightGauge();
  private int unrecorded;
  private @Nullable Runnable whenRecorded;

  /**
   * @param plannedStart whether it starts at an instant that was fixed before
   * @param requestEnded is told of requests that ended, where the end of a phase depends on it
   */
  RunningLevel(LoadLevel level, long startNanos, boolean plannedStart, Runnable requestEnded) {
    this.plannedStart = plannedStart;
    this.level = level;
    this.planned = level.phases();
    this.startNanos = startNanos;
    this.label = level.label();
    this.requestEnded = requestEnded;
    Long fill = level.phases().fillNanos();
    if (fill != null) {
      fillEnd = fill;
      place();
    }
  }

  /** Sets the ends that are planned to follow one that is known. */
  private void place() {
    Phases phases = level.phases();
    Long stabilize = phases.stabilizeNanos();
    if (stabilizeEnd == UNKNOWN && fillEnd != UNKNOWN && stabilize != null) {
      stabilizeEnd = fillEnd + stabilize;
    }
    if (measureEnd == UNKNOWN && stabilizeEnd != UNKNOWN && phases.isTimed() && !countReached) {
      measureEnd = stabilizeEnd + phases.measureNanos();
    }
    if (cooldownEnd == UNKNOWN && measureEnd != UNKNOWN && !phases.cooldown()) {
      cooldownEnd = measureEnd;
    }
  }

  /** What it offers, and for how long as far as is known. */
  public LoadLevel level() {
    return level;
  }

  /** An open level measures for as long, or as many requests, as planned once more. */
  void extendMeasuring() {
    LoadLevel.Open open = (LoadLevel.Open) level;
    Phases phases = open.phases();
    Integer requests = phases.requests();
    long nanos = phases.measureNanos() + planned.measureNanos();
    level =
        open.with(
            requests == null
                ? phases.withMeasure(nanos)
                : phases.withRequests(
                    requests + Objects.requireNonNull(planned.requests()), nanos));
    if (!measureEndKnown()) {
      return;
    }
    long end = measureEnd + planned.measureNanos();
    if (cooldownEnd == measureEnd) {
      cooldownEnd = end;
    }
    measureEnd = end;
  }

  /** The level's label, e.g. {@code c=8}. */
  public String label() {
    return label;
  }

  /** When it was to start, where the plan says so for several injectors; null where it does not. */
  public @Nullable Long plannedStartNanos() {
    return plannedStart ? (Long) startNanos : null;
  }

  /** Start of the level, and the anchor of its schedule. */
  public long startNanos() {
    return startNanos;
  }

  /** Whether the start of the measure window is known. */
  public boolean measureStartKnown() {
    return isEndKnown(Phase.STABILIZE);
  }

  /**
   * Start of the measure window.
   *
   * @throws IllegalStateException while it is not known
   */
  public long measureStartNanos() {
    return endOf(Phase.STABILIZE);
  }

  /**
   * Whether the end of the measure window is known: once measuring starts, but for a running count
   * of requests.
   */
  public boolean measureEndKnown() {
    return measureEnd != UNKNOWN;
  }

  /**
   * End of the measure window.
   *
   * @throws IllegalStateException while {@link #measureEndKnown()} is false
   */
  public long measureEndNanos() {
    return endOf(Phase.MEASURE);
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
    if (offset < measureEnd) {
      return Phase.MEASURE;
    }
    return offset < cooldownEnd ? Phase.COOLDOWN : Phase.DRAIN;
  }

  /** Whether it is known when that phase ends. */
  boolean isEndKnown(Phase phase) {
    return end(phase) != UNKNOWN;
  }

  /**
   * End of a phase but the last, which is the start of the next one.
   *
   * @throws IllegalStateException while it is not known
   */
  long endOf(Phase phase) {
    long end = end(phase);
    if (end == UNKNOWN) {
      throw new IllegalStateException(
          "It shows only while level " + label() + " runs when its " + phase.key() + " ends");
    }
    return startNanos + end;
  }

  private long end(Phase phase) {
    return switch (phase) {
      case FILL -> fillEnd;
      case STABILIZE -> stabilizeEnd;
      case MEASURE -> measureEnd;
      case COOLDOWN -> cooldownEnd;
      case DRAIN -> UNKNOWN;
    };
  }

  /** Ends a phase whose end was not known; those after it follow as planned. */
  void endPhase(Phase phase, long nanoTime) {
    long offset = Math.max(0, nanoTime - startNanos);
    switch (phase) {
      case FILL -> fillEnd = offset;
      case STABILIZE -> stabilizeEnd = offset;
      case MEASURE -> measureEnd = offset;
      case COOLDOWN -> cooldownEnd = offset;
      case DRAIN -> throw new IllegalArgumentException("the level ends with its drain");
    }
    place();
  }

  /** The planned arrivals of an open level before that instant, as far as it admits any. */
  public Iterator<Planned> arrivalsBefore(Open open, long nanoTime) {
    return open.scheduleBefore(
        Math.min(Math.min(cutAt, cooldownEnd), Math.max(0, nanoTime - startNanos)));
  }

  /** Whether a request may be sent in it: until it is over, or cut short. */
  public boolean admits() {
    return !over && !isCut();
  }

  /** Whether a rule ended it before its time. */
  public boolean isCut() {
    return cutAt != UNKNOWN;
  }

  /** All iterations that it measures have started: the phase ends when the last one has ended. */
  void reachCount() {
    countReached = true;
    measureEnd = UNKNOWN;
    cooldownEnd = UNKNOWN;
  }

  /** Whether as many iterations as were asked for have started before the time was over. */
  public boolean isCountReached() {
    return countReached;
  }

  /** Ends what it measures, now; what was sent is drained. */
  void cut(long nanoTime) {
    long offset = Math.max(0, nanoTime - startNanos);
    cutAt = offset;
    fillEnd = Math.min(fillEnd, offset);
    stabilizeEnd = Math.min(stabilizeEnd, offset);
    measureEnd = Math.min(measureEnd, offset);
    cooldownEnd = Math.min(cooldownEnd, offset);
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
      place();
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

  /**
   * A request of it has started, whose record is to come.
   *
   * @param scheduledNanos when it was to start
   * @return whether it is measured
   */
  public synchronized boolean requestStarted(long scheduledNanos) {
    unrecorded++;
    boolean measured = phaseAt(scheduledNanos) == Phase.MEASURE;
    measuring += measured ? 1 : 0;
    return measured;
  }

  /**
   * One of its requests has ended, well or badly.
   *
   * @param measured what {@link #requestStarted} said of it
   * @param e2eNanos from its schedule to its end
   * @param first whether it is the first of its user that ended in this level
   */
  public void requestEnded(boolean measured, long e2eNanos, boolean first) {
    synchronized (this) {
      e2eMillis.add(e2eNanos / 1e6);
      answeredUsers += first ? 1 : 0;
      measuring -= measured ? 1 : 0;
    }
    if (stabilizeEnd == UNKNOWN || (measureEndKnown() && cooldownEnd == UNKNOWN)) {
      requestEnded.run();
    }
  }

  /** The median time of its requests that have ended so far; null where none has. */
  synchronized @Nullable Long medianE2eNanos() {
    Double millis = e2eMillis.percentile(50);
    return millis == null ? null : (Long) Math.round(millis * 1e6);
  }

  /** How many users had an answer so far. */
  synchronized int answeredUsers() {
    return answeredUsers;
  }

  /** Whether requests that are measured are under way. */
  synchronized boolean isAnyMeasuring() {
    return measuring > 0;
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
   * that hands over the last one. To be asked for after its end.
   *
   * @param task returns at once
   */
  public void whenRecorded(Runnable task) {
    synchronized (this) {
      if (unrecorded > 0) {
        Runnable before = whenRecorded;
        whenRecorded =
            before == null
                ? task
                : () -> {
                  before.run();
                  task.run();
                };
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

    /** About so many levels come after the one that starts next, where results decide that. */
    default void expectLevels(int levels) {}

    /** A phase began; phases without length are left out. */
    default void phaseStarted(RunningLevel level, Phase phase, long nanoTime) {}

    /**
     * Measuring starts in a level that found out itself when to.
     *
     * @param text in words, from when on and why
     */
    default void settled(RunningLevel level, String text) {}

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
     * @param tooMany to be called once more have failed, on any thread
     */
    default void watchFailures(
        RunningLevel level, LoadPlan.FailureLimits limits, Runnable tooMany) {}

    /** What has become, by now, of the requests of a level that is measured. */
    default LevelResult resultSoFar(RunningLevel level) {
      return new LevelResult(level.label(), 0, null, 100, 0, 0, null, 0, false, null, null);
    }

    /**
     * Is asked for the result of a level that has ended, where the next level depends on it.
     *
     * @param goOn takes it as soon as it is known, on any thread
     */
    default void whenResultKnown(RunningLevel level, Consumer<LevelResult> goOn) {
      goOn.accept(resultSoFar(level));
    }

    /** The plan has come to its end, and has this to say. */
    default void concluded(LoadPlan.Conclusion conclusion) {}
  }
}
