package io.github.gatlingllm.engine;

import java.util.ArrayList;
import java.util.List;

/**
 * One answer as the scheduler sees it: a number of prompt tokens in, a number of output tokens out.
 * Only the scheduler's thread changes its progress; listeners are called afterwards.
 */
final class Sequence {
  final int promptTokens;
  final long arrivedNanos;
  final BlockChain chain;
  final Listener listener;

  /** Changed by the pool only. */
  final List<Integer> blocks = new ArrayList<>();

  private final int outputTokens;
  private int toPrefill;
  private int prefilled;
  private int generated;
  private int cachedTokens;
  private int published;
  private boolean begun;

  interface Listener {

    void admitted();

    void token();
  }

  /** {@code outputTokens} is known in advance, because answers are drawn from a seed. */
  Sequence(
      int promptTokens, int outputTokens, long arrivedNanos, BlockChain chain, Listener listener) {
    this.promptTokens = promptTokens;
    this.outputTokens = outputTokens;
    this.arrivedNanos = arrivedNanos;
    this.chain = chain;
    this.listener = listener;
    this.toPrefill = promptTokens;
  }

  /** Prompt tokens found in the prefix cache when the sequence first left the queue. */
  int cachedTokens() {
    return cachedTokens;
  }

  /** Tokens needed in the KV cache before the next one: the prompt, and the tokens generated. */
  int contextTokens() {
    return promptTokens + generated;
  }

  /** Tokens that it holds in the KV cache now. */
  int kvTokens() {
    return prefilled + contextTokens() - toPrefill;
  }

  /** Leaves the queue with this many cached tokens; returns whether this is the first time. */
  boolean begin(int cached) {
    toPrefill = contextTokens();
    prefilled = cached;
    boolean first = !begun;
    if (first) {
      begun = true;
      cachedTokens = cached;
    }
    return first;
  }

  /** Loses its KV blocks and returns to the queue; tokens already generated stay. */
  void preempted() {
    toPrefill = contextTokens();
    prefilled = 0;
    published = 0;
  }

  int prefill(int budget) {
    int tokens = Math.min(budget, toPrefill - prefilled);
    prefilled += tokens;
    return tokens;
  }

  void publish(BlockPool pool) {
    for (int full = chain.full(kvTokens()); published < full; published++) {
      pool.publish(blocks.get(published), chain.hash(published));
    }
  }

  /** Whether prefill is complete, so that it gets a token in each iteration. */
  boolean decodes() {
    return prefilled == toPrefill;
  }

  /** Whether the next iteration needs one more block than it holds. */
  boolean needsBlock() {
    return kvTokens() > blocks.size() * BlockPool.BLOCK_TOKENS;
  }

  void generate() {
    generated++;
  }

  boolean finished() {
    return generated == outputTokens;
  }
}
