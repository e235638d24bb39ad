package io.github.gatlingllm.action;

import io.gatling.core.session.Session;
import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.TokenLengths;
import org.jspecify.annotations.Nullable;

/** Gives a user its arrival, and the lengths of the request that it replays as attributes. */
final class ArrivalSession {

  private ArrivalSession() {}

  static Session of(Session session, Arrival arrival) {
    Session arrived = session.set(Arrival.KEY, arrival);
    TokenLengths lengths = arrival.lengths();
    return lengths == null
        ? arrived
        : with(
            with(arrived, TokenLengths.INPUT_KEY, lengths.input()),
            TokenLengths.OUTPUT_KEY,
            lengths.output());
  }

  private static Session with(Session session, String key, @Nullable Integer length) {
    return length == null ? session : session.set(key, length);
  }
}
