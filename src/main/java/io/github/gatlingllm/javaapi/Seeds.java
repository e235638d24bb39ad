package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.workload.PromptPrefix;
import java.util.SplittableRandom;

/** What builders of prompts draw from. */
final class Seeds {

  private Seeds() {}

  /** A seed where none was pinned. */
  static long random() {
    return new SplittableRandom().nextLong();
  }

  /** Shared prefixes; a mistake in their sizes is one of the simulation. */
  static PromptPrefix sharedPrefix(int groups, int tokens, long seed) {
    try {
      return PromptPrefix.shared(groups, tokens, seed);
    } catch (IllegalArgumentException e) {
      throw InvalidSimulation.because("sharedPrefix: " + e.getMessage());
    }
  }
}
