package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.atOnceUsers;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.github.gatlingllm.javaapi.LlmDsl.llm;

import io.gatling.javaapi.core.Simulation;
import java.time.Duration;
import java.util.List;

/** A user's own simulation that asks the servers of a target once before its load. */
public class WarmUpSimulation extends Simulation {

  /**
   * By feeders and answers before, in this scenario: so it cannot be asked by a user from nowhere.
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
