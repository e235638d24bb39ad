package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;

/** Closed loops of fed prompts, each sent twice, and of a mix; both with nonces before prompts. */
public final class SeedSimulation extends Simulation {

  static final int USERS = 32;
  static final int ITERATIONS = 100;

  public SeedSimulation() {
    setUp(
            loop(
                scenario("Fed").feed(prompts().builtIn().seed(3)).exec(ask("first"), ask("again"))),
            loop(
                scenario("Mix")
                    .exec(mix().add(2, ragAgent().distinct(9)).add(1, diverseShort().distinct(9)))))
        .protocols(
            llm.baseUrl(System.getProperty("baseUrl"))
                .model("m")
                .disableJvmWarmUp()
                .uniquePrompts()
                .seed(3));
  }

  private static PopulationBuilder loop(ScenarioBuilder scenario) {
    return closedLoop(USERS).requests(ITERATIONS).inject(scenario);
  }

  private static ActionBuilder ask(String name) {
    return llm(name).chat().user("#{prompt}").maxTokens(8);
  }
}
