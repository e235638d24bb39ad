package io.github.gatlingllm.action;

import io.gatling.core.protocol.Protocol;
import io.github.gatlingllm.action.Dynamic.ParameterCheck;
import io.github.gatlingllm.record.Assertion;
import io.github.gatlingllm.record.RunInfo.ReportOptions;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.setting.ProcessSetting;
import io.github.gatlingllm.telemetry.MetricsPage;
import io.github.gatlingllm.wire.Api;
import io.github.gatlingllm.wire.GenerationRequest;
import io.github.gatlingllm.wire.Secrets;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Tokenizer;
import java.lang.reflect.Field;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Everything the requests to one target have in common, with its defaults. Built by {@code
 * javaapi.LlmProtocolBuilder}, which documents each part. Only the change of {@link #with} writes
 * to a field, of a copy that nobody else has seen. Two with the same parts are equal, and share a
 * gate.
 */
public final class LlmProtocol extends Draft<LlmProtocol> implements Protocol {

  /** Session attribute that only users who send warm-up requests have. */
  public static final String WARM_UP_KEY = "gatling.llm.warmUp";

  private static final ProcessSetting DRY_RUN = new ProcessSetting("llm.dryRun");

  /** No target yet, and the defaults of every setting. */
  static final LlmProtocol DEFAULT = new LlmProtocol();

  /** A gate that warm-up requests do wait at, so that waiting is warm too. */
  private static final int WARM_UP_GATE = 16;

  static {
    SupportedGatling.require();
  }

  /** Label of the server under test. */
  public String target = "";

  /**
   * Each ends in {@code /v1}, or is the full path of an API; virtual users are spread over them.
   */
  public List<String> baseUrls = List.of();

  /** Whether that server is inside this JVM, only there to warm it up. */
  boolean inThisJvm;

  /** What {@code Authorization} sends; null for none. */
  public @Nullable Dynamic<String> apiKey;

  /** What requests ask for unless they say otherwise; null for none. */
  public @Nullable Dynamic<String> model;

  /** Extra headers of every request. */
  public Map<String, Dynamic<String>> headers = Map.of();

  /** Longest time of a whole request. */
  public Duration requestTimeout = Duration.ofMinutes(10);

  /** Longest silence of a stream. */
  public Duration idleTimeout = Duration.ofMinutes(2);

  /** Most requests at once; more wait, first in first out. Null for no limit. */
  public @Nullable Integer maxInFlight;

  /** Most requests in any minute; more wait. Null for no limit. */
  public @Nullable Integer maxRequestsPerMinute;

  /** Most tokens of prompts and answers in any minute; more wait. Null for no limit. */
  public @Nullable Integer maxTokensPerMinute;

  /** Whether certificates are checked; null for what Gatling is configured to do. */
  public @Nullable Boolean verifyTls;

  /** How many GPUs serve it; null where that is not known. */
  public @Nullable Double gpus;

  /** What one of them costs per hour, or the server without {@link #gpus}; null where not known. */
  public @Nullable Double costPerHour;

  /** Whether virtual users share one pool of connections. */
  public boolean shareConnections = true;

  /** Whether answers are streamed unless a request says otherwise. */
  public boolean streaming = true;

  /** Whether a request with {@code max_tokens} pins its output to that length. */
  public Pinning pinning = Pinning.UNLESS_REJECTED;

  /** Whether streams are asked for usage. */
  public boolean includeUsage = true;

  /** JSON object that is merged into every request; null for none. */
  public @Nullable String extraBody;

  /** What every prompt begins with. */
  public PromptPrefix prefix = PromptPrefix.NONE;

  /** Objectives of every request. */
  public Slo slo = Slo.NONE;

  /** Objectives of single request names, instead of {@code slo}. */
  public Map<String, Slo> sloByName = Map.of();

  /** What the build demands of the requests to this target. */
  public List<Assertion> assertions = List.of();

  /** Whether prompts and answers go into the records. */
  public boolean recordText;

  /** Whether the instant of every token-bearing event goes into the records. */
  public boolean recordTokens = true;

  /** Pages of metrics that are read while load is on; {@link MetricsPage#AUTO} stands for some. */
  public List<String> metricsUrls = List.of(MetricsPage.AUTO);

  /** Closed when the run has ended, such as an engine in this JVM; null for nothing. */
  public @Nullable AutoCloseable closedAfterRun;

  /** What is made of the run. */
  public ReportOptions report = ReportOptions.DEFAULT;

  /** Real requests to the target before the first measured one, in no figure. */
  public int warmUpRequests;

  /** Whether classes and JIT are warmed before that, against an engine inside this JVM. */
  public boolean warmUpJvm = true;

  /** What the users who send warm-up requests have in their sessions. */
  public Map<String, Object> warmUpSession = Map.of();

  /** What prompts and arrivals were drawn from; noted in the run, null when not known. */
  public @Nullable Long seed;

  /** What counts its prompts, and its answers where the server does not. */
  public Tokenizer tokenizer = Tokenizer.cl100k();

  /** More settings by name, noted in the run. */
  public Map<String, String> notes = Map.of();

  /** Whether {@code ignore_eos} and {@code min_tokens} are sent. */
  public enum Pinning {
    /** Never. */
    NEVER,
    /** Until a warm-up request shows that the server rejects them; then no more, and said so. */
    UNLESS_REJECTED,
    /** Always. */
    ALWAYS
  }

  /** Whether the plan of the simulation is to be printed and nothing sent. */
  public static boolean isDryRun() {
    return "true".equalsIgnoreCase(DRY_RUN.text());
  }

  /**
   * Looks at what is computed from the session.
   *
   * @throws InvalidSimulation for what would make every request fail
   */
  public void refuseMistakes() {
    ParameterCheck check = new ParameterCheck("llm").of("model", model).secret("apiKey", apiKey);
    headers.forEach((name, value) -> check.secret("header(\"" + name + "\", …)", value));
  }

  /**
   * What a body is to be merged with.
   *
   * @throws InvalidSimulation for text that is no JSON object
   */
  public static String jsonObject(String text) {
    var unused = InvalidSimulation.checked(() -> GenerationRequest.of(Api.CHAT).extra(text));
    return text;
  }

  /** Whether it says where the server is. */
  boolean hasTarget() {
    return !baseUrls.isEmpty();
  }

  /** The same settings, but for a server inside this JVM that knows none of the user's secrets. */
  LlmProtocol at(String baseUrl) {
    return with(
        inside -> {
          inside.baseUrls = List.of(baseUrl);
          inside.inThisJvm = true;
          inside.apiKey = null;
          inside.model = null;
          inside.headers = Map.of();
          inside.maxInFlight = maxInFlight == null ? null : (Integer) WARM_UP_GATE;
          inside.maxRequestsPerMinute = null;
          inside.maxTokensPerMinute = null;
          inside.verifyTls = null;
          inside.streaming = true;
          inside.pinning = Pinning.ALWAYS;
          inside.includeUsage = true;
          inside.extraBody = null;
          inside.prefix = PromptPrefix.NONE;
          inside.sloByName = Map.of();
          inside.assertions = List.of();
          inside.recordText = true;
          inside.recordTokens = true;
        });
  }

  /** The pages of metrics that are read while load is on. */
  List<MetricsPage> metricsPages() {
    Map<String, String> secrets = new LinkedHashMap<>();
    String key = apiKey == null ? null : apiKey.constant();
    if (key != null) {
      secrets.put("Authorization", "Bearer " + key);
    }
    headers.forEach(
        (name, value) -> {
          String constant = value.constant();
          if (constant != null && Secrets.isNamed(name)) {
            secrets.put(name, constant);
          }
        });
    return MetricsPage.of(label(), metricsUrls, baseUrls, secrets, Boolean.TRUE.equals(verifyTls));
  }

  /** The objectives of requests of that name. */
  Slo sloOf(String requestName) {
    return sloByName.getOrDefault(requestName, slo);
  }

  /** The URL that this user's requests go to. */
  String url(long userId, Api api) {
    String base = baseUrls.get((int) Math.floorMod(userId, (long) baseUrls.size()));
    int query = base.indexOf('?');
    String path = query < 0 ? base : base.substring(0, query);
    return Api.ofPath(path) == null ? path + api.path() + base.substring(path.length()) : base;
  }

  /** The target's label: as set, else host and port of the first URL; empty without a target. */
  String label() {
    if (!target.isEmpty() || baseUrls.isEmpty()) {
      return target;
    }
    URI uri = URI.create(baseUrls.get(0));
    return uri.getPort() < 0 ? uri.getHost() : uri.getHost() + ":" + uri.getPort();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof LlmProtocol that && parts().equals(that.parts());
  }

  @Override
  public int hashCode() {
    return parts().hashCode();
  }

  /** The values of all public fields: what makes two protocols equal. */
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
}
