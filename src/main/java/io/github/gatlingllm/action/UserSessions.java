package io.github.gatlingllm.action;

import io.gatling.commons.stats.OK$;
import io.gatling.core.action.Action;
import io.gatling.core.action.SessionHook;
import io.gatling.core.session.Session;
import io.gatling.core.stats.StatsEngine;
import io.gatling.http.protocol.HttpComponents;
import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.RunningLevel;
import io.netty.channel.EventLoop;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import scala.Function1;
import scala.collection.immutable.List$;
import scala.collection.immutable.Map$;
import scala.runtime.BoxedUnit;

/** Creates the sessions of virtual users, and reads our attributes from them. */
final class UserSessions {

  private UserSessions() {}

  static Session fresh(
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

  /** A session of a request before or beside the load. */
  static Session outsideLoad(
      String name, long userId, HttpComponents http, LlmProtocol protocol, EventLoop eventLoop) {
    Session fresh = fresh(name, userId, http.onExit(), eventLoop);
    return with(http.onStart().apply(fresh), protocol.get(ProtocolPart.WARM_UP_SESSION));
  }

  /** The session outside all groups and loops. */
  static Session outsideBlocks(Session session) {
    return fresh(session.scenario(), session.userId(), session.onExit(), session.eventLoop())
        .setAll(session.attributes());
  }

  static Session with(Session session, Map<String, Object> attributes) {
    Session more = session;
    for (Map.Entry<String, Object> attribute : attributes.entrySet()) {
      more = more.set(attribute.getKey(), attribute.getValue());
    }
    return more;
  }

  /** An action that does that with the session of a user, and has no next one. */
  static Action step(String name, StatsEngine statsEngine, Consumer<Session> then) {
    return new SessionHook(null, name, statsEngine, null) {
      @Override
      public void execute(Session session) {
        then.accept(session);
      }
    };
  }

  static @Nullable RunningLevel levelOf(Session session) {
    return (RunningLevel) session.attributes().getOrElse(RunningLevel.KEY, () -> null);
  }

  static Session withoutOwn(Session session) {
    return session.remove(Arrival.KEY).remove(RunningLevel.KEY).remove(PlanUser.KEY);
  }

  static @Nullable Arrival arrivalOf(Session session) {
    return (Arrival) session.attributes().getOrElse(Arrival.KEY, () -> null);
  }

  /** The session with an arrival, and with the lengths of the request that a trace has for it. */
  static Session withArrival(Session session, Arrival arrival) {
    Session arrived = session.set(Arrival.KEY, arrival);
    Arrivals.Lengths lengths = arrival.lengths();
    if (lengths != null && lengths.input() != null) {
      arrived = arrived.set(Arrivals.Lengths.INPUT_KEY, lengths.input());
    }
    return lengths == null || lengths.output() == null
        ? arrived
        : arrived.set(Arrivals.Lengths.OUTPUT_KEY, lengths.output());
  }
}
