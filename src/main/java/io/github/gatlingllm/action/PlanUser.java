package io.github.gatlingllm.action;

import io.gatling.core.action.Action;
import io.gatling.core.session.Session;
import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.PlanDriver;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.load.VirtualUsers;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One virtual user of a load plan. Its session, cookies and conversation live on from iteration to
 * iteration; a failure does not: each iteration starts as succeeded. Belongs to its event loop, but
 * for {@link #resume} and {@link #leave}, which hop there.
 */
final class PlanUser implements VirtualUsers.Waiting {
  private static final String KEY = "gatling.llm.user";

  private final PlanDriver driver;
  private final @Nullable Arrival arrival;
  private final String scenario;

  private @Nullable Session session;
  private @Nullable Action body;
  private @Nullable Action exit;
  private @Nullable RunningLevel stage;
  private boolean inBody;

  /**
   * @param arrival of a user that runs once; null for one that loops
   * @param scenario the user's name of the scenario that it runs
   */
  PlanUser(PlanDriver driver, @Nullable Arrival arrival, String scenario) {
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

  /** The session of a new user. */
  Session in(Session session) {
    Session own = session.set(KEY, this);
    return arrival == null ? own : ArrivalSession.of(own, arrival);
  }

  /** At the loop: either new, or an iteration has just ended. */
  void stand(Session session, Action body, Action exit) {
    this.session = session;
    this.body = body;
    this.exit = exit;
    Arrival unserved = stage == null ? arrival : null;
    RunningLevel next =
        unserved == null
            ? driver.next(this, stage)
            : driver.begins(unserved) ? unserved.stage() : driver.next(this, unserved.stage());
    if (next == null) {
      return;
    }
    if (inBody) {
      // A body that never left this stack; looping on it would overflow.
      hop(() -> run(next));
    } else {
      run(next);
    }
  }

  /**
   * Gives up its iteration, whose stage admits no request any more, and stands at the loop again.
   */
  void goBack(Session session) {
    if (stage != null && !stage.admits()) {
      stand(
          FreshSession.outsideBlocks(session),
          Objects.requireNonNull(body),
          Objects.requireNonNull(exit));
    }
  }

  /** Left inside an iteration. */
  void left() {
    if (stage != null) {
      driver.left(stage);
    }
  }

  @Override
  public void resume(RunningLevel stage) {
    hop(() -> run(stage));
  }

  @Override
  public void leave() {
    hop(() -> Objects.requireNonNull(exit).$bang(Objects.requireNonNull(session)));
  }

  private void run(RunningLevel next) {
    Session fresh = Objects.requireNonNull(session).markAsSucceeded();
    if (next != stage) {
      stage = next;
      fresh = fresh.set(RunningLevel.KEY, next);
    }
    inBody = true;
    try {
      Objects.requireNonNull(body).$bang(fresh);
    } finally {
      inBody = false;
    }
  }

  private void hop(Runnable task) {
    EventLoops.execute(Objects.requireNonNull(session).eventLoop(), task);
  }
}
