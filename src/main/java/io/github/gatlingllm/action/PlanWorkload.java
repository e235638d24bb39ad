package io.github.gatlingllm.action;

import io.gatling.core.CoreComponents;
import io.gatling.core.action.Action;
import io.gatling.core.action.SessionHook;
import io.gatling.core.action.builder.ActionBuilder;
import io.gatling.core.controller.inject.Workload;
import io.gatling.core.scenario.Scenario;
import io.gatling.core.session.Session;
import io.gatling.core.stats.StatsEngine;
import io.gatling.core.structure.ScenarioBuilder;
import io.gatling.core.structure.ScenarioContext;
import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.PlanDriver;
import io.github.gatlingllm.load.PlanDriver.Users;
import io.github.gatlingllm.load.RunningLevel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import scala.concurrent.duration.FiniteDuration;

/** Starts each user of a load plan at its nanosecond; Gatling's workloads have a tick of 1 s. */
final class PlanWorkload extends Workload implements Users {
  private final Scenario scenario;
  private final AtomicLong userIds;
  private final EventLoopGroup eventLoops;
  private final StatsEngine statsEngine;
  private final PlanDriver driver;

  private boolean isBegun;
  private boolean isComplete;
  private long started;
  private long ended;

  PlanWorkload(
      LoadPlan plan,
      Scenario scenario,
      AtomicLong userIds,
      EventLoopGroup eventLoops,
      StatsEngine statsEngine) {
    super(scenario, userIds, eventLoops, statsEngine);
    this.scenario = scenario;
    this.userIds = userIds;
    this.eventLoops = eventLoops;
    this.statsEngine = statsEngine;
    EventLoop timerLoop = eventLoops.next();
    LoopPlace place = ((PlanLoop) scenario.entry()).place;
    this.driver =
        new PlanDriver(
            plan.source(),
            System::nanoTime,
            (task, nanoTime) -> EventLoops.at(timerLoop, nanoTime, task),
            this,
            place.listener(),
            place.starts(),
            place.gathers());
  }

  /** Gatling's tick: the first one starts the plan, which has separate timers. */
  @Override
  public void injectBatch(FiniteDuration window) {
    if (!isBegun) {
      isBegun = true;
      driver.begin();
    }
  }

  @Override
  public void start() {
    long userId = newUserId();
    EventLoop eventLoop = eventLoops.next();
    EventLoops.execute(eventLoop, () -> enter(userId, eventLoop, null));
  }

  @Override
  public void start(Arrival arrival) {
    long userId = newUserId();
    EventLoop eventLoop = eventLoops.next();
    EventLoops.at(eventLoop, arrival.plannedNanos(), () -> enter(userId, eventLoop, arrival));
  }

  @Override
  public synchronized void allStarted() {
    isComplete = true;
    if (started == ended) {
      // Gatling looks for the end of the workload when a user exits, and there are no more users.
      EventLoop eventLoop = eventLoops.next();
      long userId = newUserId();
      EventLoops.execute(
          eventLoop,
          () -> {
            statsEngine.logUserStart(scenario.name());
            scenario
                .ctx()
                .coreComponents()
                .exit()
                .$bang(UserSessions.fresh(scenario.name(), userId, scenario.onExit(), eventLoop));
          });
    }
  }

  private synchronized long newUserId() {
    started++;
    return userIds.incrementAndGet();
  }

  private void enter(long userId, EventLoop eventLoop, @Nullable Arrival arrival) {
    if (arrival != null) {
      arrival.started(System.nanoTime());
    }
    PlanLoop loop = (PlanLoop) scenario.entry();
    Session own =
        new PlanUser(driver, arrival, loop.scenario, loop.place.number)
            .in(UserSessions.fresh(scenario.name(), userId, scenario.onExit(), eventLoop));
    Session ready = scenario.onStart().apply(own);
    statsEngine.logUserStart(scenario.name());
    scenario.entry().$bang(ready);
  }

  @Override
  public synchronized void endUser() {
    ended++;
  }

  @Override
  public synchronized boolean isAllUsersScheduled() {
    return isComplete;
  }

  @Override
  public synchronized boolean isAllUsersStopped() {
    return isComplete && started == ended;
  }

  /** Gatling reads it of empty workloads only. */
  @Override
  public FiniteDuration duration() {
    return new FiniteDuration(0, TimeUnit.NANOSECONDS);
  }

  @Override
  public boolean isEmpty() {
    return false;
  }

  /** The loop around a scenario under a load plan. */
  static ActionBuilder around(ScenarioBuilder body, Function<ScenarioContext, LoopPlace> place) {
    return (context, exit) -> {
      StatsEngine statsEngine = context.coreComponents().statsEngine();
      PlanLoop loop = new PlanLoop(statsEngine, exit, body.name(), place.apply(context));
      // Users that exit within an iteration, by exitHereIfFailed and the like.
      Action leaving =
          UserSessions.step(
              "plan-exit",
              statsEngine,
              session -> {
                PlanUser.of(session).exited();
                exit.$bang(session);
              });
      // The body cannot be built without the loop, nor the loop be complete without the body.
      loop.body = body.build(withExit(context, leaving), loop);
      return loop;
    };
  }

  /** Users that exit within the scenario pass our exit, so the plan replaces them immediately. */
  private static ScenarioContext withExit(ScenarioContext context, Action exit) {
    CoreComponents core = context.coreComponents();
    return new ScenarioContext(
        new CoreComponents(
            core.actorSystem(),
            core.eventLoopGroup(),
            core.controller(),
            core.throttler(),
            core.statsEngine(),
            core.clock(),
            exit,
            core.configuration()),
        context.protocolComponentsRegistry(),
        context.pauseType(),
        context.throttled());
  }

  /** The loop around a scenario under a load plan: its first action, and the one after its last. */
  private static final class PlanLoop extends SessionHook {
    private final String scenario;
    private final LoopPlace place;
    private @Nullable Action body;

    private PlanLoop(StatsEngine statsEngine, Action exit, String scenario, LoopPlace place) {
      // No function, as execute is overridden: SessionHook is extended for its Scala members only.
      super(null, "plan", statsEngine, exit);
      this.scenario = scenario;
      this.place = place;
    }

    @Override
    public void execute(Session session) {
      PlanUser.of(session).iterate(session, Objects.requireNonNull(body), next());
    }
  }

  record LoopPlace(
      int number,
      IntFunction<@Nullable Long> starts,
      RunningLevel.Listener listener,
      boolean gathers) {}
}
