package io.github.gatlingllm.action;

import io.gatling.core.CoreComponents;
import io.gatling.core.config.GatlingConfiguration;
import io.gatling.core.protocol.Protocol;
import io.gatling.core.protocol.ProtocolComponents;
import io.gatling.core.protocol.ProtocolKey;
import io.gatling.core.session.Session;
import io.gatling.core.structure.PopulationBuilder;
import io.gatling.core.structure.ScenarioBuilder;
import io.gatling.core.structure.ScenarioContext;
import io.gatling.http.protocol.HttpComponents;
import io.gatling.http.protocol.HttpProtocol;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.LoadLevel.Injection;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.run.Run;
import io.github.gatlingllm.workload.TokenCounting;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import scala.Function1;
import scala.runtime.BoxedUnit;

/** The protocol of one scenario, and the parts of the run that its LLM requests use. */
final class LlmComponents implements ProtocolComponents {

  private static final ProtocolKey<LlmProtocol, LlmComponents> KEY = new Key();

  final LlmProtocol protocol;

  /** Label of the target. */
  final String target;

  final Run run;

  /** Limits the requests in flight; null for no limit. */
  final @Nullable InFlightGate gate;

  /** Limits requests and tokens per minute; null for no limit. */
  final @Nullable RateLimiter limiter;

  /** The first texts of prompts. */
  final PreparedRequest.Prefixes prefixes;

  /** Takes the records of warm-up requests; null for requests of the load. */
  private final WarmUpRounds.@Nullable WarmUpLog warmUp;

  /** The requests of the run that are in flight. */
  final InFlight inFlight;

  /** Counts requests that are not sent. */
  final SkippedRequests notSent;

  /** Counts tokens on a thread of its own. */
  final TokenCounting counting;

  private final RunParts parts;

  private LlmComponents(
      LlmProtocol protocol, RunParts parts, WarmUpRounds.@Nullable WarmUpLog warmUp) {
    this.protocol = protocol;
    this.target = protocol.label();
    this.run = parts.run;
    this.gate = parts.gate(protocol);
    this.limiter = parts.limiter(protocol);
    this.prefixes = parts.prefixes(protocol, warmUp == null);
    this.warmUp = warmUp;
    this.inFlight = parts.inFlight;
    this.notSent = parts.notSent;
    this.counting = parts.counting;
    this.parts = parts;
  }

  static LlmComponents of(ScenarioContext context) {
    return context.protocolComponentsRegistry().components(KEY);
  }

  /** The place in the run of the load plan of that scenario and population. */
  PlanLoop.Place place(String scenario, String population, LoadPlan plan) {
    return new PlanLoop.Place(
        parts.plans.incrementAndGet(),
        parts.start.starts(population, plan, run),
        run.levels().listener(target, scenario, plan, inFlight::cancel));
  }

  /** Gatling's throttle does not know of other injectors: each would send the whole load. */
  void refuseThrottle(ScenarioContext context) {
    if (context.throttled() && parts.injector.isPart()) {
      throw InvalidSimulation.because(
          "injector "
              + parts.injector.share()
              + ": Gatling's throttle would let every injector send all that it allows; use"
              + " maxRequestsPerMinute, which is shared out");
    }
  }

  /**
   * Adds the objectives of a request that has its own to the run.
   *
   * @throws InvalidSimulation if requests of the same name have other objectives
   */
  void addSlo(LlmRequest.RequestDraft request) {
    if (request.slo != null && isMeasured()) {
      parts.config.addSlo(protocol, request.name.constant(), request.slo);
    }
  }

  /** The objectives of a request of that name. */
  Slo sloOf(LlmRequest.RequestDraft request, String name) {
    return request.slo == null ? protocol.sloOf(name) : request.slo;
  }

  /** The components of warm-up requests in the same run. */
  LlmComponents forWarmUp(LlmProtocol target, WarmUpRounds.WarmUpLog log) {
    return new LlmComponents(target, parts, log);
  }

