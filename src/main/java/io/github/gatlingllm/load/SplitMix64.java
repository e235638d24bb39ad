package io.github.gatlingllm.load;

import java.util.List;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;

/**
 * Parts of SplitMix64 (Steele, Lea and Flood, 2014) for random access: numbers that follow from a
 * seed and an index, without the preceding ones.
 */
public final class SplitMix64 {

  public static final long GOLDEN_GAMMA = 0x9e3779b97f4a7c15L;

  private SplitMix64() {}

  /** Its finalizer (Stafford's variant 13), a bijection that decorrelates neighbouring values. */
  public static long mix(long value) {
    long z = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /** A generator for the draw at an index; mixed, so that neighbouring indices are independent. */
  public static SplittableRandom at(long seed, long salt, long index) {
    return new SplittableRandom(mix((seed ^ salt) + index * GOLDEN_GAMMA));
  }

  public static double weight(double weight) {
    if (!(weight > 0 && weight < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException("weight " + weight + "; expected a number above 0");
    }
    return weight;
  }

  /** Draws an element with a probability of its weight ÷ the sum of all weights. */
  public static <T> T weighted(
      List<T> choices, ToDoubleFunction<T> weight, SplittableRandom random) {
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
