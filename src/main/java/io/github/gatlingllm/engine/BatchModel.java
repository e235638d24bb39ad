package io.github.gatlingllm.engine;

/**
 * Duration of one iteration of the modelled engine, and its capacity.
 *
 * <pre>
 * step = prefill tokens / prefillTokensPerSecond
 *      + decodeStep × (1 + perSequence × batch + perKvToken × KV tokens in use)
 * </pre>
 *
 * @param prefillTokensPerSecond prompt tokens processed per second, above 0
 * @param decodeStepNanos one decode iteration of an empty engine, in nanoseconds
 * @param perSequence growth of the decode step per sequence that gets a token in it
 * @param perKvToken growth of the decode step per token held in the KV cache
 * @param maxPrefillTokens most prompt tokens in one iteration; a longer prompt takes several
 *     iterations, in which other sequences keep decoding (chunked prefill)
 * @param maxBatch most sequences in the batch
 * @param kvTokens tokens that the KV cache holds, in whole blocks of 16
 */
record BatchModel(
    double prefillTokensPerSecond,
    long decodeStepNanos,
    double perSequence,
    double perKvToken,
    int maxPrefillTokens,
    int maxBatch,
    int kvTokens) {

  /**
   * Defaults with which a sweep of 1 to 64 users in a closed loop shows its knee in a few seconds
   * per load level.
   *
   * <p>A request of 60 prompt and 128 output tokens holds 60 + 64 = 124 KV tokens on average, so a
   * step of a batch of n takes 5 ms × (1 + n × (0.05 + 124 × 0.0001)) = 5 ms × (1 + n / 16), and
   * each prompt adds 60 / 20,000 s = 3 ms once. While all requests fit into the batch, power =
   * throughput ÷ E2E ∝ n / (1 + n / 16)², which has its maximum at n = 16. Above 24 the batch is
   * full and requests queue. The knee, the lowest level with 90 % of the highest output, is at 32.
   *
   * <pre>
   *  c  batch  step ms  TTFT p50 s  E2E p50 s  output tok/s  power
   *  1      1      5.3       0.008       0.68           187    274
   *  2      2      5.6       0.012       0.73           352    485
   *  4      4      6.2       0.018       0.81           630    776
   *  8      8      7.5       0.031       0.98         1,037  1,055
   * 16     16     10.0       0.057       1.33         1,541  1,162  ← best power
   * 32     24     12.5       0.084       1.67         1,836  1,100  ← knee; a quarter waits
   * 64     24     12.5       1.753       3.34         1,836    550  all wait
   * </pre>
   *
   * <p>The table holds without a prefix cache, or for prompts without a common prefix. Cached
   * prompts move the knee little, because decoding takes most of the time.
   *
   * <p>E2E = 128 × step + batch × 3 ms + queue. {@code BatchModelTest} computes the table from 6 s
   * of closed loops.
   */
  static final BatchModel DEFAULT =
      new BatchModel(20_000, 5_000_000, 0.05, 0.000_1, 2_048, 24, 40_000);

  /** Number of KV blocks, at least 1. */
  int kvBlocks() {
    return Math.max(1, kvTokens / BlockPool.BLOCK_TOKENS);
  }

  /**
   * Duration of an iteration, in nanoseconds.
   *
   * @param prefillTokens prompt tokens processed in it
   * @param batch sequences that get a token in it
   * @param kvTokensInUse tokens held in the KV cache during it
   */
  long stepNanos(int prefillTokens, int batch, long kvTokensInUse) {
    double prefillNanos = prefillTokens / prefillTokensPerSecond * 1e9;
    double growth = 1 + perSequence * batch + perKvToken * kvTokensInUse;
    return Math.round(prefillNanos + decodeStepNanos * growth);
  }
}
