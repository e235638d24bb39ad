package io.github.gatlingllm.bench;

import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.github.gatlingllm.javaapi.LlmDsl.closedLoop;
import static io.github.gatlingllm.javaapi.LlmDsl.llm;

import io.gatling.javaapi.core.Simulation;

/** As many streams at once as asked for, for as long as asked for, their starts spread. */
public final class SteadySimulation extends Simulation {

  {
    setUp(
            closedLoop(Integer.getInteger("streams"))
                .fill(Integer.getInteger("fill"))
                .stabilize(0)
                .measure(Integer.getInteger("seconds"))
                .drain(10)
                .inject(
                    scenario("Steady")
                        .exec(
                            llm("ask")
                                .chat()
                                .user("Hello")
                                .maxTokens(Integer.getInteger("tokens")))))
        .protocols(llm.baseUrl(System.getProperty("baseUrl")).model("embedded").warmUp(3));
  }
}
