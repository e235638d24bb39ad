package io.github.gatlingllm.load;

import io.github.gatlingllm.load.LoadPlan.LevelSource;
import io.github.gatlingllm.record.LevelInfo.Phase;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs the levels of a plan and decides what each virtual user does next: iterate, wait, or end.
 * After measuring the load continues until the measured requests have ended, so that late requests
 * meet the same load as early ones; then nothing new starts, and the level ends when nothing is in
 * flight, or after its drain time. Thread-safe: one lock, for a few hundred nanoseconds.
 */
public final class PlanDriver {
  /** An open schedule starts this late after the decision, so that first arrivals are on time. */
  static final long LEAD_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final LevelSource levels;
  private final LongSupplier nanoClock;
  private final ObjLongConsumer<Runnable> timer;
  private final Users users;
  private final RunningLevel.Listener listener;
  private final IntFunction<@Nullable Long> plannedStarts;
  private final boolean gathers;
  private final List<Phase> phases = List.of(Phase.values());
  private final Queue<LoopingUser> waiting = new ArrayDeque<>();

  private @Nullable RunningLevel level;
  private int levelsStarted;
  private boolean isOver;
  private @Nullable Long e2eBefore; // median E2E of the previous level, in nanoseconds

  // State of the current level:
  private Phase phase = Phase.FILL;
  private @Nullable Settling settling; // null if no phase before measuring is automatic
  private @Nullable Long reviewAt;
  private boolean isFilling; // users start, or have started
  private boolean isStopped; // no new iteration starts
  private int inFlight; // iterations in flight, and users started ahead of their arrival
  private int freeSlots; // slots without a user
  private int measuredIterations; // started in the measure phase
  private boolean areOthersAwaited; // the levels of other classes that still measure
  private boolean haveOthersEnded;

  /**
   * The driver of a plan.
   *
   * @param timer runs tasks at instants of {@link System#nanoTime()}, never earlier
   * @param plannedStarts those of levels that several injectors start at the same time
   * @param gathers whether the fill of closed levels ends when each user has had an answer
   */
  public PlanDriver(
      LevelSource levels,
      LongSupplier nanoClock,
      ObjLongConsumer<Runnable> timer,
      Users users,
      RunningLevel.Listener listener,
      IntFunction<@Nullable Long> plannedStarts,
      boolean gathers) {
    this.gathers = gathers;
    this.levels = levels;
    this.nanoClock = nanoClock;
    this.timer = timer;
    this.users = users;
    this.listener = listener;
    this.plannedStarts = plannedStarts;
  }

  public synchronized void begin() {
    startNextLevel(null);
  }

  /** Called by a user that is ready for its next iteration. */
  public synchronized @Nullable RunningLevel next(LoopingUser user, @Nullable RunningLevel ended) {
    RunningLevel current = level;
    if (current == null) {
      if (isOver) {
        user.end();
      } else {
        waiting.add(user); // for what follows the last level
      }
      return null;
    }
    long now = nanoClock.getAsLong();
    if (ended == current) {
      inFlight--;
      freeSlots += current.level() instanceof LoadLevel.Closed ? 1 : 0;
    }
    if (freeSlots > 0 && admits(current, now)) {
      occupySlot(current, now);
      return current;
    }
    park(user, current);
    startNextTrial(current);
    endIfDrained(current);
    return null;
  }

  /** Called when a user exited inside an iteration of that level; a closed level replaces it. */
  public synchronized void userExited(RunningLevel ended) {
    if (ended == level) {
      inFlight--;
      if (ended.level() instanceof LoadLevel.Closed) {
        openSlot(ended);
      }
      startNextTrial(ended);
      endIfDrained(ended);
    }
  }

  /** Whether a user that has arrived still runs its iteration; if not, it calls {@link #next}. */
  public boolean begins(Arrival arrival) {
    RunningLevel of = arrival.level();
    return of != null && !of.isCut() && of.phaseAt(arrival.plannedNanos()) != Phase.DRAIN;
  }

