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
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One run as a whole: everything that a report needs besides the records. It is kept in {@code
 * llm/run.json}: one JSON object, keys in snake case, times as {@code …_unix_ns}. It is replaced as
 * a whole, so that readers never see half of it.
 *
 * <p>The measure window of a stage is its {@link Phase#MEASURE} window. A run without a load plan
 * has no stages: it is measured from its first scheduled start to its last close.
 *
 * <p>A method with the name of a component and one argument gives the same run with another value:
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
 * @param state how far it came
 * @param seed pins prompts and arrivals; null when they were not pinned
 * @param injector the load generator's name
 * @param share its part of a load test that several injectors share; null where it did all
 * @param clock how far a common clock is ahead of this generator's; null where nothing was
 *     compared, in files without it, and in joined runs
 * @param versions version by component, e.g. {@code gatling}, {@code java}
 * @param machines what each injector ran on, by its name; empty in files without it
 * @param config setting by name; secrets are never kept, see {@link #REDACTED}
 * @param workload what was asked, in words, by aspect, e.g. {@code input}, {@code prefix}
 * @param slo objectives as they are written in settings; empty when there are none
 * @param sloPercentile share of attempted requests, in percent, at which a load level holds
 * @param sloRule of what that share is asked for; files without it mean {@code requests}, the one
 *     rule there was
 * @param sloByRequest objectives of the requests that have their own, by request name
 * @param sloHeldByRequest when those hold, where that is not as for all others, by request name
 * @param sloByTarget what each target is judged by, where targets differ; empty where the three
 *     before are those of all
 * @param targets what figures depend on, by target; empty in files without it
 * @param connections what servers did to connections that they had left open, by host and port
 * @param report what is made of the run; null in files without it
 * @param dropped records that could not be kept
 * @param planned requests that the plan asks for in measure windows, one for each arrival or
 *     iteration; null when the plan does not say
 * @param started requests that were started and would have a record, whatever their phase; null
 *     while the run is on, and in files without it
 * @param notSent how many requests were due and are not sent, by name and reason
 * @param prompts how many were word for word as one before; null in files without it
 * @param stages load levels in order of time, those that began
 * @param conclusions what load plans found: sweeps that were stopped early, searches
 * @param selfTest how exact the load generator was on its machine, as known when the run ended;
 *     null where that was never measured, and in files without it
 * @param assertions what the build demands of the figures
 * @param injectors of a joined run its parts; else empty
 * @param injectorsExpected of a joined run how many injectors the load test had; null where nobody
 *     said
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
    @Nullable ClockOffset clock,
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

  /** Why a request is not sent, where that is a mistake. */
  public static final String NOT_BUILT = "it could not be built";

  /** Stands for the value of a setting that is a secret. */
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
   * What figures of the requests to one target depend on.
   *
   * @param pinnedOutput whether answers were to have exactly {@code max_tokens} tokens
   * @param tokenizer what counted our tokens
   * @param gpus how many GPUs serve it; null where nobody said
   * @param costPerHour what one of them costs per hour, or all of the server where {@code gpus} is
   *     null; in any currency; null where nobody said
   */
  public record TargetFacts(
      boolean pinnedOutput, String tokenizer, @Nullable Double gpus, @Nullable Double costPerHour) {

    /** What all that serves it costs per hour; null where nobody said. */
    public @Nullable Double costOfAllPerHour() {
      return costPerHour == null || gpus == null ? costPerHour : (Double) (gpus * costPerHour);
    }

    /** Of requests that cannot be told apart: pinned where all are. */
    public TargetFacts and(TargetFacts other) {
      return new TargetFacts(pinnedOutput && other.pinnedOutput, tokenizer, gpus, costPerHour);
    }
  }

  /**
   * What one server did to the HTTP/1.1 connections that its answers left open.
   *
   * @param answers after which that is known
   * @param closed those after which it closed the connection at once, without having said {@code
   *     Connection: close}
   */
  public record Connections(long answers, long closed) {

    /** Of both. */
    public Connections and(Connections other) {
      return new Connections(answers + other.answers, closed + other.closed);
    }
  }

  /**
   * Prompts that came again.
   *
   * @param counted prompts that were looked at: of requests of all phases that ask by text alone
   * @param repeated of those, how many had gone to the same target before, word for word
   */
  public record PromptRepeats(long counted, long repeated) {

    /** Of both. */
    public PromptRepeats and(PromptRepeats other) {
      return new PromptRepeats(counted + other.counted, repeated + other.repeated);
    }
  }

  /**
   * What is made of a run.
   *
   * @param csv whether {@code requests.csv} is written
   * @param indexBlock whether Gatling's pages get our block
   * @param failBuild whether a missed assertion, or what the next one says, fails the build
   * @param failOnInvalid whether a check that calls the run invalid fails the build
   * @param readingSpeed tokens that a reader of an answer reads in a second
   */
  public record ReportOptions(
      boolean csv,
      boolean indexBlock,
      boolean failBuild,
      boolean failOnInvalid,
      double readingSpeed) {

    /** What is made of a run unless it says otherwise. */
    public static final ReportOptions DEFAULT = new ReportOptions(false, true, true, true);

    /** Older files do not say the speed of a reader. */
    public ReportOptions {
      readingSpeed = readingSpeed > 0 ? readingSpeed : ReadingSpeed.DEFAULT;
    }

    /** With a reader of the usual speed. */
    public ReportOptions(
        boolean csv, boolean indexBlock, boolean failBuild, boolean failOnInvalid) {
      this(csv, indexBlock, failBuild, failOnInvalid, ReadingSpeed.DEFAULT);
    }

    /** The same with a reader of another speed, tokens per second. */
    public ReportOptions readAt(double tokensPerS) {
      return new ReportOptions(csv, indexBlock, failBuild, failOnInvalid, tokensPerS);
    }

    /** What either asks for that is not the default. */
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
   * What a load plan found.
   *
   * @param topic {@code stopped early} or {@code search}
   * @param scenario that it was for
   * @param text one line
   * @param sound false where a level was cut short, or a search could not confirm what it found
   * @param value the figure behind it; null when there is none
   * @param threshold what it is judged by; null when there is none
   * @param holdsAt the highest rate that holds the SLO, users per second; null but for a search
   *     that found one
   * @param failsAt the lowest rate above it that does not; null where there is none
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
      @Nullable Double failsAt) {}

  /**
   * One load generator of a joined run, and its part in it.
   *
   * @param name the {@code injector} of its records
   * @param run id of its own run
   * @param share its part of the load; null where its run does not say
   * @param state how far it came; {@link State#RUNNING} where it died without a word
   * @param startUnixNanos when its run began
   * @param endUnixNanos when it ended; where it died, when its last recorded request did
   * @param clock how its clock was brought to that of all; null in files without it
   * @param planned requests that its plan asks for in its measure windows; null where it does not
   *     say
   * @param measured of those, how many its records have
   * @param started requests of all phases that were to have a record; null where it died
   * @param records that its file has
   * @param dropped records known to be lost: not written, damaged, or cut off
   * @param levels what it had to do, by load level; those that it began
   * @param settings its settings and versions, of those that are not the same at all injectors
   */
  public record InjectorRun(
      String name,
      String run,
      @Nullable InjectorShare share,
      State state,
      @JsonProperty("start_unix_ns") long startUnixNanos,
      @JsonProperty("end_unix_ns") @Nullable Long endUnixNanos,
      ClockOffset.@Nullable Correction clock,
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
     * The same with what its file has.
     *
     * @param found its records
     * @param ofPlan of those, the planned requests of its measure windows
     * @param lost that are known to be lost
     */
    public InjectorRun read(long found, long ofPlan, long lost) {
      return ByName.with(this, "records", found, "measured", ofPlan, "dropped", lost);
    }

    /** Planned requests without a record; null where the plan does not say. */
    public @Nullable Long missing() {
      return planned == null ? null : (Long) Math.max(0, planned - measured);
    }

    /** Whether it came to its planned end. */
    @JsonIgnore
    public boolean isComplete() {
      return state == State.COMPLETE;
    }
  }

  /**
   * What one injector had to do at a load level.
   *
   * @param planned requests in its measure window; null where the plan does not say
   */
  public record LevelPart(
      String label, String target, @Nullable String scenario, @Nullable Long planned) {

    /** Whether it is part of that level. */
    public boolean isOf(LevelInfo level) {
      return label.equals(level.label())
          && target.equals(level.target())
          && Objects.equals(scenario, level.scenario());
    }
  }

  /** How far a run came. */
  public enum State {
    /** Not over yet, or the process was killed. */
    RUNNING,
    /** Ended as planned. */
    COMPLETE,
    /** Ended early, by a signal or an error. */
    INTERRUPTED;

    /** The name used in files: lower case. */
    @JsonValue
    public String key() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** What an older file does not say is empty, or the default. */
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

  /** A run that begins now: running, with nothing known yet but these. */
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

  /** The same run by another clock: when it was, and its load levels. */
  public RunInfo byClock(LongUnaryOperator clock) {
    Long end = endUnixNanos == null ? null : (Long) clock.applyAsLong(endUnixNanos);
    return ByName.with(
            this, "startUnixNanos", clock.applyAsLong(startUnixNanos), "endUnixNanos", end)
        .stages(stages.stream().map(stage -> stage.byClock(clock)).toList());
  }

  public RunInfo clock(@Nullable ClockOffset offset) {
    return ByName.with(this, "clock", offset);
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

  /** One more setting, in place of any of that name. */
  public RunInfo config(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(config);
    more.put(name, value);
    return config(more);
  }

  public RunInfo workload(Map<String, String> byAspect) {
    return ByName.with(this, "workload", byAspect);
  }

  /** Judged by that alone, whatever target or name a request has. */
  public RunInfo slo(Slo global) {
    return slo(TargetSlo.of(global, Map.of()), Map.of());
  }

  /**
   * Judged by these.
   *
   * @param all what targets are judged by that have nothing of their own
   * @param byLabel what each target is judged by; empty where all are judged alike
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

  /** The same objectives, held at another share or by another rule; null for no other. */
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

  /** One more thing that a load plan found. */
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
   * The parts of a joined run.
   *
   * @param expected how many there should be; null where nobody said
   */
  public RunInfo injectors(List<InjectorRun> parts, @Nullable Integer expected) {
    return ByName.with(this, "injectors", parts, "injectorsExpected", expected);
  }

  /** What its figures are held against: nothing where they are those of a part of the load. */
  public List<Assertion> assertionsToJudge() {
    return share != null && share.isPart() ? List.of() : assertions;
  }

  /** What targets are judged by that have nothing of their own. */
  public TargetSlo judge() {
    return new TargetSlo(slo, sloPercentile, sloRule, sloByRequest, sloHeldByRequest);
  }

  /** What requests to that target are judged by. */
  public TargetSlo judgeOf(String target) {
    TargetSlo own = sloByTarget.get(target);
    return own == null ? judge() : own;
  }

  /**
   * Whether answers of that target were to have exactly {@code max_tokens} tokens; in files without
   * facts by target, the setting of the whole run.
   */
  public boolean isOutputPinned(String target) {
    TargetFacts facts = targets.get(target);
    return facts == null
        ? Boolean.parseBoolean(config.getOrDefault("ignoreEos", "false"))
        : facts.pinnedOutput();
  }

  /** Whether all targets have one tokenizer; older files note those that differ by target. */
  public boolean hasOneTokenizer() {
    return targets.isEmpty()
        ? config.keySet().stream().noneMatch(name -> name.startsWith("tokenizer "))
        : targets.values().stream().map(TargetFacts::tokenizer).distinct().count() == 1;
  }

  /** What is made of the run; older files have it among their settings. */
  public ReportOptions reportOptions() {
    return report != null
        ? report
        : new ReportOptions(
            "true".equals(config.get("csv")),
            !"false".equals(config.get("indexBlock")),
            !"false".equalsIgnoreCase(config.get("failBuild")),
            true);
  }

  /** Writes a file beside it and moves that into place; missing directories are made. */
  public void write(Path runJson) throws IOException {
    RunInfoFile.write(this, runJson);
  }

  /**
   * The run in that file; empty if there is no such file. Unknown keys are skipped.
   *
   * @throws IOException if it is no run of this version of the format, or names more or larger
   *     things than any run has; the message is one line
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
