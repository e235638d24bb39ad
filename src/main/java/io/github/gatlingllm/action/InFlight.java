package io.github.gatlingllm.action;

import io.gatling.core.session.Session;
import io.github.gatlingllm.client.StreamedExchange;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.RequestStatus;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The requests of a run whose records are not written yet, to cancel them. Thread-safe. */
final class InFlight {

  static final String DRAINED = "cancelled: still running when the level's drain time was over";
  static final String STOPPED = "cancelled: too many requests of the level had failed";
  static final String INTERRUPTED = "cancelled: the run was interrupted";
  static final String BY_GATLING =
      "cancelled: Gatling stopped the run before its load had ended (maxDuration,"
          + " stopLoadGenerator)";

  private final Map<StreamedExchange, Session> requests = new ConcurrentHashMap<>();
  private volatile @Nullable String closeReason;

  boolean mayStart(Session session) {
    RunningLevel level = UserSessions.levelOf(session);
    return closeReason == null && (level == null || level.admits());
  }

  /** Adds a request that starts; cancels it immediately if none may start any more. */
  void add(StreamedExchange exchange, Session session) {
    requests.put(exchange, session);
    cancelIfLate(exchange, session);
  }

  /**
   * Cancels a request whose user may not start another one, on its event loop. A cancelled request
   * frees its place in the gate, so the next may be sent before its cancellation arrives.
   */
  void cancelIfLate(StreamedExchange exchange, Session session) {
    if (!mayStart(session)) {
      RunningLevel level = UserSessions.levelOf(session);
      boolean cut = level != null && !level.isOver();
      String closed = closeReason;
      exchange.cut(RequestStatus.CANCELLED, closed != null ? closed : cut ? STOPPED : DRAINED);
    }
  }

  void remove(StreamedExchange exchange) {
    Session session = requests.remove(exchange);
    RunningLevel level = session == null ? null : UserSessions.levelOf(session);
    if (level != null) {
      level.requestRecorded();
    }
    if (closeReason != null) {
      synchronized (this) {
        notifyAll();
      }
    }
  }

  int size() {
    return requests.size();
  }

  boolean isAnyOpen() {
    return requests.keySet().stream().anyMatch(exchange -> !exchange.isOver());
  }

  void cancel(RunningLevel level) {
    cancel(session -> UserSessions.levelOf(session) == level, DRAINED);
  }

  /** Lets no request start any more, and cancels all requests, each on its event loop. */
  void close(String reason) {
    String first = closeReason == null ? reason : closeReason;
    closeReason = first;
    cancel(session -> true, first);
  }

  /** Waits until the records of all requests are written; to be called after {@link #close}. */
  synchronized void await(long deadline) {
    try {
      long remaining = deadline - System.nanoTime();
      while (!requests.isEmpty() && remaining > 0) {
        TimeUnit.NANOSECONDS.timedWait(this, remaining);
        remaining = deadline - System.nanoTime();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void cancel(Predicate<Session> which, String reason) {
    requests.forEach(
        (exchange, session) -> {
          if (which.test(session)) {
            EventLoops.execute(
                session.eventLoop(), () -> exchange.cut(RequestStatus.CANCELLED, reason));
          }
        });
  }
}
