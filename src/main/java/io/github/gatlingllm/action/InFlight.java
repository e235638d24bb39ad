package io.github.gatlingllm.action;

import io.gatling.core.session.Session;
import io.github.gatlingllm.client.StreamedExchange;
import io.github.gatlingllm.load.RunningLevel;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a run that have started and whose records are not yet handed over, so that they
 * can be cancelled: those of a load level whose drain time is over, and all when the run is
 * interrupted. Thread-safe; one insertion and one removal per request.
 */
final class InFlight {

  static final String DRAINED = "cancelled: still running when the level's drain time was over";
  static final String STOPPED = "cancelled: too many requests of the level had failed";
  static final String INTERRUPTED = "cancelled: the run was interrupted";

  private static final long POLL_MILLIS = 5;

  private final Map<StreamedExchange, Session> requests = new ConcurrentHashMap<>();
  private volatile boolean closed;

  /** Whether that user may start a request now. */
  boolean admits(Session session) {
    RunningLevel stage = stageOf(session);
    return !closed && (stage == null || stage.admits());
  }

  /** Notes a request that starts. One that comes too late is cancelled at once. */
  void add(StreamedExchange exchange, Session session) {
    requests.put(exchange, session);
    cancelIfLate(exchange, session);
  }

  /**
   * Cancels a request whose user may start none any more. Whoever is cancelled makes room for the
   * next in line, who may hear of that before it hears that it is cancelled too. Call on its event
   * loop.
   */
  void cancelIfLate(StreamedExchange exchange, Session session) {
    if (!admits(session)) {
      RunningLevel stage = stageOf(session);
      boolean cut = stage != null && !stage.isOver();
      exchange.cancel(closed ? INTERRUPTED : cut ? STOPPED : DRAINED);
    }
  }

  /** The request is over, and its record is handed over. */
  void remove(StreamedExchange exchange) {
    requests.remove(exchange);
  }

  /** How many are there. */
  int size() {
    return requests.size();
  }

  /** Whether a request of that stage is there. */
  boolean has(RunningLevel stage) {
    return requests.values().stream().anyMatch(session -> stageOf(session) == stage);
  }

  /** Cancels what is there of that stage, soon, each request on its own event loop. */
  void cancel(RunningLevel stage) {
    cancel(session -> stageOf(session) == stage, DRAINED);
  }

  /**
   * Starts nothing any more, and cancels all there is, soon, each request on its own event loop.
   */
  void close() {
    closed = true;
    cancel(session -> true, INTERRUPTED);
  }

  /**
   * Waits until the records of all requests are handed over.
   *
   * @param deadline on {@link System#nanoTime()}; no longer than until then
   */
  void await(long deadline) {
    try {
      while (!requests.isEmpty() && System.nanoTime() - deadline < 0) {
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void cancel(Predicate<Session> which, String reason) {
    requests.forEach(
        (exchange, session) -> {
          if (which.test(session)) {
            EventLoops.execute(session.eventLoop(), () -> exchange.cancel(reason));
          }
        });
  }

  private static @Nullable RunningLevel stageOf(Session session) {
    return (RunningLevel) session.attributes().getOrElse(RunningLevel.KEY, () -> null);
  }
}
