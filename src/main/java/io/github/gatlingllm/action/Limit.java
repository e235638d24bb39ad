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

  /** Whether a request is admitted immediately; else its permit goes on later. */
  private boolean enter(Turn turn) {
    List<Turn> due;
    boolean isAdmitted;
    synchronized (this) {
      waiting.add(turn);
      due = advance(turn);
      isAdmitted = turn.state == State.INSIDE;
    }
    due.forEach(each -> each.permit.goOn());
    return isAdmitted;
  }

  /** Admits the requests that fit, and schedules the next attempt; returns those but for one. */
  private List<Turn> advance(@Nullable Turn entering) {
    long now = isPerMinute ? nanoClock.getAsLong() : 0;
    expire(now);
    List<Turn> due = List.of();
    for (Turn next = next(); next != null && fits(next); next = next()) {
      waiting.remove();
      next.state = State.INSIDE;
      next.admittedAt = now;
      inside++;
      tokens += next.charge;
      if (next != entering) {
        due = due.isEmpty() ? new ArrayList<>(1) : due;
        due.add(next);
      }
      if (isPerMinute) {
        minute.add(next);
      }
    }
    Turn blocked = isPerMinute ? next() : null;
    if (blocked != null) {
      long free = minute.element().admittedAt + MINUTE_NANOS;
      if (wakeAt == NONE || free - wakeAt < 0) {
        wakeAt = free;
        EventLoops.after(blocked.permit.eventLoop, free - now, () -> wake(free));
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
      due = advance(null);
    }
    due.forEach(turn -> turn.permit.goOn());
  }

  private synchronized boolean isWaiting(Turn turn) {
    return turn.state == State.WAITING;
  }

  /** A request has ended, or will not be sent: what it does not need becomes free. */
  private void end(Turn turn, @Nullable Long usedTokens) {
    List<Turn> due;
    synchronized (this) {
      if (turn.state == State.WAITING) {
        turn.state = State.OVER;
      } else if (turn.state == State.INSIDE && !isPerMinute) {
        leave(turn);
      } else if (turn.state == State.INSIDE && usedTokens != null) {
        tokens += usedTokens - turn.charge;
        turn.charge = usedTokens;
      } else {
        return;
      }
      due = advance(null);
    }
    due.forEach(each -> each.permit.goOn());
  }

  /** One request's place in the queue, then within the limit. */
  private static final class Turn {
    private final Permit permit;
    private long charge;
    private long admittedAt;
    private State state = State.WAITING;

    Turn(Permit permit, long charge) {
      this.permit = permit;
      this.charge = charge;
    }
  }

  /** The passage of a request through the limits of its target, one after the other. */
  static final class Permit {

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
        Turn turn = new Turn(this, limit.isPerMinute ? Math.max(0, tokens.getAsLong()) : 0);
        turns.add(turn);
        if (!limit.enter(turn)) {
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

    /** A limit has admitted the request, on any thread. */
    private void goOn() {
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

    /** Ends the passage: the request has ended, or will not be sent. */
    void leave(@Nullable Long usedTokens) {
      hasLeft = true;
      int last = turns.size() - 1;
      if (last >= 0 && limits.get(last).isWaiting(turns.get(last))) {
        passed(nanoClock.getAsLong());
      }
      for (int i = 0; i <= last; i++) {
        limits.get(i).end(turns.get(i), usedTokens);
      }
    }
  }
}
