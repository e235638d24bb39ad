package io.github.gatlingllm.simulations;

import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.engine.SelfTestResults;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.PlanText;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.load.Turns;
import io.github.gatlingllm.record.ConfigKey;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.settings.AgentX;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.Setting.SettingTrait;
import io.github.gatlingllm.settings.SettingValue.Length;
import io.github.gatlingllm.settings.SettingValue.NamedUrl;
import io.github.gatlingllm.settings.SettingValue.Slos;
import io.github.gatlingllm.settings.Settings;
import io.github.gatlingllm.settings.TargetSpec;
import io.github.gatlingllm.simulations.ModelTokenizers.Servers;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Tokenizer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Everything that follows from several settings together, checked and ready to run.
 *
 * @param classes the plan of each class of traffic, of which this one is the first; empty for a
 *     load of one
 */
record BenchmarkPlan(
    Settings settings,
    List<TargetSpec> targets,
    List<ModelTokenizers> counters,
    Api api,
    LoadPlan load,
    Workload workload,
    Slos slo,
    List<Assertion> assertions,
    long seed,
    List<BenchmarkPlan> classes) {

  /** Gives each class of traffic arrivals and prompts of its own. */
  private static final long CLASS_SALT = 0x636c6173736573L; // "classes"

  private static final int SELF_TEST_TOKENS = 50;
  private static final long SELF_TEST_ANSWER_MILLIS =
      SelfTestResults.TTFT.toMillis() + (SELF_TEST_TOKENS - 1) * SelfTestResults.ITL.toMillis();

  /**
   * What a self-test sets: a sweep of closed loops of about a minute. Streams of a level start
   * evenly over the time of one answer; the sweep ends after a level whose answers take 1.5 times
   * as long.
   */
  private static final Map<Setting<?>, String> SELF_TEST =
      Map.of(
          Setting.CONCURRENCY, "1,16,64,256,512,1024,2048,4096",
          Setting.FILL, SELF_TEST_ANSWER_MILLIS + "ms",
          Setting.STABILIZE, "500ms",
          Setting.DURATION, "3",
          Setting.DRAIN, "5",
          Setting.MAX_TOKENS, Integer.toString(SELF_TEST_TOKENS),
          Setting.SLO, "e2e<" + SELF_TEST_ANSWER_MILLIS * 3 / 2 + "ms",
          Setting.STOP_WHEN, "slo<50%",
          Setting.METRICS_URL, "none");

  /** One request, which the run before its load sends. */
  private static final Map<Setting<?>, String> PROBE =
      Map.of(
          Setting.CONCURRENCY, "1",
          Setting.REQUESTS, "1",
          Setting.WARMUP, "1",
          Setting.JVM_WARM_UP, "false",
          Setting.PROMPT, "Say hello.",
          Setting.MAX_TOKENS, "16",
          Setting.TIMEOUT, "30s");

  /** Changes the settings to those of the command {@code probe}, which has no load. */
  static void probe(Settings settings) {
    settings.retainOnly(
        SettingTrait.PROBED,
        set -> settings.invalid(set, "probe sends one request and no load; leave it out"));
    if (settings.get(Setting.ENDPOINT).size() != 1) {
      throw settings.invalid(Setting.ENDPOINT, "probe is for one target; expected one URL");
    }
    settings.preset(PROBE);
  }

  /** Without asking servers, as tests and dry runs do. */
  static BenchmarkPlan of(Settings settings, LongSupplier randomSeed) {
    return of(settings, randomSeed, Servers.SILENT);
  }

  /** The plan with prompts. */
  static BenchmarkPlan of(Settings settings, LongSupplier randomSeed, Servers servers) {
    boolean isSelfTest = settings.get(Setting.SELF_TEST);
    if (isSelfTest) {
      settings.retainOnly(
          SettingTrait.SELF_TESTED,
          set -> settings.excluded(Setting.SELF_TEST, set, "a self-test has its own load"));
    }
    if (AgentX.isRequested(settings.shown())) {
      settings.preset(AgentX.presets());
    }
    settings.check();
    if (isSelfTest) {
      settings.preset(SELF_TEST);
    }
    if (!settings.classNames().isEmpty() && settings.className() == null) {
      return ofClasses(settings, randomSeed, servers);
    }
    Api requested = settings.get(Setting.API).orElse(null);
    List<TargetSpec> targets = targets(settings, requested);
    Api api =
        targets.isEmpty() ? Objects.requireNonNullElse(requested, Api.CHAT) : targets.get(0).api();
    Long pinned = settings.get(Setting.SEED);
    long seed = pinned == null ? randomSeed.getAsLong() : pinned;
    GridPair.check(settings, minApi(targets, api));
    LoadPlan load = Load.of(settings, drawn(settings, seed));
    Slos slo =
        settings.checked(
            Setting.SLO_TIER,
            () ->
                settings
                    .get(Setting.SLO)
                    .each(
                        each ->
                            each.judgedBy(
                                settings.get(Setting.SLO_PERCENTILE),
                                settings.get(Setting.SLO_RULE)))
                    .first(settings.get(Setting.SLO_TIER)));
    Goals names = Goals.of(settings, targets, new PlanText(load), api);
    names.check(slo);
    List<Assertion> assertions =
        settings.checked(Setting.ASSERT, () -> names.resolve(slo, settings.get(Setting.ASSERT)));
    settings.requireTargets(TargetSpec.labels(targets));
    BenchmarkPlan empty =
        new BenchmarkPlan(
            settings,
            targets,
            counters(settings, targets, servers, servers::counting),
            api,
            load,
            Workload.NONE,
            slo,
            assertions,
            seed,
            List.of());
    try {
      return empty.withPrompts();
    } catch (Tokenizer.Uncounted e) { // it changed its mind: the next source
      PrintableText.print("LLM: the server counts tokens no more (" + e.getMessage() + ")");
      return empty.counting(counters(settings, targets, servers, target -> null)).withPrompts();
    }
  }

  private static BenchmarkPlan ofClasses(
      Settings settings, LongSupplier randomSeed, Servers servers) {
    List<Settings> own = settings.ofClasses();
    if (settings.get(Setting.INTERFERENCE) && own.size() < 2) {
      throw settings.invalid(
          Setting.INTERFERENCE, "there is one class of traffic; expected two or more");
    }
    if (settings.get(Setting.ENDPOINT).size() > 1
        || settings.get(Setting.MODEL).names().stream().anyMatch(name -> name.contains("|"))) {
      throw settings.invalid(
          Setting.ENDPOINT, "classes of traffic have one target in common; expected one URL");
    }
    Long pinned = settings.get(Setting.SEED);
    long seed = pinned == null ? randomSeed.getAsLong() : pinned;
    List<BenchmarkPlan> classes = own.stream().map(each -> of(each, () -> seed, servers)).toList();
    if (classes.stream().anyMatch(each -> !each.slo.tiers().isEmpty())) {
      throw settings.invalid(
          Setting.SLO,
          "tiers judge all requests alike; expected one SLO for each class of traffic");
    }
    BenchmarkPlan first = classes.get(0).with(classes);
    var unused = settings.checked(Setting.CLASS, first::plans); // they may not fit together
    return first;
  }

  /** The load of each class, or of the only one. */
  List<? extends LoadPlan> plans() {
    List<LoadPlan> each = each().stream().map(BenchmarkPlan::load).toList();
    return classes.isEmpty() ? each : Turns.of(each, hasInterference(), seed);
  }

  /** The plans of all classes of traffic, or this one. */
  List<BenchmarkPlan> each() {
    return classes.isEmpty() ? List.of(this) : classes;
  }

  /** Whether classes of traffic are also measured alone. */
  boolean hasInterference() {
    return settings.common(Setting.INTERFERENCE);
  }

  /** The name of the scenario and of the requests of a class of traffic; else the given one. */
  String named(String otherwise) {
    return Objects.requireNonNullElse(settings.className(), otherwise);
  }

  /** That of what is drawn at random; classes of traffic have different ones. */
  private static long drawn(Settings settings, long seed) {
    int position = settings.classNames().indexOf(String.valueOf(settings.className()));
    return position < 0 ? seed : Seed.at(seed, CLASS_SALT, position).nextLong();
  }

  private BenchmarkPlan with(List<BenchmarkPlan> others) {
    return new BenchmarkPlan(
        settings, targets, counters, api, load, workload, slo, assertions, seed, others);
  }

  private BenchmarkPlan counting(List<ModelTokenizers> others) {
    return new BenchmarkPlan(
        settings, targets, others, api, load, workload, slo, assertions, seed, classes);
  }

  /** Last, because generating prompts takes seconds. */
  private BenchmarkPlan withPrompts() {
    Integer context = // all targets get the same
        counters.stream()
            .map(ModelTokenizers::context)
            .filter(Objects::nonNull)
            .min(Comparator.naturalOrder())
            .orElse(null);
    Long requests = Load.prompts(loadText());
    Workload made =
        Workload.read(
            settings,
            counters.get(0).within(context),
            drawn(settings, seed),
            requests == null ? null : (Long) (hasInterference() ? 2 * requests : requests),
            Load.trace(loadText()),
            minApi(targets, api));
    checkInterleave(settings, targets, made);
    if (settings.className() != null && (made.scenarios() > 1 || made.isMix())) {
      throw settings.invalid(
          Setting.CLASS,
          "'%s' would have several scenarios or pairs of lengths; expected one for each class"
              .formatted(settings.className()));
    }
    PromptPrefix sent = made.prefix().seed(seed); // of the run, not of a class of traffic
    tokenizers().forEach(tokenizer -> sent.texts(tokenizer).of(0));
    return new BenchmarkPlan(
        settings, targets, counters, api, load, made, slo, assertions, seed, classes);
  }

  private static List<ModelTokenizers> counters(
      Settings settings,
      List<TargetSpec> targets,
      Servers servers,
      Function<TargetSpec, @Nullable ModelTokenizers> counting) {
    List<Tokenizer> set = tokenizers(settings, targets.size());
    return IntStream.range(0, set.size())
        .mapToObj(
            i ->
                i < targets.size()
                    ? counter(targets.get(i), set.get(i), servers, counting)
                    : ModelTokenizers.set(set.get(i)))
        .toList();
  }

  private static ModelTokenizers counter(
      TargetSpec target,
      Tokenizer set,
      Servers servers,
      Function<TargetSpec, @Nullable ModelTokenizers> counting) {
    ModelTokenizers found =
        set instanceof Tokenizer.UnresolvedServer unresolved
            ? ModelTokenizers.of(
                target, unresolved, counting.apply(target), servers.model(target), System.getenv())
            : ModelTokenizers.set(set);
    return found.context() == null ? found.within(servers.context(target)) : found;
  }

  PromptPrefix prefix() {
    return workload.prefix();
  }

  PlanText loadText() {
    return new PlanText(load);
  }

  List<Tokenizer> tokenizers() {
    return counters.stream().map(ModelTokenizers::tokenizer).toList();
  }

  /** The last query has been sent: servers' tokenizers are silent in the load. */
  void close() {
    each().forEach(plan -> plan.counters.forEach(ModelTokenizers::close));
  }

  <T extends @Nullable Object> T get(Setting<T> setting) {
    return settings.get(setting);
  }

  List<String> labels() {
    return TargetSpec.labels(targets);
  }

  /** Whether answers get the lengths of recorded ones, where these are known. */
  boolean hasRecordedOutputs() {
    return (workload.dataset() != null
            || workload.sessions() != null
            || workload.hasOutputs()
            || Load.trace(loadText()) != null)
        && !settings.isSet(Setting.MAX_TOKENS)
        && !settings.isSet(Setting.LENGTHS);
  }

  /** The lengths of outputs, several in a grid. */
  List<LengthDistribution> outputs() {
    return workload.pools().isEmpty()
        ? List.of(get(Setting.MAX_TOKENS).get(0).tokens())
        : workload.pools().stream().map(Workload.Pool::outputs).distinct().toList();
  }

  boolean isEmbedded() {
    return targets.isEmpty();
  }

  /** The set values for {@code run.json}, without secrets, and lengths that are not set. */
  Map<String, String> config() {
    Map<String, String> config = new LinkedHashMap<>(settings.shown());
    config.remove(Setting.INJECTOR.name); // the run has it elsewhere
    if (settings.isSet(Setting.LENGTHS)) {
      config.put(Setting.LENGTHS.name, String.valueOf(settings.text(Setting.LENGTHS)));
    } else {
      LengthDistribution lengths =
          workload.pools().isEmpty() ? null : workload.pools().get(0).prompts().lengths();
      if (lengths != null && !lengths.isRecorded()) {
        config.putIfAbsent(Setting.PROMPT_TOKENS.name, lengths.text());
      }
      if (api.generates() && !hasRecordedOutputs()) {
        config.putIfAbsent(Setting.MAX_TOKENS.name, Length.texts(GridPair.outputs(settings)));
      }
    }
    long misses = workload.misses().count();
    if (misses > 0) {
      config.put(ConfigKey.PROMPTS_NOT_EXACT.name, misses + " of " + workload.made());
    }
    workload
        .datasets()
        .forEach(
            (setting, dataset) -> {
              config.put(setting.name, Secrets.redactUrl(String.valueOf(settings.text(setting))));
              config.put(setting.name + ".sha256", dataset.sha256());
            });
    if (workload.sessions() != null) {
      config.put(Setting.SESSIONS.name + ".sha256", workload.sessions().sha256());
    }
    String sources =
        counters.stream().map(ModelTokenizers::source).distinct().collect(Collectors.joining(", "));
    if (!sources.equals(ModelTokenizers.SET)) {
      config.put(ConfigKey.TOKENIZER_SOURCE.name, sources);
    }
    String sizes = promptsSizedBy();
    if (sizes != null) {
      config.put("promptsSizedBy", sizes);
    }
    return config;
  }

  /** The tokenizer that sized the prompts, if the targets' own differ. */
  @Nullable String promptsSizedBy() {
    boolean isRecorded = workload.dataset() != null || workload.sessions() != null;
    boolean isSized = workload.made() > 0 || (isRecorded && hasRecordedOutputs());
    if (!isSized || tokenizers().stream().map(Tokenizer::name).distinct().count() == 1) {
      return null;
    }
    return tokenizers().get(0).name()
        + ", that of the first target"
        + (prefix() instanceof PromptPrefix.Shared
            ? "; shared prefixes by each target's own"
            : "; all are asked the same texts");
  }

  /** Leaves out header values and keys, which are secrets. */
  @Override
  public String toString() {
    return "BenchmarkPlan" + settings.shown();
  }

  private static List<TargetSpec> targets(Settings settings, @Nullable Api requested) {
    List<NamedUrl> urls = settings.get(Setting.ENDPOINT);
    List<@Nullable String> models = models(settings, urls.size());
    List<@Nullable String> keys =
        perEndpoint(settings, Setting.API_KEY, settings.get(Setting.API_KEY), urls.size());
    List<TargetSpec> targets = new ArrayList<>();
    for (int i = 0; i < urls.size(); i++) {
      TargetSpec endpoint = endpoint(settings, urls.get(i), requested);
      for (String model : models(models.get(i))) {
        if (model != null && model.isEmpty()) {
          throw settings.invalid(Setting.MODEL, "expected names such as llama-8b|llama-70b");
        }
        targets.add(endpoint.with(model, keys.get(i)));
      }
    }
    return targets;
  }

  private static List<@Nullable String> models(Settings settings, int endpoints) {
    return perEndpoint(settings, Setting.MODEL, settings.get(Setting.MODEL).names(), endpoints);
  }

  /** The models of an endpoint: {@code a|b}, or one that is not known. */
  private static List<@Nullable String> models(@Nullable String names) {
    return names == null
        ? Collections.singletonList(null)
        : Stream.of(names.split("\\|", -1)).map(String::strip).toList();
  }

  private static TargetSpec endpoint(Settings settings, NamedUrl url, @Nullable Api requested) {
    TargetSpec endpoint =
        settings.checked(Setting.ENDPOINT, () -> TargetSpec.parse(url, requested));
    if (endpoint.baseUrl().indexOf('/', "https://".length()) < 0) {
      settings.warn(
          "llm.endpoint has no path: posting to "
              + Secrets.redactUrl(endpoint.url())
              + "; most servers expect /v1");
    }
    return endpoint;
  }

  /** The values of a setting by endpoint: one for all, or one each; null for none. */
  private static List<@Nullable String> perEndpoint(
      Settings settings, Setting<?> setting, List<String> values, int endpoints) {
    if (endpoints == 0 && settings.isSet(setting)) {
      settings.warn(
          setting.property() + " has no effect: no llm.endpoint, the embedded engine answers");
    }
    if (setting.is(SettingTrait.SECRET)
        && values.stream().anyMatch(v -> !v.matches("[\\x21-\\x7e]+"))) {
      throw settings.invalid(setting, "expected visible ASCII without spaces");
    }
    return values.isEmpty() || endpoints == 0
        ? Collections.nCopies(endpoints, null)
        : oneEach(settings, setting, values, endpoints, "endpoint");
  }

  /** The tokenizers by target: one for all, one per target, or one per endpoint. */
  private static List<Tokenizer> tokenizers(Settings settings, int targets) {
    List<Tokenizer> set = settings.get(Setting.TOKENIZER);
    int endpoints = settings.get(Setting.ENDPOINT).size();
    if (set.size() == 1 || set.size() != endpoints) {
      return oneEach(settings, Setting.TOKENIZER, set, Math.max(1, targets), "target");
    }
    List<@Nullable String> models = models(settings, endpoints);
    return IntStream.range(0, endpoints)
        .boxed()
        .flatMap(i -> models(models.get(i)).stream().map(model -> set.get(i)))
        .toList();
  }

  private static <T> List<T> oneEach(
      Settings settings, Setting<?> setting, List<T> values, int count, String noun) {
    if (values.size() > 1 && values.size() != count) {
      throw settings.invalid(
          setting,
          "%s values for %s; expected one, or one for each%s"
              .formatted(
                  values.size(),
                  NumberText.counted(count, noun),
                  setting == Setting.MODEL ? ", or a weight for all: a=50,b=50" : ""));
    }
    return IntStream.range(0, count).mapToObj(i -> values.get(values.size() == 1 ? 0 : i)).toList();
  }

  /** The least capable API of all targets: embeddings, then text completion, then messages. */
  private static Api minApi(List<TargetSpec> targets, Api api) {
    return Stream.concat(Stream.of(api), targets.stream().map(target -> target.api()))
        .min(Comparator.comparing(Api::generates).thenComparing(Api::takesMessages))
        .orElse(api);
  }

  private static void checkInterleave(
      Settings settings, List<TargetSpec> targets, Workload workload) {
    if (settings.get(Setting.INTERLEAVE) && workload.scenarios() > 1) {
      throw settings.invalid(
          Setting.INTERLEAVE,
          "expected one llm.scenario or pair of lengths; several run one after the other");
    }
    if (settings.get(Setting.INTERLEAVE) && targets.size() < 2) {
      settings.warn("llm.interleave has no effect: it needs several endpoints in llm.endpoint");
    }
  }
}
