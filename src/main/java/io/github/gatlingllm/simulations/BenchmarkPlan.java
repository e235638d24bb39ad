package io.github.gatlingllm.simulations;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.run.server.ServerWatch.MetricsPage;
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
 * The plan of a benchmark: everything that follows from several settings together, checked and
 * ready to run. Single settings are read with {@link #get}.
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

  /** Body fields that the measurement relies on, and the settings that set them. */
  private static final Map<String, String> OWN_FIELDS =
      Map.of(
          "model", "model",
          "stream", "stream",
          "messages", "prompt",
          "prompt", "prompt",
          "max_tokens", "maxTokens");

  static BenchmarkPlan of(Settings settings, LongSupplier randomSeed) {
    boolean selfTest = settings.get(Setting.SELF_TEST);
    if (selfTest) {
      settings.keepOnly(SelfTestLoad.KEPT, Setting.SELF_TEST, "a self-test has its own load");
    }
    settings.check();
    if (selfTest) {
      settings.preset(SelfTestLoad.SETTINGS);
    }
    WorkloadReader.LengthPreset lengths = settings.get(Setting.LENGTHS);
    if (lengths != null) {
      settings.preset(
          Map.of(
              Setting.PROMPT_TOKENS, Integer.toString(lengths.promptTokens()),
              Setting.MAX_TOKENS, Integer.toString(lengths.maxTokens())));
    }
    Api asked = settings.get(Setting.API).orElse(null);
    List<Target> targets = targets(settings, asked);
    Api api =
        targets.isEmpty()
            ? Objects.requireNonNullElse(asked, Api.CHAT)
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
    // Last, because generating prompts takes seconds.
    WorkloadReader reader =
        new WorkloadReader(settings, tokenizers.get(0), seed, load.prompts(), load.trace());
    PromptPrefix prefix = reader.prefix();
    Workload workload = reader.workload(leastApi(targets, api), prefix);
    checkInterleave(settings, targets, workload);
    checkMetricsUrls(settings, Target.labels(targets));
    return new BenchmarkPlan(
        settings, targets, tokenizers, api, load, workload, prefix, slo, assertions, seed);
  }

  <T extends @Nullable Object> T get(SettingEntry<T> setting) {
    return settings.get(setting);
  }

  List<String> labels() {
    return Target.labels(targets);
  }

  List<String> metricsUrls(String label) {
    List<String> urls =
        settings.get(Setting.METRICS_URL).stream()
            .filter(page -> page.name() == null || page.name().equals(label))
            .map(EndpointSpec.Named::url)
            .toList();
    return urls.isEmpty() ? List.of(MetricsPage.NONE) : urls;
  }

  /** Whether answers get the lengths of recorded ones, where these are known. */
  boolean hasRecordedOutputs() {
    return workload instanceof Workload.Recorded recorded
        ? recorded.lengths()
        : load.trace() != null && !settings.isSet(Setting.MAX_TOKENS);
  }

  boolean embedded() {
    return targets.isEmpty();
  }

  /** Whether only the virtual user that opened a connection can reuse it. */
  boolean perUserConnections() {
    return settings.get(Setting.CONNECTIONS).equals("perUser");
  }

  /**
   * The set values for {@code run.json}, with secrets replaced by stars, and notes on prompts that
   * do not have the length that was asked for.
   */
  Map<String, String> config() {
    Map<String, String> config = new LinkedHashMap<>(settings.shown());
    config.remove(Setting.INJECTOR.name); // differs between injectors of one load test
    long misses = workload.misses().count();
    if (misses > 0) {
      config.put("promptsNotExact", misses + " of " + workload.made());
    }
    String sizes = promptsSizedBy();
    if (sizes != null) {
      config.put("promptsSizedBy", sizes);
    }
    return config;
  }

  /**
   * The tokenizer that the lengths of prompts are counted by, if the targets have different ones;
   * null if all have the same or no prompt has a given length.
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

  /** Leaves out header values and keys, which are secrets. */
  @Override
  public String toString() {
    return "BenchmarkPlan" + settings.shown();
  }

  private static List<Target> targets(Settings settings, @Nullable Api asked) {
    List<EndpointSpec.Named> urls = settings.get(Setting.ENDPOINT);
    List<@Nullable String> models = perEndpoint(settings, Setting.MODEL, urls.size());
    List<@Nullable String> keys = perEndpoint(settings, Setting.API_KEY, urls.size());
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
    EndpointSpec endpoint =
        settings.checked(Setting.ENDPOINT, () -> EndpointSpec.parse(url, asked));
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
      Settings settings, SettingEntry<List<String>> setting, int endpoints) {
    List<String> values = settings.get(setting);
    if (endpoints == 0 && !values.isEmpty()) {
      settings.warn(
          setting.property() + " has no effect: no llm.endpoint, the embedded engine answers");
    }
    if (setting.secret && values.stream().anyMatch(v -> !v.matches("[\\x21-\\x7e]+"))) {
      throw settings.invalid(setting, "expected visible ASCII without spaces");
    }
    return values.isEmpty() || endpoints == 0
        ? Collections.nCopies(endpoints, null)
        : oneEach(settings, setting, values, endpoints, "endpoint");
  }

  /** The tokenizers by target: one for all, one per target, or one per endpoint. */
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
        : oneEach(settings, Setting.TOKENIZER, set, Math.max(1, targets.size()), "target");
  }

  private static <T> List<T> oneEach(
      Settings settings, SettingEntry<?> setting, List<T> values, int count, String noun) {
    if (values.size() > 1 && values.size() != count) {
      throw settings.invalid(
          setting,
          "%s for %s; expected one, or one for each %s"
              .formatted(
                  NumberText.counted(values.size(), "value"),
                  NumberText.counted(count, noun),
                  noun));
    }
    return IntStream.range(0, count).mapToObj(i -> values.get(values.size() == 1 ? 0 : i)).toList();
  }

  /** The least capable API of all targets: embeddings, then text completion, then messages. */
  private static Api leastApi(List<Target> targets, Api api) {
    return Stream.concat(Stream.of(api), targets.stream().map(target -> target.endpoint().api()))
        .min(Comparator.comparing(Api::generates).thenComparing(Api::takesMessages))
        .orElse(api);
  }

  private static void checkMetricsUrls(Settings settings, List<String> labels) {
    for (EndpointSpec.Named page : settings.get(Setting.METRICS_URL)) {
      if (page.name() != null && !labels.contains(page.name())) {
        String expected = "; expected one of " + labels + ", or a URL without a name";
        throw settings.invalid(
            Setting.METRICS_URL, "'" + page.name() + "' is no target" + expected);
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

  /** Parses extra fields of requests. The result must not be modified. */
  static ObjectNode body(String text) {
    ObjectNode body;
    try {
      body = Form.require(JSON.readValue(text, ObjectNode.class), Objects::nonNull);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(null, e);
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
