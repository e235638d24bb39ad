package io.github.gatlingllm.load;

import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.load.LoadLevel.Open;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.InFlightCount;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A load level while it runs: its phases on {@link System#nanoTime()} and its requests, which
 * belong to the phase at their scheduled instant. Users hold it under {@link #KEY}. Thread-safe.
 */
public final class RunningLevel {
  /** Session attribute; the prefix lets it survive {@code session.reset()}. */
  public static final String KEY = "gatling.llm.stage";

  private static final long UNKNOWN = Long.MAX_VALUE;
  private static final List<Phase> PHASES = List.of(Phase.values());

  private final Phases planned;
  private final long startNanos;
  private final boolean isStartPlanned;
  private final Runnable requestEnded;
  private volatile LoadLevel level;
  private final String label;

  // Ends of phases, as offsets from startNanos because nanoTime may overflow. Each is set once, in
  // the order of the phases, and changes only if the measure phase is extended.
  private final AtomicLongArray ends = new AtomicLongArray(PHASES.size());
  private volatile long cutAt = UNKNOWN;
  private volatile boolean isCountReached;
  private volatile boolean isOver;
  private volatile int trial;

  // State of its requests, guarded by this:
  private final ValueRecorder e2eMillis = new ValueRecorder(ValueRecorder.MICROS);
  private int answeredUsers;
  private int measuring;
  private final InFlightGauge inFlight = new InFlightGauge();
  private final Map<Integer, Runnable> whenAbove = new HashMap<>();
  private int unrecorded;
  private final List<Runnable> whenRecorded = new ArrayList<>();
  private final List<LongConsumer> whenFilled = new ArrayList<>();
  private final boolean gathers;

  /** With {@code gathers}, users wait for each other until their fill ends. */
  RunningLevel(
      LoadLevel level,
      long startNanos,
      boolean isStartPlanned,
      boolean gathers,
      Runnable requestEnded) {
    this.gathers = gathers;
    this.isStartPlanned = isStartPlanned;
    this.level = level;
    this.planned = level.phases();
    this.startNanos = startNanos;
    this.label = level.label();
    this.requestEnded = requestEnded;
    PHASES.forEach(phase -> end(phase, UNKNOWN));
    Long fill = planned.fillNanos();
    if (fill != null && !gathers) {
      end(Phase.FILL, fill);
      place();
    }
  }

  /** Whether the end of its fill depends on its users. */
  boolean isGathering() {
    return gathers && !isEndKnown(Phase.FILL);
  }

  /** Passes on the end of its fill, once it is known; the task must return immediately. */
  public void whenFilled(LongConsumer task) {
    synchronized (whenFilled) {
      if (!isEndKnown(Phase.FILL)) {
        whenFilled.add(task);
        return;
      }
    }
    task.accept(endOf(Phase.FILL));
  }

  private void filled() {
    List<LongConsumer> waiting;
    synchronized (whenFilled) {
      waiting = List.copyOf(whenFilled);
      whenFilled.clear();
    }
    waiting.forEach(task -> task.accept(endOf(Phase.FILL)));
  }

  private long end(Phase phase) {
    return ends.get(PHASES.indexOf(phase));
  }

  private void end(Phase phase, long offset) {
    ends.set(PHASES.indexOf(phase), offset);
  }

  private void place() {
    Phases phases = level.phases();
    if (phases.stabilizeNanos() != null) {
      follow(Phase.FILL, Phase.STABILIZE, phases.stabilizeNanos());
    }
    if (phases.isTimed() && !isCountReached) {
      follow(Phase.STABILIZE, Phase.MEASURE, phases.measureNanos());
    }
    if (!phases.cooldown()) {
      follow(Phase.MEASURE, Phase.COOLDOWN, 0);
    }
  }

  private void follow(Phase before, Phase phase, long nanos) {
    if (isEndKnown(before) && !isEndKnown(phase)) {
      end(phase, end(before) + nanos);
    }
  }

  /** The offered load and its phases; the measure phase may have been extended. */
  public LoadLevel level() {
    return level;
  }

  /** Extends the measure phase of a level by its planned length or number of requests. */
  void extendMeasuring() {
    Phases phases = level.phases();
    Integer requests = phases.requests();
    long nanos = phases.measureNanos() + planned.measureNanos();
    Phases longer =
        requests == null
            ? phases.withMeasure(nanos)
            : phases.withRequests(requests + Objects.requireNonNull(planned.requests()), nanos);
    level =
        level instanceof LoadLevel.Closed closed
            ? closed.with(longer)
            : ((LoadLevel.Open) level).with(longer);
    if (!isMeasureEndKnown()) {
      return;
    }
    if (end(Phase.COOLDOWN) == end(Phase.MEASURE)) {
      end(Phase.COOLDOWN, end(Phase.MEASURE) + planned.measureNanos());
    }
    end(Phase.MEASURE, end(Phase.MEASURE) + planned.measureNanos());
  }

  public String label() {
    return label;
  }

  /** Planned start instant that several injectors share; null if none was planned. */
  public @Nullable Long plannedStartNanos() {
    return isStartPlanned ? (Long) startNanos : null;
  }

  /** Start of the level, and the anchor of its schedule. */
  public long startNanos() {
    return startNanos;
  }

  public boolean isMeasureStartKnown() {
    return isEndKnown(Phase.STABILIZE);
  }

  public long measureStartNanos() {
    return endOf(Phase.STABILIZE);
  }

  /** Whether the end of the measure window is known: with a number of requests only at its end. */
  public boolean isMeasureEndKnown() {
    return isEndKnown(Phase.MEASURE);
  }

  public long measureEndNanos() {
    return endOf(Phase.MEASURE);
  }

  /** End of the measure window, or the given value while it is not known. */
  public long measureEndNanosOr(long unknown) {
    long end = end(Phase.MEASURE);
    return end == UNKNOWN ? unknown : startNanos + end;
  }

  /** The phase at that instant; instants before the start belong to the first phase. */
  public Phase phaseAt(long nanoTime) {
    long offset = nanoTime - startNanos;
    if (offset >= cutAt) {
      return Phase.DRAIN;
    }
    for (Phase phase : PHASES) {
      if (offset < end(phase)) {
        return phase;
      }
    }
    return Phase.DRAIN;
  }

  boolean isEndKnown(Phase phase) {
    return end(phase) != UNKNOWN;
  }

  /** End of a phase other than the last, which is the start of the next one. */
  long endOf(Phase phase) {
    long end = end(phase);
    if (end == UNKNOWN) {
      throw new IllegalStateException(
          "The end of phase " + phase.key() + " of level " + label() + " is not known yet");
    }
    return startNanos + end;
  }

  void endPhase(Phase phase, long nanoTime) {
    end(phase, Math.max(0, nanoTime - startNanos));
    place();
    filled();
  }

  /** Planned arrivals before that instant and before the level stops admitting requests. */
  public Iterator<Planned> arrivalsBefore(Open open, long nanoTime) {
    long end = Math.min(cutAt, end(Phase.COOLDOWN));
    long until = Math.min(end, Math.max(0, nanoTime - startNanos));
    return open.schedule().takeWhile(planned -> planned.offsetNanos() < until).iterator();
  }

  /** Whether a request of it may be sent: until the level has ended or was cut. */
  public boolean admits() {
    return !isOver && !isCut();
  }

  public boolean isCut() {
    return cutAt != UNKNOWN;
  }

  /** All iterations to measure have started: measuring ends when the last of them has ended. */
  void reachCount() {
    isCountReached = true;
    end(Phase.MEASURE, UNKNOWN);
    end(Phase.COOLDOWN, UNKNOWN);
  }

  /** Whether the requested number of iterations started before the time limit. */
  public boolean isCountReached() {
    return isCountReached;
  }

  /** Ends the measure phase now; requests in flight are drained. */
  void cut(long nanoTime) {
    long offset = Math.max(0, nanoTime - startNanos);
    cutAt = offset;
    for (Phase phase : PHASES.subList(0, PHASES.indexOf(Phase.DRAIN))) {
      end(phase, Math.min(end(phase), offset));
    }
    filled();
  }

  /** Whether it has ended: none of its requests may start any more. */
  public boolean isOver() {
    return isOver;
  }

  /** The number of the current batch trial, from 1; null for other levels. */
  public @Nullable Integer trial() {
    return level instanceof LoadLevel.FixedBatch ? (Integer) trial : null;
  }

  void beginTrial(int number) {
    trial = number;
  }

  /** Ends the level, and its measure window if a number of requests bounded it. */
  void end(long nanoTime) {
    isOver = true;
    if (!isMeasureEndKnown()) {
      end(Phase.MEASURE, Math.max(end(Phase.STABILIZE), nanoTime - startNanos));
      place();
    }
  }

  /** Called when a request of it is admitted: it is in flight from now on. */
  public void requestAdmitted(long nanoTime) {
    Runnable above;
    synchronized (this) {
      inFlight.change(1, nanoTime - startNanos, end(Phase.STABILIZE), end(Phase.MEASURE));
      above = whenAbove.remove(inFlight.inFlight - 1);
    }
    if (above != null) {
      above.run();
    }
  }

  /** Runs a task when more than this number of its requests are in flight for the first time. */
  public synchronized void whenAbove(int requests, Runnable task) {
    whenAbove.put(requests, task);
  }

  /** The largest number of its requests that were in flight at once, in any phase. */
  public synchronized int highestInFlight() {
    return inFlight.highest;
  }

  public synchronized void requestClosed(long nanoTime) {
    inFlight.change(-1, nanoTime - startNanos, end(Phase.STABILIZE), end(Phase.MEASURE));
  }

  /** Its requests in flight now. */
  public synchronized long inFlightNow() {
    return inFlight.inFlight;
  }

  /** Requests in flight over the measure window, after its end; null for an empty window. */
  public synchronized LevelInfo.@Nullable InFlightCount inFlight() {
    return isMeasureEndKnown() ? inFlight.over(end(Phase.STABILIZE), end(Phase.MEASURE)) : null;
  }

  /** A request of it starts; {@link #requestRecorded} follows once its record is written. */
  public synchronized boolean requestStarted(long scheduledNanos) {
    unrecorded++;
    boolean measured = phaseAt(scheduledNanos) == Phase.MEASURE;
    measuring += measured ? 1 : 0;
    return measured;
  }

  public void requestEnded(boolean measured, long e2eNanos, boolean first) {
    synchronized (this) {
      e2eMillis.add(e2eNanos / 1e6);
      answeredUsers += first ? 1 : 0;
      measuring -= measured ? 1 : 0;
    }
    if (!isMeasureStartKnown() || (isMeasureEndKnown() && !isEndKnown(Phase.COOLDOWN))) {
      requestEnded.run();
    }
  }

  /** Median E2E of its requests that have ended so far; null if none has. */
  synchronized @Nullable Long medianE2eNanos() {
    Double millis = e2eMillis.percentile(50);
    return millis == null ? null : (Long) Math.round(millis * 1e6);
  }

  synchronized int answeredUsers() {
    return answeredUsers;
  }

  synchronized boolean isAnyMeasuring() {
    return measuring > 0;
  }

  public void requestRecorded() {
    List<Runnable> allRecorded;
    synchronized (this) {
      unrecorded--;
      if (unrecorded > 0 || whenRecorded.isEmpty()) {
        return;
      }
      allRecorded = List.copyOf(whenRecorded);
      whenRecorded.clear();
    }
    allRecorded.forEach(Runnable::run);
  }

  /** After its end: runs a task now, or when the last of its records is passed on. */
  public void whenRecorded(Runnable task) {
    synchronized (this) {
      if (unrecorded > 0) {
        whenRecorded.add(task);
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
   * Receives the events of one plan, in order and under the driver's lock: must return immediately.
   */
  public interface Listener {

    /** Called when nothing of the level before is in flight; the next one starts by that task. */
    default void beforeLevel(LoadLevel next, Runnable start) {
      start.run();
    }

    /** Called when nothing of a level is in flight any more; what follows begins by that task. */
    default void afterLevel(RunningLevel ended, Runnable next) {
      next.run();
    }

    /** Called after that of the last level; the plan ends by that task. */
    default void afterLevels(Runnable end) {
      end.run();
    }

    default void levelStarted(RunningLevel level, long nanoTime) {}

    /** Estimated number of levels after the next one, where it depends on results. */
    default void expectLevels(int levels) {}

    /** Called when a phase starts; phases without length are left out. */
    default void phaseStarted(RunningLevel level, Phase phase, long nanoTime) {}

    /** Called when measuring starts in a level with automatic phases. */
    default void settled(RunningLevel level, String text) {}

    /** Nothing is in flight, or its drain time is over. */
    default void levelEnded(RunningLevel level, long nanoTime, int running) {}

    /** Called when a level starts that is to be cut after too many failed requests. */
    default void watchFailures(
        RunningLevel level, long maxFailures, long maxInARow, Runnable tooMany) {}

    default LevelResult resultSoFar(RunningLevel level) {
      return new LevelResult(
          level.label(), 0, null, 100, 0, 0, 0, null, 0, false, null, null, Map.of(), Map.of());
    }

    default void awaitResult(RunningLevel level, Consumer<LevelResult> next) {
      next.accept(resultSoFar(level));
    }

    default void concluded(Conclusion conclusion) {}
  }

  /** Exact mean and peak of requests in flight over a window, independent of the records. */
  private static final class InFlightGauge {

    private long at;
    private int inFlight;
    private long requestNanos;
    private int peak;
    private int highest;

    void change(int by, long now, long from, long until) {
      pass(now, from, until);
      inFlight += by;
      highest = Math.max(highest, inFlight);
    }

    private void pass(long now, long from, long until) {
      long inside = Math.min(now, until) - Math.max(at, from);
      if (inside > 0) {
        requestNanos += inFlight * inside;
        peak = Math.max(peak, inFlight);
      }
      at = Math.max(at, now);
    }

    /** Mean and peak over the window, which has ended; null for a window without length. */
    @Nullable InFlightCount over(long from, long until) {
      pass(until, from, until);
      return until <= from ? null : new InFlightCount((double) requestNanos / (until - from), peak);
    }
  }
}
