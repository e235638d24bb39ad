package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.PopulationBuilder;
import io.gatling.javaapi.core.ScenarioBuilder;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.PlanPopulation;
import io.github.gatlingllm.load.LoadPlan;

/**
 * A load that goes to one of several targets. The same scenario may be injected once per target;
 * records keep its name, Gatling's own statistics call it {@code <scenario> @ <target>}.
 *
 * @see LlmDsl#oneAfterTheOther
 * @see LlmDsl#sideBySide
 */
public final class TargetLoad {
  private final LoadPlan plan;
  private final String label;
  private final LlmProtocolBuilder protocol;

  TargetLoad(LoadPlan plan, String label, LlmProtocolBuilder protocol) {
    if (label.isBlank()) {
      throw InvalidSimulation.because(
          "target(\"" + label + "\"): expected a name, which results go by");
    }
    this.plan = plan;
    this.label = label;
    this.protocol = protocol.target(label);
  }

  /** Puts the scenario under this load, for {@code setUp}. */
  public PopulationBuilder inject(ScenarioBuilder scenario) {
    return PlanPopulation.of(plan, scenario, label).protocols(protocol);
  }
}
