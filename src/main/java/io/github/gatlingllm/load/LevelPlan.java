package io.github.gatlingllm.load;

import org.jspecify.annotations.Nullable;

/** Where the levels of a run come from. */
public interface LevelPlan {

  /** The levels of one run, from the first. */
  LevelSource source();

  /**
   * Nanoseconds that fill, stabilize and measure of all levels take, at most where the plan may end
   * early; null where that is not known before the run.
   */
  @Nullable Long plannedNanos();
}
