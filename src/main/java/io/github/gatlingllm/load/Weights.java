package io.github.gatlingllm.load;

import java.util.List;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;

/** Weighted random choice. */
public final class Weights {

  private Weights() {}

  /** Checks a weight and returns it. */
  public static double require(double weight) {
    if (!(weight > 0 && weight < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException("weight " + weight + "; expected a number above 0");
    }
    return weight;
  }

  /** Draws an element with a probability of its weight ÷ the sum of all weights. */
  public static <T> T draw(List<T> choices, ToDoubleFunction<T> weight, SplittableRandom random) {
    double left = random.nextDouble() * choices.stream().mapToDouble(weight).sum();
    for (T choice : choices) {
      left -= weight.applyAsDouble(choice);
      if (left < 0) {
        return choice;
      }
    }
    return choices.get(choices.size() - 1);
  }
}
