package io.github.gatlingllm.record;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonValue;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A run as a whole: everything that a report needs besides the records. It is kept in {@code
 * llm/run.json}, a JSON object with keys in snake case and times as {@code …_unix_ns}. The file is
 * replaced atomically, so that readers never see a part of it.
 *
 * <p>The measure window of a stage (load level) is its {@link Phase#MEASURE} window. A run without
 * stages is measured from its first planned start to its last end.
 *
 * <p>A method with the name of a component and one argument returns a copy with another value:
 *
 * <pre>{@code
 * RunInfo ended = info.ended(now, RunInfo.State.COMPLETE).dropped(0);
 * }</pre>
 *
 * @param schema {@value #SCHEMA}
 * @param id the run's id, the {@code run_id} of its records
 * @param simulation class name of the simulation
 * @param startUnixNanos when the run began; epoch time
 * @param endUnixNanos when it ended; null while it runs, and after a crash
 * @param state whether it runs or how it ended
 * @param seed of prompts and arrivals; null if none was set
 * @param injector the load generator's name
 * @param share its share of a load test of several injectors; null if it is the only one
 * @param versions version by component, e.g. {@code gatling}, {@code java}
 * @param machines the machine of each injector, by its name; empty in older files
 * @param config setting by name; secrets are replaced by {@link #REDACTED}
 * @param workload descriptions of the workload by aspect, e.g. {@code input}, {@code prefix}
 * @param slo objectives as they are written in settings; empty when there are none
 * @param sloPercentile share of attempted requests, in percent, at which a load level holds
 * @param sloRule what that share is required of; {@code requests}, the only rule of old versions,
 *     in files without it
 * @param sloByRequest objectives of the requests that have their own, by request name
 * @param sloHeldByRequest percentile and rule of those, if different, by request name
 * @param sloByTarget objectives by target, if targets differ; empty if the components before apply
 *     to all targets
 * @param targets facts that figures depend on, by target; empty in older files
 * @param connections how servers treated connections that they had left open, by host and port
 * @param report options of the report; null in older files
 * @param dropped records that were lost
 * @param planned planned requests in measure windows, one for each arrival or iteration; null if
 *     the plan has no number
 * @param started requests of all phases that were started and should have a record; null while the
 *     run is on, and in older files
 * @param notSent number of requests that were due and not sent, by name and reason
 * @param prompts how many prompts repeat an earlier one; null in older files
 * @param stages load levels that began, in order of time
 * @param conclusions results of load plans: sweeps that were stopped early, searches
 * @param selfTest how exact the load generator is on its machine, as known when the run ended; null
 *     if that was never measured, and in older files
 * @param assertions conditions on figures that decide whether the build passes
 * @param injectors the parts of a merged run; otherwise empty
 * @param injectorsExpected number of injectors of a merged load test; null if not known, and in
 *     other runs
 */
@JsonPropertyOrder({"schema", "id"})
public record RunInfo(
    String schema,
    String id,
    String simulation,
    @JsonProperty("start_unix_ns") long startUnixNanos,
    @JsonProperty("end_unix_ns") @Nullable Long endUnixNanos,
    State state,
    @Nullable Long seed,
    String injector,
    @Nullable InjectorShare share,
    Map<String, String> versions,
    Map<String, SelfTest.Machine> machines,
    Map<String, String> config,
    Map<String, String> workload,
    String slo,
    double sloPercentile,
    Slo.Rule sloRule,
    Map<String, String> sloByRequest,
    Map<String, TargetSlo.Held> sloHeldByRequest,
    Map<String, TargetSlo> sloByTarget,
    Map<String, TargetFacts> targets,
    Map<String, Connections> connections,
    @Nullable ReportOptions report,
    long dropped,
    @Nullable Long planned,
    @Nullable Long started,
    Map<String, Long> notSent,
    @Nullable PromptRepeats prompts,
    List<LevelInfo> stages,
    List<Conclusion> conclusions,
    @Nullable SelfTest selfTest,
    List<Assertion> assertions,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<InjectorRun> injectors,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Integer injectorsExpected) {

  /** The version of the file's format. */
  public static final String SCHEMA = "gatling-llm/run/1";

  /** The reason of a request that is not sent because of a mistake in the simulation. */
  public static final String NOT_BUILT = "it could not be built";

  /** Replaces the value of a setting that is a secret. */
  public static final String REDACTED = "***";

  private static final Set<String> SECRETS =
      Set.of(
          "apikey",
          "api_key",
          "llm_api_key",
          "header.authorization",
          "header.proxy-authorization",
          "header.api-key",
          "header.x-api-key",
          "header.cookie");

  /**
   * Facts about a target that its figures depend on.
   *
   * @param pinnedOutput whether answers were requested to have exactly {@code max_tokens} tokens
   * @param tokenizer the tokenizer of our own counts
   * @param gpus number of GPUs of the server; null if not set
   * @param costPerHour cost of a GPU per hour, or of the whole server if {@code gpus} is null; in
   *     any currency; null if not set
   */
  public record TargetFacts(
      boolean pinnedOutput, String tokenizer, @Nullable Double gpus, @Nullable Double costPerHour) {

    /** Cost of the whole server per hour; null if not set. */
    public @Nullable Double costOfAllPerHour() {
      return costPerHour == null || gpus == null ? costPerHour : (Double) (gpus * costPerHour);
    }

    /** Facts about both targets together; output is pinned if it is for both. */
    public TargetFacts and(TargetFacts other) {
      return new TargetFacts(pinnedOutput && other.pinnedOutput, tokenizer, gpus, costPerHour);
    }
  }

  /**
   * How a server treated the HTTP/1.1 connections that its answers left open.
   *
   * @param answers answers after which that is known
   * @param closed those of {@code answers} after which the server closed the connection
   *     immediately, without {@code Connection: close}
   */
  public record Connections(long answers, long closed) {

    /** The sum of both. */
    public Connections and(Connections other) {
      return new Connections(answers + other.answers, closed + other.closed);
    }
  }

  /**
   * Repeated prompts.
   *
   * @param counted prompts that were compared: of text-only requests, in all phases
   * @param repeated those of {@code counted} that had been sent to the same target before, with the
   *     same text
   */
  public record PromptRepeats(long counted, long repeated) {

    /** The sum of both. */
    public PromptRepeats and(PromptRepeats other) {
      return new PromptRepeats(counted + other.counted, repeated + other.repeated);
    }
  }

  /**
   * Options of the report.
   *
   * @param csv whether {@code requests.csv} is written
   * @param indexBlock whether Gatling's pages show our main figures
   * @param failBuild whether a missed assertion, or an invalid run, fails the build
   * @param failOnInvalid whether a check that calls the run invalid fails the build
   * @param readingSpeed speed of a reader of answers, tokens per second
   */
  public record ReportOptions(
      boolean csv,
      boolean indexBlock,
      boolean failBuild,
      boolean failOnInvalid,
      double readingSpeed) {

    /** The default options. */
    public static final ReportOptions DEFAULT = new ReportOptions(false, true, true, true);

    /** Older files have no reading speed. */
    public ReportOptions {
      readingSpeed = readingSpeed > 0 ? readingSpeed : ReadingSpeed.DEFAULT;
    }

    /** Options with the default reading speed. */
    public ReportOptions(
        boolean csv, boolean indexBlock, boolean failBuild, boolean failOnInvalid) {
      this(csv, indexBlock, failBuild, failOnInvalid, ReadingSpeed.DEFAULT);
    }

    /** The same options with another reading speed, tokens per second. */
    public ReportOptions readAt(double tokensPerS) {
      return new ReportOptions(csv, indexBlock, failBuild, failOnInvalid, tokensPerS);
    }

    /** Combines both: each option that is not the default in one of them. */
    public ReportOptions and(ReportOptions other) {
      return new ReportOptions(
          csv || other.csv,
          indexBlock && other.indexBlock,
          failBuild && other.failBuild,
          failOnInvalid && other.failOnInvalid,
          other.readingSpeed == ReadingSpeed.DEFAULT ? readingSpeed : other.readingSpeed);
    }
  }

  /**
   * A result of a load plan.
   *
   * @param topic {@code stopped early} or {@code search}
   * @param scenario its scenario; null for all
   * @param text one line
   * @param sound false if a level was cut short, or a search could not confirm its result
   * @param value its figure; null if there is none
   * @param threshold the limit of that figure; null if there is none
   * @param holdsAt the highest rate that holds the SLO, users per second; null except for a search
   *     that found one
   * @param failsAt the lowest rate above it that does not hold the SLO; null if there is none
   */
  public record Conclusion(
      String topic,
      String target,
      @Nullable String scenario,
      String text,
      boolean sound,
      @Nullable Double value,
      @Nullable Double threshold,
      @Nullable Double holdsAt,
      @Nullable Double failsAt) {

    /** Of a plan that does not know its target and scenario. */
    public Conclusion(
        String topic,
        String text,
        boolean sound,
        @Nullable Double value,
        @Nullable Double threshold,
        @Nullable Double holdsAt,
        @Nullable Double failsAt) {
      this(topic, "", null, text, sound, value, threshold, holdsAt, failsAt);
    }

    /** The same, of this target and scenario. */
    public Conclusion of(String ofTarget, String ofScenario) {
      return new Conclusion(
          topic, ofTarget, ofScenario, text, sound, value, threshold, holdsAt, failsAt);
    }
  }

  /**
   * A load generator of a merged run.
   *
   * @param name the {@code injector} of its records
   * @param run id of its own run
   * @param share its share of the load; null if not known
   * @param state how its run ended; {@link State#RUNNING} if its process died
   * @param startUnixNanos when its run began
   * @param endUnixNanos when its run ended; if its process died, when its last recorded request
   *     ended
   * @param planned planned requests in its measure windows; null if its plan has no number
   * @param measured those of {@code planned} that have a record
   * @param started requests of all phases that should have a record; null if its process died
   * @param records records in its file
   * @param dropped records known to be lost: not written, damaged, or cut off
   * @param levels the load levels that it began
   * @param settings its settings and versions that are not the same for all injectors
   */
  public record InjectorRun(
      String name,
      String run,
      @Nullable InjectorShare share,
      State state,
      @JsonProperty("start_unix_ns") long startUnixNanos,
      @JsonProperty("end_unix_ns") @Nullable Long endUnixNanos,
      @Nullable Long planned,
      long measured,
      @Nullable Long started,
      long records,
      long dropped,
      List<LevelPart> levels,
      Map<String, String> settings) {

    public InjectorRun {
      levels = levels == null ? List.of() : List.copyOf(levels);
      settings = ordered(settings);
    }

    /**
     * The same injector after its file was read.
     *
     * @param found records in its file
     * @param ofPlan planned requests of its measure windows among them
     * @param lost records known to be lost
     */
    public InjectorRun read(long found, long ofPlan, long lost) {
      return ByName.with(this, "records", found, "measured", ofPlan, "dropped", lost);
    }

    /** Planned requests without a record; null if the plan has no number. */
    public @Nullable Long missing() {
      return planned == null ? null : (Long) Math.max(0, planned - measured);
    }

    /** Whether its run ended as planned. */
    @JsonIgnore
    public boolean isComplete() {
      return state == State.COMPLETE;
    }
  }

  /**
   * The part of an injector in a load level.
   *
   * @param planned planned requests in its measure window; null if the plan has no number
   * @param lateNanos when it began − the planned start; null without a planned start
   */
  public record LevelPart(
      String label,
      String target,
      @Nullable String scenario,
      @Nullable Long planned,
      @JsonProperty("late_ns") @Nullable Long lateNanos) {

    /** Whether it is a part of that level. */
    public boolean isOf(LevelInfo level) {
      return label.equals(level.label())
          && target.equals(level.target())
          && Objects.equals(scenario, level.scenario());
    }
  }

  /** Whether a run is on, and how it ended. */
  public enum State {
    /** The run is on, or its process was killed. */
    RUNNING,
    /** The run ended as planned. */
    COMPLETE,
    /** A signal or an error ended the run early. */
    INTERRUPTED;

    /** The name used in files: lower case. */
    @JsonValue
    public String key() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Components that older files lack are empty, or have their default. */
  public RunInfo {
    slo = slo == null ? "" : slo;
    sloPercentile = sloPercentile == 0 ? Slo.NONE.percentile() : sloPercentile;
    sloRule = sloRule == null ? Slo.Rule.REQUESTS : sloRule;
    versions = ordered(versions);
    machines = ordered(machines);
    config = redacted(config);
    workload = ordered(workload);
    sloByRequest = ordered(sloByRequest);
    sloHeldByRequest = ordered(sloHeldByRequest);
    sloByTarget = ordered(sloByTarget);
    targets = ordered(targets);
    connections = ordered(connections);
    notSent = ordered(notSent);
    stages = stages == null ? List.of() : List.copyOf(stages);
    conclusions = conclusions == null ? List.of() : List.copyOf(conclusions);
    assertions = assertions == null ? List.of() : List.copyOf(assertions);
    injectors = injectors == null ? List.of() : List.copyOf(injectors);
  }

  /** A run that has just begun. */
  public static RunInfo started(
      String id, String simulation, String injector, long startUnixNanos) {
    return ByName.make(
            RunInfo.class,
            "schema",
            SCHEMA,
            "id",
            id,
            "simulation",
            simulation,
            "injector",
            injector,
            "startUnixNanos",
            startUnixNanos,
            "state",
            State.RUNNING)
        .slo(Slo.NONE);
  }

  /** The same run, ended. */
  public RunInfo ended(long unixNanos, State how) {
    return ByName.with(this, "endUnixNanos", unixNanos, "state", how);
  }

  public RunInfo seed(@Nullable Long pinned) {
    return ByName.with(this, "seed", pinned);
  }

  public RunInfo share(@Nullable InjectorShare part) {
    return ByName.with(this, "share", part);
  }

  public RunInfo versions(Map<String, String> byComponent) {
    return ByName.with(this, "versions", byComponent);
  }

  public RunInfo machines(Map<String, SelfTest.Machine> byInjector) {
    return ByName.with(this, "machines", byInjector);
  }

  public RunInfo config(Map<String, String> byName) {
    return ByName.with(this, "config", byName);
  }

  /** The same run with one setting added or replaced. */
  public RunInfo config(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(config);
    more.put(name, value);
    return config(more);
  }

  public RunInfo workload(Map<String, String> byAspect) {
    return ByName.with(this, "workload", byAspect);
  }

  /** The same run with one SLO for all targets and requests. */
  public RunInfo slo(Slo global) {
    return slo(TargetSlo.of(global, Map.of()), Map.of());
  }

  /**
   * The same run with other objectives.
   *
   * @param all of targets that have none of their own
   * @param byLabel of each target; empty if {@code all} applies to all targets
   */
  public RunInfo slo(TargetSlo all, Map<String, TargetSlo> byLabel) {
    return ByName.with(
        this,
        "slo",
        all.slo(),
        "sloPercentile",
        all.percentile(),
        "sloRule",
        all.rule(),
        "sloByRequest",
        all.byRequest(),
        "sloHeldByRequest",
        all.heldByRequest(),
        "sloByTarget",
        byLabel);
  }

  /** The same run with another percentile or rule of its objectives; null for no other. */
  public RunInfo sloHeldBy(@Nullable Double percentile, Slo.@Nullable Rule rule) {
    Map<String, TargetSlo> targets = new LinkedHashMap<>(sloByTarget);
    targets.replaceAll((label, own) -> own.heldBy(percentile, rule));
    return slo(judge().heldBy(percentile, rule), targets);
  }

  public RunInfo targets(Map<String, TargetFacts> byLabel) {
    return ByName.with(this, "targets", byLabel);
  }

  public RunInfo connections(Map<String, Connections> byAddress) {
    return ByName.with(this, "connections", byAddress);
  }

  public RunInfo report(@Nullable ReportOptions options) {
    return ByName.with(this, "report", options);
  }

  public RunInfo dropped(long records) {
    return ByName.with(this, "dropped", records);
  }

  public RunInfo planned(@Nullable Long requests) {
    return ByName.with(this, "planned", requests);
  }

  public RunInfo started(@Nullable Long requests) {
    return ByName.with(this, "started", requests);
  }

  public RunInfo notSent(Map<String, Long> byReason) {
    return ByName.with(this, "notSent", byReason);
  }

  public RunInfo prompts(@Nullable PromptRepeats counts) {
    return ByName.with(this, "prompts", counts);
  }

  public RunInfo stages(List<LevelInfo> inOrder) {
    return ByName.with(this, "stages", inOrder);
  }

  public RunInfo conclusions(List<Conclusion> found) {
    return ByName.with(this, "conclusions", found);
  }

  /** The same run with one more conclusion. */
  public RunInfo conclusion(Conclusion found) {
    return conclusions(Stream.concat(conclusions.stream(), Stream.of(found)).toList());
  }

  public RunInfo selfTest(@Nullable SelfTest known) {
    return ByName.with(this, "selfTest", known);
  }

  public RunInfo assertions(List<Assertion> gates) {
    return ByName.with(this, "assertions", gates);
  }

  /**
   * The same run with its injectors.
   *
   * @param expected number of injectors of the load test; null if not known
   */
  public RunInfo injectors(List<InjectorRun> parts, @Nullable Integer expected) {
    return ByName.with(this, "injectors", parts, "injectorsExpected", expected);
  }

  /** The assertions to judge; none if the run is only one injector's part of the load. */
  public List<Assertion> assertionsToJudge() {
    return share != null && share.isPart() ? List.of() : assertions;
  }

  /** The objectives of targets that have none of their own. */
  public TargetSlo judge() {
    return new TargetSlo(slo, sloPercentile, sloRule, sloByRequest, sloHeldByRequest);
  }

  /** The objectives of that target. */
  public TargetSlo judgeOf(String target) {
    TargetSlo own = sloByTarget.get(target);
    return own == null ? judge() : own;
  }

  /**
   * Whether answers of that target were requested to have exactly {@code max_tokens} tokens. Older
   * files have only a setting of the run.
   */
  public boolean isOutputPinned(String target) {
    TargetFacts facts = targets.get(target);
    return facts == null
        ? Boolean.parseBoolean(config.getOrDefault("ignoreEos", "false"))
        : facts.pinnedOutput();
  }

  /** Whether all targets have the same tokenizer. Older files have a setting by target if not. */
  public boolean hasOneTokenizer() {
    return targets.isEmpty()
        ? config.keySet().stream().noneMatch(name -> name.startsWith("tokenizer "))
        : targets.values().stream().map(TargetFacts::tokenizer).distinct().count() == 1;
  }

  /** Options of the report. Older files have them among their settings. */
  public ReportOptions reportOptions() {
    return report != null
        ? report
        : new ReportOptions(
            "true".equals(config.get("csv")),
            !"false".equals(config.get("indexBlock")),
            !"false".equalsIgnoreCase(config.get("failBuild")),
            true);
  }

  /** Writes the file atomically and creates missing directories. */
  public void write(Path runJson) throws IOException {
    RunInfoFile.write(this, runJson);
  }

  /**
   * Reads a run; empty if the file does not exist. Unknown keys are skipped.
   *
   * @throws IOException with a one-line message, if the file is not a run of this version of the
   *     format, or exceeds a limit of sizes and counts
   */
  public static Optional<RunInfo> read(Path runJson) throws IOException {
    return RunInfoFile.read(runJson);
  }

  private static Map<String, String> redacted(@Nullable Map<String, String> config) {
    Map<String, String> copy = new LinkedHashMap<>(ordered(config));
    copy.replaceAll(
        (name, value) -> SECRETS.contains(name.toLowerCase(Locale.ROOT)) ? REDACTED : value);
    return Collections.unmodifiableMap(copy);
  }

  static <T> Map<String, T> ordered(@Nullable Map<String, T> map) {
    return map == null ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<>(map));
  }
}
