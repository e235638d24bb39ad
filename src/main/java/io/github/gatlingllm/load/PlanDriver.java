package io.github.gatlingllm.load;

import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.load.LoadPlan.LevelResult;
import io.github.gatlingllm.load.LoadPlan.LevelSource;
import io.github.gatlingllm.record.Phase;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Walks through the levels of a plan and their phases, and tells each virtual user that asks what
 * to do next: run an iteration now, wait, or end.
 *
 * <p>A closed level has seats, one per user in flight. A seat is taken by a user that waits for an
 * iteration, and by a new user where none waits; it is vacant for as long as its user takes from
 * the end of one iteration to the start of the next, a few microseconds. An open level starts a
 * user per arrival. Either way the load stays on after the measure phase until the requests that
 * were scheduled in it have ended, so that late ones find what early ones found; then nothing new
 * starts. The level ends when nothing of it is in flight, or when its drain time is over, and the
 * next one starts at that instant. {@link Settling} says when automatic phases end. Levels are
 * asked for one by one, so that a search may choose each one by the results of those before; it
 * then starts as soon as these are known. Where too many requests of a level fail, it is cut: its
 * measure phase ends at that instant, and arrivals already handed out do not begin.
 *
 * <p>Thread-safe: one lock, held for some hundred nanoseconds per decision.
 */
public final class PlanDriver {
  /**
   * Arrivals are handed out this far ahead, so that each is waited for on its own event loop; those
   * that a cooldown may not need {@link #LEAD_NANOS} ahead.
   */
  static final long LOOKAHEAD_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** An open schedule starts this long after its decision: its first arrivals are on time too. */
  static final long LEAD_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final LevelSource levels;
  private final LongSupplier nanoClock;
  private final Timer timer;
  private final Users users;
  private final RunningLevel.Listener listener;
  private final Starts starts;
  private final List<Phase> phases = List.of(Phase.values());
  private final Queue<LoopingUser> waiting = new ArrayDeque<>();

  private @Nullable RunningLevel level;
  private int begun; // levels
  private @Nullable Long e2eBefore; // median E2E of the level before, in nanoseconds

  // Of the current level:
  private Phase phase = Phase.FILL;
  private @Nullable Settling settling; // where phases before measuring are automatic
  private @Nullable Long reviewAt;
  private boolean closed; // nothing new starts
  private int running; // iterations in flight, or planned arrivals handed out
  private int vacant; // seats that wait for a user
  private int measured; // iterations started in the measure phase
  private long handedOut; // planned arrivals

  /**
   * @param starts when levels start that do not follow at once
   */
  public PlanDriver(
      LevelSource levels,
      LongSupplier nanoClock,
      Timer timer,
      Users users,
      RunningLevel.Listener listener,
      Starts starts) {
    this.starts = starts;
    this.levels = levels;
    this.nanoClock = nanoClock;
    this.timer = timer;
    this.users = users;
    this.listener = listener;
  }

  /** Starts the first level. */
  public synchronized void begin() {
    startNextLevel(null);
  }

  /**
   * A user is about to begin an iteration.
   *
   * @param ended the level whose iteration it has ended; null for a user that has just started
   * @return the level to run an iteration of, now; or null: the user waits, and will be told
   */
  public synchronized @Nullable RunningLevel next(LoopingUser user, @Nullable RunningLevel ended) {
    RunningLevel current = level;
    if (current == null) {
      user.end();
      return null;
    }
    long now = nanoClock.getAsLong();
    if (ended == current) {
      running--;
      vacant += current.level() instanceof LoadLevel.Closed ? 1 : 0;
    }
    if (vacant > 0 && admits(current, now)) {
      takeSeat(current, now);
      return current;
    }
    park(user, current);
    startNextTrial(current);
    endIfDrained(current);
    return null;
  }

  /** A user left for good inside an iteration of that level; a closed level replaces it. */
  public synchronized void left(RunningLevel ended) {
    if (ended == level) {
      running--;
      if (ended.level() instanceof LoadLevel.Closed) {
        openSeat(ended);
      }
      startNextTrial(ended);
      endIfDrained(ended);
    }
  }

