package io.github.gatlingllm.action;

import io.gatling.core.CoreComponents;
import io.gatling.core.actor.ActorSystem;
import io.gatling.core.config.GatlingConfiguration;
import io.gatling.core.protocol.Protocol;
import io.gatling.core.protocol.ProtocolComponents;
import io.gatling.core.protocol.ProtocolKey;
import io.gatling.core.session.Session;
import io.gatling.core.structure.ScenarioContext;
import io.gatling.http.protocol.HttpComponents;
import io.gatling.http.protocol.HttpProtocol;
import io.github.gatlingllm.action.InjectionPlans.Injected;
import io.github.gatlingllm.action.InvalidSimulation.ReplacedProtocols;
import io.github.gatlingllm.action.LlmProtocol.RunSettings;
import io.github.gatlingllm.action.LlmRequest.Abandonment;
import io.github.gatlingllm.client.Api.AddedField;
import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.Arrival.OpenSchedule;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.record.StartCommand;
import io.github.gatlingllm.run.Observers.LevelHooks;
import io.github.gatlingllm.run.Observers.LevelHooks.Hook;
import io.github.gatlingllm.run.Run;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import scala.Function1;
import scala.runtime.BoxedUnit;

/** The protocol of one scenario, and the parts of the run that its LLM requests use. */
final class LlmComponents implements ProtocolComponents {

  private static final ProtocolKey<LlmProtocol, LlmComponents> KEY = new Key();

  final LlmProtocol protocol;

  final String target;

  final Run run;
  final InFlight inFlight;
  final RequestTotals totals;
  final TokenCounting counting;
  final SeenPrompts seen;

  final @Nullable InFlightGate gate;

  final @Nullable RateLimiter limiter;

  final PreparedRequest.Prefixes prefixes;

  /** Numbers warm-up requests; null for requests of the load. */
  private final WarmUpRounds.@Nullable WarmUpLog warmUpLog;

  private final Consumer<RequestRecord> sink;

  final RunParts parts;
  private final Targets targets;

  private boolean hasPlan;
  private boolean needsSlo;
  private boolean hasOwnSlo;
  private Runnable warmUp = () -> {};

  private LlmComponents(LlmProtocol protocol, RunParts parts) {
    this(protocol, parts, null, parts.run()::record);
  }

  LlmComponents(
      LlmProtocol protocol,
      RunParts parts,
      WarmUpRounds.@Nullable WarmUpLog warmUpLog,
      Consumer<RequestRecord> sink) {
    this.protocol = protocol;
    this.parts = parts;
    this.warmUpLog = warmUpLog;
    this.sink = sink;
    target = protocol.label();
    run = parts.run();
    inFlight = parts.inFlight();
    totals = parts.totals();
    counting = parts.counting();
    seen = warmUpLog == null ? counting.seen : new SeenPrompts();
    targets = parts.targets();
    gate = targets.gate(protocol);
    limiter = targets.limiter(protocol);
    prefixes = targets.prefixes(protocol, warmUpLog == null);
  }

  static LlmComponents of(ScenarioContext context) {
    return context.protocolComponentsRegistry().components(KEY);
  }

  /** Ends the run before Gatling's client is closed: what it cuts off is no failure. */
  private void endBeforeClient(ActorSystem actors) {
    if (targets.isFirst("end before client")) {
      actors.registerOnTermination(
          () -> {
            if (inFlight.isAnyOpen() || run.isAnyLevelRunning()) {
              inFlight.close(InFlight.BY_GATLING);
              run.stopped();
            }
            return null;
          });
    }
  }

  PlanWorkload.PlanLoop.Place place(
      ScenarioContext context, String scenario, String population, LoadPlan plan) {
    hasPlan = true;
    needsSlo |= plan.needsSlo();
    boolean isMultiplexed = http(context).httpProtocol().enginePart().enableHttp2();
    if (!isMultiplexed && !LlmProtocol.isDryRun()) {
      targets.requireOpenFiles(protocol, plan.concurrentUsers(), Targets.freeFiles());
    }
    return new PlanWorkload.PlanLoop.Place(
        parts.plans().incrementAndGet(),
        parts.start().starts(population, plan, run),
        run.listener(target, scenario, plan, inFlight::cancel, hooks()));
  }

  /**
   * What is sent before each load level, each to all servers of this target; one of several
   * injectors does it for all.
   */
  private LevelHooks hooks() {
    if (parts.injector().part().index() > 1) {
      return LevelHooks.NONE;
    }
    List<LevelHooks.Call> calls = new ArrayList<>();
    for (Hook hook : protocol.beforeLevel()) {
      protocol
          .pages(
              protocol.baseUrls().stream()
                  .map(base -> URI.create(base).resolve(hook.path()).toString())
                  .toList())
          .forEach(page -> calls.add(new LevelHooks.Call(hook.method(), page)));
    }
    return new LevelHooks(calls, protocol.requestTimeout());
  }

