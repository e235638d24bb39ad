package io.github.gatlingllm.run;

import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.LevelSource;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.load.StageListener;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.record.RunClock;
import io.github.gatlingllm.stats.LiveFigures.Progress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Notes when the stages of a load plan and their phases were, as they go by. Safe for use by
 * several threads.
 */
public final class StageLog {

  private final RunClock clock;
  private final Runnable changed;
  private final List<LevelInfo> stages = new ArrayList<>();
  private final Map<RunningLevel, Integer> index = new HashMap<>();
  private final Set<RunningLevel> running = new LinkedHashSet<>();
  private final PlannedTime planned = new PlannedTime();

  /**
   * @param changed is called after each change; must return at once
   */
  StageLog(RunClock clock, Runnable changed) {
    this.clock = clock;
    this.changed = changed;
  }

  /**
   * Notes what a plan that runs this scenario against this target tells.
   *
   * @param plannedNanos how long that plan takes, without drain; null when not known
   */
  public synchronized StageListener of(
      String target, String scenario, @Nullable Long plannedNanos) {
    PlannedTime.Plan plan = planned.add(plannedNanos);
    return new StageListener() {
      @Override
      public void stageStarted(RunningLevel stage, long nanoTime) {
        begin(stage, target, scenario, plan);
      }

      @Override
      public void phaseStarted(RunningLevel stage, Phase phase, long nanoTime) {
        enter(stage, phase, nanoTime);
      }

      @Override
      public void stageEnded(RunningLevel stage, long nanoTime, int running) {
        end(stage, nanoTime);
      }

      @Override
      public void concluded(LevelSource.Conclusion conclusion) {
        conclude(plan);
      }
    };
  }

  /** The stages so far. */
  synchronized List<LevelInfo> stages() {
    return List.copyOf(stages);
  }

  /** Where the plan stands, that of the target whose stage began last; null when none runs. */
  synchronized @Nullable Progress progress(long nanoTime) {
    RunningLevel latest = null;
    for (RunningLevel stage : running) {
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

  private void begin(RunningLevel stage, String target, String scenario, PlannedTime.Plan plan) {
    synchronized (this) {
      running.add(stage);
      LoadLevel level = stage.level();
      plan.begin(stage.startNanos(), level.phases().plannedNanos());
      boolean open = level instanceof LoadLevel.Open;
      index.put(stage, stages.size());
      stages.add(
          new LevelInfo(
              stage.label(),
              target,
              scenario,
              kind(level),
              level.offered(),
              open ? "requests/s" : "concurrent",
              List.of()));
    }
    changed.run();
  }

  private void enter(RunningLevel stage, Phase phase, long nanoTime) {
    synchronized (this) {
      List<PhaseWindow> phases = closed(infoOf(stage).phases(), nanoTime);
      phases.add(new PhaseWindow(phase, clock.unixNanos(nanoTime), null));
      replace(stage, phases);
    }
    changed.run();
  }

  private void end(RunningLevel stage, long nanoTime) {
    synchronized (this) {
      running.remove(stage);
      replace(stage, closed(infoOf(stage).phases(), nanoTime));
    }
    changed.run();
  }

  private static String kind(LoadLevel level) {
    if (level instanceof LoadLevel.Open open) {
      return open.arrivals() instanceof Arrivals.Curve
          ? LevelInfo.RATE_CURVE
          : open.arrivals() instanceof Arrivals.Replay ? LevelInfo.TRACE : "open loop";
    }
    return level instanceof LoadLevel.Batch ? "batch" : "closed loop";
  }

  private LevelInfo infoOf(RunningLevel stage) {
    Integer at = index.get(stage);
    if (at == null) {
      throw new IllegalStateException("stage " + stage.label() + " has not started");
    }
    return stages.get(at);
  }

  private List<PhaseWindow> closed(List<PhaseWindow> phases, long nanoTime) {
    List<PhaseWindow> all = new ArrayList<>(phases);
    if (!all.isEmpty()) {
      PhaseWindow last = all.remove(all.size() - 1);
      all.add(new PhaseWindow(last.phase(), last.startUnixNanos(), clock.unixNanos(nanoTime)));
    }
    return all;
  }

  private void replace(RunningLevel stage, List<PhaseWindow> phases) {
    stages.set(Objects.requireNonNull(index.get(stage)), infoOf(stage).withPhases(phases));
  }
}
