package io.github.gatlingllm.record;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The conversation or replayed session of a request.
 *
 * @param nanos time of the whole session; only in the request that ended last, if all were ok
 * @param toolNanos the part of it in which no request was in flight
 */
public record SessionTurn(String id, @Nullable Long nanos, @Nullable Long toolNanos) {

  /** The part of the session in which a request, or several, were in flight. */
  public @Nullable Long serverNanos() {
    return nanos == null || toolNanos == null ? null : (Long) (nanos - toolNanos);
  }

  /** A value of the session of a request; null for a request of none. */
  public static <T> @Nullable T of(RequestRecord record, Function<SessionTurn, @Nullable T> value) {
    SessionTurn session = record.identity().session();
    return session == null ? null : value.apply(session);
  }
}
