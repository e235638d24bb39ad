package io.github.gatlingllm.action;

import io.github.gatlingllm.record.Timeline;
import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Limits the number of requests in flight. Requests above the limit wait in one queue, first in
 * first out, whatever thread they come from. Never blocks a thread; the cost of entering and
 * leaving does not grow with the queue.
 *
 * <p>Thread-safe: one lock, held for some hundred nanoseconds, and released before a waiting
 * request is started.
 */
final class InFlightGate {

  private enum State {
    WAITING,
    INSIDE,
    GONE
  }

  private final int limit;
  private final Queue<Permit> waiting = new ArrayDeque<>();
  private int inside;

  /**
   * @param limit requests in flight, 1 or more
   * @throws IllegalArgumentException if it is not
   */
  InFlightGate(int limit) {
    if (limit < 1) {
      throw new IllegalArgumentException(
          "maxInFlight(" + limit + "): expected 1 request in flight or more");
    }
    this.limit = limit;
  }

  /**
   * Enters, or joins the end of the queue.
   *
   * @param admitted called once, by the thread that made room: to return at once, throw nothing,
   *     and act on a thread of its own, where a permit that was released in the meantime is void.
   *     Not called where the permit is valid {@link Permit#atOnce() at once}
   */
  synchronized Permit acquire(Runnable admitted) {
    boolean free = inside < limit;
    Permit permit = new Permit(admitted, free);
    if (free) {
      inside++;
    } else {
      waiting.add(permit);
    }
    return permit;
  }

  private void release(Permit permit) {
    Permit next = null;
    synchronized (this) {
      State was = permit.state;
      permit.state = State.GONE;
      if (was == State.INSIDE) {
        next = nextWaiting();
        if (next == null) {
          inside--;
        } else {
          next.state = State.INSIDE;
        }
      }
    }
    if (next != null) {
      next.admitted.run();
    }
  }

  /** Drops those that gave up: each once, so that releasing stays cheap. */
  private @Nullable Permit nextWaiting() {
    Permit next = waiting.poll();
    while (next != null && next.state == State.GONE) {
      next = waiting.poll();
    }
    return next;
  }

  /** One request's place: in the queue, then inside. */
  final class Permit {
    private final Runnable admitted;
    private final boolean atOnce;
    private State state;

    private Permit(Runnable admitted, boolean atOnce) {
      this.admitted = admitted;
      this.atOnce = atOnce;
      this.state = atOnce ? State.INSIDE : State.WAITING;
    }

    /** Whether there was room, so that nobody had to wait. */
    boolean atOnce() {
      return atOnce;
    }

    /** Gives the place back, or gives up waiting. Further calls do nothing. */
    void release() {
      InFlightGate.this.release(this);
    }
  }

  /**
   * One request's way through the in-flight gate and the limits per minute, if there are any. The
   * limits come last: they count what goes, not what may go soon. Belongs to the request's event
   * loop.
   */
  static final class Passage {

    private final @Nullable InFlightGate gate;
    private final @Nullable RateLimiter limiter;
    private final Timeline timeline;
    private final EventLoop eventLoop;
    private final LongSupplier nanoClock;
    private @Nullable Permit permit;
    private RateLimiter.@Nullable Turn turn;
    private long reachedLimiter;
    private boolean hasLeft;

    Passage(
        @Nullable InFlightGate gate,
        @Nullable RateLimiter limiter,
        Timeline timeline,
        EventLoop eventLoop,
        LongSupplier nanoClock) {
      this.gate = gate;
      this.limiter = limiter;
      this.timeline = timeline;
      this.eventLoop = eventLoop;
      this.nanoClock = nanoClock;
    }

    /**
     * Calls back as soon as there is room, with the instant of that: {@code now} inside this call,
     * or later on the event loop.
     *
     * @param tokens that the request may take
     */
    void enter(long now, LongSupplier tokens, LongConsumer admitted) {
      if (gate == null) {
        pace(now, tokens, admitted);
        return;
      }
      permit =
          gate.acquire(
              () ->
                  EventLoops.execute(
                      eventLoop, () -> pace(nanoClock.getAsLong(), tokens, admitted)));
      if (permit.atOnce()) {
        pace(now, tokens, admitted);
      }
    }

    private void pace(long now, LongSupplier tokens, LongConsumer admitted) {
      if (limiter == null || hasLeft) {
        admitted.accept(now);
        return;
      }
      reachedLimiter = now;
      turn = limiter.enter(tokens.getAsLong(), new Pace(admitted));
      if (turn.isAtOnce()) {
        timeline.paced(0);
        admitted.accept(now);
      }
    }

    private void paced(LongConsumer admitted) {
      long now = nanoClock.getAsLong();
      if (!hasLeft) {
        timeline.paced(now - reachedLimiter);
      }
      admitted.accept(now);
    }

    /**
     * The request is over, or will never be sent.
     *
     * @param tokens that it took; null where that is not known
     */
    void leave(@Nullable Long tokens) {
      hasLeft = true;
      if (permit != null) {
        permit.release();
      }
      if (turn != null && turn.isWaiting()) {
        timeline.paced(nanoClock.getAsLong() - reachedLimiter);
        turn.leave();
      } else if (turn != null && tokens != null) {
        turn.used(tokens);
      }
    }

    private final class Pace implements RateLimiter.Waiter {
      private final LongConsumer admitted;

      private Pace(LongConsumer admitted) {
        this.admitted = admitted;
      }

      @Override
      public void go() {
        EventLoops.execute(eventLoop, () -> paced(admitted));
      }

      @Override
      public void at(long nanoTime, Runnable task) {
        EventLoops.at(eventLoop, nanoTime, task);
      }
    }
  }
}