  /**
   * Checks the target and warms up the JVM and the target, as the protocol asks for; once per run
   * and target. A dry run notes the request instead.
   *
   * @param request one that the scenario sends
   * @throws InvalidSimulation in one line per URL, if the target does not answer it
   */
  void warmUp(ScenarioContext context, LlmRequest request) {
    if (LlmProtocol.isDryRun()) {
      parts.plan.add(this, request, context.coreComponents().eventLoopGroup().next());
      return;
    }
    HttpProtocol http = http(context).httpProtocol();
    warnOfIgnoredProxy(http);
    boolean jvm = protocol.warmUpJvm && parts.isFirst("jvm");
    boolean first = parts.isFirst("target " + target);
    if (!jvm && !first) {
      return;
    }
    parts.start.requireInTime(run);
    WarmUpRounds rounds = new WarmUpRounds(context);
    if (jvm) {
      requireHosts(http, context, request.parts().api);
      rounds.warmUpJvm(this, request.parts().api);
    }
    if (first) {
      rounds.warmUpTarget(this, request);
    }
    if (jvm) {
      collectGarbage();
    }
    run.loadAhead();
    parts.start.requireInTime(run);
  }

  private void warnOfIgnoredProxy(HttpProtocol http) {
    String line = EndpointCheck.ignoredProxy(protocol, http);
    if (line != null && parts.isFirst(line)) {
      System.out.println(line);
    }
  }

  /** Before the JVM warm-up, which takes seconds. */
  private void requireHosts(HttpProtocol http, ScenarioContext context, Api api) {
    List<String> unknown =
        EndpointCheck.unknownHosts(protocol, http, context.coreComponents(), api);
    if (!unknown.isEmpty()) {
      run.refuse();
      throw InvalidSimulation.because(String.join("\n", unknown));
    }
  }

  /**
   * Moves long-lived objects, such as tables of tokenizers, to the old generation before the load:
   * else a collection would copy them within a measure window.
   */
  private static void collectGarbage() {
    System.gc();
  }

  /** Whether requests with a limit pin their output to that many tokens. */
  boolean pinsOutput() {
    return parts.config.isPinned(protocol);
  }

  /**
   * Pins output no more, as the target rejects that; false where the user insists on it, or at a
   * further call.
   */
  boolean unpin() {
    return protocol.pinning == LlmProtocol.Pinning.UNLESS_REJECTED && parts.config.unpin(target);
  }

  /** Whether these are requests of the load, which are in all statistics. */
  boolean isMeasured() {
    return warmUp == null;
  }

  /** Takes the number of the next request. */
  long nextRequest() {
    return warmUp == null ? run.nextRequest() : warmUp.next();
  }

  /** The id of a request, in its headers and its record. */
  String requestId(long number) {
    return warmUp == null ? run.requestId(number) : run.id() + "-warmup-" + number;
  }

  /** Counts a request that starts and will have a record. */
  void started() {
    if (isMeasured()) {
      run.started();
    }
  }

  void admitted() {
    if (isMeasured()) {
      run.admitted();
    }
  }

  /** Counts an admitted request that has ended. */
  void ended() {
    if (isMeasured()) {
      run.ended();
    }
  }

  void record(RequestRecord record) {
    if (warmUp == null) {
      run.record(record);
    } else {
      warmUp.record(record);
    }
  }

  /** The run's monotonic clock. */
  long now() {
    return System.nanoTime();
  }

  HttpCall httpCall(ScenarioContext context, LlmRequest.RequestDraft request) {
    HttpComponents http = http(context);
    parts.endBeforeClient(context.coreComponents().actorSystem());
    GatlingConfiguration configuration = context.coreComponents().configuration();
    boolean http2 = http.httpProtocol().enginePart().enableHttp2();
    return HttpCall.of(
        protocol,
        request,
        http,
        configuration,
        parts.tls(protocol, http2, configuration),
        isMeasured() ? parts.servers : new ConcurrentHashMap<>());
  }

  private static HttpComponents http(ScenarioContext context) {
    return context.protocolComponentsRegistry().components(HttpProtocol.HttpProtocolKey());
  }

