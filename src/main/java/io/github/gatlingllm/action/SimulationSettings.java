package io.github.gatlingllm.action;

import io.github.gatlingllm.action.Dynamic.Draft;
import io.github.gatlingllm.engine.SelfTestResults;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.StopRule.Repeats;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.Objectives;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.run.LevelHooks.Hook;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.Setting.SettingScope;
import io.github.gatlingllm.settings.Setting.SettingTrait;
import io.github.gatlingllm.settings.SettingValue.Models;
import io.github.gatlingllm.settings.SettingValue.NamedUrl;
import io.github.gatlingllm.settings.SettingValue.Slos;
import io.github.gatlingllm.settings.Settings;
import io.github.gatlingllm.settings.TargetSpec;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Tokenizer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What the settings of a process change in a simulation that states its load and requests in code.
 * The ready-made benchmark has all of them in its protocols already.
 */
final class SimulationSettings {

  /** The main class of the process that measures this tool. */
  private static final String BENCHMARK =
      SimulationSettings.class.getPackageName().replace("action", "simulations.Benchmark");

  private final Settings settings;
  private boolean isPrinted;

  SimulationSettings(Settings settings) {
    this.settings = settings;
  }

  static SimulationSettings ofProcess() {
    return new SimulationSettings(InvalidSimulation.checked(() -> Settings.ofProcess()));
  }

  /**
   * Before the run opens: ends it where a setting is not understood, has no effect on it, or
   * requests something else than its load, and prints what else is to be known.
   *
   * @param results finds the folder of all results
   */
  void begin(Supplier<Path> results) {
    var unused =
        InvalidSimulation.checked(
            () -> {
              read(results);
              return settings;
            });
  }

  private void read(Supplier<Path> results) {
    if (settings.get(Setting.SELF_TEST)) {
      selfTest(results.get());
    }
    for (Setting<?> each : Setting.all()) {
      if (settings.isSet(each)) {
        Object unused = settings.get(each);
        if (!each.isForCode()) {
          refuse(each);
        }
      }
    }
    settings.warnings().forEach(PrintableText::print);
    if (settings.get(Setting.HELP)) {
      InvalidSimulation.endAfter(Setting.help());
    }
    settings.save();
    settings.passOn();
  }

  /** Benchmark is the self-test, whatever the simulation, and its exit code the one of this JVM. */
  @SuppressWarnings("SystemExitOutsideMain") // main is Gatling's
  private static void selfTest(Path results) {
    try {
      System.exit(SelfTestResults.run(BENCHMARK, results));
    } catch (IOException e) {
      throw InvalidSimulation.because("The self-test cannot be started: " + e.getMessage());
    }
  }

  private void refuse(Setting<?> setting) {
    String why =
        "a setting of Benchmark, which this simulation does not read: it states its load and its"
            + " requests in code";
    if (settings.isExplicit(setting)) {
      throw settings.invalid(setting, why);
    }
    settings.warn(setting.variable() + " has no effect: " + why);
  }

  /** A load plan of the simulation, with the rules that end it. */
  LoadPlan applyTo(LoadPlan plan) {
    return plan instanceof LoadPlan.Sweep sweep
        ? InvalidSimulation.checked(() -> applyTo(sweep))
        : plan;
  }

  private LoadPlan applyTo(LoadPlan.Sweep sweep) {
    boolean isRepeatSet = settings.isSet(Setting.REPEATS);
    LoadPlan.Sweep changed = isRepeatSet ? sweep.repeated(Repeats.ONCE, 0) : sweep;
    if (settings.isSet(Setting.STOP_WHEN)) {
      changed = changed.stopWhen(settings.get(Setting.STOP_WHEN));
    }
    return isRepeatSet ? settings.repeated(changed) : changed;
  }

  /**
   * A protocol of the simulation, completed or overridden.
   *
   * @param isOnly whether the simulation has no other: only then its target can be replaced
   */
  LlmProtocol applyTo(LlmProtocol protocol, boolean isOnly) {
    Map<String, String> shown =
        protocol.get(ProtocolPart.PLANNED) ? Map.of() : effective(protocol, isOnly);
    if (shown.isEmpty()) {
      return protocol;
    }
    print(shown);
    return InvalidSimulation.checked(() -> overridden(protocol, isOnly, shown));
  }

