package io.github.gatlingllm.action;

import io.gatling.core.CoreComponents;
import io.gatling.core.actor.ActorSystem;
import io.gatling.core.config.GatlingConfiguration;
import io.gatling.core.config.SslConfiguration;
import io.gatling.http.util.SslContexts;
import io.gatling.http.util.SslContextsFactory;
import io.github.gatlingllm.client.ServerConnections;
import io.github.gatlingllm.clock.ComparedClock;
import io.github.gatlingllm.clock.TimeServer;
import io.github.gatlingllm.injector.Injector;
import io.github.gatlingllm.load.Arrival.Turns;
import io.github.gatlingllm.load.RateLimiter;
import io.github.gatlingllm.processes.LocalInjectors;
import io.github.gatlingllm.record.Assertion;
import io.github.gatlingllm.record.ClockOffset;
import io.github.gatlingllm.record.ClockOffset.DateChange;
import io.github.gatlingllm.record.JvmOptions;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.run.Run;
import io.github.gatlingllm.run.RunDirectory;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.RunSeed;
import io.github.gatlingllm.workload.TokenCounting;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import scala.Option;

/**
 * What all LLM requests of a run share, whatever their scenario and protocol. Made once per run.
 */
record RunParts(
    Run run,
    InFlight inFlight,
    NotSent notSent,
    InjectionPlans injections,
    SimulationPlan plan,
    TokenCounting counting,
    ComparedClock clock,
    Set<String> warmedUp,
    Set<String> unpinned,
    Map<LlmProtocol, InFlightGate> gates,
    Map<String, RateLimiter> limiters,
    Map<TlsTrust, SslContexts> tls,
    Map<String, ServerConnections> servers,
    Map<LlmProtocol, PromptPrefix.Texts> prefixes,
    CommonStart start,
    AtomicInteger plans,
    Injector injector,
    Turns prompts,
    Turns warmUpPrompts,
    List<LlmProtocol> used,
    Map<String, Map<String, Slo>> ownSlos) {

  /**
   * Where warm-up prompts are counted from: half of the nonces there are, and no run gets so far.
   */
  private static final long WARM_UP_PROMPTS = 1L << 58;

  /** Longest time that records wait for counts when all requests have ended. */
  private static final Duration COUNTING = Duration.ofSeconds(30);

  /** The same when the run is interrupted. */
  private static final Duration COUNTING_INTERRUPTED = Duration.ofMillis(500);

  /** Longest time that a clock of others is waited for, three times at most. */
  private static final Duration CLOCK = Duration.ofMillis(500);

  /** The same when the run is interrupted. */
  private static final Duration CLOCK_INTERRUPTED = Duration.ofMillis(100);

  static RunParts of(CoreComponents core) {
    Injector injector = InvalidSimulation.checked(Injector::ofProcess);
    RunDirectory directory = RunDirectory.of(core.statsEngine());
    int injectors = InvalidSimulation.checked(LocalInjectors::asked);
    if (injectors > 1 && !LlmProtocol.isDryRun()) {
      startInjectors(injectors, injector, directory);
    }
    CommonStart start = CommonStart.of(core, injector);
    Run run = InvalidSimulation.checked(() -> Run.open(directory, injector.nameOn(host())));
    run.describe(info -> info.share(injector.share()));
    run.watch(core.eventLoopGroup());
    InFlight inFlight = new InFlight();
    TokenCounting counting = new TokenCounting();
    NotSent notSent = new NotSent();
    ComparedClock clock =
        new ComparedClock(
            InvalidSimulation.checked(() -> TimeServer.of(System.getProperties(), System.getenv())),
            () -> run.unixNanos(System.nanoTime()),
            System.out::println);
    Map<String, ServerConnections> servers = new ConcurrentHashMap<>();
    run.beforeInterruption(
        atMost -> {
          cancel(inFlight, counting, atMost);
          clock.after(CLOCK_INTERRUPTED);
          notSent.report(run);
          describe(run, counting, clock, servers);
        },
        inFlight::size);
    core.actorSystem()
        .registerOnTermination(
            () -> {
              if (!run.isOver()) {
                counting.close(COUNTING);
                clock.after(CLOCK);
                notSent.report(run);
                describe(run, counting, clock, servers);
                run.complete();
              }
              return null;
            });
    return new RunParts(
        run,
        inFlight,
        notSent,
        InjectionPlans.of(core),
        new SimulationPlan(core, run),
        counting,
        clock,
        ConcurrentHashMap.newKeySet(),
        ConcurrentHashMap.newKeySet(),
        new ConcurrentHashMap<>(),
        new ConcurrentHashMap<>(),
        new ConcurrentHashMap<>(),
        servers,
        new ConcurrentHashMap<>(),
        start,
        new AtomicInteger(),
        injector,
        new Turns(injector.part()),
        new Turns(injector.part()),
        new CopyOnWriteArrayList<>(),
        new ConcurrentHashMap<>());
  }

  /** Has other processes send the load, and ends this one with what comes of it. */
  @SuppressWarnings("SystemExitOutsideMain") // main is Gatling's
  private static void startInjectors(int count, Injector injector, RunDirectory directory) {
    if (injector.isPart()) {
      throw InvalidSimulation.because(
          "%s=%d and injector %s: the load is shared out once; leave out one of them"
              .formatted(LocalInjectors.PROPERTY, count, injector.share()));
    }
    try {
      long seed = InvalidSimulation.checked(RunSeed::ofProcess).value();
      System.exit(LocalInjectors.run(count, directory.simulation(), directory.path(), seed));
    } catch (IOException e) {
      throw InvalidSimulation.because("The injectors cannot be started: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Has the run end before Gatling's HTTP client does: Gatling may stop while load is on, and what
   * it cuts off is nothing that the server did. To be called when that client is there, as Gatling
   * ends first what came last.
   */
  void endBeforeClient(ActorSystem actors) {
    if (isFirst("end before client")) {
      actors.registerOnTermination(
          () -> {
            if (inFlight.isAnyOpen() || run.isLevelRunning()) {
              inFlight.close(InFlight.BY_GATLING);
              run.stopped();
            }
            return null;
          });
    }
  }

  /** Notes in the run what was seen while it was on. */
  private static void describe(
      Run run,
      TokenCounting counting,
      ComparedClock clock,
      Map<String, ServerConnections> servers) {
    RunInfo.PromptRepeats prompts =
        new RunInfo.PromptRepeats(counting.seenPrompts(), counting.repeatedPrompts());
    run.describe(
        info ->
            info.connections(connections(servers))
                .clock(clock.offset(() -> dateChanges(run, servers)))
                .prompts(prompts.counted() == 0 ? null : prompts));
  }

  /**
   * TokenCounting may take its share of the time; then records are handed over without counts, so
   * that none is lost for want of one. All the rest of the time is for event loops that are slow.
   */
  private static void cancel(InFlight inFlight, TokenCounting counting, Duration atMost) {
    long now = System.nanoTime();
    inFlight.close(InFlight.INTERRUPTED);
    inFlight.await(now + COUNTING_INTERRUPTED.toNanos());
    counting.close(Duration.ZERO);
    inFlight.await(now + atMost.toNanos());
  }

  /** What is known of the servers whose connections could be used again. */
  private static Map<String, RunInfo.Connections> connections(
      Map<String, ServerConnections> servers) {
    Map<String, RunInfo.Connections> byAddress = new TreeMap<>();
    servers.forEach(
        (address, of) ->
            byAddress.put(address, new RunInfo.Connections(of.kept() + of.closed(), of.closed())));
    return byAddress;
  }

  private static Map<String, List<DateChange>> dateChanges(
      Run run, Map<String, ServerConnections> servers) {
    Map<String, List<DateChange>> byAddress = new TreeMap<>();
    servers.forEach((address, of) -> byAddress.put(address, of.dateChanges(run::unixNanos)));
    return byAddress;
  }

  /** Compares the run's clock, once, before the load. */
  void compareClock() {
    if (isFirst("clock")) {
      ClockOffset asked = clock.before();
      run.describe(info -> info.clock(asked));
    }
  }

  /** True for the first caller with that key. */
  boolean isFirst(String key) {
    return warmedUp.add(key);
  }

  /** The gate that all requests under that protocol pass; null where there is no limit. */
  @Nullable InFlightGate gate(LlmProtocol protocol) {
    Integer limit = part("maxInFlight", protocol.maxInFlight);
    return limit == null ? null : gates.computeIfAbsent(protocol, p -> new InFlightGate(limit));
  }

  /** This injector's part of a limit. */
  private @Nullable Integer part(String name, @Nullable Integer limit) {
    int own = limit == null ? 0 : injector.part().of(limit);
    if (limit != null && own == 0) {
      throw InvalidSimulation.because(
          "injector %s has no part of %s=%d; expected %d or more, one for each injector"
              .formatted(injector.share(), name, limit, injector.part().count()));
    }
    return limit == null ? null : (Integer) own;
  }

  /**
   * The limits per minute that all requests to that protocol's target share, warm-ups included;
   * null where there are none.
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
   * What prompts under that protocol begin with, made before the load starts. All protocols share
   * one count of prompts, because two of them may address the same server. Warm-up requests have a
   * count of their own, because their number depends on time.
   */
  PreparedRequest.Prefixes prefixes(LlmProtocol protocol, boolean measured) {
    PromptPrefix.Texts texts = prefixes.computeIfAbsent(protocol, p -> p.prefix.texts(p.tokenizer));
    return new PreparedRequest.Prefixes(
        texts, injector.part(), measured ? prompts : warmUpPrompts, measured ? 0 : WARM_UP_PROMPTS);
  }

  /** The contexts for TLS to that protocol's target; null for those of Gatling's client. */
  @Nullable SslContexts tls(
      LlmProtocol protocol, boolean http2, GatlingConfiguration configuration) {
    Boolean verify = protocol.verifyTls;
    return verify == null
        ? null
        : tls.computeIfAbsent(new TlsTrust(verify, http2), trust -> trust.contexts(configuration));
  }

  /** Notes that a target rejects what pins output; true for the first caller. */
  boolean unpin(String target) {
    boolean isFirst = unpinned.add(target);
    run.describe(
        info ->
            info.config(RunConfig.IGNORE_EOS, RunConfig.UNPINNED)
                .targets(RunConfig.targets(used, unpinned)));
    return isFirst;
  }

  /** Notes in the run what a protocol asks for, beside those before it. */
  synchronized void use(LlmProtocol protocol) {
    if (used.contains(protocol)) {
      return;
    }
    used.add(protocol);
    judge(protocol);
    LlmProtocol first = used.get(0);
    Set<Assertion> assertions = new LinkedHashSet<>();
    used.forEach(each -> each.assertions.forEach(gate -> assertions.add(gate.at(each.label()))));
    Map<String, String> config = RunConfig.of(used);
    if (!unpinned.isEmpty()) {
      config.put(RunConfig.IGNORE_EOS, RunConfig.UNPINNED);
    }
    if (injector.startAt() != null) {
      config.put("startAt", injector.startAt().toString());
    }
    if (RunSeed.ofProcess().isDrawnFrom()) {
      config.put("seedOfTheUnseeded", Long.toString(RunSeed.ofProcess().value()));
    }
    config.put(JvmOptions.CONFIG_NAME, String.join(" ", JvmOptions.inEffect()));
    run.describe(
        info ->
            info.assertions(List.copyOf(assertions))
                .config(config)
                .targets(RunConfig.targets(used, unpinned))
                .report(RunConfig.report(used))
                .seed(first.seed == null ? (Long) RunSeed.ofProcess().value() : first.seed)
                .versions(RunConfig.versions()));
    if (!LlmProtocol.isDryRun()) {
      run.watchServer(protocol.metricsPages());
    }
    run.closeAtEnd(protocol.closedAfterRun);
  }

  /** Says, once per run, what is drawn from where the simulation says no seed. */
  void sayWhatIsUnseeded() {
    RunSeed seed = RunSeed.ofProcess();
    if (seed.isDrawnFrom() && isFirst("seed")) {
      System.out.println(
          "LLM: seed "
              + seed.value()
              + " of all that has none of its own; llm.seed="
              + seed.value()
              + " draws the same again");
      run.describe(info -> info.config("seedOfTheUnseeded", Long.toString(seed.value())));
    }
  }

  /**
   * Notes in the run what a request is judged by that has objectives of its own.
   *
   * @param name null where it differs from user to user
   * @throws IllegalArgumentException if requests of its name have others
   */
  synchronized void judge(LlmProtocol protocol, @Nullable String name, Slo slo) {
    if (name == null) {
      throw InvalidSimulation.because(
          "slo(…) of a request whose name differs from user to user; give it a fixed name");
    }
    Slo before =
        ownSlos.computeIfAbsent(protocol.label(), label -> new TreeMap<>()).putIfAbsent(name, slo);
    if (before != null && !before.equals(slo)) {
      throw InvalidSimulation.because(
          "requests named '%s' have the SLOs %s and %s; name them differently"
              .formatted(name, before, slo));
    }
    judge(protocol);
  }

  private void judge(LlmProtocol protocol) {
    LlmProtocol first = used.get(0);
    Map<String, RunInfo.TargetSlo> slos = new LinkedHashMap<>();
    used.forEach(each -> slos.putIfAbsent(each.label(), judgeOf(each)));
    if (!judgeOf(protocol).equals(slos.get(protocol.label()))
        && isFirst("several SLOs " + protocol.label())) {
      System.out.println(
          "LLM: "
              + protocol.label()
              + " is used with several SLOs; the summary judges it by the first. Name the targets"
              + " differently to tell them apart");
    }
    boolean alike = slos.values().stream().distinct().count() == 1;
    run.describe(info -> info.slo(judgeOf(first), alike ? Map.of() : slos));
  }

  private RunInfo.TargetSlo judgeOf(LlmProtocol protocol) {
    Map<String, Slo> named = new TreeMap<>(protocol.sloByName);
    named.putAll(ownSlos.getOrDefault(protocol.label(), Map.of()));
    return RunInfo.TargetSlo.of(protocol.slo, named);
  }

  private static String host() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "localhost";
    }
  }

  /**
   * Whom to trust over TLS, whatever Gatling's {@code ssl.useInsecureTrustManager} says; keys,
   * trust store, protocols and ciphers stay those of Gatling's configuration.
   *
   * @param verify whether certificates are checked, and that they are made for the host
   * @param http2 whether HTTP/2 is negotiated
   */
  record TlsTrust(boolean verify, boolean http2) {

    /** Builds the contexts; they live as long as the JVM. */
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
