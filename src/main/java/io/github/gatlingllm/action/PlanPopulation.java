package io.github.gatlingllm.action;

import io.gatling.core.action.builder.ActionBuilder;
import io.gatling.core.structure.ScenarioBuilder;
import io.gatling.core.structure.ScenarioContext;
import io.gatling.javaapi.core.PopulationBuilder;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.StageListener;
import java.util.function.Function;
import scala.collection.immutable.List$;

/** A scenario under a load plan, as a population for {@code setUp}. */
public final class PlanPopulation {
  private PlanPopulation() {}

  /** The scenario, its actions wrapped in a loop that the plan drives. */
  public static PopulationBuilder of(
      LoadPlan plan, io.gatling.javaapi.core.ScenarioBuilder scenario) {
    return of(plan, scenario, ctx -> LlmComponents.stages(ctx, scenario.wrapped.name()));
  }

  static PopulationBuilder of(
      LoadPlan plan,
      io.gatling.javaapi.core.ScenarioBuilder scenario,
      Function<ScenarioContext, StageListener> listener) {
    ScenarioBuilder body = scenario.wrapped;
    ActionBuilder loop = new PlanLoopBuilder(body, listener);
    ScenarioBuilder looped =
        new ScenarioBuilder(body.name(), List$.MODULE$.<ActionBuilder>empty().$colon$colon(loop));
    return new PopulationBuilder(looped.inject(new PlanProfile(plan)));
  }
}
