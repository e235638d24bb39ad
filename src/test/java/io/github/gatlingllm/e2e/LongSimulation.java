package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;

/** Load that lasts longer than a test; with {@code idle} users send no requests. */
public final class LongSimulation extends Simulation {

  public LongSimulation() {
    ScenarioBuilder chat =
        scenario("Chat")
            .pause(Integer.getInteger("idle", 0))
            .exec(llm("ask").chat().user("Hello").maxTokens(100));
    setUp(closedLoop(8).fill(0).stabilize(0).measure(300).inject(chat))
        .protocols(llm.baseUrl(System.getProperty("baseUrl")).disableJvmWarmUp());
  }
}
