package io.github.gatlingllm.action;

import io.github.gatlingllm.record.Timeline;
import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Limits the requests in flight; others wait, first in first out. Thread-safe, never blocks. */
final class InFlightGate {

  private enum State {
    WAITING,
    INSIDE,
    GONE
  }

  private final int limit;
  private final Queue<Permit> waiting = new ArrayDeque<>();
  private int inside;

  InFlightGate(int limit) {
    this.limit = limit;
  }

  /** Enters, or joins the queue: then the thread that releases a permit calls back. */
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

  /** The first of the queue that still waits; drops those that were released while they waited. */
  private @Nullable Permit nextWaiting() {
    Permit next = waiting.poll();
    while (next != null && next.state == State.GONE) {
      next = waiting.poll();
    }
    return next;
  }

  final class Permit {
    private final Runnable admitted;
    private final boolean atOnce;
    private State state;

    private Permit(Runnable admitted, boolean atOnce) {
      this.admitted = admitted;
      this.atOnce = atOnce;
      this.state = atOnce ? State.INSIDE : State.WAITING;
    }

    boolean atOnce() {
      return atOnce;
    }

    void release() {
      InFlightGate.this.release(this);
    }
  }

  /** The passage of a request through the gate, then through the limits per minute. */
  static final class Passage implements RateLimiter.Waiter {

    private final @Nullable InFlightGate gate;
    private final @Nullable RateLimiter limiter;
    private final Timeline timeline;
    private final EventLoop eventLoop;
    private final LongSupplier nanoClock;
    private @Nullable Permit permit;
    private RateLimiter.@Nullable Turn turn;
    private @Nullable LongConsumer admitted;
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

    /** Calls back with the instant of admission: within this call, or later on the event loop. */
    void enter(long now, LongSupplier tokens, LongConsumer whenAdmitted) {
      admitted = whenAdmitted;
      if (gate == null) {
        pace(now, tokens);
        return;
      }
      permit =
          gate.acquire(
              () -> EventLoops.execute(eventLoop, () -> pace(nanoClock.getAsLong(), tokens)));
      if (permit.atOnce()) {
        pace(now, tokens);
      }
    }

    private void pace(long now, LongSupplier tokens) {
      if (limiter == null || hasLeft) {
        admit(now);
        return;
      }
      reachedLimiter = now;
      turn = limiter.enter(tokens.getAsLong(), this);
      if (turn.isAtOnce()) {
        timeline.paced(0);
        admit(now);
      }
    }

    private void admit(long now) {
      Objects.requireNonNull(admitted).accept(now);
    }

    @Override
    public void go() {
      EventLoops.execute(
          eventLoop,
          () -> {
            long now = nanoClock.getAsLong();
            if (!hasLeft) {
              timeline.paced(now - reachedLimiter);
            }
            admit(now);
          });
    }

    @Override
    public void at(long nanoTime, Runnable task) {
      EventLoops.at(eventLoop, nanoTime, task);
    }

    /** Ends the passage: the request has ended, or will not be sent. */
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
  }
}
