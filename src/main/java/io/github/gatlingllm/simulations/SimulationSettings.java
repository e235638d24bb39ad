package io.github.gatlingllm.simulations;

import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LlmProtocol;
import io.github.gatlingllm.action.LlmProtocol.RunSettings;
import io.github.gatlingllm.engine.SelfTestResults;
import io.github.gatlingllm.javaapi.LlmAssertion;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.javaapi.SloBuilder;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.Assertion.Scope;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RunInfo.ReportOptions;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.run.Observers.LevelHooks.Hook;
import io.github.gatlingllm.run.Observers.MetricsPage;
import io.github.gatlingllm.workload.PromptPrefix;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a simulation that says its load and requests in code: they complete or override
 * its protocol. Those of {@link Benchmark}, which reads all of them itself, are applied there.
 */
class SimulationSettings implements RunSettings {

  /**
   * What a setting changes in a protocol.
   *
   * @param setting the setting; a value of null changes nothing
   */
  private record Part<T extends @Nullable Object>(
      SettingEntry<T> setting, BiFunction<LlmProtocolBuilder, T, LlmProtocolBuilder> change) {

    static Part<Boolean> flag(
        SettingEntry<Boolean> setting, boolean value, UnaryOperator<LlmProtocolBuilder> change) {
      return new Part<>(
          setting, (protocol, set) -> set == value ? change.apply(protocol) : protocol);
    }

    LlmProtocolBuilder in(Settings settings, LlmProtocolBuilder protocol) {
      T value = settings.get(setting);
      return value == null ? protocol : change.apply(protocol, value);
    }
  }

  /** Settings of one value that a protocol has too. */
  private static final List<Part<?>> PARTS =
      List.of(
          new Part<>(Setting.TIMEOUT, (protocol, most) -> protocol.requestTimeout(most)),
          new Part<>(Setting.IDLE_TIMEOUT, (protocol, most) -> protocol.idleTimeout(most)),
          new Part<>(Setting.WAIT_READY, LlmProtocolBuilder::waitReady),
          new Part<>(
              Setting.BEFORE_LEVEL,
              (protocol, hooks) ->
                  protocol.beforeLevel(hooks.stream().map(Hook::toString).toArray(String[]::new))),
          new Part<>(Setting.MAX_TOKENS_FIELD, LlmProtocolBuilder::maxTokensField),
          new Part<>(
              Setting.ABANDON,
              (protocol, leaving) ->
                  protocol.abandonAfter(leaving.share(), leaving.least(), leaving.most())),
          new Part<>(Setting.CONVERSATION_HEADER, LlmProtocolBuilder::conversationHeader),
          new Part<>(Setting.MAX_IN_FLIGHT, LlmProtocolBuilder::maxInFlight),
          new Part<>(Setting.MAX_REQUESTS_PER_MINUTE, LlmProtocolBuilder::maxRequestsPerMinute),
          new Part<>(Setting.MAX_TOKENS_PER_MINUTE, LlmProtocolBuilder::maxTokensPerMinute),
          new Part<>(
              Setting.ENGINE_VERSION,
              (protocol, version) -> protocol.note(Setting.ENGINE_VERSION.name, version)),
          new Part<>(Setting.GPUS, LlmProtocolBuilder::gpus),
          new Part<>(Setting.COST_PER_HOUR, LlmProtocolBuilder::costPerHour),
          new Part<>(Setting.READING_SPEED, LlmProtocolBuilder::readingSpeed),
          new Part<>(
              Setting.CONNECTIONS,
              (protocol, who) ->
                  who.equals("perUser")
                      ? protocol.disableShareConnections()
                      : protocol.shareConnections()),
          Part.flag(Setting.VERIFY_TLS, true, LlmProtocolBuilder::verifyTls),
          Part.flag(Setting.VERIFY_TLS, false, LlmProtocolBuilder::disableVerifyTls),
          Part.flag(Setting.JVM_WARM_UP, false, LlmProtocolBuilder::disableJvmWarmUp),
          Part.flag(Setting.RECORD_TEXT, true, LlmProtocolBuilder::recordText),
          Part.flag(Setting.RECORD_TOKENS, false, LlmProtocolBuilder::disableRecordTokens),
          Part.flag(Setting.CSV, true, LlmProtocolBuilder::csv),
          Part.flag(Setting.FAIL_BUILD, false, LlmProtocolBuilder::disableFailBuild),
          Part.flag(Setting.FAIL_ON_INVALID, false, LlmProtocolBuilder::disableFailOnInvalid));

  /** Settings that replace a part of the only target. */
  private static final List<SettingEntry<?>> TARGET =
      List.of(Setting.ENDPOINT, Setting.MODEL, Setting.API_KEY);

