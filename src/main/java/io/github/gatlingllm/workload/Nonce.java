package io.github.gatlingllm.workload;

import java.util.Locale;

/**
 * A number that makes a prompt unlike any other, as text: 18 digits and an empty line.
 *
 * <pre>
 * 042198377512904418\n\n
 * </pre>
 *
 * <p>Within one seed no two indexes share a nonce: it is a permutation of 59-bit numbers. Under two
 * seeds they do with a chance of one in 2^59. The first three digits, one token of most
 * vocabularies, take 577 values. Tokenizers that keep digits and line breaks apart from letters
 * count every nonce alike: 7 tokens by {@code cl100k_base}, 5 by {@code chars4}.
 */
final class Nonce {

  /** Step of SplittableRandom's own state: the n-th draw starts where n single draws would end. */
  static final long GOLDEN_GAMMA = 0x9e3779b97f4a7c15L;

  private static final long MASK = (1L << 59) - 1;

  private Nonce() {}

  static String of(long seed, long index) {
    return String.format(Locale.ROOT, "%018d\n\n", permuted((index + spread(seed)) & MASK));
  }

  /** Each step can be undone within 59 bits, and so no two numbers become one. */
  private static long permuted(long number) {
    long x = number;
    x ^= x >>> 30;
    x = (x * 0xbf58476d1ce4e5b9L) & MASK;
    x ^= x >>> 27;
    x = (x * 0x94d049bb133111ebL) & MASK;
    return x ^ (x >>> 31);
  }

  /** Neighbouring seeds must not begin at neighbouring numbers. */
  private static long spread(long seed) {
    long x = seed * GOLDEN_GAMMA;
    x = (x ^ (x >>> 32)) * 0xd6e8feb86659fd93L;
    return x ^ (x >>> 32);
  }
}
