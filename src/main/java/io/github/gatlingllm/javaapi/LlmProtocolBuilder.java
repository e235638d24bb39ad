package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.above0;
import static io.github.gatlingllm.action.InvalidSimulation.requireMin;

import io.gatling.javaapi.core.ProtocolBuilder;
import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.Dynamic.Draft;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LlmProtocol;
import io.github.gatlingllm.action.ProtocolPart;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.client.GenerationRequest;
import io.github.gatlingllm.record.TokenGaps;
import io.github.gatlingllm.run.LevelHooks.Hook;
import io.github.gatlingllm.run.MetricsPage;
import io.github.gatlingllm.run.Run;
import io.github.gatlingllm.settings.AgentX;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.SettingValue;
import io.github.gatlingllm.settings.SettingValue.Abandonment;
import io.github.gatlingllm.settings.SettingValue.NamedUrl;
import io.github.gatlingllm.settings.SettingValue.Slos;
import io.github.gatlingllm.settings.SettingValue.StartRange;
import io.github.gatlingllm.settings.SettingValue.WeightedModel;
import io.github.gatlingllm.settings.TargetSpec;
import io.github.gatlingllm.workload.CheckedPrompts;
import io.github.gatlingllm.workload.Tokenizer;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The settings that all requests to one target have in common. */
public final class LlmProtocolBuilder implements ProtocolBuilder {

  static final LlmProtocolBuilder START = of(LlmProtocol.ofSimulation());

  private final LlmProtocol settings;

  /** What was set so far, to be repeated on another protocol. */
  private final UnaryOperator<LlmProtocol> changes;

  private LlmProtocolBuilder(LlmProtocol settings, UnaryOperator<LlmProtocol> changes) {
    this.settings = settings;
    this.changes = changes;
  }

  /** For internal use only: goes on with a protocol. */
  public static LlmProtocolBuilder of(LlmProtocol protocol) {
    return new LlmProtocolBuilder(protocol, same -> same);
  }

  @Override
  public LlmProtocol protocol() {
    return InvalidSimulation.checked(
        () -> {
          Run.checkResultsFolder();
          return settings.taken();
        });
  }

  /** One of several targets: a protocol that completes and overrides that of the entire setUp. */
  LlmProtocolBuilder ofTarget(String label) {
    LlmProtocolBuilder named = target(label);
    return of(named.settings.completing(named.changes));
  }

  /**
   * The URL of the server: a base URL such as {@code http://localhost:8000/v1}, or the full path of
   * an API such as {@code http://localhost:8000/v1/chat/completions}. Virtual users are distributed
   * evenly over several URLs.
   */
  public LlmProtocolBuilder baseUrl(String url, String... more) {
    return baseUrls(Stream.concat(Stream.of(url), Stream.of(more)).toList());
  }

  /** As {@link #baseUrl}, as a list. */
  public LlmProtocolBuilder baseUrls(List<String> urls) {
    return with(
        ProtocolPart.BASE_URLS,
        urls.stream().map(url -> InvalidSimulation.checked(() -> TargetSpec.base(url))).toList());
  }

  /** The name of this target in records and reports; host and port of the first URL by default. */
  public LlmProtocolBuilder target(String label) {
    return with(ProtocolPart.TARGET, label);
  }

  /**
   * The API key, sent as {@code Authorization: Bearer …}; a Gatling EL String. It is in no record,
   * message or report. Null or empty for none, so that a {@code System.getenv("…")} can be passed.
   */
  public LlmProtocolBuilder apiKey(@Nullable String key) {
    return with(ProtocolPart.API_KEY, key == null || key.isEmpty() ? null : Dynamic.secret(key));
  }

  public LlmProtocolBuilder apiKey(Function<Session, String> key) {
    return with(ProtocolPart.API_KEY, Dynamic.of(key));
  }

  /** The model to request, unless a request sets its own; a Gatling EL String. */
  public LlmProtocolBuilder model(String model) {
    return model(Dynamic.text(model));
  }

  public LlmProtocolBuilder model(Function<Session, String> model) {
    return model(Dynamic.of(model));
  }

