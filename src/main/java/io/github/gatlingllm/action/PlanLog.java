package io.github.gatlingllm.action;

import io.github.gatlingllm.load.Level;
import io.github.gatlingllm.load.LevelResult;
import io.github.gatlingllm.load.LevelSource;
import io.github.gatlingllm.load.Stage;
import io.github.gatlingllm.load.StageListener;
import io.github.gatlingllm.run.ArrivalLog;
import io.github.gatlingllm.run.Run;
import io.github.gatlingllm.sample.Phase;
import java.util.function.Consumer;

/** Notes a plan's stages, and the arrivals of its open ones, in the run. */
final class PlanLog implements StageListener {
  private final Run run;
  private final String target;
  private final String scenario;
  private final StageListener stages;

  /**
   * @param stages is told all the same
   */
  PlanLog(Run run, String target, String scenario, StageListener stages) {
    this.run = run;
    this.target = target;
    this.scenario = scenario;
    this.stages = stages;
  }

  @Override
  public void stageStarted(Stage stage, long nanoTime) {
    stages.stageStarted(stage, nanoTime);
    if (stage.level() instanceof Level.Open open) {
      run.describeArrivals(scenario + " " + stage.label(), String.valueOf(open.arrivals()));
      run.arrivals()
          .write(
              new ArrivalLog.Schedule(scenario, target, stage.label()),
              open.schedule(),
              stage.startNanos());
    }
  }

  @Override
  public void phaseStarted(Stage stage, Phase phase, long nanoTime) {
    stages.phaseStarted(stage, phase, nanoTime);
  }

  @Override
  public void stageEnded(Stage stage, long nanoTime, int running) {
    stages.stageEnded(stage, nanoTime, running);
  }

  @Override
  public void whenSettled(Stage stage, Consumer<LevelResult> goOn) {
    stages.whenSettled(stage, goOn);
  }

  @Override
  public void concluded(LevelSource.Conclusion conclusion) {
    stages.concluded(conclusion);
  }
}
