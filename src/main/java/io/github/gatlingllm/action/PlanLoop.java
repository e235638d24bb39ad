package io.github.gatlingllm.action;

import io.gatling.core.action.Action;
import io.gatling.core.action.SessionHook;
import io.gatling.core.session.Session;
import io.gatling.core.stats.StatsEngine;
import io.github.gatlingllm.load.StageListener;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The loop around a scenario under a load plan: entry of every user, and what follows the last
 * action of each iteration. The user's {@link PlanUser} asks the plan what comes next.
 */
final class PlanLoop extends SessionHook {
  private final String scenario;
  private final StageListener listener;
  private @Nullable Action body;

  PlanLoop(StatsEngine statsEngine, Action exit, String scenario, StageListener listener) {
    // No function: execute is replaced. Of SessionHook only the Scala members are wanted.
    super(null, "plan", statsEngine, exit);
    this.scenario = scenario;
    this.listener = listener;
  }

  /** Closes the loop; the body must exist before, and needs the loop to be built. */
  void around(Action body) {
    this.body = body;
  }

  /** The user's name of the scenario. */
  String scenario() {
    return scenario;
  }

  StageListener listener() {
    return listener;
  }

  @Override
  public void execute(Session session) {
    PlanUser.of(session).stand(session, Objects.requireNonNull(body), next());
  }
}
