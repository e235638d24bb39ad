package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;

/** Invalid simulations, selected by {@code mistake}. */
public final class MistakenSimulation extends Simulation {

  public MistakenSimulation() {
    ScenarioBuilder chat = scenario("Chat").exec(llm("ask").chat().user("Hello"));
    if (System.getProperty("mistake").equals("bad EL")) {
      scenario("Bad").exec(llm("ask").chat().user("Hello").maxTokens("many"));
    }
    setUp(scenario("Browse").pause(1).injectOpen(atOnceUsers(1)), chat.injectOpen(atOnceUsers(1)))
        .protocols(http);
  }
}
