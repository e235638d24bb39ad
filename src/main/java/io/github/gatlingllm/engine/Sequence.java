package io.github.gatlingllm.engine;

import org.jspecify.annotations.Nullable;

/** An answer as the scheduler sees it. Only its thread changes it; listeners hear afterwards. */
final class Sequence {
  final int promptTokens;
  final long arrivedNanos;

  /** Lower leaves the queue first, as in vLLM. */
  final int priority;

  final TokenListener listener;

  /** Hashes of the blocks that prompt and answer fill; null where no prefix is shared. */
  private final long @Nullable [] blocks;

  private final int outputTokens;
  private int prefilled;
  private int generated;
  private int cachedTokens;
  private long place;

  interface TokenListener {

    void admitted();

    void token();
  }

  /** {@code outputTokens} is known in advance, because answers are drawn from a seed. */
  Sequence(
      int promptTokens,
      int outputTokens,
      long arrivedNanos,
      int priority,
      long @Nullable [] blocks,
      TokenListener listener) {
    this.promptTokens = promptTokens;
    this.outputTokens = outputTokens;
    this.arrivedNanos = arrivedNanos;
    this.priority = priority;
    this.blocks = blocks;
    this.listener = listener;
  }

  /** Among those of its priority in the queue, the first has the lowest. */
  long place() {
    return place;
  }

  void queue(long atPlace) {
    place = atPlace;
  }

  /** Prompt tokens found in the prefix cache when the sequence left the queue. */
  int cachedTokens() {
    return cachedTokens;
  }

  /** Tokens that it holds in the KV cache now. */
  int kvTokens() {
    return prefilled + generated;
  }

  int begin(PrefixCache cache) {
    if (blocks == null) {
      return 0;
    }
    cachedTokens = cache.cachedTokens(blocks, promptTokens);
    prefilled = cachedTokens;
    return promptTokens;
  }

  /** Processes prompt tokens, which others can share when all of them are processed. */
  int prefill(int budget, PrefixCache cache) {
    int tokens = Math.min(budget, promptTokens - prefilled);
    prefilled += tokens;
    if (tokens > 0 && decodes() && blocks != null) {
      cache.add(blocks, promptTokens / PrefixCache.BLOCK_TOKENS);
    }
    return tokens;
  }

  boolean decodes() {
    return prefilled == promptTokens;
  }

  void generate() {
    generated++;
  }

  boolean finished() {
    return generated == outputTokens;
  }

  /** The next turn of a conversation can share the answer, too. */
  void end(PrefixCache cache) {
    if (blocks != null) {
      cache.add(blocks, blocks.length);
    }
  }
}
