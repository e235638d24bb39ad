package io.github.gatlingllm.bench;

import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.github.gatlingllm.javaapi.LlmDsl.closedLoop;
import static io.github.gatlingllm.javaapi.LlmDsl.llm;

import io.gatling.javaapi.core.Simulation;

/** 32 streams that start in one burst. */
public class AccuracySimulation extends Simulation {

  static final int STREAMS = 32;

  {
    setUp(
            closedLoop(STREAMS)
                .fill(0)
                .stabilize(0)
                .measure(6)
                .drain(10)
                .inject(scenario("Accuracy").exec(llm("ask").chat().user("Hello").maxTokens(100))))
        .protocols(llm.baseUrl(System.getProperty("baseUrl")).model("embedded").warmUp(3));
  }
}