  private void startNextLevel(@Nullable LevelResult before) {
    LoadLevel next = levels.next(before);
    if (next == null) {
      level = null;
      levels.conclusions().forEach(listener::concluded);
      if (levels.turn() != null) {
        levels.turn().leave(nanoClock.getAsLong());
      }
      listener.afterLevels(this::endPlan);
      return;
    }
    Runnable begin = () -> listener.beforeLevel(next, () -> startInTime(next));
    if (levels.turn() == null) {
      begin.run();
    } else {
      long now = nanoClock.getAsLong();
      levels.turn().awaitStep(now, () -> at(now, begin));
    }
  }

  private synchronized void endPlan() {
    isOver = true;
    waiting.forEach(LoopingUser::end);
    waiting.clear();
    users.allStarted();
  }

  private synchronized void startInTime(LoadLevel next) {
    long lead = next instanceof LoadLevel.Open ? LEAD_NANOS : 0;
    Long planned = plannedStarts.apply(levelsStarted++);
    if (planned != null) {
      at(planned - lead, () -> start(next, planned, true));
    } else if (levels.turn() == null) {
      start(next, nanoClock.getAsLong() + lead, false);
    } else {
      levels
          .turn()
          .meet(
              nanoClock.getAsLong(), common -> at(common - lead, () -> start(next, common, false)));
    }
  }

  private void start(LoadLevel next, long startNanos, boolean planned) {
    boolean isGathering = gathers && next instanceof LoadLevel.Closed;
    RunningLevel started = new RunningLevel(next, startNanos, planned, isGathering, this::review);
    level = started;
    boolean isAutomatic = isGathering || next.phases().isAutomatic();
    settling = isAutomatic ? new Settling(started, e2eBefore) : null;
    isFilling = false;
    isStopped = false;
    inFlight = 0;
    freeSlots = 0;
    measuredIterations = 0;
    areOthersAwaited = false;
    haveOthersEnded = levels.turn() == null;
    Integer remaining = levels.remainingLevels();
    if (remaining != null) {
      listener.expectLevels(remaining);
    }
    listener.levelStarted(started, started.startNanos());
    listener.watchFailures(
        started, levels.maxFailures(), levels.maxFailuresInARow(), () -> cut(started));
    if (next instanceof LoadLevel.Closed closedLoop) {
      fill(started, closedLoop);
    }
    enter(started, Phase.FILL);
    if (next instanceof LoadLevel.Open) {
      new OpenArrivals(started, nanoClock, this).begin();
    } else if (next instanceof LoadLevel.FixedBatch) {
      startNextTrial(started);
    } else if (Objects.equals(next.phases().requests(), 0)) {
      stopByCount(started, startNanos);
    }
  }

  private void enter(RunningLevel current, Phase entered) {
    if (current != level || isStopped) {
      return;
    }
    phase = entered;
    reviewAt = null;
    long from =
        phase == Phase.FILL
            ? current.startNanos()
            : current.endOf(phases.get(phases.indexOf(phase) - 1));
    if (phase == Phase.DRAIN) {
      listener.phaseStarted(current, phase, from);
      stop(current, from);
      return;
    }
    if (phase == Phase.MEASURE && settling != null) {
      listener.settled(current, settling.text());
    }
    if (phase == Phase.COOLDOWN
        && !current.isEndKnown(phase)
        && !current.isAnyMeasuring()
        && haveOthersEnded) {
      current.endPhase(phase, from);
    }
    if (!current.isEndKnown(phase)) {
      listener.phaseStarted(current, phase, from);
      review();
    } else if (current.endOf(phase) == from) {
      enter(current, following());
    } else {
      listener.phaseStarted(current, phase, from);
      if (phase == Phase.MEASURE && levels.needsResults()) {
        endOrExtendMeasuring(current);
      } else {
        Phase following = following();
        at(current.endOf(phase), () -> enter(current, following));
      }
    }
  }

