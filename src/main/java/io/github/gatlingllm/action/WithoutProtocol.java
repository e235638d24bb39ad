package io.github.gatlingllm.action;

import io.gatling.core.structure.PopulationBuilder;
import io.gatling.core.structure.ScenarioBuilder;
import io.gatling.core.structure.ScenarioContext;
import java.util.List;

/**
 * Names the scenario that sends LLM requests under no LLM protocol. Gatling does not tell an action
 * which scenario it is built for; but built once more, only that scenario fails again.
 */
final class WithoutProtocol {

  private static final ThreadLocal<Boolean> TRYING = ThreadLocal.withInitial(() -> false);

  private WithoutProtocol() {}

  /** To be thrown by the action that found no protocol. */
  static InvalidSimulation mistake(ScenarioContext context) {
    return InvalidSimulation.because(
        (TRYING.get() ? "it" : name(context))
            + " sends llm requests but has no llm protocol; add"
            + " .protocols(llm.baseUrl(\"http://localhost:8000/v1\"))");
  }

  private static String name(ScenarioContext context) {
    TRYING.set(true);
    try {
      List<ScenarioBuilder> unserved =
          InjectionPlans.populations(context.coreComponents()).stream()
              .filter(each -> !each.scenarioProtocols().contains(LlmProtocol.class))
              .map(PopulationBuilder::scenarioBuilder)
              .toList();
      return unserved.stream()
          .filter(scenario -> unserved.size() == 1 || fails(scenario, context))
          .map(scenario -> "scenario '" + scenario.name() + "'")
          .findFirst()
          .orElse("this scenario");
    } catch (ReflectiveOperationException otherGatling) {
      return "this scenario";
    } finally {
      TRYING.remove();
    }
  }

  private static boolean fails(ScenarioBuilder scenario, ScenarioContext context) {
    try {
      var unused = scenario.build(context, context.coreComponents().exit());
      return false;
    } catch (InvalidSimulation withoutProtocol) {
      return true;
    }
  }
}
