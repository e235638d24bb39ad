package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.PopulationBuilder;
import io.gatling.javaapi.core.ScenarioBuilder;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LoadInjection;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.StopRule;

/** A load that scenarios can be injected with. */
@FunctionalInterface
public interface LoadProfile {

  /** For internal use only: the load levels and their order. */
  LoadPlan plan();

  /**
   * Sends this load to one of several targets of the run; {@link TargetLoad#inject} follows.
   *
   * <pre>{@code
   * setUp(oneAfterTheOther(
   *     closedLoop(16).measure(60).target("A", llm.baseUrl(a)).inject(chat),
   *     closedLoop(16).measure(60).target("B", llm.baseUrl(b)).inject(chat)));
   * }</pre>
   *
   * @param label the target's name in all results, not blank
   * @param protocol the target's protocol
   */
  default TargetLoad target(String label, LlmProtocolBuilder protocol) {
    return new TargetLoad(plan(), label, protocol);
  }

  /** Injects the scenario with this load, for {@code setUp}. */
  default PopulationBuilder inject(ScenarioBuilder scenario) {
    return LoadInjection.population(plan(), scenario.wrapped);
  }

  /** Injects a scenario of Gatling's Scala DSL with this load, for its {@code setUp}. */
  default io.gatling.core.structure.PopulationBuilder inject(
      io.gatling.core.structure.ScenarioBuilder scenario) {
    return LoadInjection.population(plan(), scenario).asScala();
  }

  /** Load levels in a given order. */
  interface Levels extends LoadProfile {

    /** For internal use only: the load levels. */
    @Override
    LoadPlan.Sweep plan();

    /**
     * Ends the sweep after the first load level that breaks one of these rules; call it last.
     *
     * <pre>{@code
     * .stopWhen(sloBelow(50), errorsAbove(10), overSaturated())
     * }</pre>
     */
    default StoppedSweep stopWhen(StopRule... rules) {
      return StoppedSweep.of(plan(), rules);
    }
  }

  /**
   * A load for one of several targets. The same scenario can be injected once per target. Records
   * have the scenario's own name; Gatling's statistics call it {@code <scenario> @ <target>}.
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
            "target(\"" + label + "\"): expected a name, which results call the target by");
      }
      this.plan = plan;
      this.label = label;
      this.protocol = protocol.target(label);
    }

    /** Injects the scenario with this load, for {@code setUp}. */
    public PopulationBuilder inject(ScenarioBuilder scenario) {
      return LoadInjection.population(plan, scenario.wrapped, label).protocols(protocol);
    }

    /** Injects a scenario of Gatling's Scala DSL with this load, for its {@code setUp}. */
    public io.gatling.core.structure.PopulationBuilder inject(
        io.gatling.core.structure.ScenarioBuilder scenario) {
      return LoadInjection.population(plan, scenario, label).protocols(protocol).asScala();
    }
  }
}
