package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.workload.PromptPrefix;

/** What prompts begin with; mistakes are told as those of a simulation. */
final class Prefixes {

  private Prefixes() {}

  static PromptPrefix shared(int groups, int tokens, long seed) {
    try {
      return PromptPrefix.shared(groups, tokens, seed);
    } catch (IllegalArgumentException e) {
      throw InvalidSimulation.because("sharedPrefix: " + e.getMessage());
    }
  }
}
