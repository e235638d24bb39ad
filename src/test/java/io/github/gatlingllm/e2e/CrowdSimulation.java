package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import java.time.Duration;

/** One user, and then many at once, with a request each. */
public final class CrowdSimulation extends Simulation {

  static final int FIRST = 2;

  {
    int users = Integer.getInteger("users");
    setUp(
            closedLoop(1)
                .requests(FIRST)
                .inject(ask("One"))
                .andThen(closedLoop(users).requests(users).inject(ask("Crowd"))))
        .protocols(
            llm.baseUrl(System.getProperty("baseUrl"))
                .model("embedded")
                .idleTimeout(Duration.ofSeconds(2))
                .disableJvmWarmUp());
  }

  private static ScenarioBuilder ask(String name) {
    return scenario(name).exec(llm("ask").chat().user("hi").maxTokens(2));
  }
}
