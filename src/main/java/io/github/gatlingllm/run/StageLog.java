package io.github.gatlingllm.run;

import io.github.gatlingllm.load.Level;
import io.github.gatlingllm.load.LevelSource;
import io.github.gatlingllm.load.Stage;
import io.github.gatlingllm.load.StageListener;
import io.github.gatlingllm.sample.Phase;
import io.github.gatlingllm.sample.RunClock;
import io.github.gatlingllm.sample.StageInfo;
import io.github.gatlingllm.sample.StageInfo.PhaseWindow;
import io.github.gatlingllm.stats.LiveFigures.Progress;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Notes when the stages of a load plan and their phases were, as they go by. Safe for use by
 * several threads.
 */
public final class StageLog {

  private final RunClock clock;
  private final Runnable changed;
  private final List<StageInfo> stages = new ArrayList<>();
  private final Set<Stage> running = new LinkedHashSet<>();
  private final PlannedTime planned = new PlannedTime();

  /**
   * @param changed is called after each change; must return at once
   */
  StageLog(RunClock clock, Runnable changed) {
    this.clock = clock;
    this.changed = changed;
  }

  /**
   * Notes what a plan that runs against this target tells.
   *
   * @param plannedNanos how long that plan takes, without drain; null when not known
   */
  public synchronized StageListener of(String target, @Nullable Long plannedNanos) {
    PlannedTime.Plan plan = planned.add(plannedNanos);
    return new StageListener() {
      @Override
      public void stageStarted(Stage stage, long nanoTime) {
        begin(stage, target, plan);
      }

      @Override
      public void phaseStarted(Stage stage, Phase phase, long nanoTime) {
        enter(stage, target, phase, nanoTime);
      }

      @Override
      public void stageEnded(Stage stage, long nanoTime, int running) {
        end(stage, target, nanoTime);
      }

      @Override
      public void concluded(LevelSource.Conclusion conclusion) {
        conclude(plan);
      }
    };
  }

  /** The stages so far. */
  synchronized List<StageInfo> stages() {
    return List.copyOf(stages);
  }

  /** Where the plan stands, that of the target whose stage began last; null when none runs. */
  synchronized @Nullable Progress progress(long nanoTime) {
    Stage latest = null;
    for (Stage stage : running) {
      latest = stage;
    }
    return latest == null
        ? null
        : new Progress(
            latest.label(),
            latest.phaseAt(nanoTime),
            planned.share(nanoTime),
            planned.leftNanos(nanoTime));
  }

  private synchronized void conclude(PlannedTime.Plan plan) {
    plan.end();
  }

  private void begin(Stage stage, String target, PlannedTime.Plan plan) {
    synchronized (this) {
      running.add(stage);
      Level level = stage.level();
      plan.begin(stage.startNanos(), level.phases().plannedNanos());
      boolean open = level instanceof Level.Open;
      stages.add(
          new StageInfo(
              stage.label(),
              target,
              level instanceof Level.Batch ? "batch" : open ? "open loop" : "closed loop",
              level.offered(),
              open ? "requests/s" : "concurrent",
              List.of()));
    }
    changed.run();
  }

  private void enter(Stage stage, String target, Phase phase, long nanoTime) {
    synchronized (this) {
      int index = indexOf(stage, target);
      List<PhaseWindow> phases = closed(stages.get(index).phases(), nanoTime);
      phases.add(new PhaseWindow(phase, clock.unixNanos(nanoTime), null));
      replace(index, phases);
    }
    changed.run();
  }

  private void end(Stage stage, String target, long nanoTime) {
    synchronized (this) {
      running.remove(stage);
      int index = indexOf(stage, target);
      replace(index, closed(stages.get(index).phases(), nanoTime));
    }
    changed.run();
  }

  private int indexOf(Stage stage, String target) {
    for (int i = stages.size() - 1; i >= 0; i--) {
      StageInfo info = stages.get(i);
      if (info.label().equals(stage.label()) && info.target().equals(target)) {
        return i;
      }
    }
    throw new IllegalStateException("stage " + stage.label() + " has not started");
  }

  private List<PhaseWindow> closed(List<PhaseWindow> phases, long nanoTime) {
    List<PhaseWindow> all = new ArrayList<>(phases);
    if (!all.isEmpty()) {
      PhaseWindow last = all.remove(all.size() - 1);
      all.add(new PhaseWindow(last.phase(), last.startUnixNanos(), clock.unixNanos(nanoTime)));
    }
    return all;
  }

  private void replace(int index, List<PhaseWindow> phases) {
    StageInfo old = stages.get(index);
    stages.set(
        index,
        new StageInfo(old.label(), old.target(), old.kind(), old.offered(), old.unit(), phases));
  }
}
