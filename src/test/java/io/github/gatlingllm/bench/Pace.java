package io.github.gatlingllm.bench;

import java.util.SplittableRandom;

/**
 * When the tokens of an answer are written.
 *
 * @param ttftNanos from the request to its first token
 * @param itlNanos from token to token; 0, like the TTFT: the whole answer at once
 * @param spread each of these times is drawn evenly from ± this share around it
 */
record Pace(long ttftNanos, long itlNanos, double spread) {

  /** Of requests that are to warm a client. */
  static final Pace WARM_UP = new Pace(1_000_000, 200_000, 0);

  /** One piece for the whole answer, as much as the client takes. */
  boolean isFlood() {
    return ttftNanos == 0 && itlNanos == 0;
  }

  /** The instants of that many tokens, since the request was read; they depend on its number. */
  long[] offsets(long number, int tokens) {
    SplittableRandom random = new SplittableRandom(number);
    long[] offsets = new long[tokens];
    long at = drawn(ttftNanos, random);
    for (int i = 0; i < tokens; i++) {
      offsets[i] = at;
      at += drawn(itlNanos, random);
    }
    return offsets;
  }

  private long drawn(long nanos, SplittableRandom random) {
    return spread == 0 ? nanos : (long) (nanos * (1 + spread * (2 * random.nextDouble() - 1)));
  }
}
