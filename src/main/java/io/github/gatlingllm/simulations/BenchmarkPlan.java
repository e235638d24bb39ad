package io.github.gatlingllm.simulations;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.record.Assertion;
import io.github.gatlingllm.simulations.EndpointSpec.ApiChoice;
import io.github.gatlingllm.telemetry.MetricsPage;
import io.github.gatlingllm.wire.Api;
import io.github.gatlingllm.wire.Secrets;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Tokenizer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the benchmark is going to do: what several settings say together, checked and made. Single
 * settings are asked for by {@link #get}.
 *
 * @param targets empty: the embedded engine
 * @param tokenizers one per target; a single one where the embedded engine is the target
 * @param workload what is asked, its prompts made
 * @param prefix what every prompt begins with
 * @param slo of all requests, of request names and of targets
 * @param assertions what the build demands, of all targets or of one
 * @param seed pins prompts and arrivals; drawn when not set
 */
record BenchmarkPlan(
    Settings settings,
    List<Target> targets,
    List<Tokenizer> tokenizers,
    Api api,
    Load load,
    Workload workload,
    PromptPrefix prefix,
    NamedSlos slo,
    List<Assertion> assertions,
    long seed) {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Body fields that a setting of its own decides; the measurement relies on them. */
  private static final Map<String, String> OWN_FIELDS =
      Map.of(
          "model", "model",
          "stream", "stream",
          "messages", "prompt",
          "prompt", "prompt",
          "max_tokens", "maxTokens");

  /** Who may use a kept-alive connection again. */
  enum Connections {
    /** Any virtual user. */
    SHARED("shared"),
    /** Only the virtual user that opened it. */
    PER_USER("perUser");

    private final String key;

    Connections(String key) {
      this.key = key;
    }

    /** The name used in settings. */
    @Override
    public String toString() {
      return key;
    }
  }

  BenchmarkPlan {
    targets = List.copyOf(targets);
    tokenizers = List.copyOf(tokenizers);
    assertions = List.copyOf(assertions);
  }

  /**
   * Reads and checks all settings.
   *
   * @param randomSeed asked once, only when no seed is set
   * @throws io.github.gatlingllm.action.InvalidSimulation for the first one that is wrong
   */
  static BenchmarkPlan of(Settings settings, LongSupplier randomSeed) {
    boolean selfTest = settings.get(Setting.SELF_TEST);
    if (selfTest) {
      settings.keepOnly(SelfTestLoad.KEPT, Setting.SELF_TEST, "a self-test has its own load");
    }
    settings.check();
    if (selfTest) {
      settings.preset(SelfTestLoad.SETTINGS);
    }
    LengthPreset lengths = settings.get(Setting.LENGTHS);
    if (lengths != null) {
      settings.preset(
          Map.of(
              Setting.PROMPT_TOKENS, Integer.toString(lengths.promptTokens()),
              Setting.MAX_TOKENS, Integer.toString(lengths.maxTokens())));
    }
    ApiChoice choice = settings.get(Setting.API);
    List<Target> targets = targets(settings, choice.api());
    Api api =
        targets.isEmpty()
            ? Objects.requireNonNullElse(choice.api(), Api.CHAT)
            : targets.get(0).endpoint().api();
    Long pinned = settings.get(Setting.SEED);
    long seed = pinned == null ? randomSeed.getAsLong() : pinned;
    Load load = Load.of(settings, seed);
    List<Tokenizer> tokenizers = tokenizers(settings, targets);
    NamedSlos slo =
        settings
            .get(Setting.SLO)
            .each(
                each ->
                    each.judgedBy(
                        settings.get(Setting.SLO_PERCENTILE), settings.get(Setting.SLO_RULE)));
    GoalNames names = GoalNames.of(settings, targets, load, api);
    names.check(slo);
    List<Assertion> assertions = names.resolve(settings.get(Setting.ASSERT));
    // Last, because it makes prompts, which takes seconds.
    WorkloadReader reader =
        new WorkloadReader(settings, tokenizers.get(0), seed, load.prompts(), load.trace());
    PromptPrefix prefix = reader.prefix();
    Workload workload = reader.workload(leastApi(targets, api), prefix);
    checkInterleave(settings, targets, workload);
    checkMetricsUrls(settings, Target.labels(targets));
    return new BenchmarkPlan(
        settings, targets, tokenizers, api, load, workload, prefix, slo, assertions, seed);
  }

  /** The value of a single setting. */
  <T extends @Nullable Object> T get(SettingEntry<T> setting) {
    return settings.get(setting);
  }

  /** What the targets are called in results, in their order. */
  List<String> labels() {
    return Target.labels(targets);
  }

  /** Where metrics of the target of that label are read. */
  List<String> metricsUrls(String label) {
    List<String> urls =
        settings.get(Setting.METRICS_URL).stream()
            .filter(page -> page.name() == null || page.name().equals(label))
            .map(EndpointSpec.Named::url)
            .toList();
    return urls.isEmpty() ? List.of(MetricsPage.NONE) : urls;
  }

  /** Whether answers are as long as recorded ones, where their lengths are known. */
  boolean hasRecordedOutputs() {
    return workload instanceof Workload.Recorded recorded
        ? recorded.lengths()
        : load.trace() != null && !settings.isSet(Setting.MAX_TOKENS);
  }

  /** Whether the embedded engine is the target. */
  boolean embedded() {
    return targets.isEmpty();
  }

  /**
   * The settings that were given, fit to be recorded (secrets are stars), and what could not be
   * kept of them.
   */
  Map<String, String> config() {
    Map<String, String> config = new LinkedHashMap<>(settings.shown());
    config.remove(Setting.INJECTOR.name()); // the run's share, by which injectors differ
    config.remove(Setting.INJECTORS.name());
    long misses = workload.misses().count();
    if (misses > 0) {
      config.put("promptsNotExact", misses + " of " + workload.made());
    }
    String sizes = promptsSizedBy();
    if (sizes != null) {
      config.put("promptsSizedBy", sizes);
    }
    return Collections.unmodifiableMap(config);
  }

  /**
   * What the sizes of prompts hold for where targets have different tokenizers; null where they
   * have one, or nothing has a size.
   */
  @Nullable String promptsSizedBy() {
    boolean sized =
        workload.made() > 0
            || (workload instanceof Workload.Recorded recorded && recorded.lengths());
    if (!sized || tokenizers.stream().map(Tokenizer::name).distinct().count() == 1) {
      return null;
    }
    return tokenizers.get(0).name()
        + ", that of the first target"
        + (prefix instanceof PromptPrefix.Shared
            ? "; shared prefixes by each target's own"
            : "; all are asked the same texts");
  }

  /** Without header values and keys, which are secrets. */
  @Override
  public String toString() {
    return "BenchmarkPlan" + settings.shown();
  }

  private static List<Target> targets(Settings settings, @Nullable Api asked) {
    List<EndpointSpec.Named> urls = settings.get(Setting.ENDPOINT);
    List<@Nullable String> models = broadcast(settings, Setting.MODEL, urls.size());
    List<@Nullable String> keys = broadcast(settings, Setting.API_KEY, urls.size());
    List<Target> targets = new ArrayList<>();
    for (int i = 0; i < urls.size(); i++) {
      EndpointSpec.Named url = urls.get(i);
      EndpointSpec endpoint = endpoint(settings, url.url(), asked);
      String[] all = models.get(i) == null ? new String[] {null} : models.get(i).split("\\|", -1);
      for (String model : all) {
        String named = model == null ? null : model.strip();
        if (named != null && named.isEmpty()) {
          throw settings.invalid(Setting.MODEL, "expected names such as llama-8b|llama-70b");
        }
        targets.add(new Target(url.name(), endpoint, named, keys.get(i)));
      }
    }
    return targets;
  }

  private static EndpointSpec endpoint(Settings settings, String url, @Nullable Api asked) {
    EndpointSpec endpoint;
    try {
      endpoint = EndpointSpec.parse(url, asked);
    } catch (IllegalArgumentException e) {
      throw settings.invalid(Setting.ENDPOINT, String.valueOf(e.getMessage()));
    }
    if (endpoint.baseUrl().indexOf('/', "https://".length()) < 0) {
      settings.warn(
          "llm.endpoint has no path: posting to "
              + Secrets.redactUrl(endpoint.url())
              + "; most servers expect /v1");
    }
    return endpoint;
  }

  /** One value for every endpoint, or as many values as endpoints; null where there is none. */
  private static List<@Nullable String> broadcast(
      Settings settings, SettingEntry<List<String>> setting, int endpoints) {
    List<String> values = settings.get(setting);
    if (endpoints == 0) {
      if (!values.isEmpty()) {
        settings.warn(
            setting.property() + " has no effect: no llm.endpoint, the embedded engine answers");
      }
      return List.of();
    }
    if (setting.isSecret() && values.stream().anyMatch(v -> !v.matches("[\\x21-\\x7e]+"))) {
      throw settings.invalid(setting, "expected visible ASCII without spaces");
    }
    return values.isEmpty()
        ? Collections.nCopies(endpoints, null)
        : spread(settings, setting, values, endpoints);
  }

  /**
   * One for all, one for each target, or one for each endpoint, whatever models it is asked for.
   */
  @SuppressWarnings("ReferenceEquality") // the same entry of the setting, not an equal one
  private static List<Tokenizer> tokenizers(Settings settings, List<Target> targets) {
    List<Tokenizer> set = settings.get(Setting.TOKENIZER);
    List<EndpointSpec> endpoints = new ArrayList<>();
    List<Tokenizer> byEndpoint = new ArrayList<>();
    for (Target target : targets) {
      if (endpoints.isEmpty() || endpoints.get(endpoints.size() - 1) != target.endpoint()) {
        endpoints.add(target.endpoint());
      }
      byEndpoint.add(set.get(Math.min(endpoints.size(), set.size()) - 1));
    }
    return set.size() > 1 && set.size() == endpoints.size()
        ? byEndpoint
        : spread(settings, Setting.TOKENIZER, set, Math.max(1, targets.size()));
  }

  private static <T> List<T> spread(
      Settings settings, SettingEntry<?> setting, List<T> values, int endpoints) {
    if (values.size() > 1 && values.size() != endpoints) {
      throw settings.invalid(
          setting,
          NumberText.counted(values.size(), "value")
              + " for "
              + NumberText.counted(endpoints, "endpoint")
              + "; expected one, or one for each endpoint");
    }
    return IntStream.range(0, endpoints)
        .mapToObj(i -> values.get(values.size() == 1 ? 0 : i))
        .toList();
  }

  /** The one that can do least of all targets' APIs: embed, complete a prompt, take messages. */
  private static Api leastApi(List<Target> targets, Api api) {
    return Stream.concat(Stream.of(api), targets.stream().map(target -> target.endpoint().api()))
        .min(Comparator.comparing(Api::generates).thenComparing(Api::takesMessages))
        .orElse(api);
  }

  private static void checkMetricsUrls(Settings settings, List<String> labels) {
    for (EndpointSpec.Named page : settings.get(Setting.METRICS_URL)) {
      if (page.name() != null && !labels.contains(page.name())) {
        throw settings.invalid(
            Setting.METRICS_URL,
            "'%s' is no target; expected one of %s, or a URL without a name"
                .formatted(page.name(), labels));
      }
    }
  }

  private static void checkInterleave(Settings settings, List<Target> targets, Workload workload) {
    if (settings.get(Setting.INTERLEAVE) && workload.scenarios() > 1) {
      throw settings.invalid(
          Setting.INTERLEAVE, "expected one llm.scenario; several run one after the other");
    }
    if (settings.get(Setting.INTERLEAVE) && targets.size() < 2) {
      settings.warn("llm.interleave has no effect: it needs several endpoints in llm.endpoint");
    }
  }

  /** Reads extra fields of requests; not to be written to. */
  static ObjectNode body(String text) {
    JsonNode node;
    try {
      node = JSON.readTree(text);
    } catch (JsonProcessingException e) {
      node = JSON.missingNode();
    }
    if (!(node instanceof ObjectNode body)) {
      throw new IllegalArgumentException();
    }
    OWN_FIELDS.forEach(
        (field, setting) -> {
          if (body.has(field)) {
            throw new IllegalArgumentException("expected no \"" + field + "\"; use llm." + setting);
          }
        });
    return body;
  }
}
