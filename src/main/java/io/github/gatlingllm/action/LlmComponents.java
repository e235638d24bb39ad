package io.github.gatlingllm.action;

import io.gatling.core.CoreComponents;
import io.gatling.core.actor.ActorSystem;
import io.gatling.core.config.GatlingConfiguration;
import io.gatling.core.protocol.Protocol;
import io.gatling.core.protocol.ProtocolComponents;
import io.gatling.core.protocol.ProtocolKey;
import io.gatling.core.session.Session;
import io.gatling.core.structure.ScenarioContext;
import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.Injector;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.SelfTest.JvmOptions;
import io.github.gatlingllm.record.StartCommand;
import io.github.gatlingllm.run.LevelHooks;
import io.github.gatlingllm.run.Run;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.workload.CheckedPrompts;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import scala.Function1;
import scala.runtime.BoxedUnit;

/** The target of one scenario, and the life of its users: from a load plan, or Gatling's own. */
final class LlmComponents implements ProtocolComponents {

  private static final ProtocolKey<LlmProtocol, LlmComponents> KEY = new Key();

  final Target target;

  private final LlmRun load;
  private final Run run;
  private final LlmProtocol protocol;
  private final Simulation simulation;

  private boolean hasPlan;
  private boolean needsSlo;
  private boolean hasOwnSlo;
  private Runnable warmUp = () -> {};

  /** What its scenarios share. */
  private record Simulation(
      LlmRun load,
      Injector injector,
      CommonStart start,
      Targets targets,
      InjectionPlans injections,
      SimulationPlan plan,
      AtomicInteger plans,
      AtomicBoolean isJvmWarm,
      AtomicBoolean endsBeforeClient) {

    static Simulation open(CoreComponents core) {
      JvmOptions.spareProcessors();
      Injector injector = InvalidSimulation.checked(Injector::ofProcess);
      CommonStart start = CommonStart.of(core, injector);
      LlmRun load = LlmRun.open(core, injector);
      InjectionPlans injections = new InjectionPlans(core);
      load.run.ending().endsAfter(injections.maxDuration);
      return new Simulation(
          load,
          injector,
          start,
          new Targets(load, injector),
          injections,
          new SimulationPlan(core, load.run),
          new AtomicInteger(),
          new AtomicBoolean(),
          new AtomicBoolean());
    }
  }

  private LlmComponents(Target target, Simulation simulation) {
    this.target = target;
    this.simulation = simulation;
    load = simulation.load;
    run = load.run;
    protocol = target.protocol;
  }

  static LlmComponents of(ScenarioContext context) {
    return context.protocolComponentsRegistry().components(KEY);
  }

  /** Ends the run before Gatling's client is closed: what it cuts off is not a failure. */
  void endBeforeClient(ActorSystem actors) {
    if (simulation.endsBeforeClient.compareAndSet(false, true)) {
      actors.registerOnTermination(
          () -> {
            if (load.isAnyOpen() || run.levels().isAnyRunning()) {
              load.stop(InFlight.BY_GATLING);
              run.ending().stopped();
            }
            return null;
          });
    }
  }

  PlanWorkload.LoopPlace place(
      ScenarioContext context, String scenario, String population, LoadPlan plan) {
    hasPlan = true;
    target.named.plans.incrementAndGet();
    needsSlo |= plan.needsSlo();
    boolean isMultiplexed = HttpCall.components(context).httpProtocol().enginePart().enableHttp2();
    if (!isMultiplexed && !LlmProtocol.isDryRun()) {
      simulation.targets.requireOpenFiles(protocol, plan.concurrentUsers(), Targets.freeFiles());
    }
    return new PlanWorkload.LoopPlace(
        simulation.plans.incrementAndGet(),
        simulation.start.starts(population, plan, run),
        run.levels().listener(target.name, scenario, plan, load.inFlight::cancel, hooks()),
        !simulation.injector.isPart() && protocol.get(Setting.SESSION_START) != null);
  }

  /**
   * What is sent before and after load levels, each to all servers of this target, and beside them;
   * one of several injectors does it for all.
   */
  private LevelHooks hooks() {
    if (simulation.injector.part().index() > 1) {
      return LevelHooks.NONE;
    }
    return new LevelHooks(
        protocol.get(Setting.BEFORE_LEVEL),
        protocol.get(Setting.AFTER_LEVEL),
        hook ->
            protocol.pages(
                protocol.baseUrls().stream()
                    .map(base -> URI.create(base).resolve(hook.path()).toString())
                    .toList()),
        protocol.get(Setting.TIMEOUT),
        level -> {
          if (target.named.answers != null) {
            target.named.answers.during(level);
          }
        },
        this::afterLevels);
  }

  /** After the last level of the last plan of this target its answers are compared once more. */
  private void afterLevels(Runnable end) {
    boolean isLast = target.named.plans.decrementAndGet() == 0;
    if (isLast && target.named.answers != null) {
      target.named.answers.after(end);
    } else {
      end.run();
    }
  }