  /** Decides shortly before measuring ends, before users are started whose phase depends on it. */
  private void endOrExtendMeasuring(RunningLevel current) {
    at(
        current.endOf(Phase.MEASURE) - LEAD_NANOS,
        () -> {
          if (extendsMeasuring(current)) {
            endOrExtendMeasuring(current);
          } else if (current == level && !isStopped) {
            at(current.endOf(Phase.MEASURE), () -> enter(current, Phase.COOLDOWN));
          }
        });
  }

  boolean extendsMeasuring(RunningLevel current) {
    if (current != level || isStopped || !levels.extendsMeasuring(listener.resultSoFar(current))) {
      return false;
    }
    current.extendMeasuring();
    return true;
  }

  private Phase following() {
    return phases.get(phases.indexOf(phase) + 1);
  }

  private synchronized void review() {
    RunningLevel current = level;
    if (current == null || isStopped || phase == Phase.MEASURE || current.isEndKnown(phase)) {
      return;
    }
    long now = nanoClock.getAsLong();
    Long wait = wait(current, now);
    if (wait != null) {
      if (!wait.equals(reviewAt)) {
        reviewAt = wait;
        at(current.startNanos() + wait, this::review);
      }
    } else if (phase == Phase.FILL
        && !isFilling
        && current.level() instanceof LoadLevel.Closed closedLoop) {
      spread(current, closedLoop, 1, now);
      if (current.isEndKnown(phase)) {
        at(current.endOf(phase), () -> enter(current, Phase.STABILIZE));
      }
    } else {
      current.endPhase(phase, now);
      enter(current, following());
    }
  }

  /** Latest end of the current phase as an offset from the level's start; null if it ends now. */
  private @Nullable Long wait(RunningLevel current, long now) {
    long offset = now - current.startNanos();
    if (phase == Phase.COOLDOWN) {
      long measured = current.measureEndNanos() - current.startNanos();
      long latest = measured + current.level().phases().drainNanos();
      boolean isAwaited = current.isAnyMeasuring() || !haveOthersMeasured(current, now);
      return isAwaited && offset < latest ? (Long) latest : null;
    }
    Settling automatic = Objects.requireNonNull(settling);
    if (phase == Phase.FILL) {
      return isFilling ? automatic.untilGathered(offset) : automatic.untilFill(offset);
    }
    return automatic.untilSettled(offset);
  }

  /** Whether the load of a class may end, whose own measured requests have ended. */
  private boolean haveOthersMeasured(RunningLevel current, long now) {
    if (!haveOthersEnded && !areOthersAwaited) {
      areOthersAwaited = true;
      Turns.ClassTurn turn = Objects.requireNonNull(levels.turn());
      turn.meet(now, common -> at(common, () -> endWithOthers(current)));
    }
    return haveOthersEnded;
  }

  private void endWithOthers(RunningLevel current) {
    if (current == level) {
      haveOthersEnded = true;
      review();
    }
  }

  private synchronized void cut(RunningLevel current) {
    if (current == level && !isStopped) {
      current.cut(nanoClock.getAsLong());
      enter(current, Phase.DRAIN);
    }
  }

  void stopByCount(RunningLevel current, long fromNanos) {
    if (!current.isCut()) {
      current.reachCount();
    }
    stop(current, fromNanos);
  }

  /** Starts no new iteration; those in flight may take the drain time from then on. */
  private void stop(RunningLevel current, long fromNanos) {
    isStopped = true;
    long drainNanos = current.level().phases().drainNanos();
    boolean isDrained =
        current.isMeasureEndKnown() && fromNanos - current.measureEndNanos() >= drainNanos;
    if (inFlight == 0 || isDrained) {
      end(current);
    } else {
      at(fromNanos + drainNanos, () -> end(current));
    }
  }

  private void endIfDrained(RunningLevel current) {
    if (isStopped && inFlight == 0) {
      end(current);
    }
  }

  private void end(RunningLevel current) {
    if (current == level && !current.isOver()) {
      long now = nanoClock.getAsLong();
      current.end(now);
      Long e2e = current.medianE2eNanos();
      e2eBefore = e2e == null ? e2eBefore : e2e;
      listener.levelEnded(current, now, inFlight);
      listener.afterLevel(current, () -> follow(current));
    }
  }

