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
import io.github.gatlingllm.load.RunningLevel;
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
    LoadPlan own = ownPart(plan);
    return of(
        own, scenario, scenario.name(), listener(own, scenario), timetable(scenario.name(), own));
  }

  /**
   * The same against one of several targets. Gatling allows no scenario name twice, so the target
   * becomes part of the name.
   */
  public static PopulationBuilder of(LoadPlan plan, ScenarioBuilder scenario, String target) {
    String name = scenario.name() + " @ " + target;
    LoadPlan own = ownPart(plan);
    return of(own, scenario, name, listener(own, scenario), timetable(name, own));
  }

  static PopulationBuilder of(
      LoadPlan plan,
      ScenarioBuilder scenario,
      Function<ScenarioContext, RunningLevel.Listener> listener) {
    return of(plan, scenario, scenario.name(), listener, context -> PlanLoop.Timetable.NONE);
  }

  private static LoadPlan ownPart(LoadPlan plan) {
    return InvalidSimulation.checked(() -> plan.of(Injector.ofProcess().part()));
  }

  private static Function<ScenarioContext, PlanLoop.Timetable> timetable(
      String name, LoadPlan plan) {
    return context -> LlmComponents.of(context).timetable(name, plan);
  }

  private static Function<ScenarioContext, RunningLevel.Listener> listener(
      LoadPlan plan, ScenarioBuilder scenario) {
    return context -> LlmComponents.of(context).levels(scenario.name(), plan);
  }

  private static PopulationBuilder of(
      LoadPlan plan,
      ScenarioBuilder scenario,
      String name,
      Function<ScenarioContext, RunningLevel.Listener> listener,
      Function<ScenarioContext, PlanLoop.Timetable> timetable) {
    ActionBuilder loop = PlanLoop.around(scenario, listener, timetable);
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
