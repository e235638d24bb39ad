package io.github.gatlingllm.action;

import io.gatling.core.action.Action;
import io.gatling.core.session.Session;
import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.PlanDriver;
import io.github.gatlingllm.load.RunningLevel;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One virtual user of a load plan. Its session, cookies and conversation live on from iteration to
 * iteration; a failure does not: each iteration starts as succeeded. Belongs to its event loop, but
 * for {@link #resume} and {@link #end}, which hop there.
 */
final class PlanUser implements PlanDriver.LoopingUser {
  static final String KEY = "gatling.llm.user";

  private final PlanDriver driver;
  private final @Nullable Arrival arrival;
  private final String scenario;
  private final int plan;

  private @Nullable Session session;
  private @Nullable Action body;
  private @Nullable Action exit;
  private @Nullable RunningLevel level;
  private @Nullable RunningLevel answeredIn;
  private boolean inBody;
  private long delayNanos;

  /**
   * @param arrival of a user that runs once; null for one that loops
   * @param scenario the user's name of the scenario that it runs
   * @param plan the number of the plan in its run
   */
  PlanUser(PlanDriver driver, @Nullable Arrival arrival, String scenario, int plan) {
    this.plan = plan;
    this.driver = driver;
    this.arrival = arrival;
    this.scenario = scenario;
  }

  /** The user of that session; null outside load plans. */
  static @Nullable PlanUser orNull(Session session) {
    return (PlanUser) session.attributes().getOrElse(KEY, () -> null);
  }

  static PlanUser of(Session session) {
    return (PlanUser) session.attributes().apply(KEY);
  }

  /** The user's name of a session's scenario; Gatling's own may name the target too. */
  static String scenarioOf(Session session) {
    Object user = session.attributes().getOrElse(KEY, () -> null);
    return user instanceof PlanUser planned ? planned.scenario : session.scenario();
  }

  /** The number of the plan in its run, from 1. */
  int plan() {
    return plan;
  }

  /** The session of a new user. */
  Session in(Session session) {
    Session own = session.set(KEY, this);
    return arrival == null ? own : UserSessions.arriving(own, arrival);
  }

  /** Is new, or has just ended an iteration: begins the next one, if there is one. */
  void goOn(Session session, Action body, Action exit) {
    this.session = session;
    this.body = body;
    this.exit = exit;
    Arrival unserved = level == null ? arrival : null;
    RunningLevel next =
        unserved == null
            ? driver.next(this, level)
            : driver.begins(unserved) ? unserved.level() : driver.next(this, unserved.level());
    if (next == null) {
      return;
    }
    if (inBody) {
      // A body that never left this stack; looping on it would overflow.
      onEventLoop(() -> run(next));
    } else {
      run(next);
    }
  }

  /** Gives up its iteration, whose level admits no request any more, and asks for another one. */
  void goBack(Session session) {
    if (level != null && !level.admits()) {
      goOn(
          UserSessions.outsideBlocks(session),
          Objects.requireNonNull(body),
          Objects.requireNonNull(exit));
    }
  }

  /** Whether the answer that has ended is the user's first one in that level. */
  boolean isFirstAnswer(RunningLevel of) {
    boolean first = answeredIn != of;
    answeredIn = of;
    return first;
  }

  /** Went on so much later than its answer ended. */
  void delayed(long nanos) {
    delayNanos += nanos;
  }

  /** How much later than it should have it reaches its next request. */
  long takeDelay() {
    long delay = delayNanos;
    delayNanos = 0;
    return delay;
  }

  /** Left inside an iteration. */
  void left() {
    if (level != null) {
      driver.left(level);
    }
  }

  @Override
  public void resume(RunningLevel next) {
    onEventLoop(() -> run(next));
  }

  @Override
  public void end() {
    onEventLoop(() -> Objects.requireNonNull(exit).$bang(Objects.requireNonNull(session)));
  }

  private void run(RunningLevel next) {
    Session fresh = Objects.requireNonNull(session).markAsSucceeded();
    if (next != level) {
      level = next;
      fresh = fresh.set(RunningLevel.KEY, next);
    }
    inBody = true;
    try {
      Objects.requireNonNull(body).$bang(fresh);
    } finally {
      inBody = false;
    }
  }

  private void onEventLoop(Runnable task) {
    EventLoops.execute(Objects.requireNonNull(session).eventLoop(), task);
  }
}