  /** Settings that the table does not have, as they have several values or parts. */
  private static final Set<SettingEntry<?>> OF_PROTOCOL =
      Set.of(
          Setting.TOKENIZER,
          Setting.WARMUP,
          Setting.UNIQUE_PROMPTS,
          Setting.SHARED_PREFIX,
          Setting.STREAM,
          Setting.IGNORE_EOS,
          Setting.BODY,
          Setting.SLO,
          Setting.SLO_PERCENTILE,
          Setting.SLO_RULE,
          Setting.ASSERT,
          Setting.METRICS_URL,
          Setting.SEED);

  /** Settings that the run reads as system properties, whatever the simulation. */
  static final List<SettingEntry<?>> OF_RUN =
      List.of(
          Setting.INJECTOR,
          Setting.START_AT,
          Setting.SELF_TEST_FILE,
          Setting.DATASET_CACHE,
          Setting.LIVE,
          Setting.OTLP,
          Setting.UPLOAD);

  /** Settings that are read here, or where a run or a plan begins. */
  private static final Set<SettingEntry<?>> OTHERS =
      Set.of(
          Setting.STOP_WHEN,
          Setting.REPEATS,
          Setting.CONFIG,
          Setting.ENV,
          Setting.SAVE_CONFIG,
          Setting.DRY_RUN,
          Setting.HELP,
          Setting.SELF_TEST);

  private static boolean isBenchmark;

  private final @Nullable Settings settings;
  private boolean isSaid;

  SimulationSettings(@Nullable Settings settings) {
    this.settings = settings;
  }

  /** The settings of this process; created by {@link RunSettings#ofProcess}. */
  public static final class OfProcess extends SimulationSettings {
    public OfProcess() {
      super(isBenchmark ? null : Settings.ofProcess());
    }
  }

  /** {@link Benchmark} reads the settings itself. */
  static void areReadByBenchmark() {
    isBenchmark = true;
  }

  /** Whether simulations that say their load in code read a setting. */
  static boolean isForAll(SettingEntry<?> setting) {
    return PARTS.stream().anyMatch(part -> part.setting() == setting)
        || Stream.of(TARGET, OF_PROTOCOL, OF_RUN, OTHERS).anyMatch(some -> some.contains(setting))
        || setting == Setting.HEADER;
  }

  /** Changes a protocol by all parts, with the defaults of the settings. */
  static LlmProtocolBuilder withParts(Settings settings, LlmProtocolBuilder protocol) {
    LlmProtocolBuilder changed = protocol;
    for (Part<?> part : PARTS) {
      changed = part.in(settings, changed);
    }
    return changed;
  }

  /** Passes settings on to the run, which reads system properties but not {@code .env}. */
  static void passOn(Settings settings, List<SettingEntry<?>> passed) {
    for (SettingEntry<?> setting : passed) {
      if (settings.isSet(setting)) {
        System.setProperty(setting.property(), settings.text(setting));
      }
    }
  }

  @Override
  public void begin(Supplier<Path> results) {
    if (settings == null) {
      return;
    }
    if (settings.get(Setting.SELF_TEST)) {
      selfTest(results.get());
    }
    List<SettingEntry<?>> set = Setting.all().stream().filter(settings::isSet).toList();
    for (SettingEntry<?> each : set) {
      Object unused = settings.get(each);
      if (!isForAll(each)) {
        refuse(settings, each);
      }
    }
    settings.warnings().forEach(PrintableText::print);
    if (settings.get(Setting.HELP)) {
      Benchmark.endAfter(Setting.help());
    }
    settings.save();
    passOn(settings, OF_RUN);
    passOn(settings, List.of(Setting.DRY_RUN, Setting.SEED));
  }

  /** Benchmark is the self-test, whatever the simulation, and its exit code the one of this JVM. */
  @SuppressWarnings("SystemExitOutsideMain") // main is Gatling's
  private static void selfTest(Path results) {
    try {
      System.exit(SelfTestResults.run(Benchmark.class.getName(), results));
    } catch (IOException e) {
      throw InvalidSimulation.because("The self-test cannot be started: " + e.getMessage());
    }
  }

  private static void refuse(Settings settings, SettingEntry<?> setting) {
    String why =
        "a setting of Benchmark, which this simulation does not read: it says its load and its"
            + " requests in code";
    if (settings.isExplicit(setting)) {
      throw settings.invalid(setting, why);
    }
    settings.warn(setting.variable() + " has no effect: " + why);
  }

  @Override
  public LoadPlan applyTo(LoadPlan plan) {
    if (settings == null || !(plan instanceof LoadPlan.Sweep sweep)) {
      return plan;
    }
    LoadPlan.Sweep stopped =
        settings.isSet(Setting.STOP_WHEN) ? sweep.stopWhen(settings.get(Setting.STOP_WHEN)) : sweep;
    return settings.isSet(Setting.REPEATS) ? Load.repeated(settings, stopped) : stopped;
  }

