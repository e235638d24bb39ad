package io.github.gatlingllm.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Hand-computed timetables; 1 ms per prompt token, 10 ms per decode step, times in ms. */
final class BatchSchedulerTest {
  private static final long MILLI = 1_000_000;
  private final List<String> log = new ArrayList<>();

  private static BatchModel model(double perSequence, double perKvToken, int maxBatch, int kv) {
    return new BatchModel(1_000, 10 * MILLI, perSequence, perKvToken, 1_000, maxBatch, kv);
  }

  private final class Named implements Sequence.Listener {
    private final String name;

    Named(String name) {
      this.name = name;
    }

    @Override
    public void admitted() {
      log.add(name + " admitted");
    }

    @Override
    public void token() {
      log.add(name);
    }
  }

  private Sequence sequence(String name, int promptTokens, int outputTokens) {
    return new Sequence(promptTokens, outputTokens, 0, BlockChain.NONE, new Named(name));
  }

  /** Runs to the end of the work, or {@code steps} steps; each entry is "time: who got a token". */
  private List<String> run(Scheduler scheduler, long startMillis, int steps) {
    List<String> timetable = new ArrayList<>();
    List<Sequence> tokens = new ArrayList<>();
    List<Sequence> admitted = new ArrayList<>();
    long now = startMillis * MILLI;
    long due = scheduler.plan(now, admitted);
    for (int step = 0; step < steps && due != Scheduler.NEVER; step++) {
      now = due;
      scheduler.advance(now, tokens);
      log.clear();
      tokens.forEach(each -> each.listener.token());
      timetable.add(now / 1e6 + ": " + String.join(" ", log));
      tokens.clear();
      due = scheduler.plan(now, admitted);
    }
    return timetable;
  }

  @Test
  void oneSequenceDecodesAtTheBasePace() {
    BatchScheduler scheduler = new BatchScheduler(model(0, 0, 8, 1_000));
    scheduler.add(sequence("a", 5, 3));
    assertThat(run(scheduler, 0, 99)).containsExactly("15.0: a", "25.0: a", "35.0: a");
    assertThat(scheduler.load()).isEqualTo(Scheduler.Load.NONE);
  }

  @Test
  void stepGrowsWithTheBatch() {
    BatchScheduler scheduler = new BatchScheduler(model(0.1, 0, 8, 1_000));
    scheduler.add(sequence("a", 1, 2));
    scheduler.add(sequence("b", 1, 3));
    // 2 prompt tokens = 2 ms; a batch of two steps in 12 ms, of one in 11 ms
    assertThat(run(scheduler, 0, 99)).containsExactly("14.0: a b", "26.0: a b", "37.0: b");
  }

  @Test
  void stepGrowsWithTheTokensInTheKvCache() {
    BatchScheduler scheduler = new BatchScheduler(model(0, 0.01, 8, 1_000));
    scheduler.add(sequence("a", 10, 3));
    // 10 ms prefill, then 10 × (1 + 0.01 × 10, 11, 12) ms
    assertThat(run(scheduler, 0, 99)).containsExactly("21.0: a", "32.1: a", "43.3: a");
  }

  @Test
  void prefillOfANewSequenceDelaysTheRunningOnes() {
    BatchScheduler scheduler = new BatchScheduler(model(0, 0, 8, 1_000));
    scheduler.add(sequence("a", 5, 4));
    assertThat(run(scheduler, 0, 1)).containsExactly("15.0: a");
    scheduler.add(sequence("b", 30, 1));
    // The step from 15 ms to 25 ms is under way; b joins the next one.
    assertThat(run(scheduler, 15, 99)).containsExactly("25.0: a", "65.0: a b", "75.0: a");
  }

  @Test
  void longPromptIsProcessedInChunksBetweenDecodes() {
    BatchScheduler scheduler =
        new BatchScheduler(new BatchModel(1_000, 10 * MILLI, 0, 0, 20, 8, 1_000));
    scheduler.add(sequence("a", 5, 4));
    scheduler.add(sequence("b", 50, 1));
    // b: 15 of its tokens beside a's 5, then 20, then 15
    assertThat(run(scheduler, 0, 99)).containsExactly("30.0: a", "60.0: a", "85.0: a b", "95.0: a");
  }

