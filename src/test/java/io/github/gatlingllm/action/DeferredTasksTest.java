package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.netty.util.Transports;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class DeferredTasksTest {

  private static final long LONG_NANOS = TimeUnit.MICROSECONDS.toNanos(300);

  @AutoClose("shutdownGracefully")
  private final EventLoopGroup group = Transports.newEventLoopGroup(false, false, 1, "after");

  private final EventLoop eventLoop = group.next();
  private final List<String> done = new CopyOnWriteArrayList<>();
  private final CountDownLatch last = new CountDownLatch(1);

  private void later(Runnable task) {
    EventLoops.defer(eventLoop, task);
  }

  private void lasts(String name) {
    long end = System.nanoTime() + LONG_NANOS;
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
    done.add(name);
  }

  private void run(Runnable onEventLoop) throws InterruptedException {
    eventLoop.execute(onEventLoop);
    assertThat(last.await(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void readsAreNotDelayedByQueuedTasks() throws Exception {
    run(
        () -> {
          later(() -> lasts("first"));
          later(() -> lasts("second"));
          later(last::countDown);
          eventLoop.execute(() -> eventLoop.execute(() -> done.add("read")));
        });
    assertThat(done).containsExactly("first", "read", "second");
  }

  @Test
  void tasksRunInOrderAlsoThoseThatTasksAdd() throws Exception {
    run(
        () -> {
          later(
              () -> {
                later(() -> done.add("third"));
                later(last::countDown);
                lasts("first");
              });
          later(() -> lasts("second"));
        });
    assertThat(done).containsExactly("first", "second", "third");
  }

  @Test
  void failedTaskDoesNotStopTheNext() throws Exception {
    run(
        () -> {
          later(
              () -> {
                throw new IllegalStateException("broken");
              });
          later(() -> done.add("next"));
          later(last::countDown);
        });
    assertThat(done).containsExactly("next");
  }
}
