package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;

/** Workloads of the DSL: a dialog, a feeder, nonces and shared prefixes. */
public final class WorkloadsSimulation extends Simulation {

  static final int USERS = 3;
  static final int TURNS = 3;
  static final int FED_TOKENS = 60;

  private final LlmProtocolBuilder protocol =
      llm.baseUrl(System.getProperty("baseUrl")).model("m").disableJvmWarmUp().seed(42);

  public WorkloadsSimulation() {
    setUp(
        closedLoop(1)
            .requests(2)
            .inject(
                scenario("Dialogs")
                    .exec(dialog().turns(TURNS).maxTokens(8).seed(1).distinct(USERS * TURNS)))
            .protocols(protocol)
            .andThen(
                scenario("Unique")
                    .exec(ragAgent().maxTokens(8).seed(1).distinct(2))
                    .injectOpen(atOnceUsers(USERS))
                    .protocols(protocol.uniquePrompts())
                    .andThen(
                        scenario("Fed")
                            .feed(
                                prompts()
                                    .builtIn()
                                    .tokens(FED_TOKENS)
                                    .distinct(10)
                                    .unique()
                                    .seed(42))
                            .exec(llm("fed #{promptTokens}").chat().user("#{prompt}").maxTokens(8))
                            .injectOpen(rampUsers(USERS).during(1))
                            .protocols(protocol))));
  }
}