  /**
   * Adds one to the models or adapters that the load is spread over by weight, a number above 0:
   * {@link #seed} draws the model of each conversation, and of each request outside one.
   */
  public LlmProtocolBuilder model(String name, double weight) {
    WeightedModel model = InvalidSimulation.checked(() -> new WeightedModel(name, weight));
    return with(s -> s.with(ProtocolPart.MODELS, Draft.and(s.models(), model)));
  }

  private LlmProtocolBuilder model(Dynamic<String> model) {
    return with(ProtocolPart.MODEL, model).with(ProtocolPart.MODELS, List.of());
  }

  /**
   * Sets a header of every request, in place of one with the same name. Names are compared
   * case-insensitively. The value is a Gatling EL String.
   */
  public LlmProtocolBuilder header(String name, String value) {
    return with(
        s ->
            s.with(
                ProtocolPart.HEADERS, Draft.andHeader(s.headers(), name, Dynamic.secret(value))));
  }

  public LlmProtocolBuilder header(String name, Function<Session, String> value) {
    return with(
        s -> s.with(ProtocolPart.HEADERS, Draft.andHeader(s.headers(), name, Dynamic.of(value))));
  }

  /** Several headers, as {@link #header(String, String)}. */
  public LlmProtocolBuilder headers(Map<String, String> headers) {
    return with(s -> s.with(ProtocolPart.HEADERS, Draft.andHeaders(s.headers(), headers)));
  }

  /**
   * Sends this header with another value for each conversation, the same in all its turns, so that
   * a gateway can send them to one replica. So has a request outside a conversation.
   */
  public LlmProtocolBuilder conversationHeader(String name) {
    return with(Setting.CONVERSATION_HEADER, Draft.headerName("conversationHeader", name));
  }

  /** Longest time of a request, from connecting to the last byte; 600 s by default. */
  public LlmProtocolBuilder requestTimeout(Duration timeout) {
    return with(Setting.TIMEOUT, above0("requestTimeout", timeout));
  }

  public LlmProtocolBuilder requestTimeout(long seconds) {
    return requestTimeout(Duration.ofSeconds(seconds));
  }

  /**
   * Longest time without a byte of a stream, from when the request is sent; 120 s by default. The
   * headers of an answer that is not streamed may take as long as {@link #requestTimeout}.
   */
  public LlmProtocolBuilder idleTimeout(Duration timeout) {
    return with(Setting.IDLE_TIMEOUT, above0("idleTimeout", timeout));
  }

  public LlmProtocolBuilder idleTimeout(long seconds) {
    return idleTimeout(Duration.ofSeconds(seconds));
  }

  /**
   * Users leave after this time without a complete answer, counted from the planned start, which
   * ends its connection or HTTP/2 stream. The status {@code abandoned} is not a failure, is in no
   * latency and not in Gatling's own statistics; checks are not run.
   */
  public LlmProtocolBuilder abandonAfter(Duration time) {
    return abandonAfter(1, time);
  }

  /** As {@link #abandonAfter(Duration)}, for this share of the requests, above 0, at most 1. */
  public LlmProtocolBuilder abandonAfter(double share, Duration time) {
    return abandonAfter(share, time, time);
  }

  /** As {@link #abandonAfter(double, Duration)}, after a time drawn evenly between the two. */
  public LlmProtocolBuilder abandonAfter(double share, Duration min, Duration max) {
    Abandonment leaving = InvalidSimulation.checked(() -> new Abandonment(share, min, max));
    return with(Setting.ABANDON, leaving);
  }

  /**
   * Requests before each level, {@code "POST:/reset_prefix_cache"}, or before one, {@code
   * "POST:/start_profile@c=8"}; the run ends if one fails. {@code "POST:/start_profile@running>64"}
   * is sent in each level, once more than 64 of its requests are in flight.
   */
  public LlmProtocolBuilder beforeLevel(String... requests) {
    return with(Setting.BEFORE_LEVEL, InvalidSimulation.checked(() -> Hook.all(requests)));
  }

  /**
   * Requests after each level or after one, {@code "POST:/stop_profile@c=8"}, when it has drained;
   * {@code "POST:/stop_profile@running>64"} after those in which more than 64 requests were in
   * flight together. If one fails, no other level starts.
   */
  public LlmProtocolBuilder afterLevel(String... requests) {
    return with(Setting.AFTER_LEVEL, InvalidSimulation.checked(() -> Hook.all(requests)));
  }

