package io.github.gatlingllm.action;

import io.netty.channel.EventLoop;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tasks on event loops, dropped once Gatling shuts these down: the run is over by then. */
final class EventLoops {
  private static final Logger LOGGER = LoggerFactory.getLogger(EventLoops.class);

  private EventLoops() {}

  static void execute(EventLoop eventLoop, Runnable task) {
    if (!eventLoop.isShuttingDown()) {
      try {
        eventLoop.execute(task);
      } catch (RejectedExecutionException e) {
        LOGGER.debug("Event loop was shut down, task dropped", e);
      }
    }
  }

  /** At that instant of {@link System#nanoTime()} or a little later, never before. */
  static void at(EventLoop eventLoop, long nanoTime, Runnable task) {
    if (!eventLoop.isShuttingDown()) {
      try {
        var unused =
            eventLoop.schedule(
                () -> logged(task), nanoTime - System.nanoTime(), TimeUnit.NANOSECONDS);
      } catch (RejectedExecutionException e) {
        LOGGER.debug("Event loop was shut down, task dropped", e);
      }
    }
  }

  /** Netty keeps what a scheduled task throws in a future that is not read. */
  private static void logged(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException e) {
      LOGGER.error("A step of the load plan failed; the load is not what was planned", e);
      throw e;
    }
  }
}