  /** Gatling's throttle does not know of other injectors: each would send the whole load. */
  private void validateThrottle(ScenarioContext context) {
    if (context.throttled() && parts.injector().isPart()) {
      throw InvalidSimulation.because(
          "injector "
              + parts.injector().share()
              + ": Gatling's throttle would let every injector send all that it allows; use"
              + " maxRequestsPerMinute, which is shared out");
    }
  }

  /** Called for each request of the scenario while it is built, for the last one first. */
  void building(ScenarioContext context, LlmRequest request) {
    warmUp = unlessInvalid(run, () -> accepted(context, request));
  }

  /** A run that a mistake ends before the load has no report. */
  private static <T> T unlessInvalid(Run run, Supplier<T> part) {
    try {
      return part.get();
    } catch (InvalidSimulation mistake) {
      run.refuse();
      throw mistake;
    }
  }

  private Runnable accepted(ScenarioContext context, LlmRequest request) {
    if (protocol.isDefault()) {
      throw InvalidSimulation.withoutProtocol(context);
    }
    request.validateIn(protocol);
    if (!protocol.beforeLevel().isEmpty() && !hasPlan) {
      throw InvalidSimulation.because(
          "beforeLevel needs load levels, but Gatling injects this load; use closedLoop or"
              + " openLoop");
    }
    if (request.slo != null) {
      hasOwnSlo = true;
      targets.addSlo(protocol, request.name.constant(), request.slo);
    }
    validateThrottle(context);
    targets.askFor(protocol, request);
    if (LlmProtocol.isDryRun()) {
      parts.plan().add(this, request, context.coreComponents().eventLoopGroup().next());
    }
    return () -> warmUp(context, request);
  }

  Slo sloOf(LlmRequest request, String name) {
    return request.slo == null ? protocol.sloOf(name) : request.slo;
  }

  /** When the user of the request of that number leaves, in nanoseconds; null if it stays. */
  @Nullable Long leavesAfter(LlmRequest request, long index) {
    Abandonment leaving =
        request.abandonment == null ? protocol.abandonment() : request.abandonment;
    return leaving == null || !isLoad()
        ? null
        : leaving.afterNanos(Seed.orOfProcess(protocol.seed()), index);
  }

  /** Warms up JVM and target, once per run and target, by the first request of the scenario. */
  private void warmUp(ScenarioContext context, LlmRequest request) {
    boolean jvm = protocol.warmUpJvm() && targets.isFirst("jvm");
    boolean first = targets.isFirst("target " + target);
    if (!jvm && !first) {
      return;
    }
    parts.start().requireInTime(run);
    boolean isTried = first && protocol.warmUpRequests() > 0;
    WarmUpRounds rounds = isTried ? new WarmUpRounds(context, this, request) : null;
    if (rounds != null) {
      if (StartCommand.isProbe()) {
        rounds.loadClasses();
      }
      rounds.tryEach();
    }
    if (jvm) {
      JvmWarmUp.run(context, this, request.api);
    }
    if (rounds != null) {
      rounds.finish();
    }
    if (jvm) {
      // Else a collection would copy long-lived objects, as of tokenizers, in a measure window.
      System.gc();
    }
    run.loadAhead();
    parts.start().requireInTime(run);
  }

  /** Says what is known of the server; to the command {@code probe}, whose process then ends. */
  @SuppressWarnings("SystemExitOutsideMain") // main is Gatling's
  void tried(RequestRecord last, @Nullable Boolean isKept) {
    List<ServerFacts.Fact> facts = targets.facts(target, last, isKept);
    if (!StartCommand.isProbe()) {
      String line = ServerFacts.line(target, facts);
      if (!line.isEmpty()) {
        PrintableText.print(line);
      }
      return;
    }
    run.refuse();
    System.exit(ServerFacts.write(facts));
  }

  PreparedRequest prepared(LlmRequest request, Session session) {
    return PreparedRequest.of(request, protocol, targets.rejectedBy(target), prefixes, session);
  }

  /** Leaves out a field that the target rejects; false where the user has named it, or again. */
  boolean leaveOut(AddedField rejected) {
    boolean isNamed =
        switch (rejected) {
          case CONTINUOUS_USAGE -> protocol.eventTokens() != null;
          case USAGE -> protocol.includeUsage() != null;
          case PINNING -> protocol.pinning() == LlmProtocol.Pinning.ALWAYS;
          case LIMIT_NAME -> protocol.maxTokensField() != null;
          case LIMIT -> protocol.maxTokensField() != null || protocol.isLimitNamed();
        };
    return !isNamed && targets.leaveOut(target, rejected);
  }

