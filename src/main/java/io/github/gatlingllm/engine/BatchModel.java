package io.github.gatlingllm.engine;

/**
 * What one iteration of the modelled engine costs, and how much it holds.
 *
 * <pre>
 * step = prefill tokens / prefillTokensPerSecond
 *      + decodeStep × (1 + perSequence × batch + perKvToken × KV tokens in use)
 * </pre>
 *
 * @param prefillTokensPerSecond prompt tokens processed per second
 * @param decodeStepNanos one decode iteration of an empty engine, in nanoseconds
 * @param perSequence growth of the decode step per sequence that gets a token in it
 * @param perKvToken growth of the decode step per token held in the KV cache
 * @param maxPrefillTokens most prompt tokens in one iteration; a longer prompt takes several, and
 *     the decodes of the others go on between them (chunked prefill)
 * @param maxBatch most sequences running at once
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
   * The defaults: a sweep of closed loops 1 … 64 shows its knee in a few seconds a level.
   *
   * <p>A request of 60 prompt and 128 output tokens holds 60 + 64 = 124 KV tokens on average, so a
   * batch of n costs 5 ms × (1 + n × (0.05 + 124 × 0.0001)) = 5 ms × (1 + n / 16) a step, and each
   * prompt 60 / 20,000 s = 3 ms once. While all fit into the batch, power = throughput ÷ E2E ∝ n /
   * (1 + n / 16)², whose maximum is at n = 16; above 24 the batch stays full and the rest queues:
   * the knee, the lightest level with 90 % of the highest output, is at 32.
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
   * <p>Without a prefix cache, that is, or with prompts that share nothing; cached prompts move the
   * knee little, because here decoding takes most of the time.
   *
   * <p>E2E = 128 × step + batch × 3 ms + queue; the table is what 6 s of closed loops show,
   * computed by {@code BatchModelTest}.
   */
  static final BatchModel DEFAULT =
      new BatchModel(20_000, 5_000_000, 0.05, 0.000_1, 2_048, 24, 40_000);

  /** KV blocks; at least one. */
  int kvBlocks() {
    return Math.max(1, kvTokens / BlockPool.BLOCK_TOKENS);
  }

  /**
   * How long an iteration takes, in nanoseconds.
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
