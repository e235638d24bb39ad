package io.github.gatlingllm.javaapi;

import io.gatling.core.protocol.Protocol;
import io.gatling.javaapi.core.ProtocolBuilder;
import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Draft;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LlmProtocol;
import io.github.gatlingllm.record.Assertion;
import io.github.gatlingllm.record.ReadingSpeed;
import io.github.gatlingllm.record.RunInfo.ReportOptions;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.telemetry.MetricsPage;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Tokenizer;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Settings that all requests to one target have in common.
 *
 * <pre>{@code
 * LlmProtocolBuilder engine =
 *     llm.baseUrl("http://localhost:8000/v1")
 *         .model("meta-llama/Llama-3.1-8B-Instruct")
 *         .slo(slo().ttft(ofMillis(200)).tpot(ofMillis(50)).percentile(99));
 * }</pre>
 *
 * <p>Immutable, so all methods return a new occurrence and leave the original unmodified.
 */
public final class LlmProtocolBuilder implements ProtocolBuilder {

  /** What {@code LlmDsl.llm} starts from. */
  static final LlmProtocolBuilder START = new LlmProtocolBuilder(new LlmProtocol());

  private final LlmProtocol settings;

  private LlmProtocolBuilder(LlmProtocol settings) {
    this.settings = settings;
  }

  /**
   * For internal use only.
   *
   * @throws IllegalArgumentException if there is no base URL
   */
  @Override
  public Protocol protocol() {
    return toProtocol();
  }

  /** For internal use only. */
  LlmProtocol toProtocol() {
    if (settings.baseUrls.isEmpty()) {
      throw InvalidSimulation.because(
          "the llm protocol has no base URL; set one: llm.baseUrl(\"http://localhost:8000/v1\")");
    }
    settings.refuseMistakes();
    boolean judged = !settings.slo.isEmpty() || !settings.sloByName.isEmpty();
    if (!judged && settings.assertions.stream().anyMatch(Assertion::needsSlo)) {
      throw InvalidSimulation.because(
          "an assertion on goodput has no SLO to judge; set one: .slo(slo().ttft(200))");
    }
    return settings;
  }

  /**
   * Where the server is: a base URL such as {@code http://localhost:8000/v1}, or the full path of
   * an API such as {@code http://localhost:8000/v1/chat/completions}. Virtual users are spread
   * evenly over several.
   *
   * @throws IllegalArgumentException if one is no http or https URL
   */
  public LlmProtocolBuilder baseUrl(String url, String... more) {
    return baseUrls(all(url, more));
  }

  /** As {@link #baseUrl(String, String...)}. */
  public LlmProtocolBuilder baseUrls(List<String> urls) {
    return with(s -> s.baseUrls = urls.stream().map(LlmProtocolBuilder::url).toList());
  }

  /** The name of this server in records and reports; host and port unless set. */
  public LlmProtocolBuilder target(String label) {
    return with(s -> s.target = label);
  }

  /**
   * The key that is sent as {@code Authorization: Bearer …}. It appears in no record, message or
   * report.
   *
   * @param key a Gatling EL String; null or empty for none, so that {@code System.getenv("…")} can
   *     be passed as it is
   */
  public LlmProtocolBuilder apiKey(@Nullable String key) {
    return with(s -> s.apiKey = key == null || key.isEmpty() ? null : Dynamic.text(key));
  }

  /** As {@link #apiKey(String)}, computed from the session. */
  public LlmProtocolBuilder apiKey(Function<Session, String> key) {
    return with(s -> s.apiKey = Dynamic.of(key));
  }

  /** The model that is asked for, unless a request says otherwise; a Gatling EL String. */
  public LlmProtocolBuilder model(String model) {
    return with(s -> s.model = Dynamic.text(model));
  }

  /** As {@link #model(String)}, computed from the session. */
  public LlmProtocolBuilder model(Function<Session, String> model) {
    return with(s -> s.model = Dynamic.of(model));
  }

  /** A header of every request; the value is a Gatling EL String. */
  public LlmProtocolBuilder header(String name, String value) {
    return header(name, Dynamic.text(value));
  }

