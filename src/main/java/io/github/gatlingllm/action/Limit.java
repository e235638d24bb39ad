package io.github.gatlingllm.action;

import io.github.gatlingllm.record.Timeline;
import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A limit of the requests in flight, or of requests and tokens in a sliding minute since their
 * admission; others wait, first in first out. In a minute a request counts with the tokens that it
 * may need until its answer has others; one that needs more than the limit waits until it is alone.
 * Thread-safe, never blocks.
 */
final class Limit {

  /** Added to a minute, as delays on the way to the server vary. */
  private static final int MARGIN_MS = 500;

  private static final long MINUTE_NANOS =
      TimeUnit.MINUTES.toNanos(1) + TimeUnit.MILLISECONDS.toNanos(MARGIN_MS);
  private static final long NONE = Long.MAX_VALUE;

  /** Whether a request counts for a minute, not until its end. */
  private final boolean isPerMinute;

  private final long maxRequests;
  private final long maxTokens;
  private final LongSupplier nanoClock;
  private final Queue<Turn> waiting = new ArrayDeque<>();

  /** Requests admitted within the minute, oldest first. */
  private final Queue<Turn> minute = new ArrayDeque<>();

  private long inside;
  private long tokens;
  private long wakeAt = NONE;

  /** A waiting request and its event loop. */
  interface Waiter {

    /** The request is admitted. Called once, on any thread; must return immediately. */
    void go();

    /** Runs a task at that instant of the clock or a little later. */
    void at(long nanoTime, Runnable task);
  }

  private enum State {
    WAITING,
    INSIDE,
    OVER
  }

  private Limit(
      boolean isPerMinute,
      @Nullable Integer requests,
      @Nullable Integer tokens,
      LongSupplier nanoClock) {
    this.isPerMinute = isPerMinute;
    this.maxRequests = requests == null ? Long.MAX_VALUE : requests;
    this.maxTokens = tokens == null ? Long.MAX_VALUE : tokens;
    this.nanoClock = nanoClock;
  }

  static Limit inFlight(int requests) {
    return new Limit(false, requests, null, System::nanoTime);
  }

  static Limit perMinute(
      @Nullable Integer requests, @Nullable Integer tokens, LongSupplier nanoClock) {
    return new Limit(true, requests, tokens, nanoClock);
  }

  /** Admits a request immediately, or later, which the waiter is told. */
  Turn enter(long needs, Waiter waiter) {
    Turn turn = new Turn(waiter, Math.max(0, needs));
    List<Turn> due;
    synchronized (this) {
      waiting.add(turn);
      due = advance();
      turn.isImmediate = turn.state == State.INSIDE;
    }
    callBack(due, turn);
    return turn;
  }

  /** Admits the requests that fit, and schedules the next attempt. */
  private List<Turn> advance() {
    long now = isPerMinute ? nanoClock.getAsLong() : 0;
    expire(now);
    List<Turn> due = new ArrayList<>(1);
    for (Turn next = next(); next != null && fits(next); next = next()) {
      waiting.remove();
      next.state = State.INSIDE;
      next.admittedAt = now;
      inside++;
      tokens += next.charge;
      due.add(next);
      if (isPerMinute) {
        minute.add(next);
      }
    }
    Turn blocked = isPerMinute ? next() : null;
    if (blocked != null) {
      long free = minute.element().admittedAt + MINUTE_NANOS;
      if (wakeAt == NONE || free - wakeAt < 0) {
        wakeAt = free;
        blocked.waiter.at(free, () -> wake(free));
      }
    }
    return due;
  }

  private void expire(long now) {
    while (!minute.isEmpty() && now - minute.element().admittedAt >= MINUTE_NANOS) {
      leave(minute.remove());
    }
  }

  private void leave(Turn turn) {
    turn.state = State.OVER;
    inside--;
    tokens -= turn.charge;
  }

  private @Nullable Turn next() {
    while (!waiting.isEmpty() && waiting.element().state == State.OVER) {
      waiting.remove();
    }
    return waiting.peek();
  }

  private boolean fits(Turn turn) {
    return inside == 0 || (inside < maxRequests && tokens + turn.charge <= maxTokens);
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

  private static void callBack(List<Turn> due, @Nullable Turn isImmediate) {
    for (Turn turn : due) {
      if (turn != isImmediate) {
        turn.waiter.go();
      }
    }
  }

  /** One request's place in the queue, then within the limit. */
  final class Turn {
    private final Waiter waiter;
    private long charge;
    private long admittedAt;
    private State state = State.WAITING;
    private boolean isImmediate;

    private Turn(Waiter waiter, long charge) {
      this.waiter = waiter;
      this.charge = charge;
    }

    boolean isImmediate() {
      return isImmediate;
    }

    boolean isWaiting() {
      synchronized (Limit.this) {
        return state == State.WAITING;
      }
    }

    /** The request has ended, or will not be sent: what it does not need becomes free. */
    void end(@Nullable Long usedTokens) {
      List<Turn> due;
      synchronized (Limit.this) {
        if (state == State.WAITING) {
          state = State.OVER;
        } else if (state == State.INSIDE && !isPerMinute) {
          leave(this);
        } else if (state == State.INSIDE && usedTokens != null) {
          tokens += usedTokens - charge;
          charge = usedTokens;
        } else {
          return;
        }
        due = advance();
      }
      callBack(due, null);
    }
  }

  /** The passage of a request through the limits of its target, one after the other. */
  static final class Permit implements Waiter {

    private final List<Limit> limits;
    private final Timeline timeline;
    private final EventLoop eventLoop;
    private final LongSupplier nanoClock;
    private final LongSupplier tokens;
    private final LongConsumer admitted;
    private final List<Turn> turns;
    private long reached;
    private boolean hasLeft;

    /**
     * @param admitted called with the instant of admission: within {@link #enter}, or later on the
     *     event loop
     */
    Permit(
        List<Limit> limits,
        Timeline timeline,
        EventLoop eventLoop,
        LongSupplier nanoClock,
        LongSupplier tokens,
        LongConsumer admitted) {
      this.limits = limits;
      this.timeline = timeline;
      this.eventLoop = eventLoop;
      this.nanoClock = nanoClock;
      this.tokens = tokens;
      this.admitted = admitted;
      turns = new ArrayList<>(limits.size());
    }

    void enter(long now) {
      while (turns.size() < limits.size() && !hasLeft) {
        Limit limit = limits.get(turns.size());
        reached = now;
        long needs = limit.isPerMinute ? tokens.getAsLong() : 0;
        Turn turn = limit.enter(needs, this);
        turns.add(turn);
        if (!turn.isImmediate()) {
          return;
        }
        passed(now);
      }
      admitted.accept(now);
    }

    /** Stamps how long the limits per minute have delayed the request. */
    private void passed(long now) {
      if (limits.get(turns.size() - 1).isPerMinute) {
        timeline.paced(now - reached);
      }
    }

    @Override
    public void go() {
      EventLoops.execute(
          eventLoop,
          () -> {
            long now = nanoClock.getAsLong();
            if (!hasLeft) {
              passed(now);
            }
            enter(now);
          });
    }

    @Override
    public void at(long nanoTime, Runnable task) {
      EventLoops.at(eventLoop, nanoTime, task);
    }

    /** Ends the passage: the request has ended, or will not be sent. */
    void leave(@Nullable Long usedTokens) {
      hasLeft = true;
      if (!turns.isEmpty() && turns.get(turns.size() - 1).isWaiting()) {
        passed(nanoClock.getAsLong());
      }
      turns.forEach(turn -> turn.end(usedTokens));
    }
  }
}
