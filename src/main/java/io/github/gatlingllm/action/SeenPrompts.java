package io.github.gatlingllm.action;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Counts prompts that were sent verbatim to the same target before, by 64-bit hashes: of all up to
 * 16,384 distinct ones, then of a sample. At most 2 MiB. Thread-safe.
 */
final class SeenPrompts {

  private static final int MOST = 1 << 14;

  private final int most;
  private final Map<Long, Integer> counts = new HashMap<>();
  private long counted;

  /** A prompt is in the sample if these bits of its hash are 0. */
  private long mask;

  SeenPrompts() {
    this(MOST);
  }

  SeenPrompts(int most) {
    this.most = most;
  }

  synchronized void add(String target, List<String> texts) {
    counted++;
    long hash = hash(hash(0xcbf29ce484222325L, target), "\0");
    for (String text : texts) {
      hash = hash(hash(hash, text), "\0");
    }
    // The sample is drawn by the low bits, which are weak in FNV.
    hash = (hash ^ (hash >>> 32)) * 0xd6e8feb86659fd93L;
    hash ^= hash >>> 32;
    if ((hash & mask) == 0) {
      counts.merge(hash, 1, Integer::sum);
      while (counts.size() > most) {
        mask = 2 * mask + 1;
        counts.keySet().removeIf(one -> (one & mask) != 0);
      }
    }
  }

  private static long hash(long start, String text) {
    long hash = start;
    for (int i = 0; i < text.length(); i++) {
      hash = (hash ^ text.charAt(i)) * 0x100000001b3L;
    }
    return hash;
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