  /** A header of every request, computed from the session. */
  public LlmProtocolBuilder header(String name, Function<Session, String> value) {
    return header(name, Dynamic.of(value));
  }

  private LlmProtocolBuilder header(String name, Dynamic<String> value) {
    return with(s -> s.headers = Draft.andHeader(s.headers, name, value));
  }

  /** Headers of every request; the values are Gatling EL Strings. */
  public LlmProtocolBuilder headers(Map<String, String> headers) {
    return with(
        s ->
            headers.forEach(
                (name, value) ->
                    s.headers = Draft.andHeader(s.headers, name, Dynamic.text(value))));
  }

  /** Longest time of a whole request, from connecting to the last byte; 600 s unless set. */
  public LlmProtocolBuilder requestTimeout(Duration timeout) {
    return with(s -> s.requestTimeout = positive("requestTimeout", timeout));
  }

  /** As {@link #requestTimeout(Duration)}, in seconds. */
  public LlmProtocolBuilder requestTimeout(long seconds) {
    return requestTimeout(Duration.ofSeconds(seconds));
  }

  /**
   * Longest silence of a stream, from the instant it is asked for; 120 s unless set. Heartbeats
   * count as signs of life. An answer that is not streamed may take as long as {@link
   * #requestTimeout} until its headers come.
   */
  public LlmProtocolBuilder idleTimeout(Duration timeout) {
    return with(s -> s.idleTimeout = positive("idleTimeout", timeout));
  }

  /** As {@link #idleTimeout(Duration)}, in seconds. */
  public LlmProtocolBuilder idleTimeout(long seconds) {
    return idleTimeout(Duration.ofSeconds(seconds));
  }

  /**
   * How many GPUs serve this target: its output tok/s are shown per GPU too, and against tok/s per
   * user over its load levels.
   *
   * @param number above 0; not known unless set
   */
  public LlmProtocolBuilder gpus(double number) {
    return with(s -> s.gpus = above0("gpus", number));
  }

  /**
   * What one GPU of this target costs per hour, or the whole server where {@link #gpus} is not set:
   * gives the cost per million output tokens, and per million of those within the SLO.
   *
   * @param price above 0, in any currency; not known unless set
   */
  public LlmProtocolBuilder costPerHour(double price) {
    return with(s -> s.costPerHour = above0("costPerHour", price));
  }

  private static double above0(String setting, double number) {
    if (number > 0 && number < Double.POSITIVE_INFINITY) {
      return number;
    }
    throw InvalidSimulation.because(setting + "(" + number + "): expected a number above 0");
  }

  /**
   * Lets at most so many requests be in flight; more wait, first in first out, whatever user they
   * come from. The wait is part of queue wait, never of latency; {@link #requestTimeout} counts
   * from its end.
   *
   * @param requests 1 or more; no limit unless set
   */
  public LlmProtocolBuilder maxInFlight(int requests) {
    return with(s -> s.maxInFlight = atLeast1("maxInFlight", requests, "request in flight"));
  }

  /**
   * Lets at most so many requests go to this target in any 60 s, so that a provider's limit need
   * not turn them away; more wait, first in first out. The wait is part of queue wait, never of
   * latency, and the report says how many were held back and for how long. It holds for this load
   * generator alone: of several, give each its share. The window is half a second longer than a
   * minute, so that requests that are late on their way are not too many where they arrive.
   *
   * @param requests 1 or more; no limit unless set
   */
  public LlmProtocolBuilder maxRequestsPerMinute(int requests) {
    return with(
        s ->
            s.maxRequestsPerMinute =
                atLeast1("maxRequestsPerMinute", requests, "request a minute"));
  }

  /**
   * As {@link #maxRequestsPerMinute}, for tokens. A request counts with its prompt, four characters
   * a token, and with {@code maxTokens} for each answer, until the server's usage says how many
   * they were; without {@code maxTokens}, with its prompt alone until then. One that needs more
   * than the limit by itself goes when no other is in the window.
   *
   * @param tokens 1 or more; no limit unless set
   */
  public LlmProtocolBuilder maxTokensPerMinute(int tokens) {
    return with(
        s -> s.maxTokensPerMinute = atLeast1("maxTokensPerMinute", tokens, "token a minute"));
  }

