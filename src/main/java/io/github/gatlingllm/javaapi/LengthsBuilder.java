package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.LengthDistribution.Pairs;

/**
 * Pairs of lengths, of a prompt and of its output, drawn by weight; see {@link LlmDsl#lengths}.
 * Each {@code feed} of a {@link PromptsBuilder} draws one pair, which all turns of the user's
 * conversation share.
 */
public final class LengthsBuilder {

  static final LengthsBuilder START = new LengthsBuilder(Pairs.NONE);

  private final Pairs pairs;

  private LengthsBuilder(Pairs pairs) {
    this.pairs = pairs;
  }

  /** Adds a prompt and an output of exactly these lengths in tokens, with a weight of 1. */
  public LengthsBuilder pair(int input, int output) {
    return checked(
        () -> pair(LengthDistribution.exactly(input), LengthDistribution.exactly(output)));
  }

  /** Adds lengths of prompts and of outputs that are drawn, each by itself, with a weight of 1. */
  public LengthsBuilder pair(LengthDistribution input, LengthDistribution output) {
    return new LengthsBuilder(pairs.and(input, output, 1));
  }

  /**
   * The weight of the last pair, a finite number above 0; its share is its weight ÷ the sum of all
   * weights.
   */
  public LengthsBuilder weight(double weight) {
    if (pairs.size() == 0) {
      throw InvalidSimulation.because(
          "lengths().weight(%s): expected a pair first".formatted(weight));
    }
    return new LengthsBuilder(pairs.weighted(InvalidSimulation.above0("lengths().weight", weight)));
  }

  Pairs pairs() {
    if (pairs.size() == 0) {
      throw InvalidSimulation.because("lengths() is empty; add a pair: lengths().pair(256, 128)");
    }
    return pairs;
  }
}
