package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;

import io.gatling.javaapi.core.*;

/** Two load levels over HTTP/2. */
public final class Http2Simulation extends Simulation {

  {
    ScenarioBuilder chat = scenario("Chat").exec(llm("ask").chat().user("Hello").maxTokens(10));
    setUp(
            closedLoop(4, 2)
                .fill(0)
                .stabilize(0)
                .disableCooldown()
                .measure(3)
                .drain(ofMillis(200))
                .inject(chat))
        .protocols(
            llm.baseUrl(System.getProperty("baseUrl")).metricsUrl("none").disableJvmWarmUp(),
            http.enableHttp2());
  }
}