  @Override
  public Function1<Session, Session> onStart() {
    parts.config.printSeed();
    parts.start.scenarioReady(run);
    boolean isDryRun = LlmProtocol.isDryRun();
    if (isDryRun) {
      parts.plan.scenarioBuilt();
    }
    return session -> {
      if (isDryRun) {
        parts.plan.end();
      }
      run.userStarted();
      Arrival arrival = parts.injections.next(session.scenario(), now());
      Injection injection = parts.injections.injection(session.scenario());
      if (arrival == null) {
        if (injection != null && parts.isFirst("injection " + session.scenario())) {
          run.levels().injectionStarted(scheduleOf(session), injection, now());
        }
        return session;
      }
      if (arrival.anchors() && injection != null) {
        long start = arrival.plannedNanos() - arrival.scheduledOffsetNanos();
        run.levels().injectionStarted(scheduleOf(session), injection, start);
        run.levels()
            .injectionPlanned(
                scheduleOf(session),
                parts.injections.description(session.scenario()),
                parts.injections.planned(session.scenario()),
                start);
      }
      return UserSessions.withArrival(session, arrival);
    };
  }

  private Run.Schedule scheduleOf(Session session) {
    return new Run.Schedule(session.scenario(), target, LevelInfo.WHOLE_RUN);
  }

  @Override
  public Function1<Session, BoxedUnit> onExit() {
    return session -> {
      StatsBatcher.userLeaves();
      Arrival arrival = UserSessions.arrivalOf(session);
      if (arrival != null && !arrival.taken()) {
        RunningLevel level = arrival.level();
        notSent.request(
            session.scenario(),
            level == null || level.admits()
                ? "its user asked for nothing"
                : "its load level was over");
      }
      run.userEnded();
      return BoxedUnit.UNIT;
    };
  }

  /** Creates {@link RunParts} once per run, and components once per scenario. */
  private static final class Key implements ProtocolKey<LlmProtocol, LlmComponents> {

    @Override
    @SuppressWarnings("unchecked") // Gatling's own keys cast likewise
    public Class<Protocol> protocolClass() {
      return (Class<Protocol>) (Class<?>) LlmProtocol.class;
    }

    @Override
    public LlmProtocol defaultProtocolValue(GatlingConfiguration configuration) {
      return LlmProtocol.DEFAULT;
    }

    @Override
    public Function1<LlmProtocol, LlmComponents> newComponents(CoreComponents core) {
      RunParts parts = new RunParts(core);
      return protocol -> {
        if (protocol.hasTarget()) {
          parts.config.use(protocol);
        }
        return new LlmComponents(protocol, parts, null);
      };
    }
  }

  /**
   * Finds the scenario that sends LLM requests without an LLM protocol. Gatling does not tell an
   * action the scenario that it is built for; but when all are built once more, that one fails
   * again.
   */
  static final class WithoutProtocol {

    private static final ThreadLocal<Boolean> SEARCHING = ThreadLocal.withInitial(() -> false);

    private WithoutProtocol() {}

    /** Creates the exception for the action that has found no protocol. */
    static InvalidSimulation mistake(ScenarioContext context) {
      return InvalidSimulation.because(
          (SEARCHING.get() ? "it" : name(context))
              + " sends llm requests but has no llm protocol; add"
              + " .protocols(llm.baseUrl(\"http://localhost:8000/v1\"))");
    }

    private static String name(ScenarioContext context) {
      SEARCHING.set(true);
      try {
        List<ScenarioBuilder> candidates =
            InjectionPlans.populations(context.coreComponents()).stream()
                .filter(each -> !each.scenarioProtocols().contains(LlmProtocol.class))
                .map(PopulationBuilder::scenarioBuilder)
                .toList();
        return candidates.stream()
            .filter(scenario -> candidates.size() == 1 || fails(scenario, context))
            .map(scenario -> "scenario '" + scenario.name() + "'")
            .findFirst()
            .orElse("this scenario");
      } catch (ReflectiveOperationException otherGatling) {
        return "this scenario";
      } finally {
        SEARCHING.remove();
      }
    }

    private static boolean fails(ScenarioBuilder scenario, ScenarioContext context) {
      try {
        var unused = scenario.build(context, context.coreComponents().exit());
        return false;
      } catch (InvalidSimulation withoutProtocol) {
        return true;
      }
    }
  }
}
