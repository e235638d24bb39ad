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

  /** Its KV blocks, in order; changed by the pool only. */
  final List<Integer> blocks = new ArrayList<>();

  private final int outputTokens;
  private int toPrefill;
  private int prefilled;
  private int generated;
  private int cachedTokens;
  private int published;
  private boolean begun;

  /** Receives the decisions of the scheduler. */
  interface Listener {

    /** The sequence left the queue for the first time, and its prefill begins. */
    void admitted();

    /** The next token was generated. */
    void token();
  }

  /**
   * @param promptTokens ≥ 1
   * @param outputTokens ≥ 1; known in advance, because answers are drawn from a seed
   * @param arrivedNanos when the request was received
   * @param chain hashes of the KV blocks that it will fill
   */
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

  /**
   * Leaves the queue.
   *
   * @param cached tokens that need no prefill
   * @return whether this is the first time
   */
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

  /** Processes up to {@code budget} more tokens; returns the number processed. */
  int prefill(int budget) {
    int tokens = Math.min(budget, toPrefill - prefilled);
    prefilled += tokens;
    return tokens;
  }

  /** Makes its full blocks available for sharing. */
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

  /** Generates the next token; returns the number of tokens so far. */
  int generate() {
    return ++generated;
  }

  boolean finished() {
    return generated == outputTokens;
  }
}
