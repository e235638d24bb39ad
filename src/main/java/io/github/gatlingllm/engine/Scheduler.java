package io.github.gatlingllm.engine;

import java.util.List;

/**
 * Decides when each sequence gets its tokens. Pure: time comes in as a number, nothing is started
 * or awaited, so a day of load can be computed in a moment. Not thread-safe.
 */
interface Scheduler {

  /** Due time of a scheduler that has nothing to do. */
  long NEVER = Long.MAX_VALUE;

  /** Takes a new sequence in; it waits for {@link #plan}. */
  void add(Sequence sequence);

  /** Forgets a sequence, wherever it is; its place is free at once. */
  void cancel(Sequence sequence);

  /**
   * Gives out the tokens that are due.
   *
   * @param tokens receives each sequence once per token
   */
  void advance(long nowNanos, List<Sequence> tokens);

  /**
   * Starts whatever can be started.
   *
   * @param admitted receives the sequences that left the queue
   * @return when the next token is due, or {@link #NEVER}
   */
  long plan(long nowNanos, List<Sequence> admitted);

  /** What it holds at the moment. */
  Load load();

  /** What its KV memory did. */
  default EmbeddedEngine.KvStats kv() {
    return EmbeddedEngine.KvStats.NONE;
  }

  /**
   * How busy a scheduler is.
   *
   * @param running admitted sequences that are not finished
   * @param waiting sequences in the queue
   * @param kvUsage share of the KV blocks that are held, 0 to 1
   */
  record Load(int running, int waiting, double kvUsage) {
    static final Load NONE = new Load(0, 0, 0);
  }
}
