package io.github.gatlingllm.record;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.annotation.JsonValue;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.TargetSlo;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import io.github.gatlingllm.record.RunOutcome.Connections;
import io.github.gatlingllm.record.RunOutcome.PromptRepeats;
import io.github.gatlingllm.record.RunOutcome.SingleStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The entire run: everything that a report needs besides the records. It is stored in {@code
 * llm/run.json}, a JSON object with the components of all parts as keys in snake case, and times as
 * {@code …_unix_ns}.
 *
 * <p>The measure window of a stage (load level) is its {@link Phase#MEASURE} window. A run without
 * stages is measured from its first planned start to its last end.
 *
 * <p>A method with the name of a key and one argument returns a copy with another value.
 *
 * @param endUnixNanos null while it runs and after a crash
 * @param seed null if none was set
 * @param share null if it is the only injector
 * @param versions version by component, e.g. {@code gatling}, {@code java}
 * @param machines the machine of each injector, by its name
 * @param config setting by name; secrets are replaced by {@link #REDACTED}
 * @param selfTest how exact the load generator is on its machine, as known when the run ended; null
 *     if that was never measured
 * @param targets facts that figures depend on, by target
 * @param stages load levels that began, in order of time
 * @param injectors the parts of a merged run
 * @param injectorsExpected how many parts it should have; null if that is not known
 */
@JsonPropertyOrder({"schema"})
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
    @Nullable SelfTest selfTest,
    @JsonUnwrapped Objectives objectives,
    Map<String, TargetFacts> targets,
    ReportOptions report,
    @JsonUnwrapped RunOutcome outcome,
    List<LevelInfo> stages,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<InjectorRun> injectors,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Integer injectorsExpected) {

  public static final String SCHEMA = "gatling-llm/run/1";

  /** Name of the setting after which Gatling stops all load. */
  public static final String MAX_DURATION = "maxDuration";

  /** The reason of a request that is not sent because of a mistake in the simulation. */
  public static final String NOT_BUILT = "it could not be built";

  /** Name in {@link #config} of the tokens of the chat template; of one target followed by it. */
  public static final String TEMPLATE = "template_tokens";

  /** Minimum time that the benchmark AgentX measures. */
  public static final int AGENTX_SECONDS = 900;

  /** Replaces the value of a setting that is a secret. */
  public static final String REDACTED = "***";

  private static final Pattern SECRETS =
      Pattern.compile("(?i)(llm_)?api_?key|header\\.((proxy-)?authorization|(x-)?api-key|cookie)");

  /**
   * Options of the report.
   *
   * @param failBuild whether a missed assertion, or an invalid run, fails the build
   * @param failOnInvalid whether a check that calls the run invalid fails the build; null if any
   *     does but the generator's alone, which fails one that asserts something
   * @param readingSpeed of a reader of answers, tokens per second
   */
  public record ReportOptions(
      boolean csv, boolean failBuild, @Nullable Boolean failOnInvalid, double readingSpeed) {

    public static final ReportOptions DEFAULT = new ReportOptions(false, true, null);

    public ReportOptions {
      readingSpeed = readingSpeed > 0 ? readingSpeed : TokenGaps.READING_SPEED;
    }

    public ReportOptions(boolean csv, boolean failBuild, @Nullable Boolean failOnInvalid) {
      this(csv, failBuild, failOnInvalid, TokenGaps.READING_SPEED);
    }

    public ReportOptions readAt(double tokensPerS) {
      return Components.with(this, "readingSpeed", tokensPerS);
    }

    /** Combines both: each option that is not the default in one of them. */
    public ReportOptions and(ReportOptions other) {
      return new ReportOptions(
          csv || other.csv,
          failBuild && other.failBuild,
          (failOnInvalid == null || Boolean.FALSE.equals(other.failOnInvalid))
              ? other.failOnInvalid
              : failOnInvalid,
          other.readingSpeed == TokenGaps.READING_SPEED ? readingSpeed : other.readingSpeed);
    }
  }

  /** A constant that files and messages name in lower case. */
  public interface Keyed {
    String name();

    @JsonValue
    default String key() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public enum State implements Keyed {
    /** The run is on, or its process was killed. */
    RUNNING,
    COMPLETE,
    /** A signal or an error ended the run early. */
    INTERRUPTED
  }

  public RunInfo {
    requireNonNull(id, "no id");
    requireNonNull(simulation, "no simulation");
    requireNonNull(state, "no state");
    requireNonNull(injector, "no injector");
    versions = ordered(versions);
    machines = ordered(machines);
    config = redacted(config);
    targets = ordered(targets);
    report = report == null ? ReportOptions.DEFAULT : report;
    stages = stages == null ? List.of() : List.copyOf(stages);
    injectors = injectors == null ? List.of() : List.copyOf(injectors);
  }

  private static Map<String, String> redacted(@Nullable Map<String, String> config) {
    Map<String, String> copy = new LinkedHashMap<>(ordered(config));
    copy.replaceAll((name, value) -> SECRETS.matcher(name).matches() ? REDACTED : value);
    return Collections.unmodifiableMap(copy);
  }

  public static RunInfo started(
      String id, String simulation, String injector, long startUnixNanos) {
    return new RunInfo(
        SCHEMA,
        id,
        simulation,
        startUnixNanos,
        null,
        State.RUNNING,
        null,
        injector,
        null,
        Map.of(),
        Map.of(),
        Map.of(),
        null,
        Objectives.NONE,
        Map.of(),
        ReportOptions.DEFAULT,
        new RunOutcome(0, null, null, Map.of(), null, Map.of(), List.of(), Map.of(), Map.of()),
        List.of(),
        List.of(),
        null);
  }

  /** The tokens of the chat template of all targets; null if not known, or if they differ. */
  public @Nullable Integer commonTemplate() {
    return TargetFacts.commonTemplate(targets.values());
  }

  private RunInfo with(@Nullable Object... changes) {
    return Components.with(this, changes);
  }

  private RunInfo came(String component, @Nullable Object value) {
    return with("outcome", Components.with(outcome, component, value));
  }

  public RunInfo targets(Map<String, TargetFacts> byLabel) {
    return with("targets", byLabel);
  }

  public RunInfo report(ReportOptions options) {
    return with("report", options);
  }

  public RunInfo stages(List<LevelInfo> inOrder) {
    return with("stages", inOrder);
  }

  public RunInfo injectors(List<InjectorRun> parts, @Nullable Integer expected) {
    return with("injectors", parts, "injectorsExpected", expected);
  }

  public RunInfo ended(long unixNanos, State how) {
    return with("endUnixNanos", unixNanos, "state", how);
  }

  public RunInfo seed(@Nullable Long pinned) {
    return with("seed", pinned);
  }

  public RunInfo share(@Nullable InjectorShare part) {
    return with("share", part);
  }

  public RunInfo versions(Map<String, String> byComponent) {
    return with("versions", byComponent);
  }

  public RunInfo machines(Map<String, SelfTest.Machine> byInjector) {
    return with("machines", byInjector);
  }

  public RunInfo config(Map<String, String> byName) {
    return with("config", byName);
  }

  /** When the load began, after the warm-up; the start of the run where that is not known. */
  public long loadStartUnixNanos() {
    long first =
        stages().stream()
            .flatMap(level -> level.phases().stream())
            .mapToLong(LevelInfo.PhaseWindow::startUnixNanos)
            .min()
            .orElse(startUnixNanos());
    Long end = endUnixNanos();
    return first < startUnixNanos() || (end != null && first > end) ? startUnixNanos() : first;
  }

  public RunInfo config(String name, @Nullable String value) {
    Map<String, String> more = new LinkedHashMap<>(config);
    more.compute(name, (known, old) -> value == null ? old : value);
    return config(more);
  }

  public RunInfo selfTest(@Nullable SelfTest known) {
    return with("selfTest", known);
  }

  /** One SLO of all requests, by which assertions on tiers judge too. */
  public RunInfo slo(Slo global) {
    RunInfo judged = slo(TargetSlo.of(global, Map.of()), Map.of());
    return judged.assertions(objectives.assertions().stream().map(gate -> gate.by(null)).toList());
  }

  /** Objectives of each target; {@code byLabel} is empty if {@code all} applies to all of them. */
  public RunInfo slo(TargetSlo all, Map<String, TargetSlo> byLabel) {
    return with("objectives", Objectives.of(all, byLabel, objectives.assertions()));
  }

  /** Objectives of each tier, the first of which are those of all. */
  public RunInfo sloTiers(Map<String, TargetSlo> byName) {
    return with("objectives", objectives.sloTiers(byName));
  }

  /** The same run judged by the SLO of one tier. */
  public RunInfo ofTier(String tier) {
    return with("objectives", objectives.ofTier(tier));
  }

  public RunInfo sloHeldBy(@Nullable Double percentile, Slo.@Nullable Rule rule) {
    return with("objectives", objectives.heldBy(percentile, rule));
  }

  public RunInfo assertions(List<Assertion> gates) {
    return with("objectives", objectives.assertions(gates));
  }

  public RunInfo dropped(long records) {
    return came("dropped", records);
  }

  public RunInfo planned(@Nullable Long requests) {
    return came("planned", requests);
  }

  public RunInfo started(@Nullable Long requests) {
    return came("started", requests);
  }

  public RunInfo notSent(Map<String, Long> byReason) {
    return came("notSent", byReason);
  }

  public RunInfo prompts(@Nullable PromptRepeats counts) {
    return came("prompts", counts);
  }

  public RunInfo connections(Map<String, Connections> byAddress) {
    return came("connections", byAddress);
  }

  public RunInfo conclusions(List<Conclusion> found) {
    return came("conclusions", found);
  }

  public RunInfo singleStreams(Map<String, SingleStream> byTarget) {
    return came("singleStreams", byTarget);
  }

  public RunInfo firstAnswers(Map<String, Double> byTarget) {
    return came("firstAnswers", byTarget);
  }

  public RunInfo conclusion(Conclusion found) {
    return conclusions(Stream.concat(outcome.conclusions().stream(), Stream.of(found)).toList());
  }

  /** The assertions to judge; none if the run is only one injector's part of the load. */
  public List<Assertion> assertionsToJudge() {
    return share != null && share.isPart() ? List.of() : objectives.assertions();
  }

  /** Whether answers of that target were requested to have exactly {@code max_tokens} tokens. */
  public boolean isOutputPinned(String target) {
    TargetFacts facts = targets.get(target);
    return facts != null && facts.pinnedOutput();
  }

  public boolean hasOneTokenizer() {
    return targets.values().stream().map(TargetFacts::tokenizer).distinct().count() <= 1;
  }

  public void write(Path runJson) throws IOException {
    RunFiles.writeJson(this, runJson);
  }

  /** Reads a run; empty if the file does not exist. Unknown keys are skipped. */
  public static Optional<RunInfo> read(Path runJson) throws IOException {
    return RunFiles.readJson(runJson, RunInfo.class, SCHEMA);
  }

  static <T> Map<String, T> ordered(@Nullable Map<String, T> map) {
    return map == null ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<>(map));
  }

  /**
   * Facts about a target that its figures depend on.
   *
   * @param pinnedOutput whether answers were requested to have exactly {@code max_tokens} tokens
   * @param tokenizer of our own counts
   * @param costPerHour cost of a GPU per hour, or of the entire server if {@code gpus} is null; in
   *     any currency; null if not set
   * @param templateTokens tokens that the chat template adds to a prompt; null if not known
   */
  public record TargetFacts(
      boolean pinnedOutput,
      String tokenizer,
      @Nullable Double gpus,
      @Nullable Double costPerHour,
      @Nullable Integer templateTokens) {

    /** Null if not known, or if they differ. */
    public static @Nullable Integer commonTemplate(Collection<TargetFacts> all) {
      return all.stream().map(TargetFacts::templateTokens).distinct().count() == 1
          ? all.iterator().next().templateTokens
          : null;
    }

    public @Nullable Double costOfAllPerHour() {
      return costPerHour == null || gpus == null ? costPerHour : (Double) (gpus * costPerHour);
    }

    public TargetFacts and(TargetFacts other) {
      return new TargetFacts(
          pinnedOutput && other.pinnedOutput,
          tokenizer,
          gpus,
          costPerHour,
          commonTemplate(List.of(this, other)));
    }
  }
}
