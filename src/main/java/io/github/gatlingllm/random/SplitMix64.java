package io.github.gatlingllm.random;

import java.util.SplittableRandom;

/**
 * The parts of SplitMix64 (Steele, Lea and Flood, 2014), the generator behind {@link
 * SplittableRandom}, for numbers that follow from a seed and a position without drawing those
 * before.
 */
public final class SplitMix64 {

  /** Step of its state: the n-th draw starts where n single draws would end. */
  public static final long GOLDEN_GAMMA = 0x9e3779b97f4a7c15L;

  private SplitMix64() {}

  /** Its finalizer (Stafford's variant 13): a bijection after which neighbours share nothing. */
  public static long mix(long value) {
    long z = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /**
   * Random numbers for one of many draws from one seed: the same for the same arguments. What is
   * drawn for one index says nothing of its neighbours: the start is mixed, else the second number
   * of each would be the first of the next.
   *
   * @param salt keeps draws for different purposes independent of each other
   */
  public static SplittableRandom at(long seed, long salt, long index) {
    return new SplittableRandom(mix((seed ^ salt) + index * GOLDEN_GAMMA));
  }
}
