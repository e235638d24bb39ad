package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.record.RequestRecord;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The load levels of a run: finds the level of a request and the measure window of an instant. A
 * request belongs to the level in which it was scheduled, a token to the window, of the same target
 * and scenario, in which it arrived.
 */
final class Windows {

  /** The kind of a level that is in the records and not in {@code run.json}. */
  static final String UNPLANNED = "unplanned";

  private final List<LevelWindow> levels = new ArrayList<>();
  private final Map<Track, List<LevelWindow>> byTrack = new LinkedHashMap<>();
  private final Set<String> targets = new LinkedHashSet<>();
  private final List<List<LevelWindow>> besides = new ArrayList<>();
  private final Map<Key, LevelWindow> byLabel = new HashMap<>();

  /**
   * The target of levels that follow each other, and their scenario where scenarios have levels of
   * their own.
   */
  record Track(String target, @Nullable String scenario) {
    static Track of(LevelInfo level) {
      return new Track(level.target(), level.scenario());
    }
  }

  private record Key(String label, Track track) {}

  private @Nullable Found latest;

  Windows(List<LevelInfo> infos, long runEnd) {
    for (LevelInfo info : infos) {
      add(LevelWindow.of(levels.size(), info, runEnd));
    }
    byTrack.values().forEach(list -> list.sort(Comparator.comparingLong(LevelWindow::from)));
  }

  private LevelWindow add(LevelWindow window) {
    levels.add(window);
    targets.add(window.level().target());
    Track track = Track.of(window.level());
    byLabel.putIfAbsent(new Key(window.level().label(), track), window);
    List<LevelWindow> sameTrack = byTrack.computeIfAbsent(track, t -> new ArrayList<>());
    sameTrack.add(window);
    besides.add(sameTrack);
    return window;
  }

  List<LevelWindow> levels() {
    return levels;
  }

  static String labelOf(RequestRecord.Identity id) {
    return id.stage().isEmpty() ? LevelInfo.WHOLE_RUN : id.stage();
  }

  /** The targets in order of their first level. */
  Set<String> targets() {
    return targets;
  }

  /** The targets, each with its scenarios where these have levels of their own, in order. */
  Set<Track> tracks() {
    return byTrack.keySet();
  }

  /**
   * The level of a request: that of its scenario, else that of all scenarios. A level that is not
   * in the plan is added, without a window.
   */
  LevelWindow of(RequestRecord.Identity id) {
    Found found = latest;
    if (found == null || !found.isFor(id)) {
      found = new Found(id, find(id));
      latest = found;
    }
    return found.window();
  }

  /** The latest request and its level: most requests have the same level as the one before. */
  private record Found(RequestRecord.Identity id, LevelWindow window) {
    boolean isFor(RequestRecord.Identity other) {
      return id.stage().equals(other.stage())
          && id.target().equals(other.target())
          && id.scenario().equals(other.scenario());
    }
  }

  private LevelWindow find(RequestRecord.Identity id) {
    String label = labelOf(id);
    LevelWindow own = byLabel.get(new Key(label, new Track(id.target(), id.scenario())));
    LevelWindow window =
        own != null ? own : byLabel.get(new Key(label, new Track(id.target(), null)));
    if (window != null) {
      return window;
    }
    LevelInfo unplanned = new LevelInfo(label, id.target(), null, UNPLANNED, null, "", List.of());
    return add(new LevelWindow(levels.size(), unplanned, 0, 0));
  }

  /** The level whose window holds an instant; null where none does. */
  @Nullable LevelWindow at(long unixNanos, LevelWindow guess) {
    if (guess.contains(unixNanos)) {
      return guess;
    }
    for (LevelWindow window : besides(guess)) {
      if (window.contains(unixNanos)) {
        return window;
      }
    }
    return null;
  }

  /**
   * When the next window of the same target and scenario begins; {@link Long#MAX_VALUE} if there is
   * none.
   */
  long nextFrom(long unixNanos, LevelWindow level) {
    long next = Long.MAX_VALUE;
    for (LevelWindow window : besides(level)) {
      next = window.from() > unixNanos ? Math.min(next, window.from()) : next;
    }
    return next;
  }

  /** All levels of the target and scenario of a level, itself included, in order of time. */
  List<LevelWindow> besides(LevelWindow level) {
    return besides.get(level.index());
  }

  /** Length of the union of intervals {from, to}: time in which they overlap counts once. */
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

  /**
   * A level and its measure window [{@code from}, {@code to}) in epoch nanoseconds; empty where the
   * level was never measured.
   */
  record LevelWindow(int index, LevelInfo level, long from, long to) {

    static LevelWindow of(int index, LevelInfo level, long runEnd) {
      Optional<PhaseWindow> measure = level.measured();
      if (measure.isEmpty()) {
        return new LevelWindow(index, level, 0, 0);
      }
      Long end = measure.get().endUnixNanos();
      long from = measure.get().startUnixNanos();
      return new LevelWindow(index, level, from, Math.max(from, end == null ? runEnd : end));
    }

    boolean contains(long unixNanos) {
      return unixNanos >= from && unixNanos < to;
    }

    /** Nanoseconds of [{@code start}, {@code end}) that lie in the window. */
    long overlapNanos(long start, long end) {
      return Math.max(0, Math.min(end, to) - Math.max(start, from));
    }

    LevelWindow arriving() {
      Long end = level.window(Phase.MEASURE).map(PhaseWindow::endUnixNanos).orElse(null);
      return end == null || end >= to ? this : new LevelWindow(index, level, from, end);
    }

    long nanos() {
      return to - from;
    }
  }
}
