package io.github.gatlingllm.workload;

/**
 * Where the texts of prompts come from. Immutable; all methods may be called from any thread.
 *
 * @see PromptPool
 * @see SyntheticText
 */
public interface PromptSource {

  /** For people: {@code built-in}, a file name. */
  String origin();

  /**
   * The text of one prompt.
   *
   * @param seed the run's seed
   * @param index position of the prompt in the run, from 0
   */
  String pick(long seed, long index);

  /** Whether every prompt is the same text. */
  default boolean fixed() {
    return false;
  }
}