  @Override
  public LlmProtocol applyTo(LlmProtocol protocol, boolean isOnly) {
    if (settings == null) {
      return protocol;
    }
    Map<String, String> shown = effective(settings, protocol, isOnly);
    if (shown.isEmpty()) {
      return protocol;
    }
    LlmProtocolBuilder changed = LlmProtocolBuilder.of(protocol.with(p -> reset(settings, p)));
    changed = ofTarget(settings, protocol, changed, isOnly);
    for (Part<?> part : PARTS) {
      changed = settings.isSet(part.setting()) ? part.in(settings, changed) : changed;
    }
    changed = ofRequests(settings, changed);
    changed = goals(settings, changed.protocol(), changed, isOnly);
    for (Map.Entry<String, String> each : shown.entrySet()) {
      changed = changed.note(each.getKey(), each.getValue());
    }
    say(shown);
    return changed.protocol();
  }

  /** What changes the protocol, by name, safe to print and record. */
  private static Map<String, String> effective(
      Settings settings, LlmProtocol protocol, boolean isOnly) {
    Map<String, String> shown = settings.shown();
    for (SettingEntry<?> setting : Setting.all()) {
      if (!isForAll(setting)
          || (TARGET.contains(setting) && !isChanging(settings, setting, protocol, isOnly))) {
        shown.remove(setting.name);
      }
    }
    return shown;
  }

  /** Whether a setting replaces a part of the target; {@code .env} only completes it. */
  private static boolean isChanging(
      Settings settings, SettingEntry<?> setting, LlmProtocol protocol, boolean isOnly) {
    boolean isSaid =
        setting == Setting.ENDPOINT
            || !isOnly
            || (setting == Setting.MODEL
                ? protocol.model != null || !protocol.models.isEmpty()
                : protocol.apiKey != null);
    return settings.isSet(setting)
        && !(isSaid && settings.source(setting) == Settings.Source.ENV_FILE);
  }

  /** Gives what is set its default first, so that a setting can take back what code says. */
  private static void reset(Settings settings, LlmProtocol protocol) {
    ReportOptions said = protocol.report;
    protocol.report =
        new ReportOptions(
            !settings.isSet(Setting.CSV) && said.csv(),
            settings.isSet(Setting.FAIL_BUILD) || said.failBuild(),
            settings.isSet(Setting.FAIL_ON_INVALID) || said.failOnInvalid(),
            said.readingSpeed());
    protocol.recordText &= !settings.isSet(Setting.RECORD_TEXT);
    protocol.recordTokens |= settings.isSet(Setting.RECORD_TOKENS);
    protocol.warmUpJvm |= settings.isSet(Setting.JVM_WARM_UP);
    protocol.streaming |= settings.isSet(Setting.STREAM);
    if (settings.isSet(Setting.UNIQUE_PROMPTS) || settings.isSet(Setting.SHARED_PREFIX)) {
      protocol.prefix = PromptPrefix.NONE;
    }
  }

  private void say(Map<String, String> shown) {
    if (!isSaid) {
      isSaid = true;
      PrintableText.print(
          "LLM settings complete or override the simulation: "
              + shown.entrySet().stream()
                  .map(each -> each.getKey() + "=" + each.getValue())
                  .collect(Collectors.joining(", ")));
    }
  }

  private static LlmProtocolBuilder ofTarget(
      Settings settings, LlmProtocol protocol, LlmProtocolBuilder builder, boolean isOnly) {
    LlmProtocolBuilder changed = builder;
    for (SettingEntry<?> setting : TARGET) {
      if (!isOnly && isChanging(settings, setting, protocol, false)) {
        throw settings.invalid(
            setting, "this simulation has several llm protocols: it is unclear which is meant");
      }
    }
    if (!isOnly) {
      return changed;
    }
    if (isChanging(settings, Setting.ENDPOINT, protocol, true)) {
      List<Target.NamedUrl> urls = settings.get(Setting.ENDPOINT);
      if (urls.size() > 1) {
        throw settings.invalid(Setting.ENDPOINT, "expected one target; Benchmark takes several");
      }
      Target.NamedUrl url = urls.get(0);
      var unused = settings.checked(Setting.ENDPOINT, () -> Target.parse(url, null));
      changed = changed.baseUrls(List.of(Target.NamedUrl.AND.split(url.url(), -1)));
      changed = url.name() == null ? changed : changed.target(url.name());
    }
    if (isChanging(settings, Setting.MODEL, protocol, true)) {
      Target.Models models = settings.get(Setting.MODEL);
      changed =
          models.mix().isEmpty()
              ? changed.model(only(settings, Setting.MODEL, models.names()))
              : LlmProtocolBuilder.of(changed.protocol().with(p -> p.models = models.mix()));
    }
    if (isChanging(settings, Setting.API_KEY, protocol, true)) {
      changed = changed.apiKey(only(settings, Setting.API_KEY, settings.get(Setting.API_KEY)));
    }
    return changed;
  }