  private static int atLeast1(String setting, int most, String what) {
    if (most < 1) {
      throw InvalidSimulation.because(setting + "(" + most + "): expected 1 " + what + " or more");
    }
    return most;
  }

  /**
   * Refuses servers whose certificate no trusted authority signed, or that is made for another
   * host. Trusted is what Gatling's {@code ssl.trustStore} names, else what the JVM trusts. Unless
   * this or {@link #disableVerifyTls} is set, Gatling's configuration decides, which by default
   * trusts everybody. Certificates of single users ({@code perUserKeyManagerFactory}) are not sent.
   */
  public LlmProtocolBuilder verifyTls() {
    return with(s -> s.verifyTls = true);
  }

  /** Takes any certificate, for test servers that sign their own; see {@link #verifyTls}. */
  public LlmProtocolBuilder disableVerifyTls() {
    return with(s -> s.verifyTls = false);
  }

  /** All virtual users share one pool of connections: the default. */
  public LlmProtocolBuilder shareConnections() {
    return with(s -> s.shareConnections = true);
  }

  /** Every virtual user has connections of its own, closed when it ends, as browsers do. */
  public LlmProtocolBuilder disableShareConnections() {
    return with(s -> s.shareConnections = false);
  }

  /** Answers come as one body unless a request asks for a stream; TTFT, TPOT and ITL are absent. */
  public LlmProtocolBuilder disableStreaming() {
    return with(s -> s.streaming = false);
  }

  /**
   * Sends {@code ignore_eos} and {@code min_tokens} even to a server that rejected them in a
   * warm-up request: they pin the output of a request with {@code maxTokens} to exactly that
   * length. Unless set they are sent until a warm-up request is rejected for them; the run then
   * goes on without, and says so.
   */
  public LlmProtocolBuilder ignoreEos() {
    return with(s -> s.pinning = LlmProtocol.Pinning.ALWAYS);
  }

  /** Does not send {@code ignore_eos} and {@code min_tokens}; see {@link #ignoreEos()}. */
  public LlmProtocolBuilder disableIgnoreEos() {
    return with(s -> s.pinning = LlmProtocol.Pinning.NEVER);
  }

  /**
   * Does not send {@code stream_options.include_usage}; token counts then come from the tokenizer
   * and are marked as estimates.
   */
  public LlmProtocolBuilder disableUsage() {
    return with(s -> s.includeUsage = false);
  }

  /** A JSON object that is merged into every request, last: it wins; null values remove keys. */
  public LlmProtocolBuilder body(String json) {
    return with(s -> s.extraBody = LlmProtocol.jsonObject(json));
  }

  /**
   * Puts a nonce before the first character of every prompt, another one for each request of the
   * run: no prompt hits what a server has cached of another one. In a conversation this is true of
   * every turn. The same {@link #seed} gives the same nonces; load generators that share a server
   * need different seeds. Takes the place of {@link #sharedPrefix}.
   */
  public LlmProtocolBuilder uniquePrompts() {
    return with(s -> s.prefix = new PromptPrefix.Unique(prefixSeed(s)));
  }

  /**
   * Puts one of several made-up texts before the first character of every prompt, drawn by {@link
   * #seed}: the requests of a group share that much prefix, and no more than chance with others. A
   * conversation stays in its group. Takes the place of {@link #uniquePrompts}.
   *
   * @param groups how many texts there are, 1 or more
   * @param tokens length of each, 2 or more, counted by the tokenizer of this protocol
   */
  public LlmProtocolBuilder sharedPrefix(int groups, int tokens) {
    return with(s -> s.prefix = Seeds.sharedPrefix(groups, tokens, prefixSeed(s)));
  }

  /** Objectives of every request, unless its name has its own. */
  public LlmProtocolBuilder slo(SloBuilder slo) {
    return with(s -> s.slo = slo.build());
  }

