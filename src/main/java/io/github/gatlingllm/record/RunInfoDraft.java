package io.github.gatlingllm.record;

import io.github.gatlingllm.record.RunInfo.Conclusion;
import io.github.gatlingllm.record.RunInfo.Connections;
import io.github.gatlingllm.record.RunInfo.PromptRepeats;
import io.github.gatlingllm.record.RunInfo.ReportOptions;
import io.github.gatlingllm.record.RunInfo.State;
import io.github.gatlingllm.record.RunInfo.TargetFacts;
import io.github.gatlingllm.record.RunInfo.TargetSlo;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A {@link RunInfo} before it is made: its components, which say what they are there. */
final class RunInfoDraft {

  String schema = RunInfo.SCHEMA;
  String id;
  String simulation;
  long startUnixNanos;
  @Nullable Long endUnixNanos;
  State state = State.RUNNING;
  @Nullable Long seed;
  String injector;
  @Nullable InjectorShare share;
  @Nullable ClockOffset clock;
  Map<String, String> versions = Map.of();
  Map<String, SelfTest.Machine> machines = Map.of();
  Map<String, String> config = Map.of();
  Map<String, String> workload = Map.of();
  String slo = "";
  double sloPercentile = Slo.NONE.percentile();
  Slo.Rule sloRule = Slo.NONE.rule();
  Map<String, String> sloByRequest = Map.of();
  Map<String, RunInfo.SloHeld> sloHeldByRequest = Map.of();
  Map<String, TargetSlo> sloByTarget = Map.of();
  Map<String, TargetFacts> targets = Map.of();
  Map<String, Connections> connections = Map.of();
  @Nullable ReportOptions report;
  long dropped;
  @Nullable Long planned;
  @Nullable Long started;
  Map<String, Long> notSent = Map.of();
  @Nullable PromptRepeats prompts;
  List<LevelInfo> stages = List.of();
  List<Conclusion> conclusions = List.of();
  @Nullable SelfTest selfTest;
  List<Assertion> assertions = List.of();
  List<RunInfo.InjectorRun> injectors = List.of();
  @Nullable Integer injectorsExpected;

  /** A run that begins now: running, with nothing known yet but these. */
  RunInfoDraft(String id, String simulation, String injector, long startUnixNanos) {
    this.id = id;
    this.simulation = simulation;
    this.injector = injector;
    this.startUnixNanos = startUnixNanos;
  }

  /** The components of that run, to be changed. */
  RunInfoDraft(RunInfo run) {
    schema = run.schema();
    id = run.id();
    simulation = run.simulation();
    startUnixNanos = run.startUnixNanos();
    endUnixNanos = run.endUnixNanos();
    state = run.state();
    seed = run.seed();
    injector = run.injector();
    share = run.share();
    clock = run.clock();
    versions = run.versions();
    machines = run.machines();
    config = run.config();
    workload = run.workload();
    slo = run.slo();
    sloPercentile = run.sloPercentile();
    sloRule = run.sloRule();
    sloByRequest = run.sloByRequest();
    sloHeldByRequest = run.sloHeldByRequest();
    sloByTarget = run.sloByTarget();
    targets = run.targets();
    connections = run.connections();
    report = run.report();
    dropped = run.dropped();
    planned = run.planned();
    started = run.started();
    notSent = run.notSent();
    prompts = run.prompts();
    stages = run.stages();
    conclusions = run.conclusions();
    selfTest = run.selfTest();
    assertions = run.assertions();
    injectors = run.injectors();
    injectorsExpected = run.injectorsExpected();
  }

  RunInfo build() {
    return new RunInfo(
        schema,
        id,
        simulation,
        startUnixNanos,
        endUnixNanos,
        state,
        seed,
        injector,
        share,
        clock,
        versions,
        machines,
        config,
        workload,
        slo,
        sloPercentile,
        sloRule,
        sloByRequest,
        sloHeldByRequest,
        sloByTarget,
        targets,
        connections,
        report,
        dropped,
        planned,
        started,
        notSent,
        prompts,
        stages,
        conclusions,
        selfTest,
        assertions,
        injectors,
        injectorsExpected);
  }
}
