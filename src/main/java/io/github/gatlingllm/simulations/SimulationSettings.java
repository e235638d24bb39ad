package io.github.gatlingllm.simulations;

import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.Dynamic.Draft;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LlmProtocol;
import io.github.gatlingllm.action.LlmProtocol.RunSettings;
import io.github.gatlingllm.engine.SelfTestResults;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.StopRule.Repeats;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.Assertion.Scope;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RunInfo.ReportOptions;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.run.Observers.MetricsPage;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.PromptPrefix.Unique;
import io.github.gatlingllm.workload.Tokenizer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
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
      SettingEntry<T> setting, BiConsumer<LlmProtocol, T> change) {

    void applyTo(LlmProtocol protocol, Settings settings) {
      T value = settings.get(setting);
      if (value != null) {
        change.accept(protocol, value);
      }
    }
  }

  /** Settings of one value that a protocol has too. */
  private static final List<Part<?>> PARTS =
      List.of(
          new Part<>(Setting.TIMEOUT, (p, max) -> p.requestTimeout = max),
          new Part<>(Setting.IDLE_TIMEOUT, (p, max) -> p.idleTimeout = max),
          new Part<>(Setting.WAIT_READY, (p, max) -> p.waitReady = max),
          new Part<>(Setting.BEFORE_LEVEL, (p, hooks) -> p.beforeLevel = hooks),
          new Part<>(
              Setting.MAX_TOKENS_FIELD,
              (p, name) -> p.maxTokensField = LlmProtocol.maxTokensField(name)),
          new Part<>(Setting.ABANDON, (p, leaving) -> p.abandonment = leaving),
          new Part<>(Setting.CONVERSATION_HEADER, (p, name) -> p.conversationHeader = name),
          new Part<>(Setting.MAX_IN_FLIGHT, (p, max) -> p.maxInFlight = max),
          new Part<>(Setting.MAX_REQUESTS_PER_MINUTE, (p, max) -> p.maxRequestsPerMinute = max),
          new Part<>(Setting.MAX_TOKENS_PER_MINUTE, (p, max) -> p.maxTokensPerMinute = max),
          new Part<>(
              Setting.BODY, (p, body) -> p.extraBody = body.isEmpty() ? null : body.toString()),
          new Part<>(Setting.GPUS, (p, number) -> p.gpus = number),
          new Part<>(Setting.COST_PER_HOUR, (p, price) -> p.costPerHour = price),
          new Part<>(Setting.READING_SPEED, (p, speed) -> p.report = p.report.readAt(speed)),
          new Part<>(Setting.CONNECTIONS, (p, who) -> p.shareConnections = who.equals("shared")),
          new Part<>(Setting.VERIFY_TLS, (p, on) -> p.verifyTls = on),
          new Part<>(Setting.JVM_WARM_UP, (p, on) -> p.warmUpJvm = on),
          new Part<>(Setting.RECORD_TEXT, (p, on) -> p.recordText = on),
          new Part<>(Setting.RECORD_TOKENS, (p, on) -> p.recordTokens = on),
          new Part<>(Setting.CSV, (p, on) -> p.report = report(p.report, on, null, null)),
          new Part<>(Setting.FAIL_BUILD, (p, on) -> p.report = report(p.report, null, on, null)),
          new Part<>(
              Setting.FAIL_ON_INVALID, (p, on) -> p.report = report(p.report, null, null, on)));

  /** Settings of what {@link Benchmark} plans itself. */
  private static final List<Part<?>> OF_CODE =
      List.of(
          new Part<>(Setting.TOKENIZER, (p, each) -> p.tokenizer = known(each.get(0))),
          new Part<>(Setting.WARMUP, (p, requests) -> p.warmUpRequests = requests),
          new Part<>(Setting.STREAM, (p, on) -> p.streaming = on),
          new Part<>(Setting.INCLUDE_USAGE, (p, on) -> p.includeUsage = on),
          new Part<>(Setting.EVENT_TOKENS, (p, who) -> p.eventTokens = eventTokens(who)),
          new Part<>(Setting.IGNORE_EOS, (p, on) -> p.pinning = pinning(on)),
          new Part<>(
              Setting.UNIQUE_PROMPTS,
              (p, on) -> p.prefix = on ? new Unique(p.prefixSeed()) : PromptPrefix.NONE),
          new Part<>(Setting.SHARED_PREFIX, (p, shared) -> p.prefix = shared.seed(p.prefixSeed())),
          new Part<>(Setting.SEED, (p, seed) -> p.seed(seed)));

  /** Prompts in code are made before their server is known. */
  private static Tokenizer known(Tokenizer tokenizer) {
    if (tokenizer instanceof Tokenizer.Unresolved wanted && wanted.isDemanded()) {
      throw InvalidSimulation.because(
          "llm.tokenizer=server is for the benchmark; expected hf:<owner>/<name> or another for a simulation in code");
    }
    return tokenizer;
  }

  private static ReportOptions report(
      ReportOptions said,
      @Nullable Boolean csv,
      @Nullable Boolean failBuild,
      @Nullable Boolean failOnInvalid) {
    return new ReportOptions(
        Objects.requireNonNullElse(csv, said.csv()),
        Objects.requireNonNullElse(failBuild, said.failBuild()),
        failOnInvalid == null ? said.failOnInvalid() : failOnInvalid,
        said.readingSpeed());
  }

  static @Nullable Boolean eventTokens(String who) {
    return who.equals("auto") ? null : (Boolean) who.equals("server");
  }

  static LlmProtocol.Pinning pinning(boolean on) {
    return on ? LlmProtocol.Pinning.ALWAYS : LlmProtocol.Pinning.NEVER;
  }

  /** Settings that replace a part of the only target. */
  private static final List<SettingEntry<?>> TARGET =
      List.of(Setting.ENDPOINT, Setting.MODEL, Setting.API_KEY);

  /** Settings that the tables do not have, as they have several values or parts. */
  private static final Set<SettingEntry<?>> OF_PROTOCOL =
      Set.of(
          Setting.SLO,
          Setting.SLO_PERCENTILE,
          Setting.SLO_RULE,
          Setting.ASSERT,
          Setting.METRICS_URL,
          Setting.HEADER);

  /** Settings that the run reads as system properties, whatever the simulation. */
  static final List<SettingEntry<?>> OF_RUN =
      List.of(
          Setting.INJECTOR,
          Setting.START_AT,
          Setting.NONCE,
          Setting.SELF_TEST_FILE,
          Setting.DATASET_CACHE,
          Setting.PROXY,
          Setting.LIVE,
          Setting.OTLP,
          Setting.UPLOAD);

  /** Settings that are read here, or where a run or a plan begins. */
  private static final Set<SettingEntry<?>> OTHERS =
      Set.of(
          Setting.ENGINE_VERSION, // a note
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
    return Stream.of(PARTS, OF_CODE).flatMap(List::stream).anyMatch(p -> p.setting() == setting)
        || Stream.of(TARGET, OF_PROTOCOL, OF_RUN, OTHERS).anyMatch(some -> some.contains(setting));
  }

  /** Changes a protocol by all parts that it shares with {@link Benchmark}, set or by default. */
  static void applyAll(Settings settings, LlmProtocol protocol) {
    protocol.headers = Draft.andHeaders(protocol.headers, settings.headers());
    PARTS.forEach(part -> part.applyTo(protocol, settings));
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
    boolean isRepeatSet = settings.isSet(Setting.REPEATS);
    LoadPlan.Sweep changed = isRepeatSet ? sweep.repeated(Repeats.ONCE, 0) : sweep;
    if (settings.isSet(Setting.STOP_WHEN)) {
      changed = changed.stopWhen(settings.get(Setting.STOP_WHEN));
    }
    return isRepeatSet ? Load.repeated(settings, changed) : changed;
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
    say(shown);
    return protocol.with(
        changed -> {
          ofTarget(settings, protocol, changed, isOnly);
          Stream.of(PARTS, OF_CODE)
              .flatMap(List::stream)
              .filter(part -> settings.isSet(part.setting()))
              .forEach(part -> part.applyTo(changed, settings));
          changed.headers = Draft.andHeaders(changed.headers, settings.headers());
          goals(settings, changed, isOnly);
          shown.forEach((name, text) -> changed.notes = Draft.and(changed.notes, name, text));
        });
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

  /** Changes the target by what is said of it in the protocol, where that is the only one. */
  private static void ofTarget(
      Settings settings, LlmProtocol said, LlmProtocol changed, boolean isOnly) {
    List<SettingEntry<?>> changing =
        TARGET.stream().filter(each -> isChanging(settings, each, said, isOnly)).toList();
    if (!isOnly && !changing.isEmpty()) {
      throw settings.invalid(
          changing.get(0),
          "this simulation has several llm protocols: it is unclear which is meant");
    }
    if (changing.contains(Setting.ENDPOINT)) {
      List<Target.NamedUrl> urls = settings.get(Setting.ENDPOINT);
      if (urls.size() > 1) {
        throw settings.invalid(Setting.ENDPOINT, "expected one target; Benchmark takes several");
      }
      Target.NamedUrl url = urls.get(0);
      var unused = settings.checked(Setting.ENDPOINT, () -> Target.parse(url, null));
      changed.baseUrls =
          Target.NamedUrl.AND.splitAsStream(url.url()).map(LlmProtocol::url).toList();
      changed.target = url.name() == null ? changed.target : url.name();
    }
    if (changing.contains(Setting.MODEL)) {
      Target.Models models = settings.get(Setting.MODEL);
      changed.models = models.mix();
      if (models.mix().isEmpty()) {
        String name = only(settings, Setting.MODEL, models.names());
        changed.model = settings.checked(Setting.MODEL, () -> Dynamic.text(name));
      }
    }
    if (changing.contains(Setting.API_KEY)) {
      String key = only(settings, Setting.API_KEY, settings.get(Setting.API_KEY));
      changed.apiKey = settings.checked(Setting.API_KEY, () -> Dynamic.secret(key));
    }
  }

  private static String only(Settings settings, SettingEntry<?> setting, List<String> values) {
    if (values.size() != 1) {
      throw settings.invalid(setting, "expected one value; Benchmark takes several");
    }
    return values.get(0);
  }

  private static void goals(Settings settings, LlmProtocol protocol, boolean isOnly) {
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
    protocol.slo = slo.isEmpty() ? protocol.slo : slo;
    slos.named().forEach((name, own) -> addSlo(protocol, name, own, Set.of(label)));
    if (settings.isSet(Setting.METRICS_URL)) {
      if (isOnly) {
        checkMetricsUrls(settings, List.of(label));
      }
      protocol.metricsUrls = metricsUrls(settings, label);
    }
    for (Assertion gate : settings.get(Setting.ASSERT)) {
      protocol.assertions = Draft.and(protocol.assertions, scoped(gate));
    }
  }

  /** Adds the objectives of the requests of a name, unless it is that of a target. */
  static void addSlo(LlmProtocol protocol, String name, Slo slo, Collection<String> targets) {
    if (!targets.contains(name)) {
      protocol.sloByName = Draft.and(protocol.sloByName, name, slo);
    }
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

  static List<String> metricsUrls(Settings settings, String label) {
    List<String> urls =
        settings.get(Setting.METRICS_URL).stream()
            .filter(page -> page.name() == null || page.name().equals(label))
            .map(Target.NamedUrl::url)
            .toList();
    return MetricsPage.check(urls.isEmpty() ? List.of(MetricsPage.NONE) : urls);
  }

  /** A name like {@code c=8} is that of a load level, another one that of a request. */
  private static Assertion scoped(Assertion gate) {
    return gate.name() == null || gate.name().contains("=")
        ? gate
        : Goals.about(gate, null, Scope.REQUEST, gate.name());
  }
}
