package io.github.gatlingllm.action;

import io.gatling.core.CoreComponents;
import io.gatling.core.actor.ActorSystem;
import io.gatling.core.config.GatlingConfiguration;
import io.gatling.core.config.SslConfiguration;
import io.gatling.http.util.SslContexts;
import io.gatling.http.util.SslContextsFactory;
import io.github.gatlingllm.client.ServerConnections;
import io.github.gatlingllm.load.Arrival.DrawOrder;
import io.github.gatlingllm.load.Injector;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.run.Run;
import io.github.gatlingllm.run.RunDirectory;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.TokenCounting;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import scala.Option;

/** The parts of a run that all LLM requests share, whatever their scenario and protocol. */
final class RunParts {

  /** First number of warm-up prompts: half of all nonces, beyond the numbers of any run. */
  private static final long WARM_UP_PROMPTS = 1L << 58;

  /** Longest time for the counting of tokens after the load. */
  private static final Duration COUNTING = Duration.ofSeconds(30);

  /** As {@link #COUNTING}, where the run is interrupted. */
  private static final Duration COUNTING_INTERRUPTED = Duration.ofMillis(500);

  final Run run;
  final RunConfig config;
  final InFlight inFlight = new InFlight();
  final SkippedRequests notSent = new SkippedRequests();
  final InjectionPlans injections;
  final SimulationPlan plan;
  final TokenCounting counting = new TokenCounting();
  final Map<String, ServerConnections> servers = new ConcurrentHashMap<>();
  final CommonStart start;
  final AtomicInteger plans = new AtomicInteger();
  final Injector injector;

  private final Set<String> done = ConcurrentHashMap.newKeySet();
  private final Map<LlmProtocol, InFlightGate> gates = new ConcurrentHashMap<>();
  private final Map<String, RateLimiter> limiters = new ConcurrentHashMap<>();
  private final Map<TlsTrust, SslContexts> tls = new ConcurrentHashMap<>();
  private final Map<LlmProtocol, PromptPrefix.Texts> prefixes = new ConcurrentHashMap<>();
  private final DrawOrder prompts;
  private final DrawOrder warmUpPrompts;

  RunParts(CoreComponents core) {
    injector = InvalidSimulation.checked(Injector::ofProcess);
    RunDirectory directory = RunDirectory.of(core.statsEngine());
    start = CommonStart.of(core, injector);
    Observers observers = InvalidSimulation.checked(Observers::ofProcess);
    run =
        InvalidSimulation.checked(
            () ->
                Run.open(
                    directory,
                    injector.nameOn(host()),
                    opened -> observers.of(opened, core.eventLoopGroup())));
    run.describe(info -> info.share(injector.share()));
    config = new RunConfig(run, injector);
    injections = InjectionPlans.of(core);
    plan = new SimulationPlan(core, run);
    prompts = new DrawOrder(injector.part());
    warmUpPrompts = new DrawOrder(injector.part());
    run.beforeInterruption(
        atMost -> {
          cancel(atMost);
          describe();
        },
        inFlight::size);
    core.actorSystem()
        .registerOnTermination(
            () -> {
              if (!run.isOver()) {
                counting.close(COUNTING);
                describe();
                run.complete();
              }
              return null;
            });
  }

  /**
   * Ends the run before Gatling's HTTP client is closed: Gatling may stop during the load, and
   * requests that it cuts off are no failures of the server. To be called once the client exists,
   * as Gatling closes in reverse order.
   */
  void endBeforeClient(ActorSystem actors) {
    if (isFirst("end before client")) {
      actors.registerOnTermination(
          () -> {
            if (inFlight.isAnyOpen() || run.levels().isAnyRunning()) {
              inFlight.close(InFlight.BY_GATLING);
              run.stopped();
            }
            return null;
          });
    }
  }

  /** Writes observations about the whole run to {@code run.json}. */
  private void describe() {
    notSent.report(run);
    Map<String, RunInfo.Connections> connections = new TreeMap<>();
    servers.forEach(
        (address, of) ->
            connections.put(
                address, new RunInfo.Connections(of.kept() + of.closed(), of.closed())));
    RunInfo.PromptRepeats repeats =
        new RunInfo.PromptRepeats(counting.seenPrompts(), counting.repeatedPrompts());
    run.describe(
        info -> info.connections(connections).prompts(repeats.counted() == 0 ? null : repeats));
  }