  private synchronized void follow(RunningLevel ended) {
    if (levels.needsResults() || ended.isCut()) {
      listener.awaitResult(ended, result -> startLevelAfter(ended, result));
    } else {
      startNextLevel(null);
    }
  }

  private synchronized void startLevelAfter(RunningLevel ended, LevelResult result) {
    if (ended == level) {
      startNextLevel(result);
    }
  }

  private void fill(RunningLevel current, LoadLevel.Closed level) {
    boolean isPlanned = level.phases().fillNanos() != null;
    if (isPlanned || (settling != null && settling.untilFill(0) == null)) {
      spread(current, level, 0, current.startNanos());
    } else {
      openSlot(current);
    }
  }

  /** Starts the users from index {@code first} on, evenly over the rest of the fill. */
  private void spread(RunningLevel current, LoadLevel.Closed level, int first, long now) {
    isFilling = true;
    long fillNanos = fillNanos(current, level, now);
    if (!current.isEndKnown(Phase.FILL) && !current.isGathering()) {
      current.endPhase(Phase.FILL, now + fillNanos);
    }
    for (int slot = first; slot < level.users(); slot++) {
      long offset = Math.round((double) fillNanos * slot / level.users());
      if (offset == 0) {
        openSlot(current);
      } else {
        at(now + offset, () -> openSlot(current));
      }
    }
  }

  private long fillNanos(RunningLevel current, LoadLevel.Closed level, long now) {
    Long planned = level.phases().fillNanos();
    return planned != null
        ? planned
        : Objects.requireNonNull(settling).fillNanos(now - current.startNanos());
  }

  private void openSlot(RunningLevel current) {
    long now = nanoClock.getAsLong();
    if (current == level && admits(current, now)) {
      freeSlots++;
      LoopingUser user = waiting.poll();
      if (user == null) {
        users.start();
      } else {
        occupySlot(current, now);
        user.resume(current);
      }
    }
  }

  private boolean admits(RunningLevel current, long now) {
    return !(current.level() instanceof LoadLevel.Open)
        && !isStopped
        && current.phaseAt(now) != Phase.DRAIN;
  }

  private void occupySlot(RunningLevel current, long now) {
    freeSlots--;
    inFlight++;
    Integer requests = current.level().phases().requests();
    if (requests != null
        && current.phaseAt(now) == Phase.MEASURE
        && ++measuredIterations == requests
        && !extendsMeasuring(current)) {
      stopByCount(current, now);
    }
  }

  private void park(LoopingUser user, RunningLevel current) {
    // Users of open levels run once. One waits, as Gatling ends when all users have ended.
    if (!(current.level() instanceof LoadLevel.Open) || waiting.isEmpty()) {
      waiting.add(user);
    } else {
      user.end();
    }
  }

  private void startNextTrial(RunningLevel current) {
    if (current == level
        && current.level() instanceof LoadLevel.FixedBatch batch
        && inFlight == 0
        && freeSlots == 0
        && !isStopped) {
      current.beginTrial(measuredIterations / batch.users() + 1);
      for (int user = 0; user < batch.users(); user++) {
        openSlot(current);
      }
    }
  }

  boolean isStarting(RunningLevel current) {
    return current == level && !isStopped;
  }

  void start(Arrival arrival) {
    inFlight++;
    users.start(arrival);
  }

  void at(long nanoTime, Runnable task) {
    timer.accept(
        () -> {
          synchronized (this) {
            task.run();
          }
        },
        nanoTime);
  }

  /** Starts virtual users. A user starts on another thread, never during the call. */
  public interface Users {

    /** Starts a user now; it then calls {@link PlanDriver#next}. */
    void start();

    /** Starts a user at its planned instant, never before; it runs one iteration. */
    void start(Arrival arrival);

    void allStarted();
  }

  /** A user that waits for an iteration. Both calls take effect on the user's thread. */
  public interface LoopingUser {

    void resume(RunningLevel level);

    void end();
  }
}
