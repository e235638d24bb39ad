package io.github.gatlingllm.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class FixedSchedulerTest {
  private static final Sequence.Listener NOBODY =
      new Sequence.Listener() {
        @Override
        public void admitted() {}

        @Override
        public void token() {}
      };

  private final FixedScheduler scheduler = new FixedScheduler(100, 10);
  private final List<Sequence> tokens = new ArrayList<>();
  private final List<Sequence> admitted = new ArrayList<>();

  @Test
  void timesOfEachRequestStartAtItsArrival() {
    Sequence first = new Sequence(1, 3, 1_000, null, NOBODY);
    Sequence second = new Sequence(1, 1, 1_005, null, NOBODY);
    scheduler.add(first);
    scheduler.add(second);
    List<Long> dues = new ArrayList<>();
    for (long due = scheduler.plan(1_006, admitted);
        due != Scheduler.NEVER;
        due = scheduler.plan(due, admitted)) {
      dues.add(due);
      scheduler.advance(due, tokens);
    }
    assertThat(dues).containsExactly(1_100L, 1_105L, 1_110L, 1_120L);
    assertThat(tokens).containsExactly(first, second, first, first);
    assertThat(admitted).containsExactly(first, second);
    assertThat(scheduler.load()).isEqualTo(EmbeddedEngine.Load.NONE);
  }

  @Test
  void lateWakeUpGeneratesAllDueTokensAndKeepsDueTimes() {
    Sequence sequence = new Sequence(1, 5, 0, null, NOBODY);
    scheduler.add(sequence);
    scheduler.plan(0, admitted);
    scheduler.advance(125, tokens);
    assertThat(tokens).containsExactly(sequence, sequence, sequence);
    assertThat(scheduler.plan(125, admitted)).isEqualTo(130);
  }

  @Test
  void cancelledRequestGetsNothing() {
    Sequence kept = new Sequence(1, 1, 0, null, NOBODY);
    Sequence planned = new Sequence(1, 1, 0, null, NOBODY);
    Sequence arrived = new Sequence(1, 1, 0, null, NOBODY);
    scheduler.add(kept);
    scheduler.add(planned);
    scheduler.plan(0, admitted);
    scheduler.add(arrived);
    scheduler.cancel(planned);
    scheduler.cancel(arrived);
    scheduler.advance(1_000, tokens);
    assertThat(tokens).containsExactly(kept);
  }
}
