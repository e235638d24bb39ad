package io.github.gatlingllm.workload;

import io.github.gatlingllm.load.SplitMix64;

/**
 * The numbers 0 to n − 1 in a random order computed without memory: each occurs once per pass, and
 * every pass has another order.
 *
 * <p>A balanced Feistel network over the least even number of bits for n is a bijection for any
 * round function (Luby and Rackoff, 1988). Results of n and above are encrypted again until one is
 * below n (cycle walking; Black and Rogaway, 2002), less than 4 times on average.
 */
final class Permutation {

  private static final int ROUNDS = 8;

  /** Makes these draws independent of others with the same seed. */
  private static final long SALT = 0x6469616c6f677331L; // "dialogs1"

  private final int size;
  private final int halfBits;
  private final long seed;

  /**
   * @param size of the range, ≥ 1
   */
  Permutation(int size, long seed) {
    this.size = size;
    this.seed = seed ^ SALT;
    int bits = Math.max(2, Integer.SIZE - Integer.numberOfLeadingZeros(size - 1));
    halfBits = (bits + 1) / 2;
  }

  /**
   * The number at an index.
   *
   * @param index ≥ 0; a pass over all numbers has {@code size} indices
   */
  int at(long index) {
    long key = SplitMix64.mix(seed + (index / size) * SplitMix64.GOLDEN_GAMMA);
    long value = index % size;
    do {
      value = encrypt(value, key);
    } while (value >= size);
    return (int) value;
  }

  private long encrypt(long value, long key) {
    long mask = (1L << halfBits) - 1;
    long left = value >>> halfBits;
    long right = value & mask;
    for (int round = 1; round <= ROUNDS; round++) {
      long next = left ^ (SplitMix64.mix(key + round * SplitMix64.GOLDEN_GAMMA + right) & mask);
      left = right;
      right = next;
    }
    return left << halfBits | right;
  }
}
