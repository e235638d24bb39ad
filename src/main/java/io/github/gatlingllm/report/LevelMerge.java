package io.github.gatlingllm.report;

import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.record.InjectorRun.InjectorLevel;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;

/**
 * Merges the load levels of several injectors that have the same label, target and scenario.
 *
 * <p>If all followed the same timetable and began within a second of each other, the measure window
 * is the one of that timetable. Otherwise it is the intersection of their windows, because only
 * then the full load was on, and a request scheduled outside it belongs to another phase. A window
 * without end, because its injector died in it, does not shorten the intersection.
 */
final class LevelMerge {

  /** Largest difference between equal timetables, from the resolution of clocks. */
  private static final long SAME_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Largest difference between the starts of injectors that began together. */
  private static final long TOGETHER_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Removes the rounding errors of a sum of parts such as a third. */
  private static final MathContext DIGITS = new MathContext(12);

  private final Map<LevelInfo.Key, List<LevelInfo>> parts = new LinkedHashMap<>();
  private final Map<LevelInfo.Key, CommonWindow> windows = new LinkedHashMap<>();
  final List<LevelInfo> merged = new ArrayList<>();
  private final Consumer<String> refusal;
  private final long runsEnd;

  /** The measure window of a merged level, and the end of its last cooldown. */
  private record CommonWindow(
      long from, long to, long cooledUnixNanos, boolean isByPlan, String words) {}

  /** Passes on why levels cannot be merged; merges them all the same if that does not throw. */
  LevelMerge(List<RunInfo> runs, Consumer<String> refusal) {
    this.refusal = refusal;
    runsEnd = max(runs, run -> run.endUnixNanos() == null ? 0 : run.endUnixNanos(), 0);
    for (RunInfo run : runs) {
      for (LevelInfo level : run.stages()) {
        parts.computeIfAbsent(level.key(), key -> new ArrayList<>()).add(level);
      }
    }
    parts.forEach((key, of) -> merged.add(level(key, of)));
  }

  long injectorsOf(LevelInfo.Key key) {
    return requireNonNull(parts.get(key)).size();
  }

  /** The measure window of each merged level in words. */
  List<String> remarks() {
    return windows.entrySet().stream()
        .map(
            of -> {
              CommonWindow window = of.getValue();
              double seconds = (window.to - window.from) / 1e9;
              return String.format(
                  Locale.ROOT,
                  "level %s: measured in the %.1f s that %s",
                  of.getKey(),
                  seconds,
                  window.words);
            })
        .toList();
  }

  /** An injector's part of a level. It is late against the first planned start of all injectors. */
  InjectorLevel part(LevelInfo level) {
    OptionalLong plan =
        requireNonNull(parts.get(level.key())).stream()
            .map(LevelInfo::plannedStartUnixNanos)
            .filter(Objects::nonNull)
            .mapToLong(Long::longValue)
            .min();
    Long late =
        plan.isEmpty() || level.phases().isEmpty()
            ? null
            : (Long) (begin(level) - plan.getAsLong());
    return new InjectorLevel(
        level.label(), level.target(), level.scenario(), level.planned(), late);
  }

  RequestRecord placed(RequestRecord record) {
    RequestRecord.Identity id = record.identity();
    if (id.phase() != Phase.MEASURE) {
      return record;
    }
    CommonWindow own = windows.get(LevelInfo.Key.of(id, id.scenario()));
    CommonWindow window = own != null ? own : windows.get(LevelInfo.Key.of(id, null));
    if (window == null || window.isByPlan) {
      return record;
    }
    long scheduled = record.timing().scheduledUnixNanos();
    if (scheduled >= window.from && scheduled < window.to) {
      return record;
    }
    return record.in(
        scheduled < window.from
            ? Phase.STABILIZE
            : scheduled < window.cooledUnixNanos ? Phase.COOLDOWN : Phase.DRAIN);
  }

  private LevelInfo level(LevelInfo.Key key, List<LevelInfo> of) {
    LevelInfo first = of.get(0);
    for (LevelInfo part : of) {
      if (!part.kind().equals(first.kind()) || !part.unit().equals(first.unit())) {
        refusal.accept(
            "level %s is %s in one run and %s in another; expected the same load plan"
                .formatted(key, first.kind(), part.kind()));
      }
    }
    boolean hasLoad = of.stream().allMatch(part -> part.offered() != null);
    List<PhaseWindow> phases = phases(key, of);
    CommonWindow window = windows.get(key);
    return new LevelInfo(
        key.label(),
        key.target(),
        key.scenario(),
        first.kind(),
        hasLoad ? (Double) offered(of) : null,
        first.unit(),
        phases,
        window != null && window.isByPlan ? LevelInfo.planned(of) : null,
        null,
        null,
        of.stream().flatMap(part -> part.hooks().stream()).toList());
  }

  private static double offered(List<LevelInfo> of) {
    return of.stream()
        .map(part -> BigDecimal.valueOf(requireNonNull(part.offered())))
        .reduce(BigDecimal.ZERO, BigDecimal::add)
        .round(DIGITS)
        .doubleValue();
  }

