package io.github.gatlingllm.action;

import io.github.gatlingllm.load.LevelResult;
import io.github.gatlingllm.load.LevelSource;
import io.github.gatlingllm.load.Stage;
import io.github.gatlingllm.load.StageListener;
import io.github.gatlingllm.load.VirtualUsers;
import io.github.gatlingllm.sample.Phase;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Passes on what a plan tells, cancels what its drain times do not suffice for, and waits for the
 * records that a result is made of.
 */
final class PlanStages implements StageListener {

  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final StageListener log;
  private final InFlight inFlight;
  private final VirtualUsers.Timer timer;

  PlanStages(StageListener log, InFlight inFlight, VirtualUsers.Timer timer) {
    this.log = log;
    this.inFlight = inFlight;
    this.timer = timer;
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

  /** The result is known once the records of all its requests are handed over. */
  @Override
  public void whenSettled(Stage stage, Consumer<LevelResult> goOn) {
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