  /**
   * Compares answers before, in and after the load: {@code "check"} for those to 50 prompts of the
   * load, or a file of prompts with what their right answers have.
   */
  public LlmProtocolBuilder answers(String checkOrFile) {
    return with(
        Setting.ANSWERS,
        InvalidSimulation.checked("answers", checkOrFile, () -> CheckedPrompts.parse(checkOrFile)));
  }

  /** The number of GPUs that serve this target, above 0; adds output tok/s per GPU. */
  public LlmProtocolBuilder gpus(double number) {
    return with(Setting.GPUS, above0("gpus", number));
  }

  /**
   * The price of one GPU of this target per hour, or of the entire server if {@link #gpus} is not
   * set; above 0, in any currency. Adds the cost per million output tokens.
   */
  public LlmProtocolBuilder costPerHour(double price) {
    return with(Setting.COST_PER_HOUR, above0("costPerHour", price));
  }

  /**
   * Limits the requests in flight, 1 or more; no limit by default. Further requests of all users
   * wait, first in first out. The wait is queue wait, and only in latencies from the planned
   * arrival; {@link #requestTimeout} counts from its end.
   */
  public LlmProtocolBuilder maxInFlight(int requests) {
    return with(Setting.MAX_IN_FLIGHT, requireMin(1, "maxInFlight", requests, "request in flight"));
  }

  /**
   * Limits the requests to this target in any 60 s, 1 or more, as a provider does; no limit by
   * default. Further requests wait as with {@link #maxInFlight}. The limit is of this load
   * generator alone: give each of several its share. The window is 60.5 s long, as networks delay
   * requests.
   */
  public LlmProtocolBuilder maxRequestsPerMinute(int requests) {
    return with(
        Setting.MAX_REQUESTS_PER_MINUTE,
        requireMin(1, "maxRequestsPerMinute", requests, "request"));
  }

  /**
   * As {@link #maxRequestsPerMinute}, for tokens. Until the server's usage is known, a request
   * counts as those of its prompt, one per four characters, plus {@code maxTokens} of each answer.
   * One that exceeds the limit by itself is sent when no other one is in the window.
   */
  public LlmProtocolBuilder maxTokensPerMinute(int tokens) {
    return with(
        Setting.MAX_TOKENS_PER_MINUTE, requireMin(1, "maxTokensPerMinute", tokens, "token"));
  }

  /**
   * Refuses servers whose certificate is not signed by a trusted authority (of Gatling's {@code
   * ssl.trustStore}, else of the JVM) or is issued for another host, and TLS below 1.2. Without
   * this and {@link #disableVerifyTls} Gatling's configuration decides; it trusts all by default.
   */
  public LlmProtocolBuilder verifyTls() {
    return with(Setting.VERIFY_TLS, true);
  }

  /** Accepts any certificate, e.g. a self-signed one of a test server; see {@link #verifyTls}. */
  public LlmProtocolBuilder disableVerifyTls() {
    return with(Setting.VERIFY_TLS, false);
  }

  /** All virtual users share one pool of connections: the default. */
  public LlmProtocolBuilder shareConnections() {
    return with(Setting.CONNECTIONS, "shared");
  }

  /** Every virtual user has separate connections, closed when it ends, as in a browser. */
  public LlmProtocolBuilder disableShareConnections() {
    return with(Setting.CONNECTIONS, "perUser");
  }

  /** Requests answers in one body, unless a request sets it; TTFT, TPOT and ITL are then absent. */
  public LlmProtocolBuilder disableStreaming() {
    return with(Setting.STREAM, false);
  }

  /**
   * Always sends {@code ignore_eos} and {@code min_tokens}, which pin the output to exactly {@code
   * maxTokens}. By default they are sent until the server rejects them in a warm-up request.
   */
  public LlmProtocolBuilder ignoreEos() {
    return with(Setting.IGNORE_EOS, true);
  }

  /** Does not send {@code ignore_eos} and {@code min_tokens}; see {@link #ignoreEos()}. */
  public LlmProtocolBuilder disableIgnoreEos() {
    return with(Setting.IGNORE_EOS, false);
  }

