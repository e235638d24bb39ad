package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.action.Dynamic.Draft;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.LengthDistribution.Pairs;
import io.github.gatlingllm.workload.LengthDistribution.RecordedPair;
import java.util.List;

/**
 * Pairs of lengths, of a prompt and of its output, drawn by weight; see {@link LlmDsl#lengths}.
 * Each {@code feed} of a {@link PromptsBuilder} draws one pair, which all turns of the user's
 * conversation share.
 */
public final class LengthsBuilder {

  static final LengthsBuilder START = new LengthsBuilder(List.of());

  private final List<RecordedPair> pairs;

  private LengthsBuilder(List<RecordedPair> pairs) {
    this.pairs = pairs;
  }

  /** Adds a prompt and an output of exactly these lengths in tokens, with a weight of 1. */
  public LengthsBuilder pair(int input, int output) {
    return checked(
        () -> pair(LengthDistribution.exactly(input), LengthDistribution.exactly(output)));
  }

  /** Adds lengths of prompts and of outputs that are drawn, each by itself, with a weight of 1. */
  public LengthsBuilder pair(LengthDistribution input, LengthDistribution output) {
    return new LengthsBuilder(Draft.and(pairs, new RecordedPair(input, output, 1)));
  }

  /**
   * The weight of the last pair, a finite number above 0; its share is its weight ÷ the sum of all
   * weights.
   */
  public LengthsBuilder weight(double weight) {
    if (pairs.isEmpty()) {
      throw InvalidSimulation.because(
          "lengths().weight(%s): expected a pair first".formatted(weight));
    }
    RecordedPair last = pairs.get(pairs.size() - 1);
    double above0 = InvalidSimulation.above0("lengths().weight", weight);
    return new LengthsBuilder(
        Draft.and(
            pairs.subList(0, pairs.size() - 1),
            new RecordedPair(last.input(), last.output(), above0)));
  }

  Pairs pairs() {
    if (pairs.isEmpty()) {
      throw InvalidSimulation.because("lengths() is empty; add a pair: lengths().pair(256, 128)");
    }
    return new Pairs(pairs);
  }
}
