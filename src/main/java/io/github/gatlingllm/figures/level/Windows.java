package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The load levels of a run. */
final class Windows {

  private final List<LevelWindow> all = new ArrayList<>();
  private final Map<LevelInfo.Key, List<LevelWindow>> byLevel = new LinkedHashMap<>();
  private final Map<LevelInfo.Key, List<LevelWindow>> byTrack = new LinkedHashMap<>();
  private final Set<String> targets = new LinkedHashSet<>();
  private final Map<LevelInfo.Key, LevelWindow> byKey = new HashMap<>();

  /** The target of successive levels, and their scenario where scenarios have own levels. */
  static LevelInfo.Key track(LevelInfo level) {
    return new LevelInfo.Key("", level.target(), level.scenario());
  }

  /** Repeated levels run in random order; they get the order of their load. */
  Windows(List<LevelInfo> infos, long runEnd) {
    List<LevelInfo.Key> tracks = infos.stream().map(Windows::track).distinct().toList();
    infos.stream()
        .filter(info -> info.offered() != null && !own(info).equals(info.key()))
        .sorted(
            Comparator.comparing((LevelInfo info) -> tracks.indexOf(track(info)))
                .thenComparing(LevelInfo::offered))
        .forEach(info -> byLevel.putIfAbsent(own(info), new ArrayList<>()));
    infos.forEach(info -> add(info, runEnd));
    byTrack.values().forEach(list -> list.sort(Comparator.comparingLong(level -> level.from)));
  }

  /** The key of a level, the same for all its repeats. */
  private static LevelInfo.Key own(LevelInfo info) {
    return new LevelInfo.Key(LevelInfo.unnumbered(info.label()), info.target(), info.scenario());
  }

  private LevelWindow add(LevelInfo info, long runEnd) {
    List<LevelWindow> same = byTrack.computeIfAbsent(track(info), t -> new ArrayList<>());
    List<LevelWindow> repeats = byLevel.computeIfAbsent(own(info), level -> new ArrayList<>());
    int index = List.copyOf(byLevel.keySet()).indexOf(own(info));
    LevelWindow level = new LevelWindow(index, info, runEnd, same, repeats);
    repeats.add(level);
    same.add(level);
    all.add(level);
    targets.add(info.target());
    byKey.putIfAbsent(info.key(), level);
    return level;
  }

  List<LevelWindow> all() {
    return all;
  }

  List<LevelWindow> firstRepeats() {
    return byLevel.values().stream().map(repeats -> repeats.get(0)).toList();
  }

  Set<String> targets() {
    return targets;
  }

  Set<LevelInfo.Key> tracks() {
    return byTrack.keySet();
  }

  /** The label of a level, with its target and scenario where the run has several of them. */
  String place(LevelInfo level) {
    return Summary.named(level, targets.size() > 1, byTrack.size() > targets.size());
  }

  /** The name of a level in sentences: {@code c=8}; empty for the entire run of one target. */
  String describe(LevelInfo level) {
    String place = place(level);
    return level.label().equals(LevelInfo.ENTIRE_RUN)
        ? place.substring(LevelInfo.ENTIRE_RUN.length()).strip().replaceFirst("^(of|at) ", "")
        : place;
  }

  /** The level with that key, or of all scenarios; null if there is none. */
  @Nullable LevelWindow of(LevelInfo.Key key) {
    LevelWindow own = byKey.get(key);
    return own != null ? own : byKey.get(new LevelInfo.Key(key.label(), key.target(), null));
  }

  /** The level of a request; one that is not in the plan is added, without a window. */
  LevelWindow of(RequestRecord.Identity id) {
    LevelInfo.Key key = LevelInfo.Key.of(id, id.scenario());
    LevelWindow level = of(key);
    return level != null
        ? level
        : add(
            new LevelInfo(key.label(), id.target(), null, LevelInfo.UNPLANNED, null, "", List.of()),
            0);
  }

  /** Length of the union of intervals {from, to}: time in which they overlap counts once. */
  static long unionNanos(Collection<long[]> intervals) {
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
