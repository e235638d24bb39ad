package io.github.gatlingllm.load;

import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.load.LoadPlan.LevelResult;
import io.github.gatlingllm.load.LoadPlan.LevelSource;
import io.github.gatlingllm.record.Phase;
import java.util.ArrayDeque;
import java.util.Iterator;
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
 * user per arrival. Either way nothing new starts once the measure phase is over; the level ends
 * when nothing of it is in flight, or when its drain time is over, and the next one starts at that
 * instant. Levels are asked for one by one, so that a search may choose each one by the results of
 * those before; it then starts as soon as these are known. Where too many requests of a level fail,
 * it is cut: its measure phase ends at that instant, and arrivals already handed out do not begin.
 *
 * <p>Thread-safe: one lock, held for some hundred nanoseconds per decision.
 */
public final class PlanDriver {
  /** Arrivals are handed out this far ahead, so that each is waited for on its own event loop. */
  static final long LOOKAHEAD_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** An open schedule starts this long after its decision: its first arrivals are on time too. */
  static final long LEAD_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final LevelSource levels;
  private final LongSupplier nanoClock;
  private final Timer timer;
  private final Users users;
  private final RunningLevel.Listener listener;
  private final Queue<LoopingUser> waiting = new ArrayDeque<>();

  private @Nullable RunningLevel level;

  // Of the current level:
  private boolean closed; // nothing new starts
  private int running; // iterations in flight, or planned arrivals handed out
  private int vacant; // seats that wait for a user
  private int measured; // iterations started in the measure phase

  public PlanDriver(
      LevelSource levels,
      LongSupplier nanoClock,
      Timer timer,
      Users users,
      RunningLevel.Listener listener) {
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
    keepWaiting(user, current);
    goOnWithTrials(current);
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
      goOnWithTrials(ended);
      endIfDrained(ended);
    }
  }

  /** Whether a user that has arrived still begins its iteration; else it asks for another. */
  public boolean begins(Arrival arrival) {
    RunningLevel of = arrival.level();
    return of != null && !of.isCut();
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
    long now = nanoClock.getAsLong();
    RunningLevel started =
        new RunningLevel(next, next instanceof LoadLevel.Open ? now + LEAD_NANOS : now);
    level = started;
    closed = false;
    running = 0;
    vacant = 0;
    measured = 0;
    listener.levelStarted(started, started.startNanos());
    Long most = levels.mostFailures();
    if (most != null) {
      listener.watchFailures(started, most, () -> cut(started));
    }
    enter(started, Phase.FILL);
    if (next instanceof LoadLevel.Open open) {
      handOut(started, open.schedule());
    } else if (next instanceof LoadLevel.Closed seats) {
      fill(started, seats);
    } else {
      goOnWithTrials(started);
    }
  }

  private void enter(RunningLevel current, Phase phase) {
    if (current != level || closed) {
      return;
    }
    switch (phase) {
      case FILL -> pass(current, phase, Phase.STABILIZE);
      case STABILIZE -> pass(current, phase, Phase.MEASURE);
      case MEASURE -> {
        if (current.measureEndKnown()) {
          pass(current, phase, Phase.DRAIN);
        } else {
          listener.phaseStarted(current, phase, current.startOf(phase));
        }
      }
      case DRAIN -> {
        listener.phaseStarted(current, phase, current.startOf(phase));
        close(current, current.startOf(phase));
      }
    }
  }

  private void pass(RunningLevel current, Phase phase, Phase following) {
    long from = current.startOf(phase);
    long until = current.startOf(following);
    if (from == until) {
      enter(current, following);
    } else {
      listener.phaseStarted(current, phase, from);
      at(until, () -> enter(current, following));
    }
  }

  /** Ends a level before its time. */
  private synchronized void cut(RunningLevel current) {
    if (current == level && !closed) {
      current.cut(nanoClock.getAsLong());
      enter(current, Phase.DRAIN);
    }
  }

  /** Nothing new starts any more; what runs has its drain time from then on. */
  private void close(RunningLevel current, long fromNanos) {
    closed = true;
    if (running == 0) {
      end(current);
    } else {
      at(fromNanos + current.level().phases().drainNanos(), () -> end(current));
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
      listener.levelEnded(current, now, running);
      if (levels.needsResults()) {
        listener.whenSettled(current, result -> goOn(current, result));
      } else {
        startNextLevel(null);
      }
    }
  }

  private synchronized void goOn(RunningLevel ended, LevelResult result) {
    if (ended == level) {
      startNextLevel(result);
    }
  }

  // Closed levels

  private void fill(RunningLevel current, LoadLevel.Closed level) {
    long fillNanos = level.phases().fillNanos();
    for (int seat = 0; seat < level.users(); seat++) {
      long offset = Math.round((double) fillNanos * seat / level.users());
      if (offset == 0) {
        openSeat(current);
      } else {
        at(current.startNanos() + offset, () -> openSeat(current));
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
      close(current, now);
    }
  }

  private void keepWaiting(LoopingUser user, RunningLevel current) {
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
  private void goOnWithTrials(RunningLevel current) {
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
    if (current != level || closed) {
      return;
    }
    long horizon = nanoClock.getAsLong() + LOOKAHEAD_NANOS;
    long planned = current.startNanos();
    while (schedule.hasNext() && planned - horizon < 0) {
      Planned next = schedule.next();
      planned = current.startNanos() + next.offsetNanos();
      running++;
      users.start(new Arrival(current, next, planned));
    }
    if (schedule.hasNext()) {
      at(planned - LOOKAHEAD_NANOS / 8 * 7, () -> handOut(current, schedule));
    } else if (!current.measureEndKnown()) {
      close(current, planned);
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

  /** Runs tasks at instants of {@link System#nanoTime()}, never before. */
  @FunctionalInterface
  public interface Timer {
    void at(long nanoTime, Runnable task);
  }
}
