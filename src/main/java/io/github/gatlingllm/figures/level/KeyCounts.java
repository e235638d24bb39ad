package io.github.gatlingllm.figures.level;

import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;

/** Counts by key; after {@value #MAX_KEYS} keys further ones are counted under a common one. */
final class KeyCounts<K> {

  private static final int MAX_KEYS = 200;

  private final K other;
  private final Map<K, long[]> counts = new LinkedHashMap<>();

  KeyCounts(K other) {
    this.other = other;
  }

  void add(K key) {
    add(key, 1);
  }

  void add(KeyCounts<K> more) {
    more.counts.forEach((key, count) -> add(key, count[0]));
  }

  void add(K key, long count) {
    long[] known = counts.get(key);
    if (known == null) {
      known = counts.computeIfAbsent(counts.size() < MAX_KEYS ? key : other, k -> new long[1]);
    }
    known[0] += count;
  }

  /** Most frequent first; among equals the one that was added first. */
  Map<K, Long> byCount() {
    Map<K, Long> sorted = new LinkedHashMap<>();
    counts.entrySet().stream()
        .sorted(Comparator.comparingLong((Map.Entry<K, long[]> e) -> e.getValue()[0]).reversed())
        .forEach(e -> sorted.put(e.getKey(), e.getValue()[0]));
    return Collections.unmodifiableMap(sorted);
  }
}
