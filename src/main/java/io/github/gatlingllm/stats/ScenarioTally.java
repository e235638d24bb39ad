package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.LogLinearHistogram;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.stats.RequestSamples.ScenarioLoad;
import io.github.gatlingllm.stats.Windows.LevelWindow;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Key figures by scenario and stage; nothing for a run with one scenario. */
final class ScenarioTally {

  private static final int MOST = 20;
  private static final String OTHER = "(other scenarios)";

  private final Set<String> names = new HashSet<>();
  private final Map<Key, Cell> cells = new HashMap<>();

  private record Key(String scenario, int stage) {}

  private static final class Cell {
    private final LevelWindow stage;
    private final LogLinearHistogram ttft = Shapes.coarse();
    private final LogLinearHistogram e2e = Shapes.coarse();
    private long count;
    private long attempted;
    private long met;

    private Cell(LevelWindow stage) {
      this.stage = stage;
    }
  }

  /**
   * Adds a request.
   *
   * @param inSlo whether it met the SLO; null when that is not counted
   */
  void add(RequestRecord record, LevelWindow stage, @Nullable Boolean inSlo) {
    String name = record.identity().scenario();
    if (names.size() >= MOST && !names.contains(name)) {
      name = OTHER;
    }
    names.add(name);
    Cell cell = cells.computeIfAbsent(new Key(name, stage.index()), k -> new Cell(stage));
    cell.count++;
    if (inSlo != null) {
      cell.attempted++;
      cell.met += inSlo ? 1 : 0;
    }
    if (record.outcome().ok()) {
      Shapes.add(cell.ttft, record.timing().ttftNanos());
      Shapes.add(cell.e2e, record.timing().latencyNanos());
    }
  }

  /** In order of stages, then of names; empty for fewer than two scenarios. */
  List<ScenarioLoad> loads() {
    List<ScenarioLoad> loads = new ArrayList<>();
    if (names.size() < 2) {
      return loads;
    }
    TreeMap<Key, Cell> sorted =
        new TreeMap<>(Comparator.comparingInt(Key::stage).thenComparing(Key::scenario));
    sorted.putAll(cells);
    sorted.forEach(
        (key, cell) ->
            loads.add(
                new ScenarioLoad(
                    key.scenario(),
                    cell.stage.level().label(),
                    cell.stage.level().target(),
                    cell.count,
                    Shapes.percentileMs(cell.ttft, 95),
                    Shapes.percentileMs(cell.e2e, 95),
                    cell.attempted == 0 ? null : (Double) ((double) cell.met / cell.attempted))));
    return loads;
  }
}
