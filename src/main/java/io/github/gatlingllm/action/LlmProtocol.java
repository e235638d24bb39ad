package io.github.gatlingllm.action;

import io.gatling.core.protocol.Protocol;
import io.github.gatlingllm.action.Dynamic.Draft;
import io.github.gatlingllm.action.LlmRequest.Abandonment;
import io.github.gatlingllm.action.LlmRequest.WeightedModel;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.client.GenerationRequest;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.ProcessSetting;
import io.github.gatlingllm.record.RunInfo.ReportOptions;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.run.Observers.LevelHooks.Hook;
import io.github.gatlingllm.run.Observers.MetricsPage;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Tokenizer;
import java.lang.reflect.Field;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The settings of all requests to one target, which {@code javaapi.LlmProtocolBuilder} documents.
 * Written by {@link #with} only. Protocols with the same public fields are equal and share a gate.
 */
public final class LlmProtocol extends Draft<LlmProtocol> implements Protocol {

  static final String IGNORE_EOS = "ignoreEos";

  static final String TOKENIZER = "tokenizer";

  static final String MAX_TOKENS_FIELD = "maxTokensField";

  private static final ProcessSetting DRY_RUN = new ProcessSetting("llm.dryRun");

  static final LlmProtocol DEFAULT = new LlmProtocol();

  /** Limit of the gate in the JVM warm-up: so low that requests wait, as that is warmed too. */
  private static final int WARM_UP_GATE = 16;

  static {
    Versions.requireGatling();
    InvalidSimulation.StartFilter.install();
  }

  /** What it changes in the protocol of the whole simulation; null for a protocol of its own. */
  private @Nullable Consumer<LlmProtocol> changes;

  public String target = "";

  /** URLs that end in {@code /v1} or in the path of an API; virtual users are spread over them. */
  public List<String> baseUrls = List.of();

  /** Whether the server is an engine in this JVM, for the JVM warm-up. */
  boolean inThisJvm;

  public @Nullable Dynamic<String> apiKey;
  public @Nullable Dynamic<String> model;

  /** Models that requests are spread over by weight, in place of {@link #model}. */
  public List<WeightedModel> models = List.of();

  public Map<String, Dynamic<String>> headers = Map.of();

  /** The header that tells conversations apart; null for none. */
  public @Nullable String conversationHeader;

  public Duration requestTimeout = Duration.ofMinutes(10);
  public Duration idleTimeout = Duration.ofMinutes(2);
  public @Nullable Duration waitReady;
  public List<Hook> beforeLevel = List.of();
  public @Nullable Abandonment abandonment;
  public @Nullable Integer maxInFlight;
  public @Nullable Integer maxRequestsPerMinute;
  public @Nullable Integer maxTokensPerMinute;
  public @Nullable Boolean verifyTls;
  public @Nullable Double gpus;
  public @Nullable Double costPerHour;
  public boolean shareConnections = true;
  public boolean streaming = true;
  public Pinning pinning = Pinning.UNLESS_REJECTED;

  /** The field of the output length in chat completions; null until the server refuses one. */
  public @Nullable String maxTokensField;

  /** Whether the limit on output tokens is the user's own, not a default of ours. */
  public boolean isLimitNamed = true;

  /** Whether streams end with usage; null for yes until the server rejects the field. */
  public @Nullable Boolean includeUsage;

  /** Whether it is asked for the tokens of each event; null to ask a server that counts them. */
  public @Nullable Boolean eventTokens;

  /** Whether the server is known to count the tokens of each event on request. */
  public boolean countsEvents;

  public @Nullable String extraBody;
  public PromptPrefix prefix = PromptPrefix.NONE;
  public Slo slo = Slo.NONE;
  public Map<String, Slo> sloByName = Map.of();

  public List<Assertion> assertions = List.of();
  public boolean recordText;
  public boolean recordTokens = true;
  public List<String> metricsUrls = List.of(MetricsPage.AUTO);
  public @Nullable AutoCloseable closedAfterRun;
  public ReportOptions report = ReportOptions.DEFAULT;
  public int warmUpRequests = 1;
  public boolean warmUpJvm = true;
  public Map<String, Object> warmUpSession = Map.of();
  public @Nullable Long seed;
  public Tokenizer tokenizer = Tokenizer.cl100k();

  public Map<String, String> notes = Map.of();

  public enum Pinning {
    NEVER,
    /** Until the server rejects a warm-up request with them; a line is printed then. */
    UNLESS_REJECTED,
    ALWAYS
  }

  public String target() {
    return target;
  }

  public List<String> baseUrls() {
    return baseUrls;
  }

  public boolean inThisJvm() {
    return inThisJvm;
  }

  public @Nullable Dynamic<String> apiKey() {
    return apiKey;
  }

  public @Nullable Dynamic<String> model() {
    return model;
  }

  public List<WeightedModel> models() {
    return models;
  }

  public Map<String, Dynamic<String>> headers() {
    return headers;
  }

  public @Nullable String conversationHeader() {
    return conversationHeader;
  }

  public Duration requestTimeout() {
    return requestTimeout;
  }

  public Duration idleTimeout() {
    return idleTimeout;
  }

  public @Nullable Duration waitReady() {
    return waitReady;
  }

  public List<Hook> beforeLevel() {
    return beforeLevel;
  }

  public @Nullable Abandonment abandonment() {
    return abandonment;
  }

  public @Nullable Integer maxInFlight() {
    return maxInFlight;
  }

  public @Nullable Integer maxRequestsPerMinute() {
    return maxRequestsPerMinute;
  }

  public @Nullable Integer maxTokensPerMinute() {
    return maxTokensPerMinute;
  }

  public @Nullable Boolean verifyTls() {
    return verifyTls;
  }

  public @Nullable Double gpus() {
    return gpus;
  }

  public @Nullable Double costPerHour() {
    return costPerHour;
  }

  public boolean shareConnections() {
    return shareConnections;
  }

  public boolean streaming() {
    return streaming;
  }

  public Pinning pinning() {
    return pinning;
  }

  public @Nullable String maxTokensField() {
    return maxTokensField;
  }

  public boolean isLimitNamed() {
    return isLimitNamed;
  }

  public @Nullable Boolean includeUsage() {
    return includeUsage;
  }

  public @Nullable Boolean eventTokens() {
    return eventTokens;
  }

  public boolean countsEvents() {
    return countsEvents;
  }

  public @Nullable String extraBody() {
    return extraBody;
  }

  public PromptPrefix prefix() {
    return prefix;
  }

  public Slo slo() {
    return slo;
  }

  public Map<String, Slo> sloByName() {
    return sloByName;
  }

  public List<Assertion> assertions() {
    return assertions;
  }

  public boolean recordText() {
    return recordText;
  }

  public boolean recordTokens() {
    return recordTokens;
  }

  public List<String> metricsUrls() {
    return metricsUrls;
  }

  public @Nullable AutoCloseable closedAfterRun() {
    return closedAfterRun;
  }

  public ReportOptions report() {
    return report;
  }

  public int warmUpRequests() {
    return warmUpRequests;
  }

  public boolean warmUpJvm() {
    return warmUpJvm;
  }

  public Map<String, Object> warmUpSession() {
    return warmUpSession;
  }

  public @Nullable Long seed() {
    return seed;
  }

  public Tokenizer tokenizer() {
    return tokenizer;
  }

  public Map<String, String> notes() {
    return notes;
  }

  /** Whether the setting {@code dryRun} is on: the plan is printed and nothing is sent. */
  public static boolean isDryRun() {
    return InvalidSimulation.checked(() -> DRY_RUN.isTrue(false));
  }

  public static String jsonObject(String text) {
    var unused = InvalidSimulation.checked(() -> GenerationRequest.of(Api.CHAT).extra(text));
    return text;
  }

  public static final String NO_UNDERSCORE =
      "its host name has an underscore, which URLs do not allow; give the server a name without one"
          + " (in compose files: networks, aliases), or use its address";

  /** An http or https URL without credentials; the result has no slash at its end. */
  public static String url(@Nullable String url) {
    if (url == null) {
      throw InvalidSimulation.because(
          "baseUrl(null): expected something like http://localhost:8000/v1; is the environment"
              + " variable or property set that it comes from?");
    }
    String trimmed = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
    URI uri = null;
    try {
      uri = URI.create(trimmed);
    } catch (IllegalArgumentException e) {
      // The message below applies.
    }
    if (uri != null && uri.getRawUserInfo() != null) {
      throw InvalidSimulation.because(
          "baseUrl(…): expected no credentials in the URL; use .apiKey(…) or"
              + " .header(\"Authorization\", …)");
    }
    if (uri == null
        || uri.getHost() == null
        || !List.of("http", "https").contains(String.valueOf(uri.getScheme()))) {
      throw InvalidSimulation.because(
          "'%s' is no base URL; %s"
              .formatted(
                  url,
                  uri != null && hasUnderscore(uri)
                      ? NO_UNDERSCORE
                      : "expected something like http://localhost:8000/v1"));
    }
    return trimmed;
  }

  /** Whether its host name has an underscore, as names of services in compose files may. */
  public static boolean hasUnderscore(URI url) {
    return url.getHost() == null && String.valueOf(url.getAuthority()).contains("_");
  }

  /** Whether the simulation has no llm protocol. */
  @SuppressWarnings("ReferenceEquality") // one that sets nothing is a protocol of the user
  boolean isDefault() {
    return this == DEFAULT;
  }

  /** The field of that name; null where the server decides. */
  public static @Nullable String maxTokensField(String name) {
    if (!Api.MAX_TOKENS_FIELDS.contains(name)) {
      throw InvalidSimulation.because(
          "maxTokensField(\"%s\"): expected one of %s"
              .formatted(name, String.join(", ", Api.MAX_TOKENS_FIELDS)));
    }
    return name.equals("auto") ? null : name;
  }

  /** A protocol that completes and overrides the one of the whole simulation, where it has one. */
  public LlmProtocol completing(Consumer<LlmProtocol> changed) {
    return with(protocol -> protocol.changes = changed);
  }

  LlmProtocol over(@Nullable LlmProtocol common) {
    return changes == null || common == null ? this : common.with(changes);
  }

  /** This protocol, which has all that a load needs. */
  public LlmProtocol complete() {
    if (baseUrls.isEmpty()) {
      throw InvalidSimulation.because(
          "the llm protocol has no base URL; set one: llm.baseUrl(\"http://localhost:8000/v1\")");
    }
    if (!hasSlo() && assertions.stream().anyMatch(Assertion::needsSlo)) {
      throw InvalidSimulation.because(
          "an assertion on goodput has no SLO to judge; set one: .slo(slo().ttft(200)) or llm.slo");
    }
    return this;
  }

  /** Sets the seed, that of prefixes too. */
  public void seed(long other) {
    seed = other;
    prefix = prefix.seed(other);
  }

  /** The seed of prefixes; drawn where none is set. */
  public long prefixSeed() {
    return seed == null ? InvalidSimulation.checked(Seed::ofProcess).next() : seed;
  }

  /** What matters of it for an engine in this JVM, without secrets and limits of the target. */
  LlmProtocol forJvmWarmUp(String baseUrl) {
    return DEFAULT.with(
        inside -> {
          inside.baseUrls = List.of(baseUrl);
          inside.model = Dynamic.of("embedded");
          inside.prefix = prefix;
          inside.verifyTls = verifyTls;
          inside.inThisJvm = true;
          inside.requestTimeout = requestTimeout;
          inside.idleTimeout = idleTimeout;
          inside.maxInFlight = maxInFlight == null ? null : (Integer) WARM_UP_GATE;
          inside.shareConnections = shareConnections;
          inside.pinning = Pinning.ALWAYS;
          inside.slo = slo;
          inside.recordText = true;
          inside.warmUpSession = warmUpSession;
          inside.tokenizer = tokenizer;
        });
  }

  List<MetricsPage> metricsPages() {
    return pages(metricsUrls);
  }

  /** The pages that answer once a server is up. */
  List<MetricsPage> readyPages() {
    List<String> urls = new ArrayList<>();
    for (String base : baseUrls) {
      String path = base.split("\\?", 2)[0];
      Api api = Api.ofPath(path);
      int end = path.length() - (api == null ? 0 : api.path().length());
      urls.add(URI.create(path).resolve("/health").toString());
      urls.add(path.substring(0, end) + "/models");
    }
    return pages(urls);
  }

  /** Waits, as long as {@code waitReady} allows, until all these pages answer. */
  public void awaitReady() {
    new ReadyWait(this).untilUp();
  }

  List<MetricsPage> pages(List<String> urls) {
    Map<String, String> secrets = new LinkedHashMap<>();
    String key = apiKey == null ? null : apiKey.constant();
    if (key != null) {
      secrets.put("Authorization", "Bearer " + key.strip());
    }
    headers.forEach(
        (name, value) -> {
          String constant = value.constant();
          if (constant != null && Secrets.isNamed(name)) {
            secrets.put(name, constant.strip());
          }
        });
    return MetricsPage.of(label(), urls, baseUrls, secrets, Boolean.TRUE.equals(verifyTls));
  }

  /**
   * Refuses gates of a load level that there is not.
   *
   * @param levels the labels of all; null where they are not known before the load
   */
  void requireLevels(@Nullable Set<String> levels) {
    for (Assertion gate : levels == null ? List.<Assertion>of() : assertions) {
      if (gate.scope() == Assertion.Scope.STAGE && !levels.contains(String.valueOf(gate.name()))) {
        throw InvalidSimulation.because(
            "assertion on load level '%s': there is none of that name; expected one of %s"
                .formatted(gate.name(), String.join(", ", levels)));
      }
    }
  }

  boolean hasSlo() {
    return !slo.isEmpty() || !sloByName.isEmpty();
  }

  Slo sloOf(String requestName) {
    return sloByName.getOrDefault(requestName, slo);
  }

  String url(long userId, Api api) {
    String base = baseUrls.get((int) Math.floorMod(userId, (long) baseUrls.size()));
    int query = base.indexOf('?');
    String path = query < 0 ? base : base.substring(0, query);
    return Api.ofPath(path) == null ? path + api.path() + base.substring(path.length()) : base;
  }

  /** The label of the target: as set, else host and port of the first URL; empty without a URL. */
  public String label() {
    if (!target.isEmpty() || baseUrls.isEmpty()) {
      return target;
    }
    URI uri = URI.create(baseUrls.get(0));
    return uri.getPort() < 0 ? uri.getHost() : uri.getHost() + ":" + uri.getPort();
  }

  Map<String, String> settings() {
    Map<String, String> config = new LinkedHashMap<>();
    config.put("target", label());
    config.put("endpoint", String.join(",", baseUrls.stream().map(Secrets::redactUrl).toList()));
    config.put("stream", Boolean.toString(streaming));
    config.put(IGNORE_EOS, Boolean.toString(pinning != Pinning.NEVER));
    config.put("recordTokens", Boolean.toString(recordTokens));
    config.put("timeout", seconds(requestTimeout));
    config.put("idleTimeout", seconds(idleTimeout));
    putIfSet(config, "model", models.isEmpty() ? null : WeightedModel.shares(models));
    putIfSet(config, "waitReady", waitReady == null ? null : seconds(waitReady));
    putIfSet(config, "conversationHeader", conversationHeader);
    putIfSet(config, MAX_TOKENS_FIELD, maxTokensField);
    putIfSet(config, "includeUsage", includeUsage);
    putIfSet(config, "eventTokens", asksEventTokens() ? "server" : null);
    putIfSet(config, "abandon", abandonment);
    putIfSet(config, "beforeLevel", beforeLevel.isEmpty() ? null : Hook.texts(beforeLevel));
    putIfSet(config, "maxInFlight", maxInFlight);
    putIfSet(config, "maxRequestsPerMinute", maxRequestsPerMinute);
    putIfSet(config, "maxTokensPerMinute", maxTokensPerMinute);
    putIfSet(config, "gpus", gpus);
    putIfSet(config, "costPerHour", costPerHour);
    putIfSet(config, "verifyTls", verifyTls);
    if (prefix instanceof PromptPrefix.Unique unique) {
      config.put("uniquePrompts", "true");
      config.put("prefixSeed", Long.toString(unique.seed()));
    } else if (prefix instanceof PromptPrefix.Shared shared) {
      config.put("sharedPrefix", shared.groups() + "x" + shared.tokens());
      config.put("prefixSeed", Long.toString(shared.seed()));
    }
    config.put("connections", shareConnections ? "shared" : "perUser");
    config.putAll(notes);
    config.put(TOKENIZER, tokenizer.name());
    return config;
  }

  static String seconds(Duration duration) {
    return NumberText.plain(duration.toNanos() / 1e9) + "s";
  }

  boolean asksEventTokens() {
    return eventTokens == null ? countsEvents : eventTokens;
  }

  private static void putIfSet(Map<String, String> config, String name, @Nullable Object value) {
    if (value != null) {
      config.put(
          name, value instanceof Double number ? NumberText.plain(number) : value.toString());
    }
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof LlmProtocol that && parts().equals(that.parts());
  }

  @Override
  public int hashCode() {
    return parts().hashCode();
  }

  private List<@Nullable Object> parts() {
    List<@Nullable Object> parts = new ArrayList<>();
    for (Field field : LlmProtocol.class.getFields()) {
      try {
        parts.add(field.get(this));
      } catch (IllegalAccessException e) {
        throw new AssertionError(e);
      }
    }
    return parts;
  }

  /** What the settings of this process change; a service, as their catalogue lies above. */
  public interface RunSettings {

    static RunSettings ofProcess() {
      return Holder.FOUND;
    }

    /**
     * Before the run opens: ends it where a setting is not understood, has no effect on it, or asks
     * for something else than its load, and prints what else is to be known.
     *
     * @param results finds the folder of all results
     */
    void begin(Supplier<Path> results);

    /**
     * A protocol of the simulation, completed or overridden.
     *
     * @param isOnly whether the simulation has no other: only then its target can be replaced
     */
    LlmProtocol applyTo(LlmProtocol protocol, boolean isOnly);

    /** A load plan of the simulation, with the rules that end it. */
    LoadPlan applyTo(LoadPlan plan);

    /** Reads the settings once. */
    final class Holder {
      private static final RunSettings FOUND =
          ServiceLoader.load(RunSettings.class, RunSettings.class.getClassLoader())
              .findFirst()
              .orElseThrow();

      private Holder() {}
    }
  }
}
