package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.core.session.Session;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.client.GenerationRequest;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.client.StreamedExchange;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Timeline;
import io.netty.channel.DefaultEventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

final class PermitTest {
  private final List<String> told = new ArrayList<>();
  private final Limit gate = Limit.inFlight(1);

  private Limit.Turn enter(String name) {
    return enter(gate, () -> told.add(name));
  }

  private static Limit.Turn enter(Limit limit, Runnable admitted) {
    return limit.enter(
        0,
        new Limit.Waiter() {
          @Override
          public void go() {
            admitted.run();
          }

          @Override
          public void at(long nanoTime, Runnable task) {
            throw new AssertionError("nothing to wait for but the end of others");
          }
        });
  }

  @Test
  void admitsInTheOrderOfArrival() {
    Limit.Turn a = enter("a");
    Limit.Turn b = enter("b");
    Limit.Turn c = enter("c");
    a.end(null);
    assertThat(told).containsExactly("b");
    assertThat(enter("d").isImmediate()).as("c is first").isFalse();
    b.end(null);
    c.end(null);
    assertThat(told).containsExactly("b", "c", "d");
  }

  @Test
  void skipsRequestsReleasedWhileWaiting() {
    Limit.Turn a = enter("a");
    Limit.Turn b = enter("b");
    Limit.Turn c = enter("c");
    b.end(null);
    assertThat(told).isEmpty();
    a.end(null);
    assertThat(told).containsExactly("c");
    c.end(null);
    assertThat(enter("d").isImmediate()).as("the place is free again").isTrue();
  }

  @Test
  void releasingTwiceFreesOnePlace() {
    Limit.Turn a = enter("a");
    enter("b");
    enter("c");
    a.end(null);
    a.end(null);
    assertThat(told).containsExactly("b");
  }

