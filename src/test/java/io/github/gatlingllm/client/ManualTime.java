package io.github.gatlingllm.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Time that passes only when a test lets it, however long it waits for something else: a clock, and
 * the timers of exchanges that are due by it.
 */
final class ManualTime implements LongSupplier {
  private final LocalClient client;
  private final AtomicLong now = new AtomicLong(1);
  private final AtomicInteger readings = new AtomicInteger();
  private final PriorityQueue<Timer> due =
      new PriorityQueue<>(Comparator.comparingLong(Timer::nanos));

  /** {@code handle} stands for it on the event loop, where it is never due. */
  private record Timer(long nanos, Runnable task, Future<?> handle) {}

  @Override
  public long getAsLong() {
    readings.incrementAndGet();
    return now.get();
  }

  ManualTime(LocalClient client) {
    this.client = client;
  }

  /** Runs a task of the event loop when the delay has passed by this time. */
  void schedule(Future<?> handle, Runnable task, long delayNanos) {
    due.add(new Timer(now.get() + delayNanos, task, handle));
  }

  void pass(long millis) {
    client.onLoop(
        () -> {
          long until = now.get() + TimeUnit.MILLISECONDS.toNanos(millis);
          while (!due.isEmpty() && due.element().nanos() <= until) {
            Timer next = due.remove();
            now.set(next.nanos());
            if (next.handle().cancel(false)) {
              next.task().run();
            }
          }
          now.set(until);
        });
  }

  @FunctionalInterface
  interface Doing {
    void happen() throws IOException;
  }

  /** Does something, and waits until an exchange has read the clock. */
  void awaitReading(Doing something) throws IOException {
    client.settle();
    int before = readings.get();
    something.happen();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LocalClient.LIMIT_SECONDS);
    while (readings.get() == before && System.nanoTime() < deadline) {
      LockSupport.parkNanos(100_000);
    }
    assertThat(readings.get()).isGreaterThan(before);
    client.settle();
  }
}
