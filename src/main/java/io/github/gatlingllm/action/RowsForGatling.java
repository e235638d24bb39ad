package io.github.gatlingllm.action;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Hands rows to Gatling's statistics several at a time, on the threads of its actors: each row that
 * an event loop sends wakes one of them, and on one processor that takes the time of what is being
 * read, row by row. A row waits for the {@value #MOST}th one or 20 ms, and never longer than its
 * user stays. Where Gatling ends a run by force ({@code maxDuration}, {@code stopLoadGenerator}),
 * the rows of its last 20 ms are in our records alone.
 *
 * <p>One per event loop, which adds rows and says that users leave.
 */
final class RowsForGatling {

  private static final int MOST = 128;

  private static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private static final FastThreadLocal<RowsForGatling> OF_THREAD =
      new FastThreadLocal<>() {
        @Override
        protected RowsForGatling initialValue() {
          return new RowsForGatling();
        }
      };

  private final Queue<Runnable> rows = new ConcurrentLinkedQueue<>();
  private int waiting;
  private boolean timed;

  private RowsForGatling() {}

  /**
   * Logs that row soon. Call on the event loop.
   *
   * @param actors where Gatling's actors run
   */
  static void log(EventLoop eventLoop, Executor actors, Runnable row) {
    RowsForGatling of = OF_THREAD.get();
    of.rows.add(row);
    if (++of.waiting >= MOST) {
      of.handOver(actors);
    } else if (!of.timed) {
      of.timed = true;
      EventLoops.at(
          eventLoop,
          System.nanoTime() + LONGEST_NANOS,
          () -> {
            of.timed = false;
            of.handOver(actors);
          });
    }
  }

  /** Logs what waits on this event loop: a user leaves, and with the last one Gatling ends. */
  static void userLeaves() {
    OF_THREAD.get().logAll();
  }

  private void handOver(Executor actors) {
    if (waiting > 0) {
      waiting = 0;
      try {
        actors.execute(this::logAll);
      } catch (RejectedExecutionException e) {
        logAll();
      }
    }
  }

  /** Waits until rows are logged that another thread has begun with. */
  private synchronized void logAll() {
    for (Runnable row = rows.poll(); row != null; row = rows.poll()) {
      row.run();
    }
  }
}
