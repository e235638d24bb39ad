package io.github.gatlingllm.action;

import io.gatling.commons.util.Clock;
import io.gatling.core.controller.inject.InjectionProfile;
import io.gatling.core.controller.inject.Workload;
import io.gatling.core.scenario.Scenario;
import io.gatling.core.stats.StatsEngine;
import io.github.gatlingllm.load.LevelPlan;
import io.netty.channel.EventLoopGroup;
import java.util.concurrent.atomic.AtomicLong;
import scala.Option;

/** All levels of a plan as one injection profile. */
record PlanProfile(LevelPlan plan) implements InjectionProfile {

  /** Unknown before the run: users loop, and searches choose their levels. */
  @Override
  public Option<Object> totalUserCount() {
    return Option.empty();
  }

  @Override
  public Workload workload(
      Scenario scenario,
      AtomicLong userIds,
      long startMillis,
      EventLoopGroup eventLoops,
      StatsEngine statsEngine,
      Clock clock) {
    return new PlanWorkload(plan, scenario, userIds, eventLoops, statsEngine);
  }
}
