package io.github.gatlingllm.action;

import io.github.gatlingllm.load.Stage;
import io.github.gatlingllm.load.StageListener;
import io.github.gatlingllm.sample.Phase;

/** Passes on what a plan tells, and cancels what its drain times do not suffice for. */
final class PlanStages implements StageListener {

  private final StageListener log;
  private final InFlight inFlight;

  PlanStages(StageListener log, InFlight inFlight) {
    this.log = log;
    this.inFlight = inFlight;
  }

  @Override
  public void stageStarted(Stage stage, long nanoTime) {
    log.stageStarted(stage, nanoTime);
  }

  @Override
  public void phaseStarted(Stage stage, Phase phase, long nanoTime) {
    log.phaseStarted(stage, phase, nanoTime);
  }

  @Override
  public void stageEnded(Stage stage, long nanoTime, int running) {
    log.stageEnded(stage, nanoTime, running);
    if (running > 0) {
      inFlight.cancel(stage);
    }
  }
}
