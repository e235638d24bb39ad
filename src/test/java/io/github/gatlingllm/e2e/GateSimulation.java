package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;

/** More users than a gate lets in flight: in a closed loop, or arriving at a rate. */
public final class GateSimulation extends Simulation {

  static final int USERS = 16;
  static final int PER_SECOND = 100;

  {
    ScenarioBuilder chat =
        scenario("Gate")
            .exec(llm("ask").chat().user("hi").maxTokens(Integer.getInteger("tokens", 2)));
    LlmProtocolBuilder engine = llm.baseUrl(System.getProperty("baseUrl")).model("m");
    Integer gate = Integer.getInteger("gate");
    setUp(
            Boolean.getBoolean("open")
                ? openLoop(PER_SECOND).seed(1).measure(6).inject(chat)
                : closedLoop(USERS).measure(Integer.getInteger("measure", 2)).drain(1).inject(chat))
        .protocols(gate == null ? engine : engine.maxInFlight(gate));
  }
}
