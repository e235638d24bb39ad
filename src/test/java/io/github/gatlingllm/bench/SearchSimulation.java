package io.github.gatlingllm.bench;

import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static io.github.gatlingllm.javaapi.LlmDsl.maxGoodput;
import static io.github.gatlingllm.javaapi.LlmDsl.slo;
import static java.time.Duration.ofMillis;

import io.gatling.javaapi.core.Simulation;

/** Searches the highest rate of requests with four tokens whose TTFT is below one second. */
public final class SearchSimulation extends Simulation {

  static final double PRECISION = 0.15;

  {
    setUp(
            maxGoodput()
                .startingAt(50)
                .precision(PRECISION)
                .seed(5)
                .stabilize(ofMillis(500))
                .measure(6)
                .drain(1)
                .inject(scenario("Once").exec(llm("ask").chat().user("Hello").maxTokens(4))))
        .protocols(
            llm.baseUrl(System.getProperty("baseUrl")).slo(slo().ttft(1_000).percentile(90)));
  }
}
