package io.github.gatlingllm.action;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Passes rows to Gatling's statistics in batches of {@value #MAX} or 20 ms, on the threads of its
 * actors: to wake such a thread for each row takes time from reading. Rows are passed on before
 * their user leaves; where Gatling stops a run by force, those of the last 20 ms are in our records
 * only. One per event loop, whose thread adds rows.
 */
final class StatsBatcher {

  private static final int MAX = 128;

  private static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private static final FastThreadLocal<StatsBatcher> OF_THREAD =
      new FastThreadLocal<>() {
        @Override
        protected StatsBatcher initialValue() {
          return new StatsBatcher();
        }
      };

  private final Queue<Runnable> rows = new ConcurrentLinkedQueue<>();
  private int waiting;
  private boolean timed;

  private StatsBatcher() {}

  static void log(EventLoop eventLoop, Executor actors, Runnable row) {
    StatsBatcher batch = OF_THREAD.get();
    batch.rows.add(row);
    if (++batch.waiting >= MAX) {
      batch.handOver(actors);
    } else if (!batch.timed) {
      batch.timed = true;
      EventLoops.at(
          eventLoop,
          System.nanoTime() + LONGEST_NANOS,
          () -> {
            batch.timed = false;
            batch.handOver(actors);
          });
    }
  }

  /** Passes on the rows of this event loop: a user leaves, and with the last one the run ends. */
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

  /** Returns when all rows are passed on, also those that another thread is at. */
  private synchronized void logAll() {
    for (Runnable row = rows.poll(); row != null; row = rows.poll()) {
      row.run();
    }
  }
}
