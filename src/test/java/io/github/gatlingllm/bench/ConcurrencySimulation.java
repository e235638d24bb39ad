package io.github.gatlingllm.bench;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;

/** A number of concurrent requests for eight seconds, by Gatling's own profile or by ours. */
public final class ConcurrencySimulation extends Simulation {

  static final int USERS = 16;

  {
    ScenarioBuilder chat =
        scenario("Chat")
            .exec(llm("ask").chat().user("Hello").maxTokens(Integer.getInteger("tokens")));
    setUp(
            Boolean.getBoolean("gatling")
                ? chat.injectClosed(constantConcurrentUsers(USERS).during(8))
                : closedLoop(USERS).fill(1).stabilize(1).measure(6).drain(5).inject(chat))
        .protocols(llm.baseUrl(System.getProperty("baseUrl")));
  }
}
