package io.github.gatlingllm.action;

import io.gatling.core.controller.inject.Workload;
import io.gatling.core.scenario.Scenario;
import io.gatling.core.session.Session;
import io.gatling.core.stats.StatsEngine;
import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.PlanDriver;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import scala.concurrent.duration.FiniteDuration;

/**
 * Starts the users of a load plan. Gatling's own workloads start users on a tick of 1 s, at whole
 * milliseconds; this one starts each at its nanosecond, on its own event loop. Gatling only counts
 * the users that are still there.
 */
final class PlanWorkload extends Workload implements PlanDriver.Users {
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
    PlanLoop.Place place = ((PlanLoop) scenario.entry()).place();
    this.driver =
        new PlanDriver(
            plan.source(),
            System::nanoTime,
            (nanoTime, task) -> EventLoops.at(timerLoop, nanoTime, task),
            this,
            place.listener(),
            place.starts());
  }

  /** Gatling's tick: the first one starts the plan, which has its own timers. */
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
      // Gatling looks for the end of the workload when a user exits, and no user is left.
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
        new PlanUser(driver, arrival, loop.scenario(), loop.place().number())
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
}