  /**
   * The field that chat completions send {@code maxTokens} in; {@code auto} by default, which is
   * {@code max_tokens}, or {@code max_completion_tokens} once a warm-up request shows the need.
   */
  public LlmProtocolBuilder maxTokensField(String name) {
    return with(
        Setting.MAX_TOKENS_FIELD,
        InvalidSimulation.checked(
            "maxTokensField", '"' + name + '"', () -> Setting.MAX_TOKENS_FIELD.parse(name)));
  }

  /** Does not send {@code stream_options.include_usage}; the tokenizer then estimates tokens. */
  public LlmProtocolBuilder disableUsage() {
    return with(Setting.INCLUDE_USAGE, false);
  }

  /** Requests the tokens of each event, or not; by default if it is vLLM or SGLang. */
  public LlmProtocolBuilder eventTokens(boolean requested) {
    return with(Setting.EVENT_TOKENS, requested ? "server" : "none");
  }

  /** A JSON object whose fields override those of every request; a null value removes one. */
  public LlmProtocolBuilder body(String json) {
    var unused = InvalidSimulation.checked(() -> GenerationRequest.of(Api.CHAT).extra(json));
    return with(Setting.BODY, SettingValue.object(json));
  }

  /**
   * Begins every prompt with a nonce that differs for each request of the run, also for each turn
   * of a conversation, so that none is in a cache. In {@link LlmDsl#replaySession()} it is the same
   * in all requests of a replay, and another one when a session repeats. Replaces {@link
   * #sharedPrefix}.
   */
  public LlmProtocolBuilder uniquePrompts() {
    return with(s -> s.with(Setting.UNIQUE_PROMPTS, true).withPrefixSeed());
  }

  /**
   * Begins every prompt with one of several generated texts (1 or more), each of this many tokens
   * (2 or more) by the tokenizer of this protocol, drawn by {@link #seed}; all turns of a
   * conversation with the same one. Replaces {@link #uniquePrompts}.
   */
  public LlmProtocolBuilder sharedPrefix(int groups, int tokens) {
    return with(Setting.SHARED_PREFIX, Seeds.sharedPrefix(groups, tokens, 0))
        .with(LlmProtocol::withPrefixSeed);
  }

  /**
   * The longest gap of sessions of {@link LlmDsl#replaySession()}, from the end of an answer to the
   * next request; by default gaps are as recorded. Time stamps are cut from start to start.
   */
  public LlmProtocolBuilder sessionGapCap(Duration longest) {
    return with(Setting.SESSION_GAP_CAP, above0("sessionGapCap", longest));
  }

  /**
   * Puts the server's own answers into the prompts of replayed sessions, where a prompt goes on
   * with the one before and no tool was called. By default answers are text of the recorded length,
   * so that the prefix cache can reuse the recorded share.
   */
  public LlmProtocolBuilder serverAnswers() {
    return with(Setting.SESSION_ANSWERS, "server");
  }

  /**
   * Replays sessions by the locked rules of the benchmark AgentX: gaps of 10 s at most, first
   * sessions that begin at a random instant, a marker of each round, {@code ignore_eos}, streams.
   * The verdict states what differs, also where a level measures less than 900 s.
   */
  public LlmProtocolBuilder agentX() {
    return sessionGapCap(Duration.ofSeconds(10))
        .sessionSpeed(1)
        .sessionStart(0, 1)
        .uniquePrompts()
        .with(Setting.SESSION_ANSWERS, "recorded")
        .with(Setting.IGNORE_EOS, true)
        .with(Setting.STREAM, true)
        .note(Setting.SCENARIO.name, AgentX.NAME);
  }

  /** Divides the gaps of replayed sessions, after {@link #sessionGapCap}; above 0. */
  public LlmProtocolBuilder sessionSpeed(double factor) {
    return with(Setting.SESSION_SPEED, above0("sessionSpeed", factor));
  }