  private LlmProtocol overridden(LlmProtocol protocol, boolean isOnly, Map<String, String> shown) {
    LlmProtocol changed = ofTarget(protocol, isOnly);
    for (Setting<?> row : Setting.all()) {
      boolean isPart = row.scope == SettingScope.PROTOCOL && !row.is(SettingTrait.MERGED);
      changed = isPart && settings.isSet(row) ? changed.with(settings, row) : changed;
    }
    if (settings.isSet(Setting.TOKENIZER)) {
      requireKnown(changed.tokenizer());
    }
    changed = goals(changed, isOnly);
    changed = changed.prefix() == PromptPrefix.NONE ? changed : changed.withPrefixSeed();
    Map<String, String> notes = new LinkedHashMap<>(protocol.notes());
    notes.putAll(shown);
    return changed
        .with(ProtocolPart.HEADERS, Draft.andHeaders(protocol.headers(), settings.headers()))
        .with(ProtocolPart.NOTES, Collections.unmodifiableMap(notes));
  }

  /** Prompts in code are made before their server is known. */
  private static void requireKnown(Tokenizer tokenizer) {
    if (tokenizer instanceof Tokenizer.UnresolvedServer server && server.isDemanded()) {
      throw InvalidSimulation.because(
          "llm.tokenizer=server is for the benchmark; expected hf:<owner>/<name> or another for a"
              + " simulation in code");
    }
  }

  /** What changes the protocol, by name, safe to print and record. */
  private Map<String, String> effective(LlmProtocol protocol, boolean isOnly) {
    Map<String, String> shown = settings.shown();
    for (Setting<?> row : Setting.all()) {
      if (!row.isForCode()
          || (row.scope == SettingScope.TARGET && !isChanging(row, protocol, isOnly))) {
        shown.remove(row.name);
      }
    }
    return shown;
  }

  /** Whether a setting replaces a part of the target; {@code .env} only completes it. */
  private boolean isChanging(Setting<?> row, LlmProtocol protocol, boolean isOnly) {
    boolean isSetInCode =
        row == Setting.ENDPOINT
            || !isOnly
            || (row == Setting.MODEL
                ? protocol.model() != null || !protocol.models().isEmpty()
                : protocol.apiKey() != null);
    return settings.isSet(row) && !(isSetInCode && settings.isOfEnvFile(row));
  }

  private void print(Map<String, String> shown) {
    if (!isPrinted) {
      isPrinted = true;
      PrintableText.print(
          "LLM settings complete or override the simulation: "
              + shown.entrySet().stream()
                  .map(each -> each.getKey() + "=" + each.getValue())
                  .collect(Collectors.joining(", ")));
    }
  }

  /** With the target of the settings, where the protocol is the only one. */
  private LlmProtocol ofTarget(LlmProtocol protocol, boolean isOnly) {
    List<Setting<?>> changing =
        Setting.all().stream()
            .filter(row -> row.scope == SettingScope.TARGET && isChanging(row, protocol, isOnly))
            .toList();
    if (!isOnly && !changing.isEmpty()) {
      throw settings.invalid(
          changing.get(0),
          "this simulation has several llm protocols: it is unclear which one to use");
    }
    LlmProtocol changed = protocol;
    if (changing.contains(Setting.ENDPOINT)) {
      List<NamedUrl> targets = settings.get(Setting.ENDPOINT);
      if (targets.size() > 1) {
        throw settings.invalid(Setting.ENDPOINT, "expected one target; Benchmark takes several");
      }
      NamedUrl target = targets.get(0);
      var unused = settings.checked(Setting.ENDPOINT, () -> TargetSpec.parse(target, null));
      List<String> urls = NamedUrl.AND.splitAsStream(target.url()).map(TargetSpec::base).toList();
      changed = changed.with(ProtocolPart.BASE_URLS, urls);
      changed = target.name() == null ? changed : changed.with(ProtocolPart.TARGET, target.name());
    }
    if (changing.contains(Setting.MODEL)) {
      Models models = settings.get(Setting.MODEL);
      changed = changed.with(ProtocolPart.MODELS, models.mix());
      if (models.mix().isEmpty()) {
        String name = only(Setting.MODEL, models.names());
        changed =
            changed.with(
                ProtocolPart.MODEL, settings.checked(Setting.MODEL, () -> Dynamic.text(name)));
      }
    }
    if (changing.contains(Setting.API_KEY)) {
      String key = only(Setting.API_KEY, settings.get(Setting.API_KEY));
      changed =
          changed.with(
              ProtocolPart.API_KEY, settings.checked(Setting.API_KEY, () -> Dynamic.secret(key)));
    }
    return changed;
  }