  /** As {@link #slo(SloBuilder)}, from settings. */
  public LlmProtocolBuilder slo(Slo slo) {
    return with(s -> s.slo = slo);
  }

  /** Leaves Gatling's own pages as they are; the report stays in {@code llm.html}. */
  public LlmProtocolBuilder disableIndexBlock() {
    return report(new ReportOptions(false, false, true, true)).note("indexBlock", "false");
  }

  /**
   * Objectives of requests of that name, in place of those of all, complete with the share at which
   * they hold.
   */
  public LlmProtocolBuilder slo(String requestName, SloBuilder slo) {
    return slo(requestName, slo.build());
  }

  /** As {@link #slo(String, SloBuilder)}, from settings. */
  public LlmProtocolBuilder slo(String requestName, Slo slo) {
    return with(s -> s.sloByName = Draft.and(s.sloByName, requestName, slo));
  }

  /**
   * What must be true of the requests under this protocol after the run; what is not fails the
   * build, as Gatling's own assertions do. Further ones join those before.
   *
   * <pre>{@code
   * llm.baseUrl(url).assertions(llmGlobal().ttft().percentile(99).lt(200), llmValid())
   * }</pre>
   */
  public LlmProtocolBuilder assertions(LlmAssertion... assertions) {
    return assertions(List.of(assertions));
  }

  /** As {@link #assertions(LlmAssertion...)}. */
  public LlmProtocolBuilder assertions(List<LlmAssertion> assertions) {
    return with(
        s -> assertions.forEach(a -> s.assertions = Draft.and(s.assertions, a.assertion())));
  }

  /** Reports missed assertions and invalid runs, but lets the build go on. */
  public LlmProtocolBuilder disableFailBuild() {
    return report(new ReportOptions(false, true, false, true)).note("failBuild", "false");
  }

  /**
   * Lets the build go on also where a check calls the run invalid: no request succeeded, records
   * are missing, the load generator did not keep up. So do {@code -Dllm.failOnInvalid=false} and
   * {@code LLM_FAIL_ON_INVALID=false}.
   */
  public LlmProtocolBuilder disableFailOnInvalid() {
    return report(new ReportOptions(false, true, true, false)).note("failOnInvalid", "false");
  }

  /** Keeps prompts and answers in the records; they are left out unless this is set. */
  public LlmProtocolBuilder recordText() {
    return with(s -> s.recordText = true);
  }

  /**
   * Does not keep the instant of every token in the records. Throughput inside a window is then
   * interpolated, and the report says so.
   */
  public LlmProtocolBuilder disableRecordTokens() {
    return with(s -> s.recordTokens = false);
  }

  /** Writes {@code llm/requests.csv} beside the records; left out unless this is set. */
  public LlmProtocolBuilder csv() {
    return report(new ReportOptions(true, true, true, true)).note("csv", "true");
  }

  /**
   * Pages of metrics in Prometheus text form that are read once a second while load is on: what the
   * engine, its GPUs and its host say of themselves, in {@code llm/server.jsonl} and the report.
   * Unless set that is {@code auto}: {@code <host>/metrics} of the target, where that is a page of
   * an engine; it is asked once otherwise.
   *
   * @param url {@code auto}, a URL such as {@code http://gpu-host:9400/metrics}, or {@code none}
   */
  public LlmProtocolBuilder metricsUrl(String url, String... more) {
    return metricsUrls(all(url, more));
  }

  /** As {@link #metricsUrl(String, String...)}. */
  public LlmProtocolBuilder metricsUrls(List<String> urls) {
    try {
      List<String> checked = MetricsPage.check(urls);
      return with(s -> s.metricsUrls = checked);
    } catch (IllegalArgumentException e) {
      throw InvalidSimulation.because(
          "metricsUrl(" + String.join(", ", urls) + "): " + e.getMessage());
    }
  }

  /**
   * Closes a server of this simulation when the run has ended and its metrics were read the last
   * time; Gatling's {@code after()} comes too early for that.
   *
   * @param server such as an {@code EmbeddedEngine}
   */
  public LlmProtocolBuilder closeAfterRun(AutoCloseable server) {
    return with(s -> s.closedAfterRun = server);
  }

