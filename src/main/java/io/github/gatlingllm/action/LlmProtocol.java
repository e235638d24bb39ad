package io.github.gatlingllm.action;

import io.gatling.core.protocol.Protocol;
import io.github.gatlingllm.record.Assertion;
import io.github.gatlingllm.record.RunInfo.ReportOptions;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.wire.Api;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Tokenizer;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Everything the requests to one target have in common. Built by {@code
 * javaapi.LlmProtocolBuilder}, which documents each part.
 *
 * @param target label of the server under test
 * @param baseUrls each ends in {@code /v1}, or is the full path of an API; virtual users are spread
 *     over them
 * @param apiKey null for none
 * @param model null for none
 * @param headers extra headers
 * @param requestTimeout of a whole request
 * @param idleTimeout longest silence after the response headers
 * @param maxInFlight more requests wait, first in first out; null for no limit
 * @param verifyTls whether certificates are checked; null for what Gatling is configured to do
 * @param shareConnections whether virtual users share one pool of connections
 * @param streaming whether answers are streamed unless a request says otherwise
 * @param pinning whether a request with {@code max_tokens} pins its output to that length
 * @param includeUsage whether streams are asked for usage
 * @param extraBody JSON object that is merged into every request; null for none
 * @param prefix what every prompt begins with
 * @param slo objectives of every request
 * @param sloByName objectives of single request names, instead of {@code slo}
 * @param assertions what the build demands of the requests to this target
 * @param recording what goes into the records
 * @param report what is made of the run
 * @param warmUp what happens before the first measured request
 * @param seed what prompts and arrivals were drawn from; noted in the run, null when not known
 * @param tokenizer what counts its prompts, and its answers where the server does not
 * @param notes more settings by name, noted in the run
 */
public record LlmProtocol(
    String target,
    List<String> baseUrls,
    @Nullable Dynamic<String> apiKey,
    @Nullable Dynamic<String> model,
    Map<String, Dynamic<String>> headers,
    Duration requestTimeout,
    Duration idleTimeout,
    @Nullable Integer maxInFlight,
    @Nullable Boolean verifyTls,
    boolean shareConnections,
    boolean streaming,
    Pinning pinning,
    boolean includeUsage,
    @Nullable String extraBody,
    PromptPrefix prefix,
    Slo slo,
    Map<String, Slo> sloByName,
    List<Assertion> assertions,
    Recording recording,
    ReportOptions report,
    WarmUp warmUp,
    @Nullable Long seed,
    Tokenizer tokenizer,
    Map<String, String> notes)
    implements Protocol {

  /**
   * What goes into the records.
   *
   * @param text prompts and answers
   * @param tokens the instant of every token-bearing event
   */
  public record Recording(boolean text, boolean tokens) {}

  /** Whether {@code ignore_eos} and {@code min_tokens} are sent. */
  public enum Pinning {
    /** Never. */
    NEVER,
    /** Until a warm-up request shows that the server rejects them; then no more, and said so. */
    UNLESS_REJECTED,
    /** Always. */
    ALWAYS
  }

  /**
   * What happens before the first measured request; none of it is in any figure.
   *
   * @param requests real requests to the target
   * @param jvm whether classes and JIT are warmed against an engine inside this JVM
   */
  public record WarmUp(int requests, boolean jvm) {}

  /** No target yet, and the defaults of the contract. */
  static final LlmProtocol DEFAULT = new ProtocolDraft().protocol();

  /** The parts of a protocol as it is built, with their defaults. */
  public static final class ProtocolDraft extends Draft<ProtocolDraft> {
    public String target = "";
    public List<String> baseUrls = List.of();
    public @Nullable Dynamic<String> apiKey;
    public @Nullable Dynamic<String> model;
    public Map<String, Dynamic<String>> headers = Map.of();
    public Duration requestTimeout = Duration.ofMinutes(10);
    public Duration idleTimeout = Duration.ofMinutes(2);
    public @Nullable Integer maxInFlight;
    public @Nullable Boolean verifyTls;
    public boolean shareConnections = true;
    public boolean streaming = true;
    public Pinning pinning = Pinning.UNLESS_REJECTED;
    public boolean includeUsage = true;
    public @Nullable String extraBody;
    public PromptPrefix prefix = PromptPrefix.NONE;
    public Slo slo = Slo.NONE;
    public Map<String, Slo> sloByName = Map.of();
    public List<Assertion> assertions = List.of();
    public Recording recording = new Recording(false, true);
    public ReportOptions report = ReportOptions.DEFAULT;
    public WarmUp warmUp = new WarmUp(0, true);
    public @Nullable Long seed;
    public Tokenizer tokenizer = Tokenizer.cl100k();
    public Map<String, String> notes = Map.of();

    /** What the parts make. */
    public LlmProtocol protocol() {
      return new LlmProtocol(
          target,
          baseUrls,
          apiKey,
          model,
          headers,
          requestTimeout,
          idleTimeout,
          maxInFlight,
          verifyTls,
          shareConnections,
          streaming,
          pinning,
          includeUsage,
          extraBody,
          prefix,
          slo,
          sloByName,
          assertions,
          recording,
          report,
          warmUp,
          seed,
          tokenizer,
          notes);
    }
  }

  /** Whether it says where the server is. */
  boolean hasTarget() {
    return !baseUrls.isEmpty();
  }

  /** A gate that warm-up requests do wait at, so that waiting is warm too. */
  private static final int WARM_UP_GATE = 16;

  /** The same settings, but for a server inside this JVM that knows none of the user's secrets. */
  LlmProtocol at(String baseUrl) {
    return new LlmProtocol(
        target,
        List.of(baseUrl),
        null,
        null,
        Map.of(),
        requestTimeout,
        idleTimeout,
        maxInFlight == null ? null : (Integer) WARM_UP_GATE,
        null,
        shareConnections,
        true,
        Pinning.ALWAYS,
        true,
        null,
        PromptPrefix.NONE,
        slo,
        Map.of(),
        List.of(),
        new Recording(true, true),
        report,
        warmUp,
        seed,
        tokenizer,
        notes);
  }

  /** The API of the first URL: the one that its path names, else chat. */
  Api apiOfUrl() {
    String url = baseUrls.get(0);
    return url.endsWith(Api.COMPLETIONS.path()) && !url.endsWith(Api.CHAT.path())
        ? Api.COMPLETIONS
        : Api.CHAT;
  }

  /** The objectives of requests of that name. */
  Slo sloOf(String requestName) {
    return sloByName.getOrDefault(requestName, slo);
  }

  /** The URL that this user's requests go to. */
  String url(long userId, Api api) {
    String base = baseUrls.get((int) Math.floorMod(userId, (long) baseUrls.size()));
    return base.endsWith("/completions") ? base : base + api.path();
  }

  /** The target's label: as set, else host and port of the first URL; empty without a target. */
  String label() {
    if (!target.isEmpty() || baseUrls.isEmpty()) {
      return target;
    }
    URI uri = URI.create(baseUrls.get(0));
    return uri.getPort() < 0 ? uri.getHost() : uri.getHost() + ":" + uri.getPort();
  }
}
