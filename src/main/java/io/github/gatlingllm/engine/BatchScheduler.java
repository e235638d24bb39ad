package io.github.gatlingllm.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;

/**
 * Continuous batching: in each iteration waiting sequences join the batch, first come first served,
 * and every sequence whose prompt has been processed gets one token at the end of the iteration.
 *
 * <p>No sequence overtakes the head of the queue. Cached prompt blocks are shared and not processed
 * again. When no block is free for a decoding sequence, the newest one of the batch is preempted:
 * its blocks are released, and it returns to the head of the queue, where its prompt and the tokens
 * it has generated will be processed again. No sequence joins in that iteration.
 */
final class BatchScheduler implements Scheduler {
  /**
   * A later iteration starts at the current time, so that a stalled machine does not send a burst.
   */
  private static final long CATCH_UP_NANOS = 2_000_000;

  private final BatchModel model;
  private final BlockPool pool;
  private final Deque<Sequence> waiting = new ArrayDeque<>();
  private final List<Sequence> running = new ArrayList<>();
  private long queriedTokens;
  private long hitTokens;
  private long preemptions;
  private boolean stepping;
  private long stepEnd;
  private boolean busy;

  BatchScheduler(BatchModel model) {
    this.model = model;
    this.pool = new BlockPool(model.kvBlocks());
  }

  @Override
  public void add(Sequence sequence) {
    waiting.add(sequence);
  }

  @Override
  public void cancel(Sequence sequence) {
    if (running.remove(sequence)) {
      pool.release(sequence.blocks);
    } else {
      waiting.remove(sequence);
    }
  }

  @Override
  public void advance(long nowNanos, List<Sequence> tokens) {
    if (!stepping || stepEnd - nowNanos > 0) {
      return;
    }
    stepping = false;
    for (Iterator<Sequence> each = running.iterator(); each.hasNext(); ) {
      Sequence sequence = each.next();
      if (sequence.decodes()) {
        sequence.generate();
        tokens.add(sequence);
        if (sequence.finished()) {
          each.remove();
          pool.release(sequence.blocks);
        }
      }
    }
  }

  @Override
  public long plan(long nowNanos, List<Sequence> admitted) {
    if (!stepping) {
      boolean mayAdmit = growOrPreempt();
      int prefillTokens = prefill(mayAdmit, admitted);
      if (running.isEmpty()) {
        busy = false;
        return NEVER;
      }
      // Starts where the last iteration ended, so that late wake-ups do not add up.
      boolean onTime = busy && nowNanos - stepEnd <= CATCH_UP_NANOS;
      stepEnd = (onTime ? stepEnd : nowNanos) + stepNanos(prefillTokens);
      stepping = true;
      busy = true;
    }
    return stepEnd;
  }

  /** Gives blocks to the oldest sequences first; returns whether no sequence was preempted. */
  private boolean growOrPreempt() {
    long before = preemptions;
    for (int i = 0; i < running.size(); i++) {
      Sequence sequence = running.get(i);
      while (sequence.needsBlock() && !pool.grow(sequence.blocks)) {
        Sequence newest = running.remove(running.size() - 1);
        pool.release(newest.blocks);
        newest.preempted();
        waiting.addFirst(newest);
        preemptions++;
      }
    }
    return preemptions == before;
  }

  private int prefill(boolean mayAdmit, List<Sequence> admitted) {
    int budget = model.maxPrefillTokens();
    for (Sequence sequence : running) {
      budget -= sequence.prefill(budget);
      sequence.publish(pool);
    }
    while (mayAdmit && budget > 0 && running.size() < model.maxBatch() && admitHead(admitted)) {
      Sequence sequence = waiting.remove();
      running.add(sequence);
      budget -= sequence.prefill(budget);
      sequence.publish(pool);
    }
    return model.maxPrefillTokens() - budget;
  }

  private boolean admitHead(List<Sequence> admitted) {
    Sequence head = waiting.peek();
    if (head == null) {
      return false;
    }
    // The last prompt token is always computed: the first output token is predicted from it.
    int shared = pool.cachedPrefix(head.chain, head.chain.full(head.contextTokens() - 1));
    if (!pool.take(head.blocks, head.chain, shared, BlockPool.blocksFor(head.contextTokens()))) {
      return false;
    }
    if (head.begin(shared * BlockPool.BLOCK_TOKENS)) {
      admitted.add(head);
      queriedTokens += head.chain == BlockChain.NONE ? 0 : head.promptTokens;
      hitTokens += head.cachedTokens();
    }
    return true;
  }

  private long stepNanos(int prefillTokens) {
    int batch = 0;
    long kvTokens = 0;
    for (Sequence sequence : running) {
      batch += sequence.decodes() ? 1 : 0;
      kvTokens += sequence.kvTokens();
    }
    return model.stepNanos(prefillTokens, batch, kvTokens);
  }

  @Override
  public Load load() {
    double held = pool.size() - pool.free();
    return new Load(running.size(), waiting.size(), held / pool.size());
  }

  @Override
  public EmbeddedEngine.KvStats kv() {
    return new EmbeddedEngine.KvStats(
        queriedTokens,
        hitTokens,
        preemptions,
        pool.size(),
        pool.size() - pool.free(),
        pool.cached());
  }
}
