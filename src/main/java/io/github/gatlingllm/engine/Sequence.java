package io.github.gatlingllm.engine;

import org.jspecify.annotations.Nullable;

/** An answer as the scheduler sees it. Only its thread changes it. */
abstract class Sequence {
  final int promptTokens;
  final long arrivedNanos;

  /** Lower leaves the queue first, as in vLLM. */
  final int priority;

  /** Hashes of the blocks that prompt and answer fill; null where no prefix is shared. */
  final long @Nullable [] blocks;

  private final int outputTokens;
  private int prefilled;
  private int generated;
  private int cachedTokens;
  private long place;

  /** {@code outputTokens} is known in advance, because answers are drawn from a seed. */
  Sequence(
      int promptTokens,
      int outputTokens,
      long arrivedNanos,
      int priority,
      long @Nullable [] blocks) {
    this.promptTokens = promptTokens;
    this.outputTokens = outputTokens;
    this.arrivedNanos = arrivedNanos;
    this.priority = priority;
    this.blocks = blocks;
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

  /** Tokens that it has in the KV cache now. */
  int kvTokens() {
    return prefilled + generated;
  }

  /** It left the queue, with this number of prompt tokens in the prefix cache. */
  void begin(int cached) {
    cachedTokens = cached;
    prefilled = cached;
  }

  int prefill(int budget) {
    int tokens = Math.min(budget, promptTokens - prefilled);
    prefilled += tokens;
    return tokens;
  }

  boolean isPrefilled() {
    return prefilled == promptTokens;
  }

  void generate() {
    generated++;
  }

  boolean isFinished() {
    return generated == outputTokens;
  }

  /** It left the queue. Called on the event loop, as {@link #token} is. */
  abstract void admitted();

  /** It got a token. */
  abstract void token();
}