  /** A waiter may enter again from inside its call: the lock is not held. */
  @Test
  void callsBackOutsideItsLock() throws InterruptedException {
    CountDownLatch entered = new CountDownLatch(1);
    Limit.Turn a = enter("a");
    var unused =
        enter(
            gate,
            () -> {
              Thread other =
                  new Thread(
                      () -> {
                        enter("c");
                        entered.countDown();
                      });
              other.start();
              try {
                assertThat(entered.await(60, TimeUnit.SECONDS)).isTrue();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    a.end(null);
    assertThat(entered.getCount()).isZero();
  }

  /** Every fifth visitor gives up if it has to wait. */
  @Test
  void keepsItsLimitUnderConcurrency() throws InterruptedException {
    int limit = 3;
    int visits = 160_000;
    Limit three = Limit.inFlight(limit);
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger max = new AtomicInteger();
    CountDownLatch done = new CountDownLatch(visits);
    ExecutorService loops = Executors.newFixedThreadPool(4);
    ExecutorService workers = Executors.newFixedThreadPool(8);
    for (int i = 0; i < visits; i++) {
      boolean impatient = i % 5 == 0;
      workers.execute(
          () -> {
            CompletableFuture<Limit.Turn> permit = new CompletableFuture<>();
            AtomicBoolean claimed = new AtomicBoolean();
            Runnable visit =
                () -> {
                  max.accumulateAndGet(inside.incrementAndGet(), Math::max);
                  inside.decrementAndGet();
                  permit.join().end(null);
                  done.countDown();
                };
            permit.complete(
                enter(
                    three,
                    () ->
                        loops.execute(
                            () -> {
                              if (!claimed.getAndSet(true)) {
                                visit.run();
                              }
                            })));
            if (permit.join().isImmediate()) {
              visit.run();
            } else if (impatient && !claimed.getAndSet(true)) {
              permit.join().end(null);
              done.countDown();
            }
          });
    }
    assertThat(done.await(60, TimeUnit.SECONDS)).as("no request waits for ever").isTrue();
    workers.shutdown();
    loops.shutdown();
    assertThat(loops.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
    assertThat(max.get()).isBetween(1, limit);
    for (int i = 0; i < limit; i++) {
      assertThat(enter(three, () -> {}).isImmediate()).as("place %s is free", i).isTrue();
    }
    assertThat(enter(three, () -> {}).isImmediate()).isFalse();
  }

  private final InFlight inFlight = new InFlight();
  private final Session session = Sessions.with(Map.of());

  private StreamedExchange exchange() {
    Timeline timeline = new Timeline(0, 0);
    return new StreamedExchange(
        timeline,
        GenerationRequest.of(Api.CHAT).prompt("Hi").build(),
        0,
        Secrets.NONE,
        null,
        session.eventLoop(),
        () -> 1,
        inFlight::remove);
  }

  /** The task blocks the event loop, so that the submitted cancellation has not run yet. */
  @Test
  void requestAdmittedAfterItsLevelIsOverIsCancelled() throws Exception {
    StreamedExchange exchange = exchange();
    Callable<?> blocking =
        () -> {
          inFlight.add(exchange, session);
          inFlight.close(InFlight.INTERRUPTED);
          inFlight.await(System.nanoTime());
          assertThat(exchange.isOver()).as("the cancel is still on its way").isFalse();
          assertThat(inFlight.size()).as("time was up").isOne();
          inFlight.cancelIfLate(exchange, session);
          return null;
        };
    session.eventLoop().submit(blocking).get(60, TimeUnit.SECONDS);
    assertThat(exchange.ending().status()).isEqualTo(RequestStatus.CANCELLED);
    assertThat(exchange.ending().error()).isEqualTo(InFlight.INTERRUPTED);
    assertThat(exchange.timeline().isAdmitted()).isFalse();
    assertThat(inFlight.size()).isZero();
  }

  private static final long LATER = 99;

  @AutoClose("shutdownGracefully")
  private final DefaultEventLoop eventLoop = new DefaultEventLoop();

  private final List<String> admitted = new ArrayList<>();

  private Limit.Permit pass(
      String name, @Nullable Limit through, @Nullable Limit perMinute, Timeline timeline)
      throws Exception {
    return eventLoop
        .submit(
            () -> {
              Limit.Permit permit =
                  new Limit.Permit(
                      Stream.of(through, perMinute).filter(Objects::nonNull).toList(),
                      timeline,
                      eventLoop,
                      () -> LATER,
                      () -> 100,
                      now -> admitted.add(name + " " + now));
              permit.enter(1);
              return permit;
            })
        .get(60, TimeUnit.SECONDS);
  }

  private List<String> admitted() throws Exception {
    return eventLoop.submit(() -> List.copyOf(admitted)).get(60, TimeUnit.SECONDS);
  }

  @Test
  void waitingRequestIsAdmittedOnItsEventLoopWithTheCurrentInstant() throws Exception {
    Limit.Permit first = pass("a", gate, null, new Timeline(0, 1));
    pass("b", gate, null, new Timeline(0, 1));
    assertThat(admitted()).containsExactly("a 1");
    first.leave(null);
    assertThat(admitted()).containsExactly("a 1", "b " + LATER);
  }

  /** An answer of 30 tokens where 100 were reserved admits the next request. */
  @Test
  void waitForARateLimitIsInTheTimeline() throws Exception {
    Limit limiter = Limit.perMinute(null, 130, () -> 0);
    List<Timeline> timelines = Stream.generate(() -> new Timeline(0, 1)).limit(4).toList();
    Limit.Permit first = pass("a", null, limiter, timelines.get(0));
    pass("b", null, limiter, timelines.get(1));
    Limit.Permit third = pass("c", null, limiter, timelines.get(2));
    pass("d", gate, null, timelines.get(3));
    assertThat(admitted()).containsExactly("a 1", "d 1");
    third.leave(null);
    first.leave(30L);
    assertThat(admitted()).containsExactly("a 1", "d 1", "b " + LATER);
    assertThat(timelines)
        .extracting(timeline -> timeline.timing(0, null, null).pacingWaitNanos())
        .containsExactly(0L, LATER - 1, LATER - 1, null);
  }

  /** Who has passed the first limit keeps its place there while it waits for the second. */
  @Test
  void limitsArePassedOneAfterTheOther() throws Exception {
    Limit perMinute = Limit.perMinute(1, null, () -> 0);
    List<Timeline> timelines = Stream.generate(() -> new Timeline(0, 1)).limit(3).toList();
    Limit.Permit first = pass("a", gate, perMinute, timelines.get(0));
    Limit.Permit second = pass("b", gate, perMinute, timelines.get(1));
    first.leave(null);
    pass("c", gate, null, timelines.get(2));
    assertThat(admitted()).containsExactly("a 1");
    second.leave(null);
    assertThat(admitted()).containsExactly("a 1", "c " + LATER);
    assertThat(timelines)
        .extracting(timeline -> timeline.timing(0, null, null).pacingWaitNanos())
        .containsExactly(0L, 0L, null);
  }
}
