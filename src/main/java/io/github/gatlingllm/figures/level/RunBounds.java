package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Amounts.Span;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Infers from records when a run was and which load levels it had, where {@code run.json} does not
 * say. Only the month with most records and the months beside it count, as a record may have a
 * wrong date.
 */
final class RunBounds {

  private static final String NUMBER = "[0-9]{1,9}(\\.[0-9]{1,9})?";
  private static final int MAX_LEVELS = 200;
  private static final int MAX_MONTHS = 100;
  private static final long MONTH = TimeUnit.DAYS.toNanos(31);

  private final BoundedNames names = new BoundedNames(List.of(), MAX_LEVELS);
  private final Map<Long, Month> months = new HashMap<>();
  private @Nullable String runId;
  private @Nullable String injector;

  private static final class Month {
    private final Map<LevelInfo.Key, Span> spans = new LinkedHashMap<>();
    private final Span all = new Span();
    private long records;

    private void add(Month other) {
      other.spans.forEach((key, span) -> span(key).add(span));
      all.add(other.all);
    }

    private Span span(LevelInfo.Key key) {
      return spans.computeIfAbsent(key, k -> new Span());
    }
  }

  static boolean areNeededBy(RunInfo info) {
    return info.endUnixNanos() == null || info.stages().isEmpty();
  }

  void add(RequestRecord given) {
    RequestRecord record = names.of(given);
    RequestRecord.Identity id = record.identity();
    long from = record.timing().scheduledUnixNanos();
    refuseBeyond(from, from + MONTH, record.timing());
    Long closed = record.timing().closedUnixNanos();
    long to = Math.max(record.timing().startUnixNanos(), closed == null ? from : closed);
    runId = runId == null ? id.runId() : runId;
    injector = injector == null ? id.injector() : injector;
    Long number = from / MONTH;
    if (months.size() >= MAX_MONTHS && !months.containsKey(number)) {
      return;
    }
    Month month = months.computeIfAbsent(number, n -> new Month());
    month.records++;
    month.all.add(from, to);
    if (id.phase() == Phase.MEASURE) {
      // Planned levels have a scenario; a run without a plan has one level per target.
      month.span(LevelInfo.Key.of(id, id.stage().isEmpty() ? null : id.scenario())).add(from, to);
    }
  }

  /** Throws an {@link IllegalArgumentException} for a record of another time than the run. */
  static void refuseBeyond(long from, long to, RequestRecord.Timing timing) {
    long start = timing.startUnixNanos();
    if (start < from || start > to) {
      throw new IllegalArgumentException(
          "start_unix_ns is %s, far from the run".formatted(Instant.ofEpochSecond(0, start)));
    }
    for (Long nanos :
        Arrays.asList(
            timing.startLagNanos(),
            timing.gateWaitNanos(),
            timing.closedNanos(),
            timing.latencyNanos(),
            timing.ttftNanos(),
            timing.connectNanos())) {
      if (nanos != null && nanos > to - from) {
        throw new IllegalArgumentException(
            String.format(Locale.ROOT, "a time of %.0f s is longer than the run", nanos / 1e9));
      }
    }
  }

  private Month most() {
    Month all = new Month();
    months.entrySet().stream()
        .max(Comparator.comparingLong(month -> month.getValue().records))
        .ifPresent(
            most -> {
              for (long number = most.getKey() - 1; number <= most.getKey() + 1; number++) {
                Month month = months.get(number);
                if (month != null) {
                  all.add(month);
                }
              }
            });
    return all;
  }

  RunInfo complete(@Nullable RunInfo info) {
    Month month = most();
    long start = month.all.from == Long.MAX_VALUE ? 0 : month.all.from;
    RunInfo known =
        info != null
            ? info
            : RunInfo.started(
                runId == null ? "unknown" : runId,
                "unknown",
                injector == null ? "unknown" : injector,
                start);
    long end = Math.max(known.startUnixNanos(), Math.max(start, month.all.to));
    RunInfo ended = known.endUnixNanos() != null ? known : known.ended(end, known.state());
    return ended.stages().isEmpty()
        ? ended.stages(stages(month, ended.outcome().planned()))
        : ended;
  }

  private static List<LevelInfo> stages(Month month, @Nullable Long planned) {
    List<LevelInfo> stages =
        month.spans.entrySet().stream()
            .sorted(Map.Entry.comparingByValue(Comparator.comparingLong(span -> span.from)))
            .map(e -> stage(e.getKey(), e.getValue()))
            .toList();
    return planned == null || stages.size() != 1
        ? stages
        : List.of(stages.get(0).withPlanned(planned));
  }

  private static LevelInfo stage(LevelInfo.Key key, Span span) {
    PhaseWindow window = new PhaseWindow(Phase.MEASURE, span.from, span.to + 1);
    String label = key.label();
    boolean rate = label.matches("r=" + NUMBER);
    boolean users = label.matches("c=" + NUMBER);
    return new LevelInfo(
        label,
        key.target(),
        key.scenario(),
        rate
            ? "open loop"
            : users
                ? "closed loop"
                : label.equals("curve")
                    ? LevelInfo.RATE_CURVE
                    : label.equals("trace") ? LevelInfo.TRACE : "unknown",
        rate || users ? (Double) Double.parseDouble(label.substring(2)) : null,
        rate ? "requests/s" : users ? "users" : "",
        List.of(window));
  }

  /** Counts levels outside the plan and scenarios, beyond some, as {@value #OTHERS}. */
  static final class BoundedNames {

    static final String OTHERS = "(others)";

    private static final int MAX_SCENARIOS = 200;

    private final Set<LevelInfo.Key> levels = new HashSet<>();
    private final Set<String> scenarios = new HashSet<>();
    private final int most;

    BoundedNames(List<LevelInfo> planned, int unplanned) {
      planned.forEach(level -> levels.add(level.key()));
      most = levels.size() + unplanned;
    }

    /** The record with the names that it is counted under. */
    RequestRecord of(RequestRecord record) {
      RequestRecord.Identity id = record.identity();
      String scenario =
          scenarios.contains(id.scenario()) || scenarios.size() < MAX_SCENARIOS
              ? id.scenario()
              : OTHERS;
      scenarios.add(scenario);
      if (!has(LevelInfo.Key.of(id, scenario), LevelInfo.Key.of(id, null))) {
        return record.placedAt(OTHERS, OTHERS, OTHERS);
      }
      return scenario.equals(id.scenario())
          ? record
          : record.placedAt(id.stage(), id.target(), scenario);
    }

    private boolean has(LevelInfo.Key level, LevelInfo.Key ofAll) {
      return levels.contains(level)
          || levels.contains(ofAll)
          || (levels.size() < most && levels.add(level));
    }
  }
}
