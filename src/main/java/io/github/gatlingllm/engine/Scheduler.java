package io.github.gatlingllm.engine;

import java.util.List;

/** Decides when each sequence gets its tokens. Pure: time is a parameter. Not thread-safe. */
interface Scheduler {

  long NEVER = Long.MAX_VALUE;

  void add(Sequence sequence);

  void cancel(Sequence sequence);

  void advance(long nowNanos, List<Sequence> tokens);

  /** Starts the sequences that can be started; returns when the next token is due. */
  long plan(long nowNanos, List<Sequence> admitted);

  EmbeddedEngine.EngineLoad load();
}
