package io.github.gatlingllm.stats;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Counts by key, for keys that a server or a script chooses: after 200 different ones further keys
 * are counted under one of their own, so that memory stays bounded.
 */
final class Tallies<K> {

  private static final int MOST = 200;

  private final K other;
  private final Map<K, Long> counts = new LinkedHashMap<>();

  /**
   * An empty one.
   *
   * @param other stands for the keys that come when there are too many
   */
  Tallies(K other) {
    this.other = other;
  }

  void add(K key) {
    add(key, 1);
  }

  void add(Tallies<K> more) {
    more.counts.forEach(this::add);
  }

  private void add(K key, long count) {
    K kept = counts.size() < MOST || counts.containsKey(key) ? key : other;
    counts.merge(kept, count, Long::sum);
  }

  /** Most frequent first; among equals the one that came first. */
  Map<K, Long> byCount() {
    Map<K, Long> sorted = new LinkedHashMap<>();
    List<Map.Entry<K, Long>> entries = List.copyOf(counts.entrySet());
    entries.stream()
        .sorted(Map.Entry.<K, Long>comparingByValue().reversed())
        .forEach(e -> sorted.put(e.getKey(), e.getValue()));
    return Collections.unmodifiableMap(sorted);
  }
}
