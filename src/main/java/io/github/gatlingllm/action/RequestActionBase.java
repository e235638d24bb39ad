package io.github.gatlingllm.action;

import io.gatling.core.action.Action;
import io.gatling.core.action.BlockExit;
import io.gatling.core.action.RequestAction;
import io.gatling.core.action.SessionHook;
import io.gatling.core.session.Session;
import io.gatling.core.stats.StatsEngine;
import scala.Option;

/**
 * A Gatling request action in Java. Scala traits leave synthetic members that javac does not ask
 * for: {@link SessionHook} brings them for chaining, and the exit from blocks is repeated here.
 * Without this class a Java implementation compiles and ends the run with {@code
 * AbstractMethodError}.
 */
abstract class RequestActionBase extends SessionHook implements RequestAction {

  RequestActionBase(String name, StatsEngine statsEngine, Action next) {
    super(null, name, statsEngine, next);
  }

  @Override
  public void $bang(Session session) {
    Option<BlockExit> exit = BlockExit.mustExit(session);
    if (exit.isDefined()) {
      exit.get().exitBlock(statsEngine(), clock().nowMillis());
    } else {
      super.$bang(session);
    }
  }

  @Override
  public void execute(Session session) {
    RequestAction.super.execute(session);
  }
}
