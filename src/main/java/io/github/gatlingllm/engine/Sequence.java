package io.github.gatlingllm.engine;

import java.util.ArrayList;
import java.util.List;

/**
 * One answer as a scheduler sees it: a number of prompt tokens in, a number of output tokens out.
 * Its progress belongs to the scheduler and is written by the scheduler's thread only; listeners
 * are called afterwards.
 */
final class Sequence {
  final int promptTokens;
  final long arrivedNanos;
  final BlockChain chain;
  final Listener listener;

  /** Its KV blocks, in order; the pool's to change. */
  final List<Integer> blocks = new ArrayList<>();

  private final int outputTokens;
  private int toPrefill;
  private int prefilled;
  private int generated;
  private int cachedTokens;
  private int published;
  private boolean begun;

  /** Told what the scheduler decided. */
  interface Listener {

    /** The sequence left the queue for the first time: its prefill begins. */
    void admitted();

    /** Its next token is there. */
    void token();
  }

  /**
   * A sequence that has not begun.
   *
   * @param promptTokens ≥ 1
   * @param outputTokens ≥ 1; known beforehand, because answers are drawn from a seed
   * @param arrivedNanos when the request came in
   * @param chain what its KV blocks will hold
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

  /** Prompt tokens that it found in the prefix cache when it first began. */
  int cachedTokens() {
    return cachedTokens;
  }

  /** Tokens that must be in the KV cache before its next one: the prompt, and what it has said. */
  int known() {
    return promptTokens + generated;
  }

  /** KV tokens it holds now. */
  int kvTokens() {
    return prefilled + known() - toPrefill;
  }

  /**
   * Leaves the queue.
   *
   * @param cached tokens that need no prefill
   * @return whether it is the first time
   */
  boolean begin(int cached) {
    toPrefill = known();
    prefilled = cached;
    boolean first = !begun;
    if (first) {
      begun = true;
      cachedTokens = cached;
    }
    return first;
  }

  /** Loses what it holds and has to begin again; what it has said stays said. */
  void preempted() {
    toPrefill = known();
    prefilled = 0;
    published = 0;
  }

  /** Processes up to {@code budget} more tokens; returns how many there were. */
  int prefill(int budget) {
    int tokens = Math.min(budget, toPrefill - prefilled);
    prefilled += tokens;
    return tokens;
  }

  /** Offers its full blocks to others. */
  void publish(BlockPool pool) {
    for (int full = chain.full(kvTokens()); published < full; published++) {
      pool.publish(blocks.get(published), chain.name(published));
    }
  }

  /** Whether everything known is processed: it gets a token in each iteration. */
  boolean decodes() {
    return prefilled == toPrefill;
  }

  /** Whether the tokens of the next iteration need a block more than it holds. */
  boolean needsBlock() {
    return kvTokens() > blocks.size() * BlockPool.BLOCK_TOKENS;
  }

  /** Takes its next token; returns the number of tokens so far. */
  int generate() {
    return ++generated;
  }

  boolean finished() {
    return generated == outputTokens;
  }
}