  boolean isLoad() {
    return warmUpLog == null;
  }

  /** A request has started; those of a warm-up, some of which may outlast it, do not count. */
  void started() {
    if (isLoad()) {
      run.started();
    }
  }

  long nextRequest() {
    return warmUpLog == null ? run.nextRequest() : warmUpLog.next();
  }

  String requestId(long number) {
    return warmUpLog == null ? run.requestId(number) : run.id() + "-warmup-" + number;
  }

  void record(RequestRecord record) {
    sink.accept(record);
  }

  HttpCall httpCall(ScenarioContext context, LlmRequest request) {
    HttpComponents http = http(context);
    endBeforeClient(context.coreComponents().actorSystem());
    GatlingConfiguration configuration = context.coreComponents().configuration();
    boolean http2 = http.httpProtocol().enginePart().enableHttp2();
    return HttpCall.of(
        protocol,
        request,
        http,
        configuration,
        targets.tls(protocol, http2, configuration),
        warmUpLog == null ? totals.servers : warmUpLog.servers);
  }

  private static HttpComponents http(ScenarioContext context) {
    return context.protocolComponentsRegistry().components(HttpProtocol.HttpProtocolKey());
  }

  private boolean ready(boolean isDryRun) {
    if (needsSlo && !hasOwnSlo && !protocol.hasSlo()) {
      throw InvalidSimulation.because(
          "the load has no SLO to hold; set one: .slo(slo().ttft(200)) or llm.slo");
    }
    targets.describeLengths();
    if (!isDryRun) {
      warmUp.run();
    }
    return true;
  }

  @Override
  public Function1<Session, Session> onStart() {
    boolean isDryRun = LlmProtocol.isDryRun();
    var unused = unlessInvalid(run, () -> ready(isDryRun));
    targets.printSeed();
    parts.start().scenarioReady(run);
    if (isDryRun) {
      parts.plan().scenarioBuilt();
    }
    return session -> {
      if (isDryRun) {
        parts.plan().end();
      }
      run.userStarted();
      String scenario = session.scenario();
      Injected injected = parts.injections().of(scenario);
      if (injected == null) {
        return session;
      }
      LevelInfo.Key level = new LevelInfo.Key(LevelInfo.WHOLE_RUN, target, scenario);
      OpenSchedule plan = injected.schedule();
      Arrival arrival = plan == null ? null : plan.next(System.nanoTime());
      if (plan == null || arrival == null) {
        if (targets.isFirst("injection " + scenario)) {
          run.injectionStarted(level, injected.injection(), System.nanoTime(), null);
        }
        return session;
      }
      if (arrival.anchors()) {
        long start = arrival.plannedNanos() - arrival.scheduledOffsetNanos();
        run.injectionStarted(level, injected.injection(), start, plan);
      }
      return UserSessions.withArrival(session, arrival);
    };
  }

  @Override
  public Function1<Session, BoxedUnit> onExit() {
    return session -> {
      StatsBatcher.userLeaves();
      Arrival arrival = UserSessions.arrivalOf(session);
      if (arrival != null && !arrival.taken()) {
        RunningLevel level = arrival.level();
        totals.skipped(
            session.scenario(),
            level == null || level.admits()
                ? "its user asked for nothing"
                : "its load level was over");
      }
      run.userEnded();
      return BoxedUnit.UNIT;
    };
  }

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
      RunSettings settings = RunSettings.ofProcess();
      settings.begin(() -> Run.resultsFolder(core.statsEngine()));
      ReplacedProtocols.requireNone(core);
      boolean isOnly = InjectionPlans.protocols(core).size() <= 1;
      LlmProtocol common = InjectionPlans.commonProtocol(core);
      Set<String> levels = InjectionPlans.levels(core);
      RunParts parts = RunParts.open(core);
      // Once for each, as a change may draw a seed.
      Map<LlmProtocol, LlmProtocol> whole = new HashMap<>();
      return said ->
          unlessInvalid(
              parts.run(),
              () -> {
                if (said.isDefault()) {
                  return new LlmComponents(said, parts);
                }
                LlmProtocol protocol =
                    whole.computeIfAbsent(
                        said, target -> settings.applyTo(target.over(common), isOnly).complete());
                protocol.requireLevels(levels);
                if (!LlmProtocol.isDryRun()) {
                  parts.targets().readyWait(protocol).untilUp();
                }
                LlmProtocol asking = parts.targets().asking(protocol);
                parts.targets().use(asking);
                return new LlmComponents(asking, parts);
              });
    }
  }
}
