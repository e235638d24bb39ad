package io.github.gatlingllm.engine;

/**
 * Duration of one iteration of the modelled engine, and its capacity.
 *
 * <pre>
 * step = prefill tokens / prefillTokensPerSecond
 *      + decodeStep × (1 + perSequence × batch + perKvToken × KV tokens in use)
 * </pre>
 *
 * @param perSequence growth of the decode step per sequence that gets a token in it
 * @param perKvToken growth of the decode step per token held in the KV cache
 * @param maxPrefillTokens a longer prompt takes several iterations, in which other sequences keep
 *     decoding (chunked prefill)
 */
record BatchModel(
    double prefillTokensPerSecond,
    long decodeStepNanos,
    double perSequence,
    double perKvToken,
    int maxPrefillTokens,
    int maxBatch,
    int kvTokens) {

  int kvBlocks() {
    return Math.max(1, kvTokens / BlockPool.BLOCK_TOKENS);
  }

  long stepNanos(int prefillTokens, int batch, long kvTokensInUse) {
    double prefillNanos = prefillTokens / prefillTokensPerSecond * 1e9;
    double growth = 1 + perSequence * batch + perKvToken * kvTokensInUse;
    return Math.round(prefillNanos + decodeStepNanos * growth);
  }
}
