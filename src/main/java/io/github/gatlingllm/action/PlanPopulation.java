package io.github.gatlingllm.action;

import io.gatling.commons.util.Clock;
import io.gatling.core.action.builder.ActionBuilder;
import io.gatling.core.controller.inject.InjectionProfile;
import io.gatling.core.controller.inject.Workload;
import io.gatling.core.scenario.Scenario;
import io.gatling.core.stats.StatsEngine;
import io.gatling.core.structure.ScenarioBuilder;
import io.gatling.core.structure.ScenarioContext;
import io.gatling.javaapi.core.PopulationBuilder;
import io.github.gatlingllm.injector.Injector;
import io.github.gatlingllm.load.LoadPlan;
import io.netty.channel.EventLoopGroup;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import scala.Option;
import scala.collection.immutable.List$;

/** A scenario under a load plan, as a population for {@code setUp}. */
public final class PlanPopulation {
  private PlanPopulation() {}

  /** The scenario, its actions wrapped in a loop that the plan drives. */
  public static PopulationBuilder of(LoadPlan plan, ScenarioBuilder scenario) {
    return named(plan, scenario, scenario.name());
  }

  /**
   * The same against one of several targets. Gatling allows no scenario name twice, so the target
   * becomes part of the name.
   */
  public static PopulationBuilder of(LoadPlan plan, ScenarioBuilder scenario, String target) {
    return named(plan, scenario, scenario.name() + " @ " + target);
  }

  private static PopulationBuilder named(LoadPlan plan, ScenarioBuilder scenario, String name) {
    LoadPlan own = InvalidSimulation.checked(() -> plan.of(Injector.ofProcess().part()));
    return of(
        own,
        scenario,
        name,
        context -> LlmComponents.of(context).place(scenario.name(), name, own));
  }

  /**
   * @param place finds out which one the plan has in its run
   */
  static PopulationBuilder of(
      LoadPlan plan,
      ScenarioBuilder scenario,
      String name,
      Function<ScenarioContext, PlanLoop.Place> place) {
    ActionBuilder loop = PlanLoop.around(scenario, place);
    ScenarioBuilder looped =
        new ScenarioBuilder(name, List$.MODULE$.<ActionBuilder>empty().$colon$colon(loop));
    return new PopulationBuilder(looped.inject(new Profile(plan)));
  }

  /** The load plan of a population; null for Gatling's own injection. */
  static @Nullable LoadPlan planOf(InjectionProfile profile) {
    return profile instanceof Profile ours ? ours.plan() : null;
  }

  /** All levels of a plan as one injection profile. */
  private record Profile(LoadPlan plan) implements InjectionProfile {

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
}
