package io.github.gatlingllm.stats;

import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Keeps memory bounded whatever load levels, targets and scenarios records name: each takes some
 * megabytes of figures. Levels that are in no plan, and scenarios, are folded into {@value #OTHERS}
 * where there are too many of them.
 */
final class BoundedNames {

  /** Stands for the names that are too many. */
  static final String OTHERS = "(others)";

  private static final int MOST_SCENARIOS = 200;

  private final Set<Level> levels = new HashSet<>();
  private final Set<String> scenarios = new HashSet<>();
  private final int most;
  private RequestRecord.@Nullable Identity latest;

  private record Level(String label, String target, @Nullable String scenario) {}

  /**
   * @param unplanned how many levels that are in no plan keep their names
   */
  BoundedNames(List<LevelInfo> planned, int unplanned) {
    planned.forEach(
        level -> levels.add(new Level(level.label(), level.target(), level.scenario())));
    most = levels.size() + unplanned;
  }

  /** The record, under the names that figures are kept by. */
  RequestRecord of(RequestRecord record) {
    RequestRecord.Identity id = record.identity();
    RequestRecord.Identity before = latest;
    if (before != null
        && before.stage().equals(id.stage())
        && before.target().equals(id.target())
        && before.scenario().equals(id.scenario())) {
      return record;
    }
    String scenario =
        scenarios.contains(id.scenario()) || scenarios.size() < MOST_SCENARIOS
            ? id.scenario()
            : OTHERS;
    scenarios.add(scenario);
    if (!has(new Level(Windows.labelOf(id), id.target(), scenario))) {
      return record.placedAt(OTHERS, OTHERS, OTHERS);
    }
    if (!scenario.equals(id.scenario())) {
      return record.placedAt(id.stage(), id.target(), scenario);
    }
    latest = id;
    return record;
  }

  private boolean has(Level level) {
    if (levels.contains(level) || levels.contains(new Level(level.label(), level.target(), null))) {
      return true;
    }
    return levels.size() < most && levels.add(level);
  }

  /**
   * Counts by key, for keys that a server or a script chooses: after 200 different ones further
   * keys are counted under one of their own, so that memory stays bounded.
   */
  static final class KeyCounts<K> {

    private static final int MOST = 200;

    private final K other;
    private final Map<K, long[]> counts = new LinkedHashMap<>();

    /**
     * An empty one.
     *
     * @param other stands for the keys that come when there are too many
     */
    KeyCounts(K other) {
      this.other = other;
    }

    void add(K key) {
      add(key, 1);
    }

    void add(KeyCounts<K> more) {
      more.counts.forEach((key, count) -> add(key, count[0]));
    }

    private void add(K key, long count) {
      long[] known = counts.get(key);
      if (known == null) {
        known = counts.computeIfAbsent(counts.size() < MOST ? key : other, k -> new long[1]);
      }
      known[0] += count;
    }

    /** Most frequent first; among equals the one that came first. */
    Map<K, Long> byCount() {
      Map<K, Long> sorted = new LinkedHashMap<>();
      counts.entrySet().stream()
          .sorted(Comparator.comparingLong((Map.Entry<K, long[]> e) -> e.getValue()[0]).reversed())
          .forEach(e -> sorted.put(e.getKey(), e.getValue()[0]));
      return Collections.unmodifiableMap(sorted);
    }
  }
}
