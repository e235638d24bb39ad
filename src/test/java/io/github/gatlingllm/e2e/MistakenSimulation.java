package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;

/** Simulations that cannot run; {@code mistake} says which. */
public final class MistakenSimulation extends Simulation {

  public MistakenSimulation() {
    ScenarioBuilder chat = scenario("Chat").exec(llm("ask").chat().user("Hello"));
    PopulationBuilder users = chat.injectOpen(atOnceUsers(1));
    switch (System.getProperty("mistake")) {
      case "no protocol" -> setUp(users);
      case "no base URL" -> setUp(users).protocols(llm.model("m"));
      case "no rate" ->
          setUp(chat.injectOpen(poissonUsersPerSec(0).during(1)))
              .protocols(llm.baseUrl("http://localhost:1/v1"));
      default -> setUp(users).protocols(llm.baseUrl("localhost:8000/v1"));
    }
  }
}
