package io.github.gatlingllm.action;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/**
 * Hands rows to Gatling's statistics several at a time: each row alone would wake the thread of its
 * data writers, and on one processor that takes the time of what is being read. A row waits for the
 * {@value #MOST}th one or 20 ms, and never longer than its user stays.
 *
 * <p>One per event loop, and used by its thread alone.
 */
final class RowsForGatling {

  /** As few as take the data writers no longer than a turn of {@link AfterReading}. */
  private static final int MOST = 16;

  private static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private static final FastThreadLocal<RowsForGatling> OF_THREAD =
      new FastThreadLocal<>() {
        @Override
        protected RowsForGatling initialValue() {
          return new RowsForGatling();
        }
      };

  private final Queue<Runnable> rows = new ArrayDeque<>(MOST);
  private boolean timed;

  private RowsForGatling() {}

  /** Logs that row soon. Call on the event loop. */
  static void log(EventLoop eventLoop, Runnable row) {
    RowsForGatling of = OF_THREAD.get();
    of.rows.add(row);
    if (of.rows.size() >= MOST) {
      of.handOver();
    } else if (!of.timed) {
      of.timed = true;
      EventLoops.at(
          eventLoop,
          System.nanoTime() + LONGEST_NANOS,
          () -> {
            of.timed = false;
            of.handOver();
          });
    }
  }

  /** Logs what waits on this event loop: a user leaves, and with the last one Gatling ends. */
  static void userLeaves() {
    OF_THREAD.get().handOver();
  }

  private void handOver() {
    for (Runnable row = rows.poll(); row != null; row = rows.poll()) {
      row.run();
    }
  }
}
