package io.github.gatlingllm.action;

import io.gatling.core.action.Action;
import io.gatling.core.session.Session;
import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.PlanDriver;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.LevelInfo.Phase;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One virtual user of a load plan, whose session goes on from iteration to iteration. Confined to
 * its event loop, except {@link #resume} and {@link #end}.
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
  private boolean isInBody;
  private long delayNanos;

  PlanUser(PlanDriver driver, @Nullable Arrival arrival, String scenario, int plan) {
    this.plan = plan;
    this.driver = driver;
    this.arrival = arrival;
    this.scenario = scenario;
  }

  static @Nullable PlanUser orNull(Session session) {
    return (PlanUser) session.attributes().getOrElse(KEY, () -> null);
  }

  static PlanUser of(Session session) {
    return (PlanUser) session.attributes().apply(KEY);
  }

  /** The scenario's name in the simulation; Gatling's name of it may include the target. */
  static String scenarioOf(Session session) {
    Object user = session.attributes().getOrElse(KEY, () -> null);
    return user instanceof PlanUser planned ? planned.scenario : session.scenario();
  }

  int plan() {
    return plan;
  }

  Session in(Session session) {
    Session own = session.set(KEY, this);
    return arrival == null ? own : UserSessions.withArrival(own, arrival);
  }

  void iterate(Session session, Action body, Action exit) {
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
    if (isInBody) {
      // The iteration has ended on this stack: one more on top of it, and so on, would overflow it.
      onEventLoop(() -> run(next));
    } else {
      run(next);
    }
  }

  /** Abandons the iteration where its load level admits no requests any more; starts the next. */
  void abandonIteration(Session session) {
    if (level != null && !level.admits()) {
      iterate(
          UserSessions.outsideBlocks(session),
          Objects.requireNonNull(body),
          Objects.requireNonNull(exit));
    }
  }

  /** A request of that level has ended; whether it was the first of its user there counts too. */
  static void ended(Session session, RunningLevel level, boolean isMeasured, long nanos) {
    PlanUser user = orNull(session);
    level.requestEnded(isMeasured, nanos, user != null && user.answeredIn != level);
    if (user != null) {
      user.answeredIn = level;
    }
  }

  /** Whether it has had no answer in a closed level whose users still start. */
  static boolean isFirstOfFill(Session session, RunningLevel level) {
    PlanUser user = orNull(session);
    return user != null
        && user.answeredIn != level
        && level.level() instanceof LoadLevel.Closed
        && level.phaseAt(System.nanoTime()) == Phase.FILL;
  }

  void delayed(long nanos) {
    delayNanos += nanos;
  }

  /** The delay since the last call: how late the user is at its next request. */
  long takeDelay() {
    long delay = delayNanos;
    delayNanos = 0;
    return delay;
  }

  void exited() {
    if (level != null) {
      driver.userExited(level);
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
    isInBody = true;
    try {
      Objects.requireNonNull(body).$bang(fresh);
    } finally {
      isInBody = false;
    }
  }

  private void onEventLoop(Runnable task) {
    EventLoops.execute(Objects.requireNonNull(session).eventLoop(), task);
  }
}