  /**
   * Where the first replayed session of each user of a closed level begins: at an instant of it
   * that is drawn between these shares of its time, 0 to 1. The one request before that is sent
   * while the level fills; when each user has its answer, all go on at the same time.
   */
  public LlmProtocolBuilder sessionStart(double from, double to) {
    return with(Setting.SESSION_START, InvalidSimulation.checked(() -> new StartRange(from, to)));
  }

  /** Objectives of every request whose name has none. */
  public LlmProtocolBuilder slo(SloBuilder slo) {
    return with(s -> s.with(Setting.SLO, new Slos(slo.build(), s.sloByName())));
  }

  /** Objectives as text: {@code slo("ttft<200ms,tpot<50ms")}; see {@link LlmDsl#slo(String)}. */
  public LlmProtocolBuilder slo(String objectives) {
    return slo(LlmDsl.slo(objectives));
  }

  /** Objectives of the requests with this name, in place of {@link #slo(SloBuilder)}. */
  public LlmProtocolBuilder slo(String requestName, SloBuilder slo) {
    return with(
        s ->
            s.with(
                Setting.SLO,
                new Slos(s.slo(), Draft.and(s.sloByName(), requestName, slo.build()))));
  }

  /**
   * Adds a tier: an SLO that judges the same requests as the other tiers. The first tier is that of
   * headlines, searches, stop rules and records; every tier has its largest load, its goodput and
   * its verdict. Replaces {@link #slo(SloBuilder)}.
   *
   * @param name a letter, then letters, digits, {@code _ . -}
   */
  public LlmProtocolBuilder sloTier(String name, SloBuilder slo) {
    return with(
        s ->
            s.with(
                Setting.SLO,
                InvalidSimulation.checked(() -> s.get(Setting.SLO).andTier(name, slo.build()))));
  }

  /** Adds assertions on the requests under this protocol; one that is not met fails the build. */
  public LlmProtocolBuilder assertions(LlmAssertion... assertions) {
    return assertions(List.of(assertions));
  }

  public LlmProtocolBuilder assertions(List<LlmAssertion> assertions) {
    return with(
        s ->
            s.with(
                Setting.ASSERT,
                Stream.concat(
                        s.assertions().stream(), assertions.stream().map(LlmAssertion::assertion))
                    .toList()));
  }

  /** Reports missed assertions and invalid runs, but does not fail the build. */
  public LlmProtocolBuilder disableFailBuild() {
    return with(Setting.FAIL_BUILD, false);
  }

  /** Does not fail the build if a check calls the run invalid. */
  public LlmProtocolBuilder disableFailOnInvalid() {
    return with(Setting.FAIL_ON_INVALID, false);
  }

  /** Adds prompts and answers to the records; by default they are left out. */
  public LlmProtocolBuilder recordText() {
    return with(Setting.RECORD_TEXT, true);
  }

  /** Leaves the time of every event out of the records; throughput is then interpolated. */
  public LlmProtocolBuilder disableRecordTokens() {
    return with(Setting.RECORD_TOKENS, false);
  }

  /** Also writes the records as {@code llm/requests.csv}. */
  public LlmProtocolBuilder csv() {
    return with(Setting.CSV, true);
  }

  /**
   * Also writes the results of each load level for other tools: {@code benchmark-report}, {@code
   * vllm}, {@code aiperf}.
   */
  public LlmProtocolBuilder export(String... formats) {
    String given = String.join(",", formats);
    return with(
        Setting.EXPORT,
        InvalidSimulation.checked("export", given, () -> Setting.EXPORT.parse(given)));
  }

  /**
   * Sends a {@code traceparent} (W3C) with every request and records its trace id. Where {@code
   * llm.otlpTraces} has a URL, the spans of these requests are sent there.
   */
  public LlmProtocolBuilder trace() {
    return with(Setting.TRACE, true);
  }

  /** As {@link #trace()}, for this share of the requests, above 0, at most 1. */
  public LlmProtocolBuilder trace(double share) {
    Supplier<Double> checked =
        () ->
            Setting.TRACE_SHARE.parse(
                BigDecimal.valueOf(share).movePointRight(2).toPlainString() + '%');
    return trace().with(Setting.TRACE_SHARE, InvalidSimulation.checked("trace", share, checked));
  }

