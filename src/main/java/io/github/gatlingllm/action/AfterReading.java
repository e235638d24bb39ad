package io.github.gatlingllm.action;

import io.netty.channel.EventLoop;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What an event loop does only when it has read what there is to read: making requests and ending
 * them. Where many answers end at once, or many users start, this would take longer than the time
 * between two tokens, and every token that came meanwhile would be read late. So it is done a
 * little at a time, first in first out, and all connections are read in between.
 *
 * <p>One per event loop, and used by its thread alone.
 */
final class AfterReading {

  private static final Logger LOGGER = LoggerFactory.getLogger(AfterReading.class);

  /** After so long the connections are read again. */
  private static final long TURN_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

  private static final FastThreadLocal<AfterReading> OF_THREAD =
      new FastThreadLocal<>() {
        @Override
        protected AfterReading initialValue() {
          return new AfterReading();
        }
      };

  private final Queue<Runnable> tasks = new ArrayDeque<>();

  private AfterReading() {}

  /** Does that soon, after all that was handed over before. Call on the event loop. */
  static void execute(EventLoop eventLoop, Runnable task) {
    AfterReading of = OF_THREAD.get();
    of.tasks.add(task);
    if (of.tasks.size() == 1) {
      EventLoops.execute(eventLoop, () -> of.turn(eventLoop));
    }
  }

  private void turn(EventLoop eventLoop) {
    long end = System.nanoTime() + TURN_NANOS;
    // A task stays in the queue until it is done, so that what it adds does not ask for a turn.
    for (Runnable task = tasks.peek(); task != null; task = tasks.peek()) {
      run(task);
      tasks.remove();
      if (System.nanoTime() >= end && !tasks.isEmpty() && !eventLoop.isShuttingDown()) {
        anotherTurn(eventLoop);
        return;
      }
    }
  }

  private static void run(Runnable task) {
    try {
      task.run();
    } catch (Throwable e) {
      LOGGER.error("A request could not be started or ended", e);
    }
  }

  /** What an event loop is told to execute while it executes, it does before it reads. */
  private void anotherTurn(EventLoop eventLoop) {
    Runnable turn = () -> turn(eventLoop);
    if (eventLoop instanceof SingleThreadEventLoop loop) {
      loop.executeAfterEventLoopIteration(() -> EventLoops.execute(eventLoop, turn));
    } else {
      EventLoops.execute(eventLoop, turn);
    }
  }
}
