package io.github.gatlingllm.action;

import io.netty.channel.EventLoop;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Submits tasks to event loops; drops them once Gatling shuts these down, as the run is over. */
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

  /** Runs the task at that instant of {@link System#nanoTime()} or shortly after, never before. */
  static void at(EventLoop eventLoop, long nanoTime, Runnable task) {
    if (!eventLoop.isShuttingDown()) {
      try {
        var unused =
            eventLoop.schedule(
                () -> runLogged(task), nanoTime - System.nanoTime(), TimeUnit.NANOSECONDS);
      } catch (RejectedExecutionException e) {
        LOGGER.debug("Event loop was shut down, task dropped", e);
      }
    }
  }

  /** Logs what the task throws: Netty keeps it in a future that nobody reads. */
  private static void runLogged(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      LOGGER.error("A scheduled step of the load failed; the load is not what was planned", e);
      throw e;
    }
  }
}
