package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.record.RequestStatus;

/** Gatling stops these loads after two seconds, while requests are under way. */
public final class StoppedSimulation extends Simulation {

  static final int SECONDS = 2;

  {
    ScenarioBuilder chat =
        scenario("Chat")
            .during(60)
            .on(exec(llm("ask").chat().user("hi").maxTokens(Integer.getInteger("tokens"))));
    PopulationBuilder load =
        switch (System.getProperty("load")) {
          case "rate" -> chat.injectOpen(constantUsersPerSec(5).during(60));
          case "concurrent" -> chat.injectClosed(constantConcurrentUsers(6).during(60));
          default -> closedLoop(4, 8).fill(0).stabilize(0).measure(60).inject(chat);
        };
    LlmProtocolBuilder engine =
        llm.baseUrl(System.getProperty("baseUrl"))
            .disableJvmWarmUp()
            .assertions(llmGlobal().status(RequestStatus.CANCELLED).count().is(0));
    if (Boolean.getBoolean("action")) {
      ScenarioBuilder stops = scenario("Stops").exec(pause(SECONDS), stopLoadGenerator("enough"));
      setUp(load, stops.injectOpen(atOnceUsers(1))).protocols(engine);
    } else {
      setUp(load).protocols(engine).maxDuration(SECONDS);
    }
  }
}
