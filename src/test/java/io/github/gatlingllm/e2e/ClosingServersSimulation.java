package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import java.util.Arrays;

/** Closed loops against several servers at the same time. */
public final class ClosingServersSimulation extends Simulation {

  static final int USERS = 4;
  static final int REQUESTS = 200;

  {
    setUp(
        Arrays.stream(System.getProperty("servers").split(","))
            .map(ClosingServersSimulation::users)
            .toList());
  }

  private static PopulationBuilder users(String url) {
    return closedLoop(USERS)
        .requests(REQUESTS)
        .inject(scenario(url).exec(llm("ask").chat().user("hi").maxTokens(2)))
        .protocols(llm.baseUrl(url + "/v1").model("m").disableJvmWarmUp());
  }
}
