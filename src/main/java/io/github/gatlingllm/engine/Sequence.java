package io.github.gatlingllm.engine;

/**
 * One request as a scheduler sees it: so many prompt tokens in, so many output tokens out. Its
 * progress belongs to the scheduler and is written by the scheduler's thread only.
 */
final class Sequence {
  private final int promptTokens;
  private final int outputTokens;
  private final long arrivedNanos;
  private final Listener listener;
  private int prefilled;
  private int generated;

  /** Told what the scheduler decided. */
  interface Listener {

    /** The sequence left the queue: its prefill begins. */
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
   */
  Sequence(int promptTokens, int outputTokens, long arrivedNanos, Listener listener) {
    this.promptTokens = promptTokens;
    this.outputTokens = outputTokens;
    this.arrivedNanos = arrivedNanos;
    this.listener = listener;
  }

  long arrivedNanos() {
    return arrivedNanos;
  }

  Listener listener() {
    return listener;
  }

  /** KV tokens it may come to hold: prompt and output, whole. */
  int reservation() {
    return promptTokens + outputTokens;
  }

  /** KV tokens it holds now. */
  int kvTokens() {
    return prefilled + generated;
  }

  /** Processes up to {@code budget} more prompt tokens; returns how many there were. */
  int prefill(int budget) {
    int tokens = Math.min(budget, promptTokens - prefilled);
    prefilled += tokens;
    return tokens;
  }

  /** Whether its whole prompt is processed: it gets a token in each iteration. */
  boolean decodes() {
    return prefilled == promptTokens;
  }

  /** Takes its next token; returns the number of tokens so far. */
  int generate() {
    return ++generated;
  }

  boolean finished() {
    return generated == outputTokens;
  }
}
