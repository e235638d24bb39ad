package io.github.gatlingllm.engine;

import java.util.List;

/**
 * Decides when each sequence gets its tokens. Pure: time is a parameter, so a test can compute a
 * day of load in a moment. Not thread-safe.
 */
interface Scheduler {

  /** Due time where no token is due. */
  long NEVER = Long.MAX_VALUE;

  /** Adds a sequence to the queue; {@link #plan} starts it. */
  void add(Sequence sequence);

  /** Removes a sequence from queue and batch, and frees its place at once. */
  void cancel(Sequence sequence);

  /**
   * Generates the tokens that are due.
   *
   * @param tokens receives a sequence once for each of its tokens
   */
  void advance(long nowNanos, List<Sequence> tokens);

  /**
   * Starts the sequences that can be started.
   *
   * @param admitted receives the sequences that left the queue
   * @return when the next token is due, or {@link #NEVER}
   */
  long plan(long nowNanos, List<Sequence> admitted);

  /** Current load. */
  Load load();

  /** Counters of the KV memory. */
  default EmbeddedEngine.KvStats kv() {
    return EmbeddedEngine.KvStats.NONE;
  }

  /**
   * Load of a scheduler.
   *
   * @param running admitted sequences that are not finished
   * @param waiting sequences in the queue
   * @param kvUsage share of KV blocks that are held, 0 to 1
   */
  record Load(int running, int waiting, double kvUsage) {
    static final Load NONE = new Load(0, 0, 0);
  }
}
