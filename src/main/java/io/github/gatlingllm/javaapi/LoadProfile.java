package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.PopulationBuilder;
import io.gatling.javaapi.core.ScenarioBuilder;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LoadInjection;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.StopRule;
import io.github.gatlingllm.load.StopRule.Repeats;
import java.util.List;

/** A load that scenarios can be injected with. */
@FunctionalInterface
public interface LoadProfile {

  /** For internal use only: the load levels and their order. */
  LoadPlan plan();

  /**
   * Sends this load to one of several targets of the run, which all results call by this label; see
   * {@link LlmDsl#oneAfterTheOther} and {@link LlmDsl#sideBySide}. The same scenario can be
   * injected once per target. Records have the scenario's name; Gatling's statistics call it {@code
   * <scenario> @ <target>}. The protocol completes and overrides the one of {@code
   * setUp(…).protocols(…)}, which is for what all targets have in common.
   *
   * <pre>{@code
   * setUp(oneAfterTheOther(
   *         closedLoop(16).measure(60).target("A", llm.baseUrl(a)).inject(chat),
   *         closedLoop(16).measure(60).target("B", llm.baseUrl(b)).inject(chat)))
   *     .protocols(llm.model("llama-8b").slo("ttft<200ms"));
   * }</pre>
   */
  default LoadProfile target(String label, LlmProtocolBuilder protocol) {
    if (label.isBlank()) {
      throw InvalidSimulation.because(
          "target(\"" + label + "\"): expected a name, which results call the target by");
    }
    LoadPlan plan = plan();
    LlmProtocolBuilder own = protocol.ofTarget(label);
    return new LoadProfile() {
      @Override
      public LoadPlan plan() {
        return plan;
      }

      @Override
      public PopulationBuilder inject(ScenarioBuilder scenario) {
        return LoadInjection.population(plan, scenario.wrapped, label).protocols(own);
      }

      @Override
      public io.gatling.core.structure.PopulationBuilder inject(
          io.gatling.core.structure.ScenarioBuilder scenario) {
        return LoadInjection.population(plan, scenario, label).protocols(own).asScala();
      }
    };
  }

  /** Injects the scenario with this load, for {@code setUp}. */
  default PopulationBuilder inject(ScenarioBuilder scenario) {
    return LoadInjection.population(plan(), scenario.wrapped, null);
  }

  /** Injects a scenario of Gatling's Scala DSL with this load, for its {@code setUp}. */
  default io.gatling.core.structure.PopulationBuilder inject(
      io.gatling.core.structure.ScenarioBuilder scenario) {
    return LoadInjection.population(plan(), scenario, null).asScala();
  }

  /** Load levels in a given order. */
  @FunctionalInterface
  interface Levels extends LoadProfile {

    @Override
    LoadPlan.Sweep plan();

    /**
     * Measures every load level so often, 1 to 100 times, in rounds of a random order; its figures
     * then have an interval by the spread between repeats. Call it last.
     */
    default Levels repeats(int times) {
      LoadPlan.Sweep repeated =
          InvalidSimulation.checked(() -> plan().repeated(new Repeats(times), Seeds.random()));
      return () -> repeated;
    }

    /**
     * Ends the sweep after the first load level that breaks one of these rules, or one of those
     * that were set before: {@code stopWhen(sloBelow(50), errorsAbove(10))}; call it last. The
     * report names the rule and the figure that broke it.
     */
    default Levels stopWhen(StopRule... rules) {
      LoadPlan.Sweep stopped = InvalidSimulation.checked(() -> plan().stopWhen(List.of(rules)));
      return () -> stopped;
    }
  }
}
