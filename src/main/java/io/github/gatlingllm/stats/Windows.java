package io.github.gatlingllm.stats;

import io.github.gatlingllm.sample.RequestRecord;
import io.github.gatlingllm.sample.StageInfo;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The stages of a run: which one a request belongs to, and in whose measure window an instant lies.
 * A request belongs to the stage in which it was scheduled; a token to the window, of the same
 * target, in which it arrived.
 */
final class Windows {

  /** The kind of a stage that only records know. */
  static final String UNPLANNED = "unplanned";

  private final List<StageWindow> stages = new ArrayList<>();
  private final Map<String, List<StageWindow>> byTarget = new HashMap<>();
  private final Map<Key, StageWindow> byLabel = new HashMap<>();

  private record Key(String label, String target) {}

  Windows(List<StageInfo> infos, long runEnd) {
    for (StageInfo info : infos) {
      add(StageWindow.of(stages.size(), info, runEnd));
    }
    byTarget.values().forEach(list -> list.sort(Comparator.comparingLong(StageWindow::from)));
  }

  private StageWindow add(StageWindow window) {
    stages.add(window);
    byLabel.putIfAbsent(new Key(window.stage().label(), window.stage().target()), window);
    byTarget.computeIfAbsent(window.stage().target(), t -> new ArrayList<>()).add(window);
    return window;
  }

  List<StageWindow> stages() {
    return stages;
  }

  /** The label of a request's stage; {@code all} in a run without stages. */
  static String labelOf(RequestRecord.Identity id) {
    return id.stage().isEmpty() ? StageInfo.WHOLE_RUN : id.stage();
  }

  /** The targets in order of their first stage. */
  List<String> targets() {
    return stages.stream().map(w -> w.stage().target()).distinct().toList();
  }

  /** The stage of a request; one that no plan names gets a stage without a window. */
  StageWindow of(RequestRecord.Identity id) {
    String label = labelOf(id);
    StageWindow window = byLabel.get(new Key(label, id.target()));
    if (window != null) {
      return window;
    }
    StageInfo unplanned = new StageInfo(label, id.target(), UNPLANNED, null, "", List.of());
    return add(new StageWindow(stages.size(), unplanned, 0, 0));
  }

  /** The stage of that target whose window holds the instant; tries {@code guess} first. */
  @Nullable StageWindow at(String target, long unixNanos, StageWindow guess) {
    if (guess.contains(unixNanos)) {
      return guess;
    }
    for (StageWindow window : of(target)) {
      if (window.contains(unixNanos)) {
        return window;
      }
    }
    return null;
  }

  List<StageWindow> of(String target) {
    return byTarget.getOrDefault(target, List.of());
  }

  /** Length of the union of intervals {from, to}: what overlaps counts once. */
  static long unionNanos(List<long[]> intervals) {
    List<long[]> sorted = new ArrayList<>(intervals);
    sorted.sort(Comparator.comparingLong(i -> i[0]));
    long total = 0;
    long covered = Long.MIN_VALUE;
    for (long[] interval : sorted) {
      long from = Math.max(interval[0], covered);
      if (interval[1] > from) {
        total += interval[1] - from;
        covered = interval[1];
      }
    }
    return total;
  }
}
