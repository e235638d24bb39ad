package io.github.gatlingllm.action;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Counts prompts that were sent verbatim to the same target before, by hashes. Thread-safe. */
final class SeenPrompts {

  private static final int MAX = 1 << 14;

  private final int max;
  private final Map<Long, Integer> counts = new HashMap<>();
  private long counted;

  /** A prompt is in the sample if these bits of its hash are 0. */
  private long mask;

  SeenPrompts() {
    this(MAX);
  }

  SeenPrompts(int max) {
    this.max = max;
  }

  synchronized void add(String target, List<String> texts) {
    counted++;
    long hash = hash(0xcbf29ce484222325L, target);
    for (String text : texts) {
      hash = hash(hash, text);
    }
    hash = (hash ^ (hash >>> 32)) * 0xd6e8feb86659fd93L;
    hash ^= hash >>> 32;
    if ((hash & mask) == 0) {
      counts.merge(hash, 1, Integer::sum);
      while (counts.size() > max) {
        mask = 2 * mask + 1;
        counts.keySet().removeIf(one -> (one & mask) != 0);
      }
    }
  }

  /** By length and the hash that a String computes once: fast enough for an event loop. */
  private static long hash(long start, String text) {
    long one = ((long) text.length() << 32) ^ (text.hashCode() & 0xffffffffL);
    long hash = (start ^ one) * 0x9e3779b97f4a7c15L;
    return hash ^ (hash >>> 29);
  }

  synchronized long counted() {
    return counted;
  }

  /** Number of prompts that repeat an earlier one; an estimate above 16,384 distinct prompts. */
  synchronized long repeated() {
    long inSample = counts.values().stream().mapToLong(count -> count - 1L).sum();
    return Math.min(counted, inSample * (mask + 1));
  }
}
