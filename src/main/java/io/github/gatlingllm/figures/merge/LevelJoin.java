package io.github.gatlingllm.figures.merge;

import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunInfo.LevelPart;
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
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Joins the load levels of several injectors. Levels with the same label, target and scenario are
 * one level, whose offered load is the sum of its parts. Its measure window:
 *
 * <ul>
 *   <li>If all injectors followed the same timetable, within a millisecond, and began within a
 *       second of each other, it is the window of that timetable, counted from the first injector.
 *       Every request keeps its phase, and the number of planned requests is the sum.
 *   <li>Otherwise it is the intersection of the windows of all injectors, because only then the
 *       whole load was on. A request scheduled in its own injector's window but outside the
 *       intersection belongs to {@link Phase#STABILIZE} if it is before it; after it, to {@link
 *       Phase#COOLDOWN} as long as any injector is in that phase, then to {@link Phase#DRAIN}. The
 *       number of planned requests is not known.
 * </ul>
 *
 * <p>A window without end, because its injector died in it, does not shorten the intersection. If
 * the intersection is empty, the test was repeated, not shared, and the runs are refused.
 */
final class LevelJoin {

  /** Largest difference between equal timetables, from the resolution of clocks. */
  private static final long SAME_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Largest difference between the starts of injectors that began together. */
  private static final long TOGETHER_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final MathContext DIGITS = new MathContext(12);

  private final List<RunInfo> runs;
  private final Map<Key, Common> measured = new LinkedHashMap<>();
  private final Map<Key, List<LevelInfo>> parts = new LinkedHashMap<>();
  private final List<LevelInfo> joined = new ArrayList<>();

  /**
   * The common window of a level.
   *
   * @param measure the measure window
   * @param cooledUnixNanos when the last injector ended its cooldown; the end of the measure window
   *     without a cooldown
   * @param isByPlan whether it is the window of a common timetable
   */
  record Common(PhaseWindow measure, long cooledUnixNanos, boolean isByPlan) {
    double seconds() {
      return (end(measure, measure.startUnixNanos()) - measure.startUnixNanos()) / 1e9;
    }
  }

  /** Identifies a load level across injectors. */
  record Key(String label, String target, @Nullable String scenario) {

    static Key of(LevelInfo level) {
      return new Key(labelOf(level.label()), level.target(), level.scenario());
    }

    @Override
    public String toString() {
      return label + " of " + target + (scenario == null ? "" : ", " + scenario);
    }
  }

  LevelJoin(List<RunInfo> runs) {
    this.runs = runs;
    for (RunInfo run : runs) {
      for (LevelInfo level : run.stages()) {
        parts.computeIfAbsent(Key.of(level), key -> new ArrayList<>()).add(level);
      }
    }
    parts.forEach((key, of) -> joined.add(level(key, of)));
  }

  /** The levels of the joined run. */
  List<LevelInfo> levels() {
    return joined;
  }

  /** The common window of each measured level. */
  Map<Key, Common> measured() {
    return measured;
  }

  /** Number of injectors that have that level. */
  long having(Key key) {
    return runs.stream()
        .filter(run -> run.stages().stream().map(Key::of).anyMatch(key::equals))
        .count();
  }

  /** An injector's part of a level. It is late against the first planned start of all injectors. */
  LevelPart part(LevelInfo level) {
    List<LevelInfo> of = requireNonNull(parts.get(Key.of(level)));
    OptionalLong plan =
        of.stream()
            .map(LevelInfo::plannedStartUnixNanos)
            .filter(Objects::nonNull)
            .mapToLong(Long::longValue)
            .min();
    Long late =
        plan.isEmpty() || level.phases().isEmpty()
            ? null
            : (Long) (begin(level) - plan.getAsLong());
    return new LevelPart(level.label(), level.target(), level.scenario(), level.planned(), late);
  }

  /** The record with its phase in the joined run. */
  RequestRecord placed(RequestRecord record) {
    RequestRecord.Identity id = record.identity();
    Common common = id.phase() == Phase.MEASURE ? commonOf(id) : null;
    if (common == null || common.isByPlan()) {
      return record;
    }
    long scheduled = record.timing().scheduledUnixNanos();
    PhaseWindow measure = common.measure();
    Phase phase =
        scheduled < measure.startUnixNanos()
            ? Phase.STABILIZE
            : scheduled < end(measure, Long.MAX_VALUE)
                ? Phase.MEASURE
                : scheduled < common.cooledUnixNanos() ? Phase.COOLDOWN : Phase.DRAIN;
    return phase == Phase.MEASURE ? record : record.withPhase(phase);
  }

  /** The window of its scenario's level, otherwise of the level of all scenarios. */
  private @Nullable Common commonOf(RequestRecord.Identity id) {
    String label = labelOf(id.stage());
    Common own = measured.get(new Key(label, id.target(), id.scenario()));
    return own != null ? own : measured.get(new Key(label, id.target(), null));
  }

  private LevelInfo level(Key key, List<LevelInfo> of) {
    LevelInfo first = of.get(0);
    for (LevelInfo part : of) {
      if (!part.kind().equals(first.kind()) || !part.unit().equals(first.unit())) {
        throw new IllegalArgumentException(
            "level %s is %s in one run and %s in another; expected the same load plan"
                .formatted(key, first.kind(), part.kind()));
      }
    }
    boolean hasLoad = of.stream().allMatch(part -> part.offered() != null);
    LevelInfo level =
        new LevelInfo(
            key.label(),
            key.target(),
            key.scenario(),
            first.kind(),
            hasLoad ? (Double) offered(of) : null,
            first.unit(),
            phases(key, of));
    Common common = measured.get(key);
    Long planned = LevelInfo.planned(of);
    return common == null || !common.isByPlan() || planned == null
        ? level
        : level.withPlanned(planned);
  }

  /** The sum, rounded to remove the rounding errors of parts such as a third. */
  private static double offered(List<LevelInfo> of) {
    return of.stream()
        .map(part -> BigDecimal.valueOf(requireNonNull(part.offered())))
        .reduce(BigDecimal.ZERO, BigDecimal::add)
        .round(DIGITS)
        .doubleValue();
  }

  /** The common measure window, and the phases before and after it. */
  private List<PhaseWindow> phases(Key key, List<LevelInfo> of) {
    List<PhaseWindow> windows = of.stream().flatMap(part -> part.phases().stream()).toList();
    List<LevelInfo> measuring =
        of.stream().filter(part -> part.window(Phase.MEASURE).isPresent()).toList();
    boolean isByPlan = isOneTimetable(measuring);
    PhaseWindow measure = isByPlan ? ofTimetable(measuring) : common(key, of);
    if (measure == null) {
      return List.of();
    }
    long from = measure.startUnixNanos();
    long until = end(measure, from);
    long first = min(windows, PhaseWindow::startUnixNanos, from);
    long filled = endOf(Phase.FILL, windows, first);
    long cooled = endOf(Phase.COOLDOWN, windows, until);
    measured.put(key, new Common(measure, cooled, isByPlan));
    long last = max(windows, window -> end(window, from), until);
    List<PhaseWindow> phases = new ArrayList<>();
    add(phases, Phase.FILL, first, Math.min(filled, from));
    add(phases, Phase.STABILIZE, Math.min(filled, from), from);
    phases.add(measure);
    add(phases, Phase.COOLDOWN, until, cooled);
    add(phases, Phase.DRAIN, Math.max(until, cooled), last);
    return phases;
  }

  /** Whether all injectors followed the same timetable and began together. */
  private static boolean isOneTimetable(List<LevelInfo> measuring) {
    List<Long> lengths =
        measuring.stream()
            .map(LevelJoin::measure)
            .filter(window -> window.endUnixNanos() != null)
            .map(window -> end(window, 0) - window.startUnixNanos())
            .toList();
    return measuring.stream().allMatch(LevelInfo::isOpen)
        && !lengths.isEmpty()
        && spread(lengths, length -> length) <= SAME_NANOS
        && spread(measuring, part -> measure(part).startUnixNanos() - begin(part)) <= SAME_NANOS
        && spread(measuring, LevelJoin::begin) <= Math.min(TOGETHER_NANOS, lengths.get(0) / 10);
  }

  private static PhaseWindow measure(LevelInfo level) {
    return level.window(Phase.MEASURE).orElseThrow();
  }

  /** Start of the level's schedule. */
  private static long begin(LevelInfo level) {
    return level.phases().get(0).startUnixNanos();
  }

  /** Whether an injector planned that request in a measure window. */
  static boolean isOfPlan(RunInfo run, RequestRecord record) {
    RequestRecord.Identity id = record.identity();
    Key own = new Key(labelOf(id.stage()), id.target(), id.scenario());
    Key all = new Key(own.label(), own.target(), null);
    for (LevelInfo level : run.stages()) {
      if (Key.of(level).equals(own) || Key.of(level).equals(all)) {
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
    return max(of, value, 0) - min(of, value, 0);
  }

  private static <T> long min(List<T> of, ToLongFunction<T> value, long none) {
    return of.stream().mapToLong(value).min().orElse(none);
  }

  private static <T> long max(List<T> of, ToLongFunction<T> value, long none) {
    return of.stream().mapToLong(value).max().orElse(none);
  }

  /** The planned window, from the injector that began first. */
  private static PhaseWindow ofTimetable(List<LevelInfo> of) {
    long from = min(of, part -> measure(part).startUnixNanos(), 0);
    long length =
        max(
            of,
            part ->
                end(measure(part), measure(part).startUnixNanos()) - measure(part).startUnixNanos(),
            0);
    return new PhaseWindow(Phase.MEASURE, from, from + length);
  }

  /** When the last of these phases ended; {@code other} if there was none. */
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

  private @Nullable PhaseWindow common(Key key, List<LevelInfo> of) {
    List<PhaseWindow> windows =
        of.stream().flatMap(part -> part.window(Phase.MEASURE).stream()).toList();
    if (windows.isEmpty()) {
      return null;
    }
    long runsEnd = max(runs, run -> run.endUnixNanos() == null ? 0 : run.endUnixNanos(), 0);
    long from = max(windows, PhaseWindow::startUnixNanos, 0);
    long to =
        min(
            windows.stream().filter(window -> window.endUnixNanos() != null).toList(),
            window -> end(window, runsEnd),
            runsEnd);
    if (to <= from) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "level %s was not measured at the same time (%.1f s apart): these runs are"
                  + " repeats, not injectors of one load test; compare them instead",
              key,
              (from - to) / 1e9));
    }
    return new PhaseWindow(Phase.MEASURE, from, to);
  }

  private static long end(PhaseWindow window, long open) {
    Long end = window.endUnixNanos();
    return end == null ? open : end;
  }

  private static String labelOf(String stage) {
    return stage.isEmpty() ? LevelInfo.WHOLE_RUN : stage;
  }
}
