package io.github.gatlingllm.action;

import io.gatling.core.action.builder.ActionBuilder;
import io.gatling.core.structure.ScenarioBuilder;
import io.gatling.core.structure.ScenarioContext;
import io.gatling.javaapi.core.PopulationBuilder;
import io.github.gatlingllm.load.LevelPlan;
import io.github.gatlingllm.load.StageListener;
import java.util.function.Function;
import scala.collection.immutable.List$;

/** A scenario under a load plan, as a population for {@code setUp}. */
public final class PlanPopulation {
  private PlanPopulation() {}

  /** The scenario, its actions wrapped in a loop that the plan drives. */
  public static PopulationBuilder of(
      LevelPlan plan, io.gatling.javaapi.core.ScenarioBuilder scenario) {
    return of(plan, scenario, listener(plan, scenario));
  }

  /**
   * The same against one of several targets. Gatling allows no scenario name twice, so the target
   * becomes part of the name.
   */
  public static PopulationBuilder of(
      LevelPlan plan, io.gatling.javaapi.core.ScenarioBuilder scenario, String target) {
    String name = scenario.wrapped.name() + " @ " + target;
    return of(plan, scenario, name, listener(plan, scenario));
  }

  static PopulationBuilder of(
      LevelPlan plan,
      io.gatling.javaapi.core.ScenarioBuilder scenario,
      Function<ScenarioContext, StageListener> listener) {
    return of(plan, scenario, scenario.wrapped.name(), listener);
  }

  private static Function<ScenarioContext, StageListener> listener(
      LevelPlan plan, io.gatling.javaapi.core.ScenarioBuilder scenario) {
    return context -> LlmComponents.stages(context, scenario.wrapped.name(), plan);
  }

  private static PopulationBuilder of(
      LevelPlan plan,
      io.gatling.javaapi.core.ScenarioBuilder scenario,
      String name,
      Function<ScenarioContext, StageListener> listener) {
    ScenarioBuilder body = scenario.wrapped;
    ActionBuilder loop = new PlanLoopBuilder(body, listener);
    ScenarioBuilder looped =
        new ScenarioBuilder(name, List$.MODULE$.<ActionBuilder>empty().$colon$colon(loop));
    return new PopulationBuilder(looped.inject(new PlanProfile(plan)));
  }
}
