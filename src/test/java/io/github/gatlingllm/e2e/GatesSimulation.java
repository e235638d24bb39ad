package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.*;
import io.github.gatlingllm.record.RequestStatus;

/** A short load with Gatling's and our assertions, each of which can be made to fail. */
public final class GatesSimulation extends Simulation {

  {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  try {
                    Thread.sleep(1_500);
                    System.out.println("another hook has ended");
                  } catch (InterruptedException e) {
                    System.out.println("another hook was interrupted");
                  }
                }));
    LlmProtocolBuilder engine =
        llm.baseUrl(System.getProperty("baseUrl", "http://127.0.0.1:1/v1"))
            .model("embedded")
            .disableJvmWarmUp()
            .slo(slo().ttft(60_000))
            .assertions(
                llmGlobal().ttft().percentile(99).lt(Integer.getInteger("ttft", 60_000)),
                llmDetails("ask").goodput().percent().gte(95),
                llmStage("c=2").tpot().mean().lt(40_000),
                llmGlobal().status(RequestStatus.TRUNCATED).count().is(0),
                llmForAll().failedRequests().percent().lt(1));
    ScenarioBuilder chat =
        scenario("Gates")
            .exec(
                doIf(session -> !Boolean.getBoolean("silent"))
                    .then(llm("ask").chat().user("hi").maxTokens(4)));
    setUp(closedLoop(2).requests(8).inject(chat))
        .protocols(engine)
        .assertions(global().failedRequests().count().is(0L));
  }
}
