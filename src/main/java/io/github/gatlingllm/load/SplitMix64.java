package io.github.gatlingllm.load;

import java.util.SplittableRandom;

/**
 * Parts of SplitMix64 (Steele, Lea and Flood, 2014), the generator of {@link SplittableRandom}, for
 * random access: numbers that follow from a seed and an index without drawing the preceding ones.
 */
public final class SplitMix64 {

  /** The increment of its state per draw. */
  public static final long GOLDEN_GAMMA = 0x9e3779b97f4a7c15L;

  private SplitMix64() {}

  /** Its finalizer (Stafford's variant 13), a bijection that decorrelates neighbouring values. */
  public static long mix(long value) {
    long z = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /**
   * A generator for one of many draws from one seed; the same for the same arguments. Draws of
   * neighbouring indices are independent: the state is mixed, as otherwise the second number of
   * each index would be the first of the next.
   */
  public static SplittableRandom at(long seed, long salt, long index) {
    return new SplittableRandom(mix((seed ^ salt) + index * GOLDEN_GAMMA));
  }
}
