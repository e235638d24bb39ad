package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.PopulationBuilder;
import io.gatling.javaapi.core.ScenarioBuilder;

/** A load plan that a scenario can be put under. */
public sealed interface LoadProfile permits ClosedLoop, OpenLoop {

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
  TargetLoad target(String label, LlmProtocolBuilder protocol);

  /** Puts the scenario under this load, for {@code setUp}. */
  PopulationBuilder inject(ScenarioBuilder scenario);
}
