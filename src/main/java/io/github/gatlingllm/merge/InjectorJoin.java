package io.github.gatlingllm.merge;

import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunInfo.Connections;
import io.github.gatlingllm.record.RunInfo.PromptRepeats;
import io.github.gatlingllm.record.RunInfo.ReportOptions;
import io.github.gatlingllm.record.RunInfo.TargetFacts;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.record.Slo;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Joins the injectors of one load test into one run: several generators that loaded the same
 * servers at the same time, each with its part.
 *
 * <p>A stage is the same where label, target and scenario are. Its offered load is the sum of the
 * parts, its measure window what the windows of all injectors have in common: only there was the
 * whole load on. A request that was scheduled in its own injector's window but outside the common
 * one belongs to {@link Phase#STABILIZE} before it, after it to {@link Phase#COOLDOWN} while any
 * injector's load stays on for that, else to {@link Phase#DRAIN}. Windows that have nothing in
 * common are those of a test that was repeated, not of one that was shared; they are refused.
 *
 * <p>Windows are compared by the wall clocks of the injectors, which should agree to a small part
 * of a window.
 */
public final class InjectorJoin {

  private final List<RunInfo> runs;
  private final RunInfo joined;
  private final Map<StageKey, Common> measured = new HashMap<>();

  /**
   * What the injectors of a stage share.
   *
   * @param measure the common window
   * @param cooledUnixNanos when the last of them ended its cooldown; its end where there was none
   */
  private record Common(PhaseWindow measure, long cooledUnixNanos) {}

  private record StageKey(String label, String target, @Nullable String scenario) {

    static StageKey of(LevelInfo stage) {
      return new StageKey(labelOf(stage.label()), stage.target(), stage.scenario());
    }

    @Override
    public String toString() {
      return label + " of " + target + (scenario == null ? "" : ", " + scenario);
    }
  }

  private static String slo(RunInfo run) {
    return run.slo().isEmpty() ? "none" : run.slo() + " at " + run.sloPercentile() + " %";
  }

  private InjectorJoin(String id, List<RunInfo> runs) {
    this.runs = runs;
    refuseTwice();
    same("simulation", RunInfo::simulation);
    same("SLO", InjectorJoin::slo);
    same("SLO rule", RunInfo::sloRule);
    same("SLO by request", RunInfo::sloByRequest);
    same("SLO percentile by request", RunInfo::sloHeldByRequest);
    same("SLO by target", RunInfo::sloByTarget);
    this.joined = join(id);
  }

  /**
   * Joins runs whose ends and stages are all known.
   *
   * @param id of the joined run
   * @throws IllegalArgumentException in one line, if they are not injectors of one load test
   */
  public static InjectorJoin of(String id, List<RunInfo> runs) {
    return new InjectorJoin(id, List.copyOf(runs));
  }

  /** The joined run. */
  public RunInfo info() {
    return joined;
  }

  /** The record with the phase that it has in the joined run. */
  public RequestRecord placed(RequestRecord record) {
    RequestRecord.Identity id = record.identity();
    Common common = commonOf(id);
    Long end = common == null ? null : common.measure().endUnixNanos();
    long scheduled = record.timing().scheduledUnixNanos();
    if (id.phase() != Phase.MEASURE || common == null || end == null) {
      return record;
    }
    Phase phase =
        scheduled < common.measure().startUnixNanos()
            ? Phase.STABILIZE
            : scheduled < end
                ? Phase.MEASURE
                : scheduled < common.cooledUnixNanos() ? Phase.COOLDOWN : Phase.DRAIN;
    return phase == Phase.MEASURE ? record : record.withPhase(phase);
  }

  /** That of its scenario's stage, else of the one of all scenarios. */
  private @Nullable Common commonOf(RequestRecord.Identity id) {
    String label = labelOf(id.stage());
    Common own = measured.get(new StageKey(label, id.target(), id.scenario()));
    return own != null ? own : measured.get(new StageKey(label, id.target(), null));
  }

  private void refuseTwice() {
    Set<List<String>> seen = new HashSet<>();
    for (RunInfo run : runs) {
      if (!seen.add(List.of(run.id(), run.injector()))) {
        throw new IllegalArgumentException(
            "run %s of injector %s was given twice; name each run once"
                .formatted(run.id(), run.injector()));
      }
    }
  }

  private void same(String what, Function<RunInfo, Object> of) {
    Object first = of.apply(runs.get(0));
    for (RunInfo run : runs) {
      if (!first.equals(of.apply(run))) {
        throw new IllegalArgumentException(
            "%s of %s is '%s', of %s '%s'; injectors of one load test have the same"
                .formatted(what, runs.get(0).id(), first, run.id(), of.apply(run)));
      }
    }
  }

  private RunInfo join(String id) {
    List<LevelInfo> stages = stages();
    long start = runs.stream().mapToLong(RunInfo::startUnixNanos).min().orElseThrow();
    long end =
        runs.stream().map(RunInfo::endUnixNanos).mapToLong(InjectorJoin::known).max().orElseThrow();
    boolean complete = runs.stream().allMatch(run -> run.state() == RunInfo.State.COMPLETE);
    RunInfo first = runs.get(0);
    Set<String> injectors = new LinkedHashSet<>(runs.stream().map(RunInfo::injector).toList());
    return RunInfo.started(id, first.simulation(), String.join(",", injectors), start)
        .ended(end, complete ? RunInfo.State.COMPLETE : RunInfo.State.INTERRUPTED)
        .seed(runs.stream().map(RunInfo::seed).distinct().count() == 1 ? first.seed() : (Long) null)
        .versions(distinct(RunInfo::versions))
        .machines(machines())
        .config(distinct(RunInfo::config))
        .config(
            "merged from",
            String.join(", ", runs.stream().map(r -> r.id() + " (" + r.injector() + ")").toList()))
        .workload(distinct(RunInfo::workload))
        .slo(Slo.parse(first.slo(), first.sloPercentile(), first.sloRule()))
        .sloByRequest(first.sloByRequest(), first.sloHeldByRequest())
        .sloByTarget(first.sloByTarget())
        .targets(targets())
        .connections(connections())
        .report(runs.stream().map(RunInfo::reportOptions).reduce(ReportOptions::and).orElseThrow())
        .dropped(runs.stream().mapToLong(RunInfo::dropped).sum())
        .planned(sum(RunInfo::planned))
        .started(sum(RunInfo::started))
        .notSent(notSent())
        .prompts(prompts())
        .stages(stages)
        .conclusions(runs.stream().flatMap(run -> run.conclusions().stream()).distinct().toList())
        .assertions(runs.stream().flatMap(run -> run.assertions().stream()).distinct().toList());
  }

  private Map<String, SelfTest.Machine> machines() {
    Map<String, SelfTest.Machine> all = new LinkedHashMap<>();
    runs.forEach(run -> all.putAll(run.machines()));
    return all;
  }

  private Map<String, TargetFacts> targets() {
    Map<String, TargetFacts> all = new LinkedHashMap<>();
    runs.forEach(
        run -> run.targets().forEach((target, of) -> all.merge(target, of, TargetFacts::and)));
    return all;
  }

  private Map<String, Connections> connections() {
    Map<String, Connections> all = new LinkedHashMap<>();
    runs.forEach(
        run -> run.connections().forEach((server, of) -> all.merge(server, of, Connections::and)));
    return all;
  }

  private static long known(@Nullable Long end) {
    return Objects.requireNonNull(end, "the end of the run");
  }

  private @Nullable Long sum(Function<RunInfo, @Nullable Long> of) {
    long sum = 0;
    for (RunInfo run : runs) {
      Long part = of.apply(run);
      if (part == null) {
        return null;
      }
      sum += part;
    }
    return sum;
  }

  private @Nullable PromptRepeats prompts() {
    PromptRepeats sum = new PromptRepeats(0, 0);
    for (RunInfo run : runs) {
      PromptRepeats own = run.prompts();
      if (own == null) {
        return null;
      }
      sum = sum.and(own);
    }
    return sum;
  }

  private Map<String, Long> notSent() {
    Map<String, Long> all = new TreeMap<>();
    runs.forEach(run -> run.notSent().forEach((reason, n) -> all.merge(reason, n, Long::sum)));
    return all;
  }

  /** What all say once, what they say differently side by side. */
  private Map<String, String> distinct(Function<RunInfo, Map<String, String>> of) {
    Map<String, Set<String>> values = new LinkedHashMap<>();
    for (RunInfo run : runs) {
      of.apply(run)
          .forEach((key, value) -> values.computeIfAbsent(key, k -> new TreeSet<>()).add(value));
    }
    Map<String, String> all = new LinkedHashMap<>();
    values.forEach((key, different) -> all.put(key, String.join(",", different)));
    return Collections.unmodifiableMap(all);
  }

  private List<LevelInfo> stages() {
    Map<StageKey, List<LevelInfo>> byKey = new LinkedHashMap<>();
    for (RunInfo run : runs) {
      for (LevelInfo stage : run.stages()) {
        byKey.computeIfAbsent(StageKey.of(stage), k -> new ArrayList<>()).add(stage);
      }
    }
    List<LevelInfo> stages = new ArrayList<>();
    byKey.forEach((key, parts) -> stages.add(stage(key, parts)));
    return stages;
  }

  private LevelInfo stage(StageKey key, List<LevelInfo> parts) {
    LevelInfo first = parts.get(0);
    for (LevelInfo part : parts) {
      if (!part.kind().equals(first.kind()) || !part.unit().equals(first.unit())) {
        throw new IllegalArgumentException(
            "level %s is %s in one run and %s in another; expected the same load plan"
                .formatted(key, first.kind(), part.kind()));
      }
    }
    boolean hasLoad = parts.stream().allMatch(part -> part.offered() != null);
    return new LevelInfo(
        key.label(),
        key.target(),
        key.scenario(),
        first.kind(),
        hasLoad ? (Double) parts.stream().mapToDouble(p -> orZero(p.offered())).sum() : null,
        first.unit(),
        phases(key, parts));
  }

  private static double orZero(@Nullable Double offered) {
    return offered == null ? 0 : offered;
  }

  /** The common measure window, what was on before it, and what after. */
  private List<PhaseWindow> phases(StageKey key, List<LevelInfo> parts) {
    PhaseWindow measure = common(key, parts);
    if (measure == null) {
      return List.of();
    }
    long from = measure.startUnixNanos();
    Long until = measure.endUnixNanos();
    List<PhaseWindow> windows = parts.stream().flatMap(part -> part.phases().stream()).toList();
    long first = windows.stream().mapToLong(PhaseWindow::startUnixNanos).min().orElse(from);
    long filled = endOf(Phase.FILL, windows, first);
    long cooled = endOf(Phase.COOLDOWN, windows, orElse(until, from));
    measured.put(key, new Common(measure, cooled));
    long last = windows.stream().mapToLong(w -> orElse(w.endUnixNanos(), from)).max().orElse(from);
    List<PhaseWindow> phases = new ArrayList<>();
    add(phases, Phase.FILL, first, Math.min(filled, from));
    add(phases, Phase.STABILIZE, Math.min(filled, from), from);
    phases.add(measure);
    add(phases, Phase.COOLDOWN, orElse(until, from), cooled);
    add(phases, Phase.DRAIN, cooled, last);
    return phases;
  }

  /** When the last of these phases ended; the other instant where there was none. */
  private static long endOf(Phase phase, List<PhaseWindow> windows, long other) {
    return windows.stream()
        .filter(window -> window.phase() == phase)
        .mapToLong(window -> orElse(window.endUnixNanos(), other))
        .max()
        .orElse(other);
  }

  private static void add(List<PhaseWindow> phases, Phase phase, long from, long to) {
    if (to > from) {
      phases.add(new PhaseWindow(phase, from, to));
    }
  }

  private @Nullable PhaseWindow common(StageKey key, List<LevelInfo> parts) {
    long from = Long.MIN_VALUE;
    long to = Long.MAX_VALUE;
    boolean isMeasured = false;
    for (LevelInfo part : parts) {
      PhaseWindow window = part.window(Phase.MEASURE).orElse(null);
      if (window != null) {
        isMeasured = true;
        from = Math.max(from, window.startUnixNanos());
        to = Math.min(to, orElse(window.endUnixNanos(), Long.MAX_VALUE));
      }
    }
    if (isMeasured && to <= from) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "level %s was not measured at the same time (%.1f s apart): these runs are"
                  + " repeats, not injectors of one load test; compare them instead",
              key,
              (from - to) / 1e9));
    }
    return isMeasured ? new PhaseWindow(Phase.MEASURE, from, to) : null;
  }

  private static long orElse(@Nullable Long nanos, long other) {
    return nanos == null ? other : nanos;
  }

  private static String labelOf(String stage) {
    return stage.isEmpty() ? LevelInfo.WHOLE_RUN : stage;
  }

  /** What to know about the joined run, a line each. */
  public List<String> remarks() {
    List<String> remarks = new ArrayList<>();
    measured.entrySet().stream()
        .sorted(Comparator.comparingLong(entry -> entry.getValue().measure().startUnixNanos()))
        .forEach(
            entry ->
                remarks.add(
                    String.format(
                        Locale.ROOT,
                        "level %s: measured in the %.1f s that all its injectors share",
                        entry.getKey(),
                        (orElse(entry.getValue().measure().endUnixNanos(), 0)
                                - entry.getValue().measure().startUnixNanos())
                            / 1e9)));
    for (LevelInfo stage : joined.stages()) {
      StageKey key = StageKey.of(stage);
      long having =
          runs.stream()
              .filter(run -> run.stages().stream().map(StageKey::of).anyMatch(key::equals))
              .count();
      if (having < runs.size()) {
        remarks.add(
            "level %s: only %d of %d injectors have it".formatted(key, having, runs.size()));
      }
    }
    if (joined.seed() != null && runs.size() > 1) {
      remarks.add(
          "all injectors have seed "
              + joined.seed()
              + ": they sent the same prompts at the same offsets; give each its own");
    }
    return remarks;
  }
}
