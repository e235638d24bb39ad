package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.ClosedLoop;

/** The same scenario under the same load against two servers, one after the other. */
public final class TargetsSimulation extends Simulation {

  private final ScenarioBuilder chat =
      scenario("Chat").exec(llm("ask").chat().user("hi").maxTokens(8));

  private final ClosedLoop load = closedLoop(1, 2, 4).measure(1);

  {
    setUp(
        oneAfterTheOther(
            load.target(
                    "slow",
                    llm.baseUrl(System.getProperty("slow")).slo(slo().ttft(10_000).percentile(90)))
                .inject(chat),
            load.target("fast", llm.baseUrl(System.getProperty("fast")).slo(slo().ttft(5)))
                .inject(chat)));
  }
}
