package io.github.gatlingllm.stats;

import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import java.util.HashSet;
import java.util.List;
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
}
