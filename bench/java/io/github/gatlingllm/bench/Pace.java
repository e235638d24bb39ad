package io.github.gatlingllm.bench;

import java.util.SplittableRandom;

/**
 * Timetable of the tokens of an answer.
 *
 * @param ttftNanos from the request to its first token
 * @param itlNanos from token to token; 0, like the TTFT, for the complete answer at once
 * @param spread each of these times is drawn uniformly from ± this share around it
 */
record Pace(long ttftNanos, long itlNanos, double spread) {

  /** Pace of warm-up requests. */
  static final Pace WARM_UP = new Pace(1_000_000, 200_000, 0);

  /** The complete answer in one write, as fast as the client accepts it. */
  boolean isFlood() {
    return ttftNanos == 0 && itlNanos == 0;
  }

  /** Times of that many tokens since the request was read; determined by its number. */
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
