package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;

/** A few requests to a server whose certificate is verified. */
public final class TlsSimulation extends Simulation {

  static final int REQUESTS = 3;

  {
    setUp(
            closedLoop(1)
                .requests(REQUESTS)
                .inject(scenario("Chat").exec(llm("ask").chat().user("Hello").maxTokens(10))))
        .protocols(
            llm.baseUrl(System.getProperty("baseUrl")).model("m").verifyTls().disableJvmWarmUp());
  }
}