  private String only(Setting<?> setting, List<String> values) {
    if (values.size() != 1) {
      throw settings.invalid(setting, "expected one value; Benchmark takes several");
    }
    return values.get(0);
  }

  /** Objectives and gates are added to those in code, request by request. */
  private LlmProtocol goals(LlmProtocol protocol, boolean isOnly) {
    String label = protocol.label();
    double percentile =
        settings.isSet(Setting.SLO_PERCENTILE)
            ? settings.get(Setting.SLO_PERCENTILE)
            : protocol.slo().percentile();
    Slo.Rule rule =
        settings.isSet(Setting.SLO_RULE) ? settings.get(Setting.SLO_RULE) : protocol.slo().rule();
    Slos slos = settings.get(Setting.SLO).each(slo -> slo.judgedBy(percentile, rule));
    Slos tiers = tiers(slos.isEmpty() ? protocol.get(Setting.SLO) : slos);
    Slo set = tiers.tiers().isEmpty() ? slos.of(label) : tiers.all();
    Slo slo = set.isEmpty() ? protocol.slo().judgedBy(percentile, rule) : set;
    Map<String, Slo> named = new LinkedHashMap<>(protocol.sloByName());
    slos.named()
        .forEach(
            (name, own) -> {
              if (!name.equals(label)) {
                named.put(name, own);
              }
            });
    List<Assertion> gates = new ArrayList<>(protocol.assertions());
    settings
        .get(Setting.ASSERT)
        .forEach(gate -> gates.add(scoped(gate.tiered(tiers.tiers().keySet()))));
    LlmProtocol judged =
        protocol
            .with(Setting.SLO, new Slos(slo.isEmpty() ? protocol.slo() : slo, named, tiers.tiers()))
            .with(Setting.ASSERT, gates);
    if (!settings.isSet(Setting.METRICS_URL)) {
      return judged;
    }
    if (isOnly) {
      settings.requireTargets(List.of(label));
    }
    return judged.with(Setting.METRICS_URL, settings.metricsPages(label));
  }

  /**
   * The tiers with the one first that headlines use; of code, each has its own rule if none is set.
   */
  private Slos tiers(Slos of) {
    return settings.checked(
        Setting.SLO_TIER,
        () ->
            of.each(
                    slo ->
                        slo.judgedBy(
                            settings.isSet(Setting.SLO_PERCENTILE)
                                ? settings.get(Setting.SLO_PERCENTILE)
                                : slo.percentile(),
                            settings.isSet(Setting.SLO_RULE)
                                ? settings.get(Setting.SLO_RULE)
                                : slo.rule()))
                .first(settings.get(Setting.SLO_TIER)));
  }

  /**
   * Refuses gates of a load level that there is not.
   *
   * @param levels the labels of all; null where they are not known before the load
   */
  static void requireLevels(LlmProtocol protocol, @Nullable Set<String> levels) {
    for (Assertion gate : levels == null ? List.<Assertion>of() : protocol.assertions()) {
      if (gate.scope() == Objectives.Scope.STAGE && !levels.contains(String.valueOf(gate.name()))) {
        throw InvalidSimulation.because(
            "assertion on load level '%s': unknown name; expected one of %s"
                .formatted(gate.name(), String.join(", ", levels)));
      }
    }
    for (Setting<List<Hook>> row : List.of(Setting.BEFORE_LEVEL, Setting.AFTER_LEVEL)) {
      for (Hook hook : levels == null ? List.<Hook>of() : protocol.get(row)) {
        if (hook.level() != null && !levels.contains(LevelInfo.unnumbered(hook.level()))) {
          throw InvalidSimulation.because(
              "%s for load level '%s': unknown name; expected one of %s"
                  .formatted(row.name, hook.level(), String.join(", ", levels)));
        }
      }
    }
  }

  /** A name like {@code c=8} is that of a load level, another one that of a request. */
  private static Assertion scoped(Assertion gate) {
    return gate.name() == null || gate.name().contains("=")
        ? gate
        : gate.about(null, Objectives.Scope.REQUEST, gate.name());
  }
}