  /**
   * Cancels all requests. Counting of tokens may take a part of the time; then records are written
   * without counts, so that none is lost. The rest of the time is for slow event loops.
   */
  private void cancel(Duration atMost) {
    long now = System.nanoTime();
    inFlight.close(InFlight.INTERRUPTED);
    inFlight.await(now + COUNTING_INTERRUPTED.toNanos());
    counting.close(Duration.ZERO);
    inFlight.await(now + atMost.toNanos());
  }

  /** True for the first call with that key. */
  boolean isFirst(String key) {
    return done.add(key);
  }

  /** The gate of all requests of a protocol; null where there is no limit. */
  @Nullable InFlightGate gate(LlmProtocol protocol) {
    Integer limit = part("maxInFlight", protocol.maxInFlight);
    return limit == null ? null : gates.computeIfAbsent(protocol, p -> new InFlightGate(limit));
  }

  /** The part of a limit that this injector has. */
  private @Nullable Integer part(String name, @Nullable Integer limit) {
    int own = limit == null ? 0 : injector.part().of(limit);
    if (limit != null && own == 0) {
      throw InvalidSimulation.because(
          "injector %s has no part of %s=%s; expected %s or more, one for each injector"
              .formatted(injector.share(), name, limit, injector.part().count()));
    }
    return limit == null ? null : (Integer) own;
  }

  /**
   * The limits per minute of all requests to a target, warm-up requests included; null where there
   * are none.
   */
  @Nullable RateLimiter limiter(LlmProtocol protocol) {
    Integer requests = part("maxRequestsPerMinute", protocol.maxRequestsPerMinute);
    Integer tokens = part("maxTokensPerMinute", protocol.maxTokensPerMinute);
    return requests == null && tokens == null
        ? null
        : limiters.computeIfAbsent(
            protocol.label() + " " + requests + " " + tokens,
            key -> new RateLimiter(requests, tokens, System::nanoTime));
  }

  /**
   * The first texts of the prompts of a protocol, computed before the load. All protocols share one
   * count of prompts, as two of them may have the same server. Warm-up requests have a count of
   * their own, as their number depends on time.
   */
  PreparedRequest.Prefixes prefixes(LlmProtocol protocol, boolean measured) {
    PromptPrefix.Texts texts = prefixes.computeIfAbsent(protocol, p -> p.prefix.texts(p.tokenizer));
    return new PreparedRequest.Prefixes(
        texts, injector.part(), measured ? prompts : warmUpPrompts, measured ? 0 : WARM_UP_PROMPTS);
  }

  /** The TLS contexts of a target; null for those of Gatling's client. */
  @Nullable SslContexts tls(
      LlmProtocol protocol, boolean http2, GatlingConfiguration configuration) {
    Boolean verify = protocol.verifyTls;
    return verify == null
        ? null
        : tls.computeIfAbsent(new TlsTrust(verify, http2), trust -> trust.contexts(configuration));
  }

  private static String host() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "localhost";
    }
  }

  /**
   * The trust in certificates, which overrides Gatling's {@code ssl.useInsecureTrustManager}. Keys,
   * trust store, protocols and ciphers are those of Gatling's configuration.
   */
  record TlsTrust(boolean verify, boolean http2) {

    /** Creates the contexts, which exist until the JVM ends. */
    SslContexts contexts(GatlingConfiguration configuration) {
      SslConfiguration ssl = configuration.ssl();
      SslConfiguration own =
          new SslConfiguration(
              ssl.useOpenSsl(),
              ssl.useOpenSslFinalizers(),
              ssl.handshakeTimeout(),
              !verify,
              ssl.enabledProtocols(),
              ssl.enabledCipherSuites(),
              ssl.sessionCacheSize(),
              ssl.sessionTimeout(),
              ssl.enableSni(),
              ssl.keyManagerFactory(),
              verify ? ssl.trustManagerFactory() : Option.empty());
      return new SslContextsFactory(own, verify).newSslContexts(http2, Option.empty());
    }
  }
}
