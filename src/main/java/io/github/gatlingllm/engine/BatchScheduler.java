package io.github.gatlingllm.engine;

import io.github.gatlingllm.engine.EmbeddedEngine.EngineLoad;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;

/**
 * Continuous batching: in each iteration waiting sequences join the batch, first come first served
 * within a priority, and every sequence whose prompt has been processed gets one token at the end
 * of the iteration. Cached prompt tokens are not processed again.
 *
 * <pre>
 * step = prefill tokens / prefillTokensPerSecond
 *      + decodeStep × (1 + perSequence × batch + perKvToken × KV tokens in use)
 * </pre>
 */
final class BatchScheduler implements Scheduler {
  /** A later iteration starts immediately, so that a stalled machine does not send a burst. */
  private static final long CATCH_UP_NANOS = 2_000_000;

  private static final int CACHED_TOKENS = 40_000;

  private final EmbeddedEngine.EngineBuilder model;
  private final PrefixCache cache;
  private final Queue<Sequence> waiting =
      new PriorityQueue<>(
          Comparator.comparingInt((Sequence each) -> each.priority)
              .thenComparingLong(Sequence::place));
  private long added;
  private final List<Sequence> running = new ArrayList<>();
  private long queriedTokens;
  private long hitTokens;
  private boolean stepping;
  private long stepEnd;
  private boolean busy;

  BatchScheduler(EmbeddedEngine.EngineBuilder model) {
    this(model, CACHED_TOKENS);
  }

  BatchScheduler(EmbeddedEngine.EngineBuilder model, int cachedTokens) {
    this.model = model;
    this.cache = new PrefixCache(cachedTokens);
  }

  @Override
  public void add(Sequence sequence) {
    sequence.queue(added++);
    waiting.add(sequence);
  }

  @Override
  public void cancel(Sequence sequence) {
    if (!running.remove(sequence)) {
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
      if (sequence.isPrefilled()) {
        sequence.generate();
        tokens.add(sequence);
        if (sequence.isFinished()) {
          each.remove();
          if (sequence.blocks != null) {
            // The next turn of a conversation can share the answer, too.
            cache.add(sequence.blocks, sequence.blocks.length);
          }
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
      // Starts where the last iteration ended, so that late wake-ups do not add up.
      boolean onTime = busy && nowNanos - stepEnd <= CATCH_UP_NANOS;
      stepEnd = (onTime ? stepEnd : nowNanos) + stepNanos(prefillTokens);
      stepping = true;
      busy = true;
    }
    return stepEnd;
  }

  private int prefill(List<Sequence> admitted) {
    int budget = model.maxPrefillTokens;
    for (Sequence sequence : running) {
      budget -= prefill(sequence, budget);
    }
    while (budget > 0 && running.size() < model.maxBatch && !waiting.isEmpty()) {
      Sequence sequence = waiting.remove();
      running.add(sequence);
      admitted.add(sequence);
      if (sequence.blocks != null) {
        sequence.begin(cache.cachedTokens(sequence.blocks, sequence.promptTokens));
        queriedTokens += sequence.promptTokens;
        hitTokens += sequence.cachedTokens();
      }
      budget -= prefill(sequence, budget);
    }
    return model.maxPrefillTokens - budget;
  }

  /** Processes prompt tokens, which others can share when all of them are processed. */
  private int prefill(Sequence sequence, int budget) {
    int tokens = sequence.prefill(budget);
    if (tokens > 0 && sequence.isPrefilled() && sequence.blocks != null) {
      cache.add(sequence.blocks, sequence.promptTokens / Prompt.BLOCK_TOKENS);
    }
    return tokens;
  }

  private long stepNanos(int prefillTokens) {
    int batch = 0;
    for (Sequence sequence : running) {
      batch += sequence.isPrefilled() ? 1 : 0;
    }
    double prefillNanos = prefillTokens / model.prefillTokensPerSecond * 1e9;
    double growth = 1 + model.perSequence * batch + model.perKvToken * kvTokens();
    return Math.round(prefillNanos + model.decodeStepNanos * growth);
  }

  private long kvTokens() {
    long tokens = 0;
    for (Sequence sequence : running) {
      tokens += sequence.kvTokens();
    }
    return tokens;
  }

  @Override
  public EngineLoad load() {
    return new EngineLoad(running.size(), waiting.size(), queriedTokens, hitTokens, kvTokens());
  }

  /** An LRU of blocks of tokens, by the hash of everything up to their end. */
  private static final class PrefixCache {
    private final Map<Long, Boolean> blocks;

    PrefixCache(int maxTokens) {
      blocks =
          new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Long, Boolean> eldest) {
              return size() > maxTokens / Prompt.BLOCK_TOKENS;
            }
          };
    }

    /** Number of cached tokens at the start of a prompt, without a gap. */
    int cachedTokens(long[] hashes, int promptTokens) {
      // The last prompt token is always computed: the first output token is predicted from it.
      int max = Math.min(hashes.length, (promptTokens - 1) / Prompt.BLOCK_TOKENS);
      int found = 0;
      while (found < max && blocks.containsKey(hashes[found])) {
        found++;
      }
      return found * Prompt.BLOCK_TOKENS;
    }

    /** Adds the first blocks; the first one last, as the end of a prefix is shared the least. */
    void add(long[] hashes, int count) {
      for (int i = Math.min(count, hashes.length) - 1; i >= 0; i--) {
        blocks.put(hashes[i], true);
      }
    }
  }
}