  private static String only(Settings settings, SettingEntry<?> setting, List<String> values) {
    if (values.size() != 1) {
      throw settings.invalid(setting, "expected one value; Benchmark takes several");
    }
    return values.get(0);
  }

  private static LlmProtocolBuilder ofRequests(Settings settings, LlmProtocolBuilder builder) {
    LlmProtocolBuilder changed = builder.headers(settings.headers());
    if (settings.isSet(Setting.TOKENIZER)) {
      changed = changed.tokenizer(settings.get(Setting.TOKENIZER).get(0));
    }
    if (settings.isSet(Setting.WARMUP)) {
      changed = changed.warmUp(settings.get(Setting.WARMUP));
    }
    var shared = settings.get(Setting.SHARED_PREFIX);
    if (shared != null) {
      changed = changed.sharedPrefix(shared.groups(), shared.tokens());
    } else if (settings.isSet(Setting.UNIQUE_PROMPTS) && settings.get(Setting.UNIQUE_PROMPTS)) {
      changed = changed.uniquePrompts();
    }
    changed = settings.get(Setting.STREAM) ? changed : changed.disableStreaming();
    if (settings.isSet(Setting.IGNORE_EOS)) {
      changed = settings.get(Setting.IGNORE_EOS) ? changed.ignoreEos() : changed.disableIgnoreEos();
    }
    if (settings.isSet(Setting.BODY)) {
      changed = changed.body(settings.get(Setting.BODY).toString());
    }
    Long seed = settings.get(Setting.SEED);
    return seed == null ? changed : changed.seed(seed);
  }

  private static LlmProtocolBuilder goals(
      Settings settings, LlmProtocol protocol, LlmProtocolBuilder builder, boolean isOnly) {
    LlmProtocolBuilder changed = builder;
    String label = protocol.label();
    double percentile =
        settings.isSet(Setting.SLO_PERCENTILE)
            ? settings.get(Setting.SLO_PERCENTILE)
            : protocol.slo.percentile();
    Slo.Rule rule =
        settings.isSet(Setting.SLO_RULE) ? settings.get(Setting.SLO_RULE) : protocol.slo.rule();
    Goals.Slos slos = settings.get(Setting.SLO).each(slo -> slo.judgedBy(percentile, rule));
    Slo set = slos.of(label);
    Slo slo = set.isEmpty() ? protocol.slo.judgedBy(percentile, rule) : set;
    changed = slo.isEmpty() ? changed : changed.slo(SloBuilder.of(slo));
    for (Map.Entry<String, Slo> own : slos.named().entrySet()) {
      if (!own.getKey().equals(label)) {
        changed = changed.slo(own.getKey(), SloBuilder.of(own.getValue()));
      }
    }
    if (settings.isSet(Setting.METRICS_URL)) {
      if (isOnly) {
        checkMetricsUrls(settings, List.of(label));
      }
      changed = changed.metricsUrls(metricsUrls(settings, label));
    }
    List<LlmAssertion> gates = new ArrayList<>();
    for (Assertion gate : settings.get(Setting.ASSERT)) {
      gates.add(LlmAssertion.of(scoped(gate)));
    }
    return changed.assertions(gates);
  }

  static void checkMetricsUrls(Settings settings, List<String> labels) {
    for (Target.NamedUrl page : settings.get(Setting.METRICS_URL)) {
      if (page.name() != null && !labels.contains(page.name())) {
        String expected = "; expected one of " + labels + ", or a URL without a name";
        throw settings.invalid(
            Setting.METRICS_URL, "'" + page.name() + "' is no target" + expected);
      }
    }
  }

  /** The metrics pages of a target. */
  static List<String> metricsUrls(Settings settings, String label) {
    List<String> urls =
        settings.get(Setting.METRICS_URL).stream()
            .filter(page -> page.name() == null || page.name().equals(label))
            .map(Target.NamedUrl::url)
            .toList();
    return urls.isEmpty() ? List.of(MetricsPage.NONE) : urls;
  }

  /** A name like {@code c=8} is that of a load level, another one that of a request. */
  private static Assertion scoped(Assertion gate) {
    return gate.name() == null || gate.name().contains("=")
        ? gate
        : new Assertion(
            null, Scope.REQUEST, gate.name(), gate.figure(), gate.condition(), gate.values());
  }
}
