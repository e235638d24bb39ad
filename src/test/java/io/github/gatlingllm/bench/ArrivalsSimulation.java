package io.github.gatlingllm.bench;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;

/** Open load at a seeded Poisson rate, two requests per user. */
public final class ArrivalsSimulation extends Simulation {

  static final double RATE = 50;
  static final int SECONDS = 3;

  public ArrivalsSimulation() {
    setUp(
            scenario("Open")
                .exec(
                    llm("first").chat().user("Hello").maxTokens(4),
                    llm("second").chat().user("Hello again").maxTokens(4))
                .injectOpen(poissonUsersPerSec(RATE).seed(42).during(SECONDS)))
        .protocols(llm.baseUrl(System.getProperty("baseUrl")).seed(42));
  }
}
