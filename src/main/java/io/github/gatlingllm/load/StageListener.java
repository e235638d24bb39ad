package io.github.gatlingllm.load;

import io.github.gatlingllm.sample.Phase;

/**
 * Is told how a plan goes on, in order, one call at a time. Instants are {@link System#nanoTime()}
 * and planned ones: a call may come a little after its instant, never before. Calls are made while
 * the plan waits: return at once, throw nothing.
 */
public interface StageListener {

  default void stageStarted(Stage stage, long nanoTime) {}

  /** A phase began; phases without length are left out. */
  default void phaseStarted(Stage stage, Phase phase, long nanoTime) {}

  /**
   * A stage ended: nothing of it is in flight, or its drain time is over. The next one starts right
   * after this call.
   *
   * @param running iterations that its drain time did not suffice for, 0 or more; what is to be
   *     cancelled is cancelled from here
   */
  default void stageEnded(Stage stage, long nanoTime, int running) {}
}
