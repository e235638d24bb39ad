package io.github.gatlingllm.load;

import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Lets at most so many requests be in flight at a time; more wait, first in first out, whatever
 * thread they come from. Never blocks; entering and leaving cost the same however many wait.
 *
 * <p>Thread-safe: one lock, held for some hundred nanoseconds, never while a waiter is told.
 */
public final class InFlightGate {

  /** Somebody who had to wait. */
  @FunctionalInterface
  public interface Waiter {

    /**
     * It is this one's turn. Called once, by the thread that made room: return at once, throw
     * nothing, act on a thread of your own. A pass that was released in the meantime is void.
     */
    void admitted();
  }

  private enum State {
    WAITING,
    INSIDE,
    GONE
  }

  private final int limit;
  private final Queue<Pass> waiting = new ArrayDeque<>();
  private int inside;

  /**
   * @param limit requests in flight, 1 or more
   * @throws IllegalArgumentException if it is not
   */
  public InFlightGate(int limit) {
    if (limit < 1) {
      throw new IllegalArgumentException(
          "maxInFlight(" + limit + "): expected 1 request in flight or more");
    }
    this.limit = limit;
  }

  /**
   * Enters, or joins the end of the queue.
   *
   * @param waiter is told when its turn comes; not called where the pass is valid {@link
   *     Pass#atOnce() at once}
   */
  public synchronized Pass acquire(Waiter waiter) {
    boolean free = inside < limit;
    Pass pass = new Pass(waiter, free);
    if (free) {
      inside++;
    } else {
      waiting.add(pass);
    }
    return pass;
  }

  private void release(Pass pass) {
    Pass next = null;
    synchronized (this) {
      State was = pass.state;
      pass.state = State.GONE;
      if (was == State.INSIDE) {
        next = nextInLine();
        if (next == null) {
          inside--;
        } else {
          next.state = State.INSIDE;
        }
      }
    }
    if (next != null) {
      next.waiter.admitted();
    }
  }

  /** Drops those that gave up: each once, so that releasing stays cheap. */
  private @Nullable Pass nextInLine() {
    Pass next = waiting.poll();
    while (next != null && next.state == State.GONE) {
      next = waiting.poll();
    }
    return next;
  }

  /** One request's place: in the queue, then inside. */
  public final class Pass {
    private final Waiter waiter;
    private final boolean atOnce;
    private State state;

    private Pass(Waiter waiter, boolean atOnce) {
      this.waiter = waiter;
      this.atOnce = atOnce;
      this.state = atOnce ? State.INSIDE : State.WAITING;
    }

    /** Whether there was room, so that nobody had to wait. */
    public boolean atOnce() {
      return atOnce;
    }

    /** Gives the place back, or gives up waiting. Further calls do nothing. */
    public void release() {
      InFlightGate.this.release(this);
    }
  }
}
