package io.github.gatlingllm.action;

import io.netty.channel.EventLoop;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayDeque;
import java.util.Queue;
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
    after(eventLoop, nanoTime - System.nanoTime(), task);
  }

  static void after(EventLoop eventLoop, long nanos, Runnable task) {
    if (!eventLoop.isShuttingDown()) {
      try {
        var unused = eventLoop.schedule(() -> runLogged(task), nanos, TimeUnit.NANOSECONDS);
      } catch (RejectedExecutionException e) {
        LOGGER.debug("Event loop was shut down, task dropped", e);
      }
    }
  }

  /** Logs what the task throws: Netty stores it in a future that no code reads. */
  private static void runLogged(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      LOGGER.error("A scheduled step of the load failed; it is not what was planned: {}", e + "");
      LOGGER.debug("A scheduled step of the load failed", e);
      throw e;
    }
  }

  /**
   * Runs the task soon, after all tasks before it, in slices between which the event loop reads all
   * connections. To be called on the event loop.
   */
  static void defer(EventLoop eventLoop, Runnable task) {
    DeferredTasks queue = DeferredTasks.OF_THREAD.get();
    queue.tasks.add(task);
    if (queue.tasks.size() == 1) {
      execute(eventLoop, () -> queue.runSlice(eventLoop));
    }
  }

  private static final class DeferredTasks {

    /** Longest time until the connections are read again. */
    private static final long SLICE_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

    private static final FastThreadLocal<DeferredTasks> OF_THREAD =
        new FastThreadLocal<>() {
          @Override
          protected DeferredTasks initialValue() {
            return new DeferredTasks();
          }
        };

    private final Queue<Runnable> tasks = new ArrayDeque<>();

    private DeferredTasks() {}

    private void runSlice(EventLoop eventLoop) {
      long end = System.nanoTime() + SLICE_NANOS;
      // A task stays in the queue until it is done: tasks that it adds then schedule no second
      // slice.
      for (Runnable task = tasks.peek(); task != null; task = tasks.peek()) {
        run(task);
        tasks.remove();
        if (System.nanoTime() >= end && !tasks.isEmpty() && !eventLoop.isShuttingDown()) {
          scheduleSlice(eventLoop);
          return;
        }
      }
    }

    private static void run(Runnable task) {
      try {
        task.run();
      } catch (Throwable e) {
        LOGGER.error("A request could not be started or ended: {}", e + "");
        LOGGER.debug("A request could not be started or ended", e);
      }
    }

    /** Schedules a slice for after the next reads; a task of a task would run before them. */
    private void scheduleSlice(EventLoop eventLoop) {
      Runnable slice = () -> runSlice(eventLoop);
      if (eventLoop instanceof SingleThreadEventLoop loop) {
        loop.executeAfterEventLoopIteration(() -> EventLoops.execute(eventLoop, slice));
      } else {
        EventLoops.execute(eventLoop, slice);
      }
    }
  }
}