  private List<PhaseWindow> phases(LevelInfo.Key key, List<LevelInfo> of) {
    List<LevelInfo> measured =
        of.stream().filter(part -> part.window(Phase.MEASURE).isPresent()).toList();
    if (measured.isEmpty()) {
      return List.of();
    }
    boolean hasCommonSchedule = hasCommonSchedule(measured);
    boolean isByPlan = hasCommonSchedule || !haveOverlap(key, measured);
    long from = isByPlan ? min(measured, LevelMerge::start) : max(measured, LevelMerge::start, 0);
    long to =
        hasCommonSchedule
            ? from + max(measured, LevelMerge::length, 0)
            : isByPlan
                ? max(measured, part -> end(measure(part), runsEnd), 0)
                : commonEnd(measured);
    List<PhaseWindow> all = of.stream().flatMap(part -> part.phases().stream()).toList();
    long first = min(all, PhaseWindow::startUnixNanos);
    long filled = Math.min(from, endOf(Phase.FILL, all, first));
    long cooled = endOf(Phase.COOLDOWN, all, to);
    String words =
        hasCommonSchedule
            ? "the plan of all its injectors has"
            : isByPlan ? "begin with the first and end with the last" : "all its injectors share";
    windows.put(key, new CommonWindow(from, to, cooled, isByPlan, words));
    List<PhaseWindow> phases = new ArrayList<>();
    add(phases, Phase.FILL, first, filled);
    add(phases, Phase.STABILIZE, filled, from);
    phases.add(new PhaseWindow(Phase.MEASURE, from, to));
    add(phases, Phase.COOLDOWN, to, cooled);
    add(phases, Phase.DRAIN, Math.max(to, cooled), max(all, window -> end(window, from), to));
    return phases;
  }

  private long commonEnd(List<LevelInfo> measured) {
    return Math.min(runsEnd, min(ended(measured), part -> end(measure(part), 0)));
  }

  private boolean haveOverlap(LevelInfo.Key key, List<LevelInfo> measured) {
    long apart = max(measured, LevelMerge::start, 0) - commonEnd(measured);
    if (apart >= 0) {
      refusal.accept(
          String.format(
              Locale.ROOT,
              "level %s was not measured at the same time (%.1f s apart): these runs are"
                  + " repeats, not injectors of one load test; compare them instead",
              key,
              apart / 1e9));
    }
    return apart < 0;
  }

  private static boolean hasCommonSchedule(List<LevelInfo> measured) {
    List<LevelInfo> ended = ended(measured);
    return measured.stream().allMatch(LevelInfo::isOpen)
        && !ended.isEmpty()
        && spread(ended, LevelMerge::length) <= SAME_NANOS
        && spread(measured, part -> start(part) - begin(part)) <= SAME_NANOS
        && spread(measured, LevelMerge::begin)
            <= Math.min(TOGETHER_NANOS, length(ended.get(0)) / 10);
  }

  /** The levels whose measure window ended; the others' injectors died in it. */
  private static List<LevelInfo> ended(List<LevelInfo> measured) {
    return measured.stream().filter(part -> measure(part).endUnixNanos() != null).toList();
  }

  private static PhaseWindow measure(LevelInfo level) {
    return level.window(Phase.MEASURE).orElseThrow();
  }

  private static long start(LevelInfo level) {
    return measure(level).startUnixNanos();
  }

  private static long length(LevelInfo level) {
    return end(measure(level), start(level)) - start(level);
  }

  private static long begin(LevelInfo level) {
    return level.phases().get(0).startUnixNanos();
  }

  static boolean isPlanned(RunInfo run, RequestRecord record) {
    RequestRecord.Identity id = record.identity();
    LevelInfo.Key own = LevelInfo.Key.of(id, id.scenario());
    LevelInfo.Key all = LevelInfo.Key.of(id, null);
    for (LevelInfo level : run.stages()) {
      LevelInfo.Key key = level.key();
      if (key.equals(own) || key.equals(all)) {
        Long offset = record.timing().scheduledOffsetNanos();
        PhaseWindow measure = level.window(Phase.MEASURE).orElse(null);
        if (!level.isOpen() || offset == null || measure == null) {
          return id.phase() == Phase.MEASURE && (offset != null || !level.isOpen());
        }
        long arrival = begin(level) + offset;
        return arrival >= measure.startUnixNanos() && arrival < end(measure, Long.MAX_VALUE);
      }
    }
    return id.phase() == Phase.MEASURE;
  }

  private static <T> long spread(List<T> of, ToLongFunction<T> value) {
    return max(of, value, 0) - min(of, value);
  }

  private static <T> long min(List<T> of, ToLongFunction<T> value) {
    return of.stream().mapToLong(value).min().orElse(Long.MAX_VALUE);
  }

  private static <T> long max(List<T> of, ToLongFunction<T> value, long none) {
    return of.stream().mapToLong(value).max().orElse(none);
  }

  private static long endOf(Phase phase, List<PhaseWindow> windows, long other) {
    return max(
        windows.stream().filter(window -> window.phase() == phase).toList(),
        window -> end(window, other),
        other);
  }

  private static void add(List<PhaseWindow> phases, Phase phase, long from, long to) {
    if (to > from) {
      phases.add(new PhaseWindow(phase, from, to));
    }
  }

  private static long end(PhaseWindow window, long open) {
    Long end = window.endUnixNanos();
    return end == null ? open : end;
  }
}