  @Test
  void batchLimitQueuesFirstComeFirstServed() {
    BatchScheduler scheduler = new BatchScheduler(model(0, 0, 2, 1_000));
    scheduler.add(sequence("a", 1, 1));
    scheduler.add(sequence("b", 1, 2));
    scheduler.add(sequence("c", 1, 1));
    scheduler.add(sequence("d", 1, 1));
    scheduler.plan(0, new ArrayList<>());
    assertThat(scheduler.load()).isEqualTo(new Scheduler.Load(2, 2, 2 / 62.0));
    assertThat(run(scheduler, 0, 99)).containsExactly("12.0: a b", "23.0: b c", "34.0: d");
  }

  @Test
  void kvLimitQueuesAndTheHeadIsNotOvertaken() {
    BatchScheduler scheduler = new BatchScheduler(model(0, 0, 8, 48));
    scheduler.add(sequence("a", 10, 2)); // one block of three
    scheduler.add(sequence("b", 40, 1)); // three do not fit beside it
    scheduler.add(sequence("c", 1, 1)); // would fit, but came later
    assertThat(run(scheduler, 0, 99)).containsExactly("20.0: a", "30.0: a", "80.0: b", "91.0: c");
  }

  @Test
  void cancelFreesThePlace() {
    BatchScheduler scheduler = new BatchScheduler(model(0, 0, 1, 1_000));
    Sequence running = sequence("a", 1, 100);
    Sequence queued = sequence("b", 1, 100);
    scheduler.add(running);
    scheduler.add(queued);
    scheduler.add(sequence("c", 1, 1));
    assertThat(run(scheduler, 0, 1)).containsExactly("11.0: a");
    scheduler.cancel(running);
    scheduler.cancel(queued);
    assertThat(scheduler.load()).isEqualTo(new Scheduler.Load(0, 1, 0));
    // The step that had begun at 11 ms still ends, empty.
    assertThat(run(scheduler, 11, 99)).containsExactly("21.0: ", "32.0: c");
  }

  @Test
  void latenessDoesNotAddUp() {
    BatchScheduler scheduler = new BatchScheduler(model(0, 0, 1, 1_000));
    scheduler.add(sequence("a", 10, 9));
    assertThat(scheduler.plan(0, new ArrayList<>())).isEqualTo(20 * MILLI);
    scheduler.advance(21 * MILLI, new ArrayList<>());
    assertThat(scheduler.plan(21 * MILLI, new ArrayList<>())).isEqualTo(30 * MILLI);
  }

  @Test
  void stalledMachineIsNotCaughtUpWithInABurst() {
    BatchScheduler scheduler = new BatchScheduler(model(0, 0, 1, 1_000));
    scheduler.add(sequence("a", 10, 9));
    scheduler.plan(0, new ArrayList<>());
    scheduler.advance(500 * MILLI, new ArrayList<>());
    assertThat(scheduler.plan(500 * MILLI, new ArrayList<>())).isEqualTo(510 * MILLI);
  }

  @Test
  void idleTimeIsNotCreditedToTheNextArrival() {
    BatchScheduler scheduler = new BatchScheduler(model(0, 0, 1, 1_000));
    scheduler.add(sequence("a", 10, 1));
    assertThat(run(scheduler, 0, 99)).containsExactly("20.0: a");
    scheduler.add(sequence("b", 10, 1));
    assertThat(run(scheduler, 21, 99)).containsExactly("41.0: b");
  }

  @Test
  void nothingIsDueBeforeItsTime() {
    BatchScheduler scheduler = new BatchScheduler(model(0, 0, 1, 1_000));
    scheduler.add(sequence("a", 10, 1));
    List<Sequence> tokens = new ArrayList<>();
    long due = scheduler.plan(0, new ArrayList<>());
    scheduler.advance(due - 1, tokens);
    assertThat(tokens).isEmpty();
    scheduler.advance(due, tokens);
    assertThat(tokens).hasSize(1);
  }
}
