package io.github.gatlingllm.action;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Limits requests and tokens per minute by a sliding window over the instants of admission; others
 * wait, first in first out. A request counts with the tokens that it may need until {@link
 * Turn#used}; one that needs more than the whole limit waits for an empty window. Thread-safe.
 */
final class RateLimiter {

  /** Added to a minute, as delays on the way to the server vary. */
  private static final int MARGIN_MS = 500;

  private static final long WINDOW_NANOS =
      TimeUnit.MINUTES.toNanos(1) + TimeUnit.MILLISECONDS.toNanos(MARGIN_MS);
  private static final long NONE = Long.MAX_VALUE;

  private final long maxRequests;
  private final long maxTokens;
  private final LongSupplier nanoClock;
  private final Queue<Turn> waiting = new ArrayDeque<>();

  /** Requests admitted within the window, oldest first. */
  private final Queue<Turn> window = new ArrayDeque<>();

  private long tokens;
  private long wakeAt = NONE;

  /** A waiting request and its event loop. */
  interface Waiter {

    /** The request is admitted. Called once, on any thread; must return at once. */
    void go();

    /** Runs a task at that instant of the clock or a little later. */
    void at(long nanoTime, Runnable task);
  }

  private enum State {
    WAITING,
    IN_WINDOW,
    OVER
  }

  RateLimiter(@Nullable Integer requests, @Nullable Integer tokens, LongSupplier nanoClock) {
    this.maxRequests = requests == null ? Long.MAX_VALUE : requests;
    this.maxTokens = tokens == null ? Long.MAX_VALUE : tokens;
    this.nanoClock = nanoClock;
  }

  /** Admits a request at once, or later, which the waiter is told. */
  Turn enter(long needs, Waiter waiter) {
    Turn turn = new Turn(waiter, Math.max(0, needs));
    List<Turn> due;
    synchronized (this) {
      waiting.add(turn);
      due = advance();
      turn.atOnce = turn.state == State.IN_WINDOW;
    }
    callBack(due, turn);
    return turn;
  }

  /** Admits the requests that fit, and schedules the next attempt. */
  private List<Turn> advance() {
    long now = nanoClock.getAsLong();
    expire(now);
    List<Turn> due = new ArrayList<>(1);
    for (Turn next = next(); next != null && fits(next); next = next()) {
      waiting.remove();
      next.state = State.IN_WINDOW;
      next.admittedAt = now;
      window.add(next);
      tokens += next.charge;
      due.add(next);
    }
    Turn blocked = next();
    if (blocked != null) {
      long free = window.element().admittedAt + WINDOW_NANOS;
      if (wakeAt == NONE || free - wakeAt < 0) {
        wakeAt = free;
        blocked.waiter.at(free, () -> wake(free));
      }
    }
    return due;
  }

  private void expire(long now) {
    while (!window.isEmpty() && now - window.element().admittedAt >= WINDOW_NANOS) {
      Turn oldest = window.remove();
      oldest.state = State.OVER;
      tokens -= oldest.charge;
    }
  }

  private @Nullable Turn next() {
    while (!waiting.isEmpty() && waiting.element().state == State.OVER) {
      waiting.remove();
    }
    return waiting.peek();
  }

  private boolean fits(Turn turn) {
    return window.isEmpty() || (window.size() < maxRequests && tokens + turn.charge <= maxTokens);
  }

  private void wake(long at) {
    List<Turn> due;
    synchronized (this) {
      if (wakeAt == at) {
        wakeAt = NONE;
      }
      due = advance();
    }
    callBack(due, null);
  }

  private static void callBack(List<Turn> due, @Nullable Turn atOnce) {
    for (Turn turn : due) {
      if (turn != atOnce) {
        turn.waiter.go();
      }
    }
  }

  /** One request's place in the queue, then in the window. */
  final class Turn {
    private final Waiter waiter;
    private long charge;
    private long admittedAt;
    private State state = State.WAITING;
    private boolean atOnce;

    private Turn(Waiter waiter, long charge) {
      this.waiter = waiter;
      this.charge = charge;
    }

    boolean isAtOnce() {
      return atOnce;
    }

    boolean isWaiting() {
      synchronized (RateLimiter.this) {
        return state == State.WAITING;
      }
    }

    /** Gives up waiting; no effect on an admitted request. */
    void leave() {
      List<Turn> due;
      synchronized (RateLimiter.this) {
        if (state != State.WAITING) {
          return;
        }
        state = State.OVER;
        due = advance();
      }
      callBack(due, null);
    }

    /** Reports the tokens that the request used; the rest of its reservation becomes free. */
    void used(long actual) {
      List<Turn> due;
      synchronized (RateLimiter.this) {
        expire(nanoClock.getAsLong());
        if (state != State.IN_WINDOW) {
          return;
        }
        tokens += actual - charge;
        charge = actual;
        due = advance();
      }
      callBack(due, null);
    }
  }
}
