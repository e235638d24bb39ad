package io.github.gatlingllm.action;

import io.gatling.commons.stats.OK$;
import io.gatling.core.session.Session;
import io.netty.channel.EventLoop;
import scala.Function1;
import scala.collection.immutable.List$;
import scala.collection.immutable.Map$;
import scala.runtime.BoxedUnit;

/** Makes the session of a virtual user that has done nothing yet. */
final class FreshSession {

  private FreshSession() {}

  static Session of(
      String scenario, long userId, Function1<Session, BoxedUnit> onExit, EventLoop eventLoop) {
    return new Session(
        scenario,
        userId,
        Map$.MODULE$.empty(),
        OK$.MODULE$,
        List$.MODULE$.empty(),
        onExit,
        eventLoop);
  }

  /** The same user, taken out of the groups and loops that it is in. */
  static Session outsideBlocks(Session session) {
    return new Session(
        session.scenario(),
        session.userId(),
        session.attributes(),
        OK$.MODULE$,
        List$.MODULE$.empty(),
        session.onExit(),
        session.eventLoop());
  }
}
