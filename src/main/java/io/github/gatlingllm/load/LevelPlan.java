package io.github.gatlingllm.load;

/** Where the levels of a run come from. */
public interface LevelPlan {

  /** The levels of one run, from the first. */
  LevelSource source();
}
