package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.PopulationBuilder;
import io.gatling.javaapi.core.ScenarioBuilder;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LoadInjection;
import io.github.gatlingllm.load.LoadPlan;

/** A load plan that a scenario can be put under. */
@FunctionalInterface
public interface LoadProfile {

  /** The levels, and how one follows the other. */
  LoadPlan plan();

  /**
   * Sends this load to one of several targets of the run, under that name in all results. What
   * follows is {@link TargetLoad#inject}.
   *
   * <pre>{@code
   * setUp(oneAfterTheOther(
   *     closedLoop(16).measure(60).target("A", llm.baseUrl(a)).inject(chat),
   *     closedLoop(16).measure(60).target("B", llm.baseUrl(b)).inject(chat)));
   * }</pre>
   */
  default TargetLoad target(String label, LlmProtocolBuilder protocol) {
    return new TargetLoad(plan(), label, protocol);
  }

  /** Puts the scenario under this load, for {@code setUp}. */
  default PopulationBuilder inject(ScenarioBuilder scenario) {
    return LoadInjection.population(plan(), scenario.wrapped);
  }

  /** Puts a scenario of Gatling's Scala DSL under this load, for its {@code setUp}. */
  default io.gatling.core.structure.PopulationBuilder inject(
      io.gatling.core.structure.ScenarioBuilder scenario) {
    return LoadInjection.population(plan(), scenario).asScala();
  }

  /**
   * A load that goes to one of several targets. The same scenario may be injected once per target;
   * records keep its name, Gatling's own statistics call it {@code <scenario> @ <target>}.
   *
   * @see LlmDsl#oneAfterTheOther
   * @see LlmDsl#sideBySide
   */
  final class TargetLoad {
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
      return LoadInjection.population(plan, scenario.wrapped, label).protocols(protocol);
    }

    /** Puts a scenario of Gatling's Scala DSL under this load, for its {@code setUp}. */
    public io.gatling.core.structure.PopulationBuilder inject(
        io.gatling.core.structure.ScenarioBuilder scenario) {
      return LoadInjection.population(plan, scenario, label).protocols(protocol).asScala();
    }
  }
}
