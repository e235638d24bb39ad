package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.atOnceUsers;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.github.gatlingllm.javaapi.LlmDsl.llm;

import io.gatling.javaapi.core.Simulation;
import java.time.Duration;
import java.util.List;

/** A user's own simulation that sends one request to each URL of a target before its load. */
public class WarmUpSimulation extends Simulation {

  /**
   * A request whose values come from feeders and earlier answers of this scenario, so it cannot be
   * sent on its own.
   */
  static final String UNKNOWN = "#{question}";

  {
    setUp(
            scenario("Chat")
                .exec(llm("ask").chat().user(UNKNOWN).maxTokens(4))
                .injectOpen(atOnceUsers(1)))
        .protocols(
            llm.baseUrls(List.of(System.getProperty("baseUrls").split(",")))
                .target("ours")
                .verifyTls()
                .apiKey("sk-not-to-be-shown\n") // as files of secrets end
                .idleTimeout(Duration.ofSeconds(4))
                .requestTimeout(Duration.ofSeconds(20))
                .warmUp(1)
                .disableJvmWarmUp());
  }
}
