package io.github.gatlingllm.load;

import io.github.gatlingllm.record.Phase;
import java.util.function.Consumer;

/**
 * Is told how a plan goes on, in order, one call at a time. Instants are planned ones on {@link
 * System#nanoTime()}: calls come at them or a little later, but for the start of an open stage,
 * which is announced some milliseconds ahead. The plan waits for each call: return at once, throw
 * nothing.
 */
public interface StageListener {

  default void stageStarted(RunningLevel stage, long nanoTime) {}

  /** A phase began; phases without length are left out. */
  default void phaseStarted(RunningLevel stage, Phase phase, long nanoTime) {}

  /**
   * A stage ended: nothing of it is in flight, or its drain time is over. The next one starts right
   * after this call.
   *
   * @param running iterations that its drain time did not suffice for, 0 or more; what is to be
   *     cancelled is cancelled from here
   */
  default void stageEnded(RunningLevel stage, long nanoTime, int running) {}

  /**
   * Is told, as a stage starts, how many requests of it may fail.
   *
   * @param tooMany to be called once more than {@code most} have failed, on any thread
   */
  default void watchFailures(RunningLevel stage, long most, Runnable tooMany) {}

  /**
   * Is asked for the result of a stage that has ended, where the next level depends on it.
   *
   * @param goOn takes it as soon as it is known, on any thread
   */
  default void whenSettled(RunningLevel stage, Consumer<LevelResult> goOn) {
    goOn.accept(new LevelResult(stage.label(), 0, null, 100, 0, 0, null, 0, 0, false));
  }

  /** The plan has come to its end, and has this to say. */
  default void concluded(LevelSource.Conclusion conclusion) {}
}
