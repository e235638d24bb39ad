package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;

/** Requests of ours, with Gatling's protocol only. */
public final class MistakenSimulation extends Simulation {

  public MistakenSimulation() {
    ScenarioBuilder chat = scenario("Chat").exec(llm("ask").chat().user("Hello"));
    setUp(scenario("Browse").pause(1).injectOpen(atOnceUsers(1)), chat.injectOpen(atOnceUsers(1)))
        .protocols(http);
  }
}
