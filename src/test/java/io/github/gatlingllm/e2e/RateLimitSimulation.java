package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import java.time.Duration;

/**
 * Two servers that allow 20 requests a minute; one gets requests as fast as users can send them.
 */
public final class RateLimitSimulation extends Simulation {

  static final int LIMIT = 20;
  static final int REQUESTS = 60;

  /** More than the limit of a minute, so that some are held back. */
  static final int USERS = 24;

  {
    ChainBuilder ask = exec(llm("ask").chat().user("hi").maxTokens(2));
    setUp(
        closedLoop(4)
            .fill(0)
            .stabilize(0)
            .requests(REQUESTS)
            .inject(scenario("Free").exec(ask))
            .protocols(server("free")),
        closedLoop(USERS)
            .fill(0)
            .stabilize(0)
            .measure(4)
            .disableCooldown()
            .drain(Duration.ofSeconds(1))
            .inject(scenario("Paced").exec(ask))
            .protocols(
                server("paced")
                    .maxRequestsPerMinute(LIMIT)
                    .assertions(llmGlobal().failedRequests().count().is(0L))));
  }

  private static LlmProtocolBuilder server(String name) {
    return llm.baseUrl(System.getProperty(name))
        .target(name)
        .model("m")
        .disableJvmWarmUp()
        .disableFailOnInvalid();
  }
}
