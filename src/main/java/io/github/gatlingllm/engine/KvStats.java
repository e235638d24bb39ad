package io.github.gatlingllm.engine;

/**
 * What the engine's KV memory did so far; vLLM's counters. All 0 where {@link
 * EmbeddedEngineBuilder#fixed} chose a timetable, which has no memory.
 *
 * @param prefixQueriedTokens prompt tokens looked up in the prefix cache, once per choice; 0
 *     without prefix caching
 * @param prefixHitTokens of these, tokens that were there and needed no prefill
 * @param preemptions requests that lost their blocks to an older one and began again
 * @param blocks of 16 tokens, in all
 * @param heldBlocks held by running requests; a block that several share counts once
 * @param cachedBlocks whose content a later request can share, held or not
 */
public record KvStats(
    long prefixQueriedTokens,
    long prefixHitTokens,
    long preemptions,
    int blocks,
    int heldBlocks,
    int cachedBlocks) {
  static final KvStats NONE = new KvStats(0, 0, 0, 0, 0, 0);
}
