package io.github.gatlingllm.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class HeartbeatTest {

  private static final long MILLI = 1_000_000;

  private long now;
  private final Heartbeat heart = new Heartbeat(() -> now, Heartbeat.PERIOD_NANOS);

  /** Runs the beats of some time, each as late as that. */
  private void beat(int beats, long lateNanos) {
    long planned = now - now % Heartbeat.PERIOD_NANOS;
    for (int i = 1; i <= beats; i++) {
      now = planned + i * Heartbeat.PERIOD_NANOS + lateNanos;
      heart.run();
    }
  }

  /** Beats that come immediately. */
  private void run(int beats) {
    for (int i = 0; i < beats; i++) {
      heart.run();
    }
  }

  /**
   * 112 ms pass before the loop begins to count, as where classes are loaded or the machine is
   * busy: every beat would seem late by that, so it starts again.
   */
  @Test
  void aSuspendedStartIsNotCountedAsLag() {
    List<CompletableFuture<Void>> started = new ArrayList<>();
    Heartbeat beat =
        Heartbeat.start(
            () -> now,
            Heartbeat.PERIOD_NANOS,
            heart -> {
              now += started.isEmpty() ? 112 * MILLI : 10_000;
              started.add(new CompletableFuture<>());
              return started.get(started.size() - 1);
            });
    assertThat(started).hasSize(2);
    assertThat(started.get(0)).isCancelled();
    assertThat(started.get(1)).isNotCancelled();
    now += Heartbeat.PERIOD_NANOS;
    beat.run();
    assertThat(beat.take(now).longest()).isEqualTo(10);
    beat.stop();
    assertThat(started.get(1)).isCancelled();
  }

  @Test
  void countersCoverTheInterval() {
    beat(98, 50_000);
    beat(1, 7 * MILLI);
    beat(1, 3 * MILLI);
    Heartbeat.Lateness late = heart.take(now);
    assertThat(late.percentile(50)).isEqualTo(50);
    assertThat(late.percentile(99)).isEqualTo(3_000);
    assertThat(late.longest()).isEqualTo(7_000);
    // More than 1, 2, 5, 10 ms.
    assertThat(late.timeAbove()).startsWith(100_000, 100_000, 50_000, 0);

    beat(100, 0);
    Heartbeat.Lateness onTime = heart.take(now);
    assertThat(onTime.longest()).as("the interval after it").isZero();
    assertThat(onTime.timeAbove()).containsOnly(0);
  }

  /** A block of 300 ms: what became ready in it waited between 0 and 300 ms. */
  @Test
  void missedBeatsCountTheTimeOfTheBlock() {
    beat(20, 0);
    now += 300 * MILLI;
    run(6);
    beat(50, 0);

    Heartbeat.Lateness late = heart.take(now);
    assertThat(late.longest()).isEqualTo(250_000);
    assertThat(late.percentile(50)).isZero();
    assertThat(late.timeAbove())
        .as("later than 1, 2, 5, 10, 20, 50, 100, 200 ms")
        .startsWith(250_000, 250_000, 250_000, 250_000, 250_000, 200_000, 150_000, 50_000, 0);
  }

  @Test
  void aHangingLoopIsLateWhileItHangsAndCountedOnce() {
    beat(50, 0);
    now += 500 * MILLI;
    Heartbeat.Lateness hanging = heart.take(now);
    assertThat(hanging.longest()).as("so far").isEqualTo(450_000);
    assertThat(hanging.timeAbove()[0]).isEqualTo(450_000);

    now += 1_000 * MILLI;
    Heartbeat.Lateness still = heart.take(now);
    assertThat(still.longest()).isEqualTo(1_450_000);
    assertThat(still.timeAbove()[0]).isEqualTo(1_000_000);

    run(30);
    Heartbeat.Lateness over = heart.take(now);
    assertThat(over.longest()).isEqualTo(1_450_000);
    assertThat(over.timeAbove()[0]).as("counted while it hung").isZero();
  }

  @Test
  void aHangLongerThanTheBufferIsCounted() {
    now += 60_000 * MILLI;
    Heartbeat.Lateness late = heart.take(now);
    assertThat(late.longest()).isEqualTo(59_950_000);
    assertThat(late.timeAbove()[9]).isBetween(58_900_000, 59_000_000);
    run(1_200);
    assertThat(heart.take(now).timeAbove()[0]).isZero();
  }

  /** The loop stands still for 170 ms before measuring begins, and not after it. */
  @Test
  void beatsDueBeforeAnInstantAreReadUpToIt() {
    beat(50, 0);
    now += 170 * MILLI;
    run(3);
    long edge = now;
    beat(50, 0);
    assertThat(heart.take(edge).longest()).isEqualTo(120_000);
    Heartbeat.Lateness after = heart.take(now);
    assertThat(after.longest()).isZero();
    assertThat(after.sum()).isZero();
  }

  /** It hangs over the edge: each side has the beats that were due there. */
  @Test
  void aHangAcrossAnInstantCountsOnBothSides() {
    beat(10, 0);
    now += 300 * MILLI;
    Heartbeat.Lateness before = heart.take(now - 100 * MILLI);
    assertThat(before.timeAbove()[0]).as("due until then").isEqualTo(150_000);
    assertThat(heart.take(now).timeAbove()[0]).isEqualTo(100_000);
    assertThat(before.longest()).isEqualTo(250_000);
  }
}
