package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.ClosedLoop;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.javaapi.LoadProfile;
import java.time.Duration;

/** More users than a gate admits: in a closed loop, or at an arrival rate. */
public final class GateSimulation extends Simulation {

  static final int USERS = 16;
  static final int REQUESTS = 160;
  static final int PER_SECOND = 100;
  static final Duration DRAIN = Duration.ofMillis(500);

  {
    ScenarioBuilder chat =
        scenario("Gate")
            .exec(llm("ask").chat().user("hi").maxTokens(Integer.getInteger("tokens", 2)));
    LlmProtocolBuilder engine =
        llm.baseUrl(System.getProperty("baseUrl")).model("m").disableJvmWarmUp();
    Integer gate = Integer.getInteger("gate");
    Integer measure = Integer.getInteger("measure");
    ClosedLoop loop = closedLoop(USERS).fill(0).stabilize(0).disableCooldown().drain(DRAIN);
    LoadProfile load =
        Boolean.getBoolean("open")
            ? openLoop(PER_SECOND).seed(1).stabilize(0).measure(4).disableCooldown()
            : measure == null ? loop.requests(REQUESTS) : loop.measure(measure);
    setUp(load.inject(chat)).protocols(gate == null ? engine : engine.maxInFlight(gate));
  }
}
