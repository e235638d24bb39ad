package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.RequestSamples.ScenarioLoad;
import io.github.gatlingllm.record.RequestRecord;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.IntCountsHistogram;
import org.jspecify.annotations.Nullable;

/** Key figures by scenario and load level; none for a run with one scenario. */
final class ScenarioTally {

  private final Map<Key, Cell> cells =
      new TreeMap<>(
          Comparator.comparingInt((Key key) -> key.level.index()).thenComparing(Key::scenario));

  private record Key(String scenario, LevelTally level) {}

  private static final class Cell {
    private final IntCountsHistogram ttft = OverTime.coarse();
    private final IntCountsHistogram e2e = OverTime.coarse();
    private long count;
    private long judged;
    private long met;
  }

  /**
   * Adds a request.
   *
   * @param inSlo whether it met the SLO; null without SLO, or when it was not judged
   */
  void add(RequestRecord record, LevelTally level, @Nullable Boolean inSlo) {
    Key key = new Key(record.identity().scenario(), level);
    Cell cell = cells.computeIfAbsent(key, k -> new Cell());
    cell.count++;
    if (inSlo != null) {
      cell.judged++;
      cell.met += inSlo ? 1 : 0;
    }
    if (record.outcome().ok()) {
      OverTime.add(cell.ttft, record.timing().ttftNanos());
      OverTime.add(cell.e2e, record.timing().latencyNanos());
    }
  }

  /** In order of load levels, then of names; empty for fewer than two scenarios. */
  List<ScenarioLoad> loads() {
    if (cells.keySet().stream().map(Key::scenario).distinct().count() < 2) {
      return List.of();
    }
    return cells.entrySet().stream().map(e -> load(e.getKey(), e.getValue())).toList();
  }

  private static ScenarioLoad load(Key key, Cell cell) {
    return new ScenarioLoad(
        key.scenario,
        key.level.info(),
        cell.count,
        OverTime.percentileMs(cell.ttft, 95),
        OverTime.percentileMs(cell.e2e, 95),
        cell.judged == 0 ? null : (Double) ((double) cell.met / cell.judged));
  }
}
