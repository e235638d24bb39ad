package io.github.gatlingllm.record;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Makes a {@link RunInfo}, field by field; the fields are described there. Not thread-safe.
 *
 * <pre>{@code
 * RunInfo ended = info.toBuilder().ended(now, RunInfo.State.COMPLETE).dropped(0).build();
 * }</pre>
 */
public final class RunInfoBuilder {

  private final String id;
  private final String simulation;
  private final String injector;
  private final long startUnixNanos;
  private @Nullable Long endUnixNanos;
  private RunInfo.State state = RunInfo.State.RUNNING;
  private @Nullable Long seed;
  private Map<String, String> versions = Map.of();
  private Map<String, String> config = Map.of();
  private Map<String, String> workload = Map.of();
  private String slo = "";
  private double sloPercentile = Slo.NONE.percentile();
  private Map<String, String> sloByRequest = Map.of();
  private Map<String, RunInfo.TargetSlo> sloByTarget = Map.of();
  private Map<String, RunInfo.TargetFacts> targets = Map.of();
  private RunInfo.@Nullable ReportOptions report;
  private long dropped;
  private @Nullable Long planned;
  private List<LevelInfo> stages = List.of();
  private List<RunInfo.Conclusion> conclusions = List.of();
  private List<Assertion> assertions = List.of();

  RunInfoBuilder(String id, String simulation, String injector, long startUnixNanos) {
    this.id = id;
    this.simulation = simulation;
    this.injector = injector;
    this.startUnixNanos = startUnixNanos;
  }

  RunInfoBuilder(RunInfo info) {
    this(info.id(), info.simulation(), info.injector(), info.startUnixNanos());
    endUnixNanos = info.endUnixNanos();
    state = info.state();
    seed = info.seed();
    versions = info.versions();
    config = info.config();
    workload = info.workload();
    slo = info.slo();
    sloPercentile = info.sloPercentile();
    sloByRequest = info.sloByRequest();
    sloByTarget = info.sloByTarget();
    targets = info.targets();
    report = info.report();
    dropped = info.dropped();
    planned = info.planned();
    stages = info.stages();
    conclusions = info.conclusions();
    assertions = info.assertions();
  }

  public RunInfoBuilder ended(long unixNanos, RunInfo.State how) {
    endUnixNanos = unixNanos;
    state = how;
    return this;
  }

  public RunInfoBuilder seed(@Nullable Long pinned) {
    seed = pinned;
    return this;
  }

  public RunInfoBuilder versions(Map<String, String> byComponent) {
    versions = byComponent;
    return this;
  }

  public RunInfoBuilder config(Map<String, String> byName) {
    config = byName;
    return this;
  }

  /** One more setting, in place of any of that name. */
  public RunInfoBuilder config(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(config);
    more.put(name, value);
    config = more;
    return this;
  }

  public RunInfoBuilder workload(Map<String, String> byAspect) {
    workload = byAspect;
    return this;
  }

  /** The objectives of all requests, and the percentile that a level is judged at. */
  public RunInfoBuilder slo(Slo global) {
    slo = global.toString();
    sloPercentile = global.percentile();
    return this;
  }

  public RunInfoBuilder sloByRequest(Map<String, String> byName) {
    sloByRequest = byName;
    return this;
  }

  /** What each target is judged by; empty where all are judged alike. */
  public RunInfoBuilder sloByTarget(Map<String, RunInfo.TargetSlo> byLabel) {
    sloByTarget = byLabel;
    return this;
  }

  public RunInfoBuilder targets(Map<String, RunInfo.TargetFacts> byLabel) {
    targets = byLabel;
    return this;
  }

  public RunInfoBuilder report(RunInfo.@Nullable ReportOptions options) {
    report = options;
    return this;
  }

  /** One more thing that a load plan found. */
  public RunInfoBuilder conclusion(RunInfo.Conclusion found) {
    conclusions = Stream.concat(conclusions.stream(), Stream.of(found)).toList();
    return this;
  }

  public RunInfoBuilder dropped(long records) {
    dropped = records;
    return this;
  }

  public RunInfoBuilder planned(@Nullable Long requests) {
    planned = requests;
    return this;
  }

  public RunInfoBuilder stages(List<LevelInfo> inOrder) {
    stages = inOrder;
    return this;
  }

  public RunInfoBuilder assertions(List<Assertion> gates) {
    assertions = gates;
    return this;
  }

  public RunInfo build() {
    return new RunInfo(
        RunInfo.SCHEMA,
        id,
        simulation,
        startUnixNanos,
        endUnixNanos,
        state,
        seed,
        injector,
        versions,
        config,
        workload,
        slo,
        sloPercentile,
        sloByRequest,
        sloByTarget,
        targets,
        report,
        dropped,
        planned,
        stages,
        conclusions,
        assertions);
  }
}
