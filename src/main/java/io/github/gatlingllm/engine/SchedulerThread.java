package io.github.gatlingllm.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Runs a scheduler in real time: sleeps until the next token is due, then hands all tokens of the
 * iteration to the event loop as one task. Due times are absolute, so delays do not add up.
 *
 * <p>{@link #submit}, {@link #cancel} and {@link #load} may be called from any thread.
 */
final class SchedulerThread implements AutoCloseable {
  private final Scheduler scheduler;
  private final Executor eventLoop;
  private final Queue<Consumer<Scheduler>> inbox = new ConcurrentLinkedQueue<>();
  private final Thread thread = new Thread(this::run, "embedded-engine-scheduler");
  private volatile EmbeddedEngine.EngineLoad load = EmbeddedEngine.EngineLoad.NONE;
  private volatile boolean closed;

  SchedulerThread(Scheduler scheduler, Executor eventLoop) {
    this.scheduler = scheduler;
    this.eventLoop = eventLoop;
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  void submit(List<? extends Sequence> sequences) {
    send(each -> sequences.forEach(each::add));
  }

  void cancel(Sequence sequence) {
    send(each -> each.cancel(sequence));
  }

  EmbeddedEngine.EngineLoad load() {
    return load;
  }

  /** Ends the thread and waits for its end, so that it hands nothing to a closed event loop. */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void send(Consumer<Scheduler> message) {
    inbox.add(message);
    LockSupport.unpark(thread);
  }

  private void run() {
    List<Sequence> tokens = new ArrayList<>();
    List<Sequence> admitted = new ArrayList<>();
    while (!closed) {
      for (Consumer<Scheduler> message = inbox.poll(); message != null; message = inbox.poll()) {
        message.accept(scheduler);
      }
      long now = System.nanoTime();
      scheduler.advance(now, tokens);
      long due = scheduler.plan(now, admitted);
      load = scheduler.load();
      deliver(tokens, Sequence::token);
      deliver(admitted, Sequence::admitted);
      if (due == Scheduler.NEVER) {
        LockSupport.park(this);
      } else {
        long wait = due - System.nanoTime();
        if (wait > 0) {
          LockSupport.parkNanos(this, wait);
        }
      }
    }
  }

  private void deliver(List<Sequence> sequences, Consumer<Sequence> event) {
    if (sequences.isEmpty()) {
      return;
    }
    List<Sequence> batch = List.copyOf(sequences);
    sequences.clear();
    eventLoop.execute(() -> batch.forEach(event));
  }
}
