package io.github.gatlingllm.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.Phases;
import io.github.gatlingllm.load.PlanDriver;
import io.github.gatlingllm.load.VirtualUsers;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.record.RunClock;
import io.github.gatlingllm.stats.LiveFigures.Progress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StageLogTest {

  /** Levels whose users never come, so that each ends with its measure phase. */
  private static final VirtualUsers NOBODY =
      new VirtualUsers() {
        @Override
        public void start() {}

        @Override
        public void start(Arrival arrival) {}

        @Override
        public void noMore() {}
      };

  private record Task(long nanoTime, Runnable action) {}

  private final StageLog log = new StageLog(new RunClock(0, 0), () -> {});
  private final List<Task> tasks = new ArrayList<>();
  private long now;

  private void begin(Phases... levels) {
    List<LoadLevel> all = new ArrayList<>();
    for (Phases phases : levels) {
      all.add(new LoadLevel.Closed(all.size() + 1, phases));
    }
    LoadPlan plan = new LoadPlan(all);
    new PlanDriver(
            plan.source(),
            () -> now,
            (nanoTime, action) -> tasks.add(new Task(nanoTime, action)),
            NOBODY,
            log.of("target", "scenario", plan.plannedNanos()))
        .begin();
  }

  private void goTo(long nanoTime) {
    now = nanoTime;
    for (int i = 0; i < tasks.size(); i++) {
      Task task = tasks.get(i);
      if (task.nanoTime() <= now) {
        tasks.remove(i);
        task.action().run();
        i = -1;
      }
    }
  }

  @Test
  void knowsHowFarAPlanIsThatTimeBounds() {
    begin(new Phases(20, 20, 60, 30, null), new Phases(0, 0, 100, 30, null));
    assertThat(log.progress(10)).isEqualTo(new Progress("c=1", Phase.FILL, 0.05, 190L));
    assertThat(log.progress(50)).isEqualTo(new Progress("c=1", Phase.MEASURE, 0.25, 150L));
    goTo(40);
    goTo(100);
    assertThat(log.progress(150)).isEqualTo(new Progress("c=2", Phase.MEASURE, 0.75, 50L));
    goTo(200);
    assertThat(log.progress(200)).isNull();
  }

  @Test
  void doesNotKnowWhenACountIsReached() {
    begin(new Phases(20, 20, 60, 30, null), new Phases(0, 0, 0, 30, 5));
    assertThat(log.progress(50)).isEqualTo(new Progress("c=1", Phase.MEASURE, null, null));
  }
}
