package io.github.gatlingllm.action;

import io.gatling.core.action.Action;
import io.gatling.core.action.SessionHook;
import io.gatling.core.session.Session;
import io.gatling.core.stats.StatsEngine;

/** Where a user leaves inside an iteration ({@code exitHereIfFailed} and the like). */
final class PlanExit extends SessionHook {

  PlanExit(StatsEngine statsEngine, Action exit) {
    // No function: execute is replaced. Of SessionHook only the Scala members are wanted.
    super(null, "plan-exit", statsEngine, exit);
  }

  @Override
  public void execute(Session session) {
    PlanUser.of(session).left();
    next().$bang(session);
  }
}
