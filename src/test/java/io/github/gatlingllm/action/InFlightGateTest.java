package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class InFlightGateTest {

  private final List<String> told = new ArrayList<>();

  private InFlightGate.Permit enter(InFlightGate gate, String name) {
    return gate.acquire(() -> told.add(name));
  }

  @Test
  void admitsUpToItsLimitWithoutCallback() {
    InFlightGate gate = new InFlightGate(2);
    assertThat(enter(gate, "a").atOnce()).isTrue();
    assertThat(enter(gate, "b").atOnce()).isTrue();
    assertThat(enter(gate, "c").atOnce()).isFalse();
    assertThat(told).isEmpty();
  }

  @Test
  void admitsInTheOrderOfArrival() {
    InFlightGate gate = new InFlightGate(1);
    InFlightGate.Permit a = enter(gate, "a");
    InFlightGate.Permit b = enter(gate, "b");
    InFlightGate.Permit c = enter(gate, "c");
    a.release();
    assertThat(told).containsExactly("b");
    assertThat(enter(gate, "d").atOnce()).as("c is first").isFalse();
    b.release();
    c.release();
    assertThat(told).containsExactly("b", "c", "d");
  }

  @Test
  void skipsRequestsReleasedWhileWaiting() {
    InFlightGate gate = new InFlightGate(1);
    InFlightGate.Permit a = enter(gate, "a");
    InFlightGate.Permit b = enter(gate, "b");
    InFlightGate.Permit c = enter(gate, "c");
    b.release();
    assertThat(told).isEmpty();
    a.release();
    assertThat(told).containsExactly("c");
    c.release();
    assertThat(enter(gate, "d").atOnce()).as("the place is free again").isTrue();
  }

  @Test
  void releasingTwiceFreesOnePlace() {
    InFlightGate gate = new InFlightGate(1);
    InFlightGate.Permit a = enter(gate, "a");
    enter(gate, "b");
    enter(gate, "c");
    a.release();
    a.release();
    assertThat(told).containsExactly("b");
  }

  /** A waiter may enter again from inside its call: the lock is not held. */
  @Test
  void callsBackOutsideItsLock() throws InterruptedException {
    InFlightGate gate = new InFlightGate(1);
    CountDownLatch entered = new CountDownLatch(1);
    InFlightGate.Permit a = enter(gate, "a");
    gate.acquire(
        () -> {
          Thread other =
              new Thread(
                  () -> {
                    enter(gate, "c");
                    entered.countDown();
                  });
          other.start();
          try {
            assertThat(entered.await(60, TimeUnit.SECONDS)).isTrue();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    a.release();
    assertThat(entered.getCount()).isZero();
  }

  @Test
  void keepsItsLimitUnderConcurrency() throws InterruptedException {
    int limit = 3;
    int threads = 8;
    int rounds = 20_000;
    InFlightGate gate = new InFlightGate(limit);
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger admitted = new AtomicInteger();
    AtomicInteger gaveUp = new AtomicInteger();
    CountDownLatch done = new CountDownLatch(threads * rounds);
    CountDownLatch gaveUpWhileFull = new CountDownLatch(1);
    ExecutorService workers = Executors.newFixedThreadPool(threads);
    ExecutorService loops = Executors.newFixedThreadPool(4);
    List<InFlightGate.Permit> full =
        Stream.generate(() -> gate.acquire(() -> {})).limit(limit).toList();
    for (int t = 0; t < threads; t++) {
      int thread = t;
      workers.execute(
          () -> {
            for (int i = 0; i < rounds; i++) {
              AtomicReference<InFlightGate.Permit> pass = new AtomicReference<>();
              CountDownLatch known = new CountDownLatch(1);
              Runnable visit =
                  () -> {
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    admitted.incrementAndGet();
                    inside.decrementAndGet();
                    pass.get().release();
                    done.countDown();
                  };
              boolean impatient = (i + thread) % 5 == 0;
              AtomicInteger claimed = new AtomicInteger();
              pass.set(
                  gate.acquire(
                      () ->
                          loops.execute(
                              () -> {
                                awaitQuietly(known);
                                if (claimed.getAndIncrement() == 0) {
                                  visit.run();
                                }
                              })));
              known.countDown();
              if (pass.get().atOnce()) {
                visit.run();
              } else if (impatient && claimed.getAndIncrement() == 0) {
                pass.get().release();
                gaveUp.incrementAndGet();
                gaveUpWhileFull.countDown();
                done.countDown();
              }
            }
          });
    }
    assertThat(gaveUpWhileFull.await(60, TimeUnit.SECONDS)).as("some did give up").isTrue();
    full.forEach(InFlightGate.Permit::release);
    assertThat(done.await(60, TimeUnit.SECONDS)).as("nobody waits for ever").isTrue();
    workers.shutdown();
    loops.shutdown();
    assertThat(loops.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
    assertThat(admitted.get() + gaveUp.get()).isEqualTo(threads * rounds);
    assertThat(most.get()).isBetween(1, limit);
    for (int i = 0; i < limit; i++) {
      assertThat(gate.acquire(() -> {}).atOnce()).as("place %s is free", i).isTrue();
    }
    assertThat(gate.acquire(() -> {}).atOnce()).isFalse();
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
