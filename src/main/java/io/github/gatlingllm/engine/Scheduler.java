package io.github.gatlingllm.engine;

import java.util.List;

/**
 * Decides when each sequence gets its tokens. Pure: time is a parameter, so a test can compute a
 * day of load in a moment. Not thread-safe.
 */
interface Scheduler {

  long NEVER = Long.MAX_VALUE;

  void add(Sequence sequence);

  void cancel(Sequence sequence);

  /**
   * Generates the tokens that are due; {@code tokens} receives a sequence once for each of them.
   */
  void advance(long nowNanos, List<Sequence> tokens);

  /**
   * Starts the sequences that can be started; returns when the next token is due, or {@link
   * #NEVER}.
   */
  long plan(long nowNanos, List<Sequence> admitted);

  Load load();

  default EmbeddedEngine.KvStats kv() {
    return EmbeddedEngine.KvStats.NONE;
  }

  /** {@code kvUsage} is the share of KV blocks that are held, 0 to 1. */
  record Load(int running, int waiting, double kvUsage) {
    static final Load NONE = new Load(0, 0, 0);
  }
}