  /** Whether a user that has arrived still begins its iteration; else it asks for another. */
  public boolean begins(Arrival arrival) {
    RunningLevel of = arrival.level();
    return of != null && !of.isCut() && of.phaseAt(arrival.plannedNanos()) != Phase.DRAIN;
  }

  private void startNextLevel(@Nullable LevelResult before) {
    LoadLevel next = levels.next(before);
    if (next == null) {
      level = null;
      LoadPlan.Conclusion conclusion = levels.conclusion();
      if (conclusion != null) {
        listener.concluded(conclusion);
      }
      waiting.forEach(LoopingUser::end);
      waiting.clear();
      users.allStarted();
      return;
    }
    long lead = next instanceof LoadLevel.Open ? LEAD_NANOS : 0;
    Long planned = starts.of(begun++);
    if (planned == null) {
      start(next, nanoClock.getAsLong() + lead, false);
    } else {
      at(planned - lead, () -> start(next, planned, true));
    }
  }

  private void start(LoadLevel next, long startNanos, boolean planned) {
    RunningLevel started = new RunningLevel(next, startNanos, planned, this::review);
    level = started;
    settling = next.phases().isAutomatic() ? new Settling(started, e2eBefore) : null;
    closed = false;
    running = 0;
    vacant = 0;
    measured = 0;
    handedOut = 0;
    Integer left = levels.levelsLeft();
    if (left != null) {
      listener.expectLevels(left);
    }
    listener.levelStarted(started, started.startNanos());
    LoadPlan.FailureLimits limits = levels.failureLimits();
    if (!limits.equals(LoadPlan.FailureLimits.NONE)) {
      listener.watchFailures(started, limits, () -> cut(started));
    }
    if (next instanceof LoadLevel.Closed seats) {
      fill(started, seats);
    }
    enter(started, Phase.FILL);
    if (next instanceof LoadLevel.Open open) {
      handOut(started, open.schedule());
    } else if (next instanceof LoadLevel.Batch) {
      startNextTrial(started);
    } else if (Objects.equals(next.phases().requests(), 0)) {
      closeByCount(started, startNanos);
    }
  }

