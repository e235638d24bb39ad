package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.record.RequestStatus;
import java.util.ArrayList;
import java.util.List;

/** Gatling stops these loads after two seconds, while requests are under way. */
public final class StoppedSimulation extends Simulation {

  static final int SECONDS = 2;

  {
    List<PopulationBuilder> loads =
        new ArrayList<>(
            List.of(
                chat("rate").injectOpen(constantUsersPerSec(5).during(60)),
                chat("concurrent").injectClosed(constantConcurrentUsers(6).during(60)),
                closedLoop(4, 8).fill(0).stabilize(0).measure(60).inject(chat("closed loop"))));
    LlmProtocolBuilder engine =
        llm.baseUrl(System.getProperty("baseUrl"))
            .disableJvmWarmUp()
            .assertions(llmGlobal().status(RequestStatus.CANCELLED).count().is(0));
    if (Boolean.getBoolean("action")) {
      ScenarioBuilder stops = scenario("Stops").exec(pause(SECONDS), stopLoadGenerator("enough"));
      loads.add(stops.injectOpen(atOnceUsers(1)));
      setUp(loads).protocols(engine);
    } else {
      setUp(loads).protocols(engine).maxDuration(SECONDS);
    }
  }

  private static ScenarioBuilder chat(String name) {
    return scenario(name)
        .during(60)
        .on(exec(llm(name).chat().user("hi").maxTokens(Integer.getInteger("tokens"))));
  }
}