  /**
   * How fast those read for whom answers are made: the report says how long they wait for tokens
   * that are late. 5 tokens per second unless set.
   *
   * @param tokensPerSecond > 0; words per minute ÷ 45, as a token is about 0.75 words
   */
  public LlmProtocolBuilder readingSpeed(double tokensPerSecond) {
    try {
      return report(ReportOptions.DEFAULT.readAt(ReadingSpeed.checked(tokensPerSecond)));
    } catch (IllegalArgumentException e) {
      throw InvalidSimulation.because("readingSpeed(" + tokensPerSecond + "): " + e.getMessage());
    }
  }

  private LlmProtocolBuilder report(ReportOptions also) {
    return with(s -> s.report = s.report.and(also));
  }

  /**
   * Real requests that are sent to the target before the load starts, one after the other; none
   * unless set. Each is one that the scenario sends, streamed as it is; where that depends on what
   * its user does before, a short one to the same API. They are in no figure and no record. Where
   * one fails, the run ends with a line that says why, before any load.
   *
   * @param requests ≥ 0
   */
  public LlmProtocolBuilder warmUp(int requests) {
    if (requests < 0) {
      throw InvalidSimulation.because("warmUp(" + requests + "): expected 0 or more requests");
    }
    return with(s -> s.warmUpRequests = requests);
  }

  /**
   * As {@link #warmUp(int)}, by users who have these attributes in their sessions, as a feeder
   * would give them.
   */
  public LlmProtocolBuilder warmUp(int requests, Map<String, Object> session) {
    return warmUp(requests).with(s -> s.warmUpSession = Map.copyOf(session));
  }

  /**
   * Does not warm this JVM (class loading, JIT) before the load starts. That warm-up talks to an
   * engine inside this JVM and never sends anything to the target.
   */
  public LlmProtocolBuilder disableJvmWarmUp() {
    return with(s -> s.warmUpJvm = false);
  }

  /**
   * Notes in the run what prompts and arrivals were drawn from, so that it can be repeated; what
   * prompts begin with is drawn from it too.
   */
  public LlmProtocolBuilder seed(long seed) {
    return with(
        s -> {
          s.seed = seed;
          s.prefix = s.prefix.seed(seed);
        });
  }

  /**
   * What counts the tokens of prompts, for {@code prompt_tokens_local} and exact lengths, and of
   * answers where the server does not; {@code tiktoken("cl100k_base")} unless set. Best is the
   * model's own: {@code huggingFace("models/llama/tokenizer.json")}.
   */
  public LlmProtocolBuilder tokenizer(Tokenizer tokenizer) {
    return with(s -> s.tokenizer = tokenizer);
  }

  /** Notes a setting of the simulation in the run, where the report shows it; never a secret. */
  public LlmProtocolBuilder note(String name, String value) {
    return with(s -> s.notes = Draft.and(s.notes, name, value));
  }

  private static String url(String url) {
    String trimmed = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
    try {
      URI uri = URI.create(trimmed);
      if (("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()))
          && uri.getHost() != null) {
        return trimmed;
      }
    } catch (IllegalArgumentException e) {
      // Said below, as of other URLs.
    }
    throw InvalidSimulation.because(
        "'" + url + "' is no base URL; expected something like http://localhost:8000/v1");
  }

  private static List<String> all(String first, String... more) {
    return Stream.concat(Stream.of(first), Stream.of(more)).toList();
  }

  static Duration positive(String setting, Duration value) {
    if (value.isNegative() || value.isZero()) {
      throw InvalidSimulation.because(setting + "(" + value + "): expected more than zero");
    }
    return value;
  }

  private LlmProtocolBuilder with(Consumer<LlmProtocol> change) {
    return new LlmProtocolBuilder(settings.with(change));
  }

  /** Drawn once, so that one protocol is one protocol however often it is asked for. */
  private static long prefixSeed(LlmProtocol settings) {
    return settings.seed == null ? Seeds.random() : settings.seed;
  }
}