  private void enter(RunningLevel current, Phase entered) {
    if (current != level || closed) {
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
      close(current, from);
      return;
    }
    if (phase == Phase.MEASURE && settling != null) {
      listener.settled(current, settling.text());
    }
    if (phase == Phase.COOLDOWN && !current.isEndKnown(phase) && !current.isAnyMeasuring()) {
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

  /**
   * Decides shortly before measuring ends: arrivals after its end do not know yet that they are.
   */
  private void endOrExtendMeasuring(RunningLevel current) {
    at(
        current.endOf(Phase.MEASURE) - LEAD_NANOS,
        () -> {
          if (extendedMeasuring(current)) {
            endOrExtendMeasuring(current);
          } else if (current == level && !closed) {
            at(current.endOf(Phase.MEASURE), () -> enter(current, Phase.COOLDOWN));
          }
        });
  }

  private boolean extendedMeasuring(RunningLevel current) {
    if (current != level || closed || !levels.extendsMeasuring(listener.resultSoFar(current))) {
      return false;
    }
    current.extendMeasuring();
    return true;
  }

  private Phase following() {
    return phases.get(phases.indexOf(phase) + 1);
  }

  /** A request has ended or it is time: ends the phase whose end was not known, if it can. */
  private synchronized void review() {
    RunningLevel current = level;
    if (current == null || closed || phase == Phase.MEASURE || current.isEndKnown(phase)) {
      return;
    }
    long now = nanoClock.getAsLong();
    Long wait = wait(current, now);
    if (wait != null) {
      if (!wait.equals(reviewAt)) {
        reviewAt = wait;
        at(current.startNanos() + wait, this::review);
      }
    } else if (phase == Phase.FILL && current.level() instanceof LoadLevel.Closed seats) {
      spread(current, seats, 1, now);
      at(current.endOf(phase), () -> enter(current, Phase.STABILIZE));
    } else {
      current.endPhase(phase, now);
      enter(current, following());
    }
  }

  /** Until when, since the level's start, its phase may go on as it is; null when it ends now. */
  private @Nullable Long wait(RunningLevel current, long now) {
    long offset = now - current.startNanos();
    if (phase == Phase.COOLDOWN) {
      long measured = current.measureEndNanos() - current.startNanos();
      long latest = measured + current.level().phases().drainNanos();
      return current.isAnyMeasuring() && offset < latest ? (Long) latest : null;
    }
    Settling automatic = Objects.requireNonNull(settling);
    return phase == Phase.FILL ? automatic.untilFill(offset) : automatic.untilSettled(offset);
  }

  /** Ends a level before its time. */
  private synchronized void cut(RunningLevel current) {
    if (current == level && !closed) {
      current.cut(nanoClock.getAsLong());
      enter(current, Phase.DRAIN);
    }
  }

  private void closeByCount(RunningLevel current, long fromNanos) {
    if (!current.isCut()) {
      current.reachCount();
    }
    close(current, fromNanos);
  }

  /** Nothing new starts any more; what runs has its drain time from then on. */
  private void close(RunningLevel current, long fromNanos) {
    closed = true;
    long drainNanos = current.level().phases().drainNanos();
    boolean waited =
        current.measureEndKnown() && fromNanos - current.measureEndNanos() >= drainNanos;
    if (running == 0 || waited) {
      end(current);
    } else {
      at(fromNanos + drainNanos, () -> end(current));
    }
  }

  private void endIfDrained(RunningLevel current) {
    if (closed && running == 0) {
      end(current);
    }
  }

  private void end(RunningLevel current) {
    if (current == level && !current.isOver()) {
      long now = nanoClock.getAsLong();
      current.end(now);
      Long e2e = current.medianE2eNanos();
      e2eBefore = e2e == null ? e2eBefore : e2e;
      listener.levelEnded(current, now, running);
      if (levels.needsResults() || current.isCut()) {
        listener.whenResultKnown(current, result -> startLevelAfter(current, result));
      } else {
        startNextLevel(null);
      }
    }
  }

  private synchronized void startLevelAfter(RunningLevel ended, LevelResult result) {
    if (ended == level) {
      startNextLevel(result);
    }
  }

  // Closed levels

  private void fill(RunningLevel current, LoadLevel.Closed level) {
    if (current.isEndKnown(Phase.FILL) || (settling != null && settling.untilFill(0) == null)) {
      spread(current, level, 0, current.startNanos());
    } else {
      openSeat(current);
    }
  }

  /** Starts the users from that one on, evenly over what is left of the fill. */
  private void spread(RunningLevel current, LoadLevel.Closed level, int first, long now) {
    if (settling != null && !current.isEndKnown(Phase.FILL)) {
      current.endPhase(Phase.FILL, now + settling.fillNanos(now - current.startNanos()));
    }
    long fillNanos = current.endOf(Phase.FILL) - now;
    for (int seat = first; seat < level.users(); seat++) {
      long offset = Math.round((double) fillNanos * seat / level.users());
      if (offset == 0) {
        openSeat(current);
      } else {
        at(now + offset, () -> openSeat(current));
      }
    }
  }

  private void openSeat(RunningLevel current) {
    long now = nanoClock.getAsLong();
    if (current == level && admits(current, now)) {
      vacant++;
      LoopingUser user = waiting.poll();
      if (user == null) {
        users.start();
      } else {
        takeSeat(current, now);
        user.resume(current);
      }
    }
  }

  private boolean admits(RunningLevel current, long now) {
    return !(current.level() instanceof LoadLevel.Open)
        && !closed
        && current.phaseAt(now) != Phase.DRAIN;
  }

  private void takeSeat(RunningLevel current, long now) {
    vacant--;
    running++;
    Integer requests = current.level().phases().requests();
    if (requests != null && current.phaseAt(now) == Phase.MEASURE && ++measured == requests) {
      closeByCount(current, now);
    }
  }

  private void park(LoopingUser user, RunningLevel current) {
    // Users of open levels run once. One of them stays to the end: Gatling waits for a user's end,
    // and a plan may go on after its last request has ended.
    if (!(current.level() instanceof LoadLevel.Open) || waiting.isEmpty()) {
      waiting.add(user);
    } else {
      user.end();
    }
  }

  // Batch levels

  /** Starts the next trial when all of the one before have ended. */
  private void startNextTrial(RunningLevel current) {
    if (current == level
        && current.level() instanceof LoadLevel.Batch batch
        && running == 0
        && vacant == 0
        && !closed) {
      current.beginTrial(measured / batch.users() + 1);
      for (int user = 0; user < batch.users(); user++) {
        openSeat(current);
      }
    }
  }

  // Open levels

  private void handOut(RunningLevel current, Iterator<Planned> schedule) {
    if (schedule.hasNext()) {
      handOut(current, schedule, schedule.next());
    } else if (current.level().phases().requests() != null) {
      closeByCount(current, current.startNanos());
    }
  }

  /** Hands out what is due soon, from that arrival on, and goes on when the next one is. */
  private void handOut(RunningLevel current, Iterator<Planned> schedule, Planned from) {
    if (current != level || closed) {
      return;
    }
    long now = nanoClock.getAsLong();
    Planned next = from;
    while (true) {
      long planned = current.startNanos() + next.offsetNanos();
      long ahead =
          switch (current.phaseAt(planned)) {
            case FILL, STABILIZE, MEASURE -> LOOKAHEAD_NANOS;
            case COOLDOWN -> LEAD_NANOS;
            case DRAIN -> 0;
          };
      if (planned - now > ahead) {
        Planned later = next;
        at(planned - ahead / 8 * 7, () -> handOut(current, schedule, later));
        return;
      }
      if (ahead == 0) {
        return;
      }
      running++;
      handedOut++;
      users.start(new Arrival(current, next, planned));
      if (!schedule.hasNext()) {
        if (current.level().phases().requests() != null) {
          at(planned, () -> closeOrExtendMeasuring(current, planned));
        }
        return;
      }
      next = schedule.next();
    }
  }

  /** The last planned arrival is there. */
  private void closeOrExtendMeasuring(RunningLevel current, long planned) {
    if (extendedMeasuring(current)) {
      Iterator<Planned> longer = ((LoadLevel.Open) current.level()).schedule();
      for (long i = 0; i < handedOut; i++) {
        var unused = longer.next();
      }
      handOut(current, longer);
    } else if (current == level && !closed) {
      closeByCount(current, planned);
    }
  }

  private void at(long nanoTime, Runnable task) {
    timer.at(
        nanoTime,
        () -> {
          synchronized (this) {
            task.run();
          }
        });
  }

  /**
   * Starts virtual users. Calls return at once: a user starts on another thread, never inside the
   * call.
   */
  public interface Users {

    /** Starts a user now; it then asks {@link PlanDriver#next} what to do. */
    void start();

    /** Starts a user at its planned instant, never before; it runs one iteration. */
    void start(Arrival arrival);

    /** Nobody will be started any more. */
    void allStarted();
  }

  /** A user that waits for an iteration. Both calls return at once and act on its own thread. */
  public interface LoopingUser {

    /** Runs one iteration of that level. */
    void resume(RunningLevel level);

    /** Ends the user. */
    void end();
  }

  /** When levels are to start that several injectors start together. */
  @FunctionalInterface
  public interface Starts {

    /**
     * The instant at which a level starts, on {@link System#nanoTime()}.
     *
     * @param level its position, from 0
     * @return null where it starts as soon as the one before has ended
     */
    @Nullable Long of(int level);
  }

  /** Runs tasks at instants of {@link System#nanoTime()}, never before. */
  @FunctionalInterface
  public interface Timer {
    void at(long nanoTime, Runnable task);
  }
}