  /** Gatling's throttle does not know of other injectors: each would send the full load. */
  private void validateThrottle(ScenarioContext context) {
    if (context.throttled() && simulation.injector.isPart()) {
      throw InvalidSimulation.because(
          "injector "
              + simulation.injector.share()
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
      run.ending().refuse();
      throw mistake;
    }
  }

  private Runnable accepted(ScenarioContext context, LlmRequest request) {
    if (protocol.isDefault()) {
      throw InvalidSimulation.withoutProtocol(context);
    }
    request.validateIn(protocol);
    for (Setting<?> row : List.of(Setting.BEFORE_LEVEL, Setting.AFTER_LEVEL, Setting.ANSWERS)) {
      if (!hasPlan && protocol.isSet(row)) {
        throw InvalidSimulation.because(
            row.name
                + " needs load levels, but Gatling injects this load; use closedLoop or openLoop");
      }
    }
    hasOwnSlo |= request.slo != null;
    validateThrottle(context);
    target.all.noteRequest(request, target);
    if (LlmProtocol.isDryRun()) {
      simulation.plan.add(target, request, context.coreComponents().eventLoopGroup().next());
    }
    return () -> warmUp(context, request);
  }

  /** Warms up JVM and target, once per run and target, by the first request of the scenario. */
  private void warmUp(ScenarioContext context, LlmRequest request) {
    boolean jvm =
        protocol.get(Setting.JVM_WARM_UP) && simulation.isJvmWarm.compareAndSet(false, true);
    boolean first = target.named.isFirstTry();
    if (!jvm && !first) {
      return;
    }
    simulation.start.requireInTime(run);
    boolean isTried = first && protocol.get(Setting.WARMUP) > 0;
    WarmUpRounds rounds = isTried ? new WarmUpRounds(context, target, request) : null;
    if (rounds != null) {
      if (StartCommand.isProbe()) {
        rounds.loadClasses();
      }
      rounds.tryEach();
    }
    if (jvm) {
      JvmWarmUp.run(context, target, request.api);
    }
    if (rounds != null) {
      rounds.finish();
    }
    CheckedPrompts answers = protocol.get(Setting.ANSWERS);
    if (first && answers != null && simulation.injector.part().index() <= 1) {
      target.named.answers = new AnswerPasses(context, target, request, answers);
      target.named.answers.beforeLoad();
    }
    if (jvm) {
      // Else a collection would copy long-lived objects, as of tokenizers, in a measure window.
      System.gc();
    }
    run.beforeLoad();
    simulation.start.requireInTime(run);
  }

  private boolean ready(boolean isDryRun) {
    if (needsSlo && !hasOwnSlo && !protocol.hasSlo()) {
      throw InvalidSimulation.because(
          "the load has no SLO to hold; set one: .slo(slo().ttft(200)) or llm.slo");
    }
    simulation.targets.scenarioBuilt();
    if (!isDryRun) {
      warmUp.run();
    }
    return true;
  }

  @Override
  public Function1<Session, Session> onStart() {
    boolean isDryRun = LlmProtocol.isDryRun();
    var unused = unlessInvalid(run, () -> ready(isDryRun));
    simulation.targets.printSeed();
    simulation.start.scenarioReady(run);
    if (isDryRun) {
      simulation.plan.scenarioBuilt();
    }
    return session -> {
      if (isDryRun) {
        simulation.plan.end();
      }
      run.userStarted();
      return simulation.injections.arriving(session, target.name, run);
    };
  }

  @Override
  public Function1<Session, BoxedUnit> onExit() {
    return session -> {
      StatsBatcher.userLeaves();
      Arrival arrival = UserSessions.arrivalOf(session);
      if (arrival != null && !arrival.isTaken()) {
        RunningLevel level = arrival.level();
        load.totals.skipped(
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
      SimulationSettings settings = SimulationSettings.ofProcess();
      List<LlmProtocol> protocols = InjectionPlans.protocols(core);
      if (protocols.stream().noneMatch(each -> each.get(ProtocolPart.PLANNED))) {
        settings.begin(() -> Run.resultsFolder(core.statsEngine()));
      }
      LlmProtocol.requireNoneReplaced(protocols);
      boolean isOnly = protocols.size() <= 1;
      LlmProtocol common = InjectionPlans.commonProtocol(core);
      Set<String> levels = InjectionPlans.levels(core);
      Simulation simulation = Simulation.open(core);
      LlmRun load = simulation.load;
      // Once for each, as a change may draw a seed.
      Map<LlmProtocol, LlmProtocol> complete = new HashMap<>();
      return inCode ->
          unlessInvalid(
              load.run,
              () -> {
                if (inCode.isDefault()) {
                  return new LlmComponents(
                      new Target(simulation.targets, load, inCode, null), simulation);
                }
                LlmProtocol protocol =
                    complete.computeIfAbsent(
                        inCode, target -> settings.applyTo(target.over(common), isOnly).complete());
                SimulationSettings.requireLevels(protocol, levels);
                return new LlmComponents(simulation.targets.of(protocol), simulation);
              });
    }
  }
}
