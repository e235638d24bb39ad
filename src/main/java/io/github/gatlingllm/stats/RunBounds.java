package io.github.gatlingllm.stats;

import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What records say about when a run was and which stages it had. Takes the place of {@code
 * run.json} where that is missing, has no stages, or has ends that nobody wrote: a stage's window
 * is then the first scheduled start to the last close of its measure requests.
 */
final class RunBounds {

  private final Map<Key, long[]> spans = new LinkedHashMap<>();
  private long first = Long.MAX_VALUE;
  private long last = Long.MIN_VALUE;
  private @Nullable String runId;
  private @Nullable String injector;

  /** Planned levels are told apart by scenario too; a run without plan is one stage per target. */
  private record Key(String label, String target, @Nullable String scenario) {
    static Key of(RequestRecord.Identity id) {
      return new Key(Windows.labelOf(id), id.target(), id.stage().isEmpty() ? null : id.scenario());
    }
  }

  /** Whether the run needs them. */
  static boolean areNeededBy(RunInfo info) {
    return info.endUnixNanos() == null || info.stages().isEmpty();
  }

  void add(RequestRecord record) {
    RequestRecord.Identity id = record.identity();
    long from = record.timing().scheduledUnixNanos();
    Long closed = record.timing().closedUnixNanos();
    long to = Math.max(record.timing().startUnixNanos(), closed == null ? from : closed);
    first = Math.min(first, from);
    last = Math.max(last, to);
    runId = runId == null ? id.runId() : runId;
    injector = injector == null ? id.injector() : injector;
    if (id.phase() == Phase.MEASURE) {
      long[] span =
          spans.computeIfAbsent(Key.of(id), k -> new long[] {Long.MAX_VALUE, Long.MIN_VALUE});
      span[0] = Math.min(span[0], from);
      span[1] = Math.max(span[1], to);
    }
  }

  /** The run with what was missing filled in. */
  RunInfo complete(@Nullable RunInfo info) {
    long start = first == Long.MAX_VALUE ? 0 : first;
    RunInfo known =
        info != null
            ? info
            : RunInfo.started(
                runId == null ? "unknown" : runId,
                "unknown",
                injector == null ? "unknown" : injector,
                start);
    long end = Math.max(known.startUnixNanos(), Math.max(start, last));
    RunInfo ended =
        known.endUnixNanos() != null ? known : known.ended(end, RunInfo.State.INTERRUPTED);
    return ended.stages().isEmpty() ? ended.stages(stages(ended.planned())) : ended;
  }

  private List<LevelInfo> stages(@Nullable Long planned) {
    List<LevelInfo> stages = stages();
    return planned == null || stages.size() != 1
        ? stages
        : List.of(stages.get(0).withPlanned(planned));
  }

  private List<LevelInfo> stages() {
    return spans.entrySet().stream()
        .sorted(Map.Entry.comparingByValue((a, b) -> Long.compare(a[0], b[0])))
        .map(e -> stage(e.getKey(), e.getValue()))
        .toList();
  }

  private static LevelInfo stage(Key key, long[] span) {
    PhaseWindow window = new PhaseWindow(Phase.MEASURE, span[0], span[1]);
    String label = key.label();
    boolean rate = label.matches("r=[0-9.]+");
    boolean users = label.matches("c=[0-9.]+");
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
}
