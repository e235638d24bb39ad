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
  static final String BY_GATLING =
      "cancelled: Gatling stopped the run before its load had ended (maxDuration,"
          + " stopLoadGenerator)";

  /**
   * A request.
   *
   * @param session of its user
   * @param level that it belongs to; null outside load plans
   * @param measured whether it was scheduled in the measure phase of its level
   */
  private record Sent(Session session, @Nullable RunningLevel level, boolean measured) {}

  private final Map<StreamedExchange, Sent> requests = new ConcurrentHashMap<>();
  private volatile @Nullable String closedBecause;

  /** Whether that user may start a request now. */
  boolean admits(Session session) {
    RunningLevel level = UserSessions.levelOf(session);
    return closedBecause == null && (level == null || level.admits());
  }

  /** Notes a request that starts. One that comes too late is cancelled at once. */
  void add(StreamedExchange exchange, Session session) {
    RunningLevel level = UserSessions.levelOf(session);
    boolean measured = level != null && level.requestStarted(exchange.timeline().scheduled());
    requests.put(exchange, new Sent(session, level, measured));
    cancelIfLate(exchange, session);
  }

  /** A request was admitted; the gauge of its level keeps a clock of its own. */
  static void admitted(Session session) {
    RunningLevel level = UserSessions.levelOf(session);
    if (level != null) {
      level.requestAdmitted(System.nanoTime());
    }
  }

  /** A request that was admitted is over. */
  static void closed(Session session) {
    RunningLevel level = UserSessions.levelOf(session);
    if (level != null) {
      level.requestClosed(System.nanoTime());
    }
  }

  /**
   * Cancels a request whose user may not start another one. A cancelled request frees its place in
   * the gate, so a waiting request may be sent before its own cancellation arrives. Call on the
   * event loop of the request.
   */
  void cancelIfLate(StreamedExchange exchange, Session session) {
    if (!admits(session)) {
      RunningLevel level = UserSessions.levelOf(session);
      boolean cut = level != null && !level.isOver();
      String closed = closedBecause;
      exchange.cancel(closed != null ? closed : cut ? STOPPED : DRAINED);
    }
  }

  /** The request has ended; its record is to come. */
  void ended(StreamedExchange exchange, long nanoTime) {
    Sent sent = requests.get(exchange);
    if (sent != null && sent.level() != null) {
      PlanUser user = PlanUser.orNull(sent.session());
      boolean first = user != null && user.isFirstAnswer(sent.level());
      sent.level().requestEnded(sent.measured(), nanoTime - exchange.timeline().scheduled(), first);
    }
  }

  /** A request that is over before it could be sent. {@code keep} hands its record over. */
  static void notBuilt(Session session, long scheduledNanos, long nanoTime, Runnable keep) {
    RunningLevel level = UserSessions.levelOf(session);
    if (level == null) {
      keep.run();
      return;
    }
    PlanUser user = PlanUser.orNull(session);
    level.requestEnded(
        level.requestStarted(scheduledNanos),
        nanoTime - scheduledNanos,
        user != null && user.isFirstAnswer(level));
    keep.run();
    level.requestRecorded();
  }

  /** Its record is handed over. */
  void remove(StreamedExchange exchange) {
    Sent sent = requests.remove(exchange);
    if (sent != null && sent.level() != null) {
      sent.level().requestRecorded();
    }
    if (closedBecause != null) {
      synchronized (this) {
        notifyAll();
      }
    }
  }

  /** How many are there. */
  int size() {
    return requests.size();
  }

  /** Whether one of them waits for its answer, or is receiving it. */
  boolean isAnyOpen() {
    return requests.keySet().stream().anyMatch(exchange -> !exchange.isOver());
  }

  /** Cancels what is there of that level, soon, each request on its own event loop. */
  void cancel(RunningLevel level) {
    cancel(sent -> sent.level() == level, DRAINED);
  }

  /**
   * Starts nothing any more, and cancels all there is, soon, each request on its own event loop.
   *
   * @param because what their records say; the first reason stands
   */
  void close(String because) {
    String reason = closedBecause == null ? because : closedBecause;
    closedBecause = reason;
    cancel(sent -> true, reason);
  }

  /**
   * Waits until the records of all requests are handed over; to be called once {@link #close} was.
   *
   * @param deadline on {@link System#nanoTime()}, at which it gives up
   */
  synchronized void await(long deadline) {
    try {
      long left = deadline - System.nanoTime();
      while (!requests.isEmpty() && left > 0) {
        TimeUnit.NANOSECONDS.timedWait(this, left);
        left = deadline - System.nanoTime();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void cancel(Predicate<Sent> which, String reason) {
    requests.forEach(
        (exchange, sent) -> {
          if (which.test(sent)) {
            EventLoops.execute(sent.session().eventLoop(), () -> exchange.cancel(reason));
          }
        });
  }
}