  /**
   * Pages of metrics of the engine, its GPUs and its host, in Prometheus' text format, read once a
   * second: URLs such as {@code http://gpu-host:9400/metrics}, {@code none}, or by default {@code
   * auto}, which is {@code <host>/metrics} of the target if a supported engine serves it. With
   * {@code prefill=} or {@code decode=} before it, a page is of servers with this role.
   */
  public LlmProtocolBuilder metricsUrl(String url, String... more) {
    return metricsUrls(Stream.concat(Stream.of(url), Stream.of(more)).toList());
  }

  /** As {@link #metricsUrl}, as a list. */
  public LlmProtocolBuilder metricsUrls(List<String> urls) {
    String given = String.join(", ", urls);
    List<String> good =
        InvalidSimulation.checked("metricsUrl", given, () -> MetricsPage.check(urls));
    return with(Setting.METRICS_URL, good.stream().map(url -> new NamedUrl(null, url)).toList());
  }

  /** Closes a server after the last reading of its metrics; {@code after()} is too early. */
  public LlmProtocolBuilder closeAfterRun(AutoCloseable server) {
    return with(ProtocolPart.CLOSED_AFTER_RUN, server);
  }

  /**
   * The tokens per second that readers of the answers read, above 0, to report how long they wait
   * for late tokens; 5 by default. Words per minute ÷ 45 are tokens per second.
   */
  public LlmProtocolBuilder readingSpeed(double tokensPerSecond) {
    Supplier<Double> speed = () -> TokenGaps.checkedReadingSpeed(tokensPerSecond);
    double good = InvalidSimulation.checked("readingSpeed", tokensPerSecond, speed);
    return with(Setting.READING_SPEED, good);
  }

  /**
   * Sends this many real requests, 1 by default, to the target before the load starts, one after
   * the other, in no record; the last is the single-stream peak, else in no figure. Each is the
   * scenario's first request; if that depends on earlier actions of its user, a short request to
   * the same API. If one fails, the run ends before any load. 0 sends none.
   */
  public LlmProtocolBuilder warmUp(int requests) {
    return with(Setting.WARMUP, requireMin(0, "warmUp", requests, "requests"));
  }

  /** As {@link #warmUp(int)}, with session attributes that a feeder would set in the scenario. */
  public LlmProtocolBuilder warmUp(int requests, Map<String, Object> session) {
    return warmUp(requests).with(ProtocolPart.WARM_UP_SESSION, Map.copyOf(session));
  }

  /**
   * Waits at most this long for a server that still starts: until {@code /health} and {@code
   * …/models} answer, and the first warm-up request succeeds; not at all by default.
   */
  public LlmProtocolBuilder waitReady(Duration max) {
    return with(Setting.WAIT_READY, above0("waitReady", max));
  }

  /** Does not warm up this JVM before the load starts, which sends nothing to the target. */
  public LlmProtocolBuilder disableJvmWarmUp() {
    return with(Setting.JVM_WARM_UP, false);
  }

  /** The seed of prefixes and models, recorded in {@code run.json} to repeat the run. */
  public LlmProtocolBuilder seed(long seed) {
    return with(Setting.SEED, seed);
  }

  /**
   * The tokenizer that counts the tokens of prompts, and of answers if the server does not; {@code
   * tiktoken("cl100k_base")} by default. The best choice is the model's own.
   */
  public LlmProtocolBuilder tokenizer(Tokenizer tokenizer) {
    return with(Setting.TOKENIZER, List.of(tokenizer));
  }

  /** Records a name and a value in {@code run.json}, for the report. Do not record secrets. */
  public LlmProtocolBuilder note(String name, String value) {
    return with(s -> s.with(ProtocolPart.NOTES, Draft.and(s.notes(), name, value)));
  }

  private <T extends @Nullable Object> LlmProtocolBuilder with(Setting<T> row, T value) {
    return with(before -> before.with(row, value));
  }

  private <T extends @Nullable Object> LlmProtocolBuilder with(ProtocolPart<T> part, T value) {
    return with(before -> before.with(part, value));
  }

  private LlmProtocolBuilder with(UnaryOperator<LlmProtocol> change) {
    return new LlmProtocolBuilder(
        change.apply(settings), before -> change.apply(changes.apply(before)));
  }
}
