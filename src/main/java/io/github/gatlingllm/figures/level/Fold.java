package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Cell.Detail;
import io.github.gatlingllm.figures.level.Cell.KeyCounts;
import io.github.gatlingllm.figures.metric.Amount;
import io.github.gatlingllm.record.RequestRecord;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Adds each request to the cells of each {@link Grouping}: to those of its load level, and to those
 * of windows in which a part of it happened. Memory is bounded: names that users or servers make
 * without end are counted under a common one beyond a limit.
 */
@SuppressWarnings(
    "EnumOrdinal") // a list of the keys of every request, by the position of the grouping
final class Fold {

  private static final Grouping[] GROUPINGS = Grouping.values();

  private static final String OTHERS = "(other names)";

  /** Names of requests, of models, of replicas. */
  private static final int MAX_NAMES = 100;

  /** Cells with figures, 1 MiB each. */
  private static final int MAX_CELLS = 500;

  /** Combinations of keys whose cells are looked up once; servers may name a replica per answer. */
  private static final int MAX_KNOWN = 10_000;

  /** The requests of a window, or of the run, with the same keys. */
  record FoldPart(@Nullable LevelWindow window, List<String> keys, Cell cell) {
    LevelWindow level() {
      return Objects.requireNonNull(window);
    }

    /** That of a separate grouping, or of one of the joint ones. */
    String key(Grouping by) {
      return keys.get(by.detail == Detail.FIGURES ? Grouping.JOINT.indexOf(by) : 0);
    }
  }

  private record CellKey(@Nullable LevelWindow window, List<? extends @Nullable Object> keys) {}

  private static final List<String> OTHER = Grouping.JOINT.stream().map(by -> OTHERS).toList();

  private final Map<Grouping, Set<String>> names = new EnumMap<>(Grouping.class);
  private final Map<CellKey, FoldPart> joint = new LinkedHashMap<>();
  private final Map<Grouping, Map<CellKey, FoldPart>> separate = new EnumMap<>(Grouping.class);
  private final Map<CellKey, Cell[]> known = new HashMap<>();

  /** Adds a request of a load level; its values, if it was scheduled in measure. */
  void add(RequestParts parts, LevelWindow own, boolean isMeasured) {
    List<@Nullable Object> keys = keys(parts.record());
    for (LevelWindow window : own.track) {
      boolean isOwn = isMeasured && window.equals(own);
      if (isOwn || window.overlaps(parts.begin(), parts.end())) {
        parts.in(window.from, window.to, isOwn);
        for (Cell cell : cells(window, keys)) {
          cell.add(parts);
          if (isOwn) {
            cell.measured(parts);
          }
          if (cell.peaks != null) {
            cell.peaks.add(parts);
          }
        }
        window.slice(parts, isOwn);
      }
    }
  }

  private static List<@Nullable Object> keys(RequestRecord record) {
    List<@Nullable Object> keys = new ArrayList<>(GROUPINGS.length);
    for (Grouping by : GROUPINGS) {
      keys.add(by.key(record));
    }
    return keys;
  }

  /** The cells of a window for a request with these keys, looked up once. */
  private Cell[] cells(LevelWindow window, List<@Nullable Object> keys) {
    CellKey labels = new CellKey(window, keys);
    Cell[] found = known.get(labels);
    if (found == null) {
      List<Cell> all = new ArrayList<>(List.of(joint(window, keys)));
      for (Grouping by : Grouping.SEPARATE) {
        Object key = keys.get(by.ordinal());
        if (key != null) {
          all.add(separate(by, window, key.toString()));
        }
      }
      found = all.toArray(Cell[]::new);
      if (known.size() < MAX_KNOWN) {
        known.put(labels, found);
      }
    }
    return found;
  }

  private Cell joint(LevelWindow window, List<@Nullable Object> keys) {
    List<String> own =
        Grouping.JOINT.stream().map(by -> bounded(by, "" + keys.get(by.ordinal()))).toList();
    FoldPart there = joint.get(new CellKey(window, own));
    if (there != null) {
      return there.cell();
    }
    List<String> stored = joint.size() < MAX_CELLS ? own : OTHER;
    return joint
        .computeIfAbsent(
            new CellKey(window, stored),
            place -> new FoldPart(window, stored, Cell.ofWindow(window.from, window.to)))
        .cell();
  }

  private String bounded(Grouping by, String name) {
    Set<String> all = names.computeIfAbsent(by, b -> new HashSet<>());
    return all.contains(name) || (all.size() < MAX_NAMES && all.add(name)) ? name : OTHERS;
  }

  private Cell separate(Grouping by, LevelWindow window, String key) {
    LevelWindow where = by.place.apply(window);
    Map<CellKey, FoldPart> all = separate.computeIfAbsent(by, b -> new LinkedHashMap<>());
    boolean isCounted =
        all.size() < by.maxCells() || all.containsKey(new CellKey(where, List.of(key)));
    List<String> own = List.of(isCounted ? key : "other");
    return all.computeIfAbsent(
            new CellKey(where, own), place -> new FoldPart(where, own, new Cell(by.detail)))
        .cell();
  }

  /** The cells with figures, in the order of their first request. */
  Stream<FoldPart> figures() {
    return joint.values().stream();
  }

  /** The parts of a grouping; of a joint one those with figures. */
  Stream<FoldPart> parts(Grouping by) {
    return by.detail == Detail.FIGURES
        ? figures()
        : separate.getOrDefault(by, Map.of()).values().stream();
  }

  List<String> keys(Grouping by, Predicate<FoldPart> only) {
    return parts(by).filter(only).map(part -> part.key(by)).distinct().toList();
  }

  /** Requests scheduled in measure by key, most frequent first. */
  Map<String, Long> counts(Grouping by, Predicate<FoldPart> only) {
    KeyCounts<String> counts = new KeyCounts<>("other");
    parts(by)
        .filter(only)
        .filter(part -> part.cell().of(Amount.STARTED) > 0)
        .forEach(part -> counts.add(part.key(by), part.cell().count(Amount.STARTED)));
    return counts.byCount();
  }

  /** The cells of a grouping by key, in the order of keys, each added up over its places. */
  Map<String, Cell> byKey(Grouping by, Predicate<FoldPart> only) {
    Map<String, Cell> cells = new TreeMap<>();
    parts(by)
        .filter(only)
        .forEach(
            part ->
                cells.computeIfAbsent(part.key(by), key -> new Cell(by.detail)).add(part.cell()));
    return cells;
  }
}
