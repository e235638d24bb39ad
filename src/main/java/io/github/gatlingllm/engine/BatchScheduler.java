package io.github.gatlingllm.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;

/**
 * Continuous batching: in each iteration waiting sequences join the batch, first come first served,
 * and every sequence whose prompt is processed gets one token at the iteration's end.
 *
 * <p>A sequence joins when the batch has a place, the iteration has prefill tokens left, and the KV
 * cache can hold its prompt and whole answer beside those already promised; the head of the queue
 * is never overtaken. Nothing is ever preempted.
 */
final class BatchScheduler implements Scheduler {
  /**
   * An iteration that is late by more than this starts from now: a stalled machine sends no burst.
   */
  private static final long CATCH_UP_NANOS = 2_000_000;

  private final BatchModel model;
  private final Deque<Sequence> waiting = new ArrayDeque<>();
  private final List<Sequence> running = new ArrayList<>();
  private long reserved;
  private boolean stepping;
  private long stepEnd;
  private boolean busy;

  BatchScheduler(BatchModel model) {
    this.model = model;
  }

  @Override
  public void add(Sequence sequence) {
    waiting.add(sequence);
  }

  @Override
  public void cancel(Sequence sequence) {
    if (running.remove(sequence)) {
      reserved -= sequence.reservation();
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
          reserved -= sequence.reservation();
        }
      }
    }
  }

  @Override
  public long plan(long nowNanos, List<Sequence> admitted) {
    if (!stepping) {
      int prefillTokens = prefill(admitted);
      if (running.isEmpty()) {
        busy = false;
        return NEVER;
      }
      // Back to back with the iteration before: waking up late must not add up.
      boolean onTime = busy && nowNanos - stepEnd <= CATCH_UP_NANOS;
      stepEnd = (onTime ? stepEnd : nowNanos) + stepNanos(prefillTokens);
      stepping = true;
      busy = true;
    }
    return stepEnd;
  }

  private int prefill(List<Sequence> admitted) {
    int budget = model.maxPrefillTokens();
    for (Sequence sequence : running) {
      budget -= sequence.prefill(budget);
    }
    while (budget > 0 && running.size() < model.maxBatch() && headFits()) {
      Sequence sequence = waiting.remove();
      running.add(sequence);
      reserved += sequence.reservation();
      budget -= sequence.prefill(budget);
      admitted.add(sequence);
    }
    return model.maxPrefillTokens() - budget;
  }

  private boolean headFits() {
    Sequence head = waiting.peek();
    return head != null && reserved + head.reservation() <= model.kvTokens();
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
    return new Load(running.size(), waiting.size(), (double) reserved / model.kvTokens());
  }
}
