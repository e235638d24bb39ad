package io.github.gatlingllm.action;

import io.gatling.core.session.Session;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import java.util.Map;
import scala.runtime.BoxedUnit;

public final class Sessions {

  private static final EventLoop EVENT_LOOP = new DefaultEventLoop();

  private Sessions() {}

  public static Session with(Map<String, ?> attributes) {
    Session session = UserSessions.fresh("scenario", 7, ended -> BoxedUnit.UNIT, EVENT_LOOP);
    for (Map.Entry<String, ?> attribute : attributes.entrySet()) {
      session = session.set(attribute.getKey(), attribute.getValue());
    }
    return session;
  }
}
