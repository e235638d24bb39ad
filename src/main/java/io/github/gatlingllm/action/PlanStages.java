package io.github.gatlingllm.action;

import io.github.gatlingllm.load.LevelResult;
import io.github.gatlingllm.load.LevelSource;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.load.StageListener;
import io.github.gatlingllm.load.VirtualUsers;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.run.ArrivalLog;
import io.github.gatlingllm.run.Run;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * What a plan's stages mean for the requests of a run: notes planned arrivals, cancels what drain
 * times do not suffice for, and waits for the records that a result is made of. All the rest is the
 * run's own listener.
 */
final class PlanStages implements StageListener {

  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final Run run;
  private final String target;
  private final String scenario;
  private final StageListener log;
  private final InFlight inFlight;
  private final VirtualUsers.Timer timer;

  /**
   * @param log the run's listener for that target and scenario
   */
  PlanStages(
      Run run,
      String target,
      String scenario,
      StageListener log,
      InFlight inFlight,
      VirtualUsers.Timer timer) {
    this.run = run;
    this.target = target;
    this.scenario = scenario;
    this.log = log;
    this.inFlight = inFlight;
    this.timer = timer;
  }

  @Override
  public void stageStarted(RunningLevel stage, long nanoTime) {
    log.stageStarted(stage, nanoTime);
    if (stage.level() instanceof LoadLevel.Open open) {
      run.describeArrivals(scenario + " " + stage.label(), String.valueOf(open.arrivals()));
      run.arrivals()
          .write(
              new ArrivalLog.Schedule(scenario, target, stage.label()),
              open.schedule(),
              stage.startNanos());
    }
  }

  @Override
  public void phaseStarted(RunningLevel stage, Phase phase, long nanoTime) {
    log.phaseStarted(stage, phase, nanoTime);
  }

  @Override
  public void stageEnded(RunningLevel stage, long nanoTime, int running) {
    log.stageEnded(stage, nanoTime, running);
    if (running > 0) {
      inFlight.cancel(stage);
    }
  }

  @Override
  public void watchFailures(RunningLevel stage, long most, Runnable tooMany) {
    log.watchFailures(stage, most, tooMany);
  }

  /** The result is known once the records of all its requests are handed over. */
  @Override
  public void whenSettled(RunningLevel stage, Consumer<LevelResult> goOn) {
    if (inFlight.has(stage)) {
      timer.at(System.nanoTime() + POLL_NANOS, () -> whenSettled(stage, goOn));
    } else {
      log.whenSettled(stage, goOn);
    }
  }

  @Override
  public void concluded(LevelSource.Conclusion conclusion) {
    log.concluded(conclusion);
  }
}
