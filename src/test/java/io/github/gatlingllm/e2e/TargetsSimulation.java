package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.ClosedLoop;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;

/** The same scenario under the same load against two servers, one after the other. */
public final class TargetsSimulation extends Simulation {

  private final ScenarioBuilder chat =
      scenario("Chat").exec(llm("ask").chat().user("hi").maxTokens(8));

  private final ClosedLoop load =
      closedLoop(1, 2, 4).fill(0).stabilize(0).measure(1).disableCooldown();

  private static LlmProtocolBuilder target(String name) {
    return llm.baseUrl(System.getProperty(name)).disableJvmWarmUp();
  }

  {
    setUp(
        oneAfterTheOther(
            load.target("slow", target("slow").slo(slo().ttft(60_000).percentile(90))).inject(chat),
            load.target("fast", target("fast").slo(slo().ttft(5))).inject(chat)));
  }
}
