package io.github.gatlingllm.figures.level;

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
 * Bounds the number of load levels, targets and scenarios, each of which needs some megabytes for
 * its figures. Where records name too many levels outside the plan, or too many scenarios, the rest
 * is counted as {@value #OTHERS}.
 */
final class BoundedNames {

  static final String OTHERS = "(others)";

  private static final int MAX_SCENARIOS = 200;

  private final Set<Level> levels = new HashSet<>();
  private final Set<String> scenarios = new HashSet<>();
  private final int most;
  private RequestRecord.@Nullable Identity latest;

  private record Level(String label, String target, @Nullable String scenario) {}

  BoundedNames(List<LevelInfo> planned, int unplanned) {
    planned.forEach(
        level -> levels.add(new Level(level.label(), level.target(), level.scenario())));
    most = levels.size() + unplanned;
  }

  /** The record with the names that it is counted under. */
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
        scenarios.contains(id.scenario()) || scenarios.size() < MAX_SCENARIOS
            ? id.scenario()
            : OTHERS;
    scenarios.add(scenario);
    if (!has(new Level(RunLevels.labelOf(id), id.target(), scenario))) {
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
   * Counts by key, for keys that a server or a script chooses. After {@value #MOST} different keys
   * further ones are counted under one common key, so that memory stays bounded.
   */
  static final class KeyCounts<K> {

    private static final int MOST = 200;

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

    private void add(K key, long count) {
      long[] known = counts.get(key);
      if (known == null) {
        known = counts.computeIfAbsent(counts.size() < MOST ? key : other, k -> new long[1]);
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
}
