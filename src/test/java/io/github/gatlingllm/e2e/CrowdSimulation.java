package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import java.time.Duration;

/**
 * One successful and one failed request, so that all classes are loaded while files can still be
 * opened; then many users at once, with one request each.
 */
public final class CrowdSimulation extends Simulation {

  static final int FIRST = 2;

  {
    int users = Integer.getInteger("users");
    String server = System.getProperty("baseUrl");
    setUp(
        ask("Failing", 1, "http://127.0.0.1:1/v1"),
        ask("One", 1, server).andThen(ask("Crowd", users, server)));
  }

  private static PopulationBuilder ask(String name, int users, String url) {
    return closedLoop(users)
        .requests(users)
        .inject(scenario(name).exec(llm(name).chat().user("hi").maxTokens(2)))
        .protocols(
            llm.baseUrl(url)
                .model("embedded")
                .idleTimeout(Duration.ofSeconds(Integer.getInteger("idleSeconds", 2)))
                .disableJvmWarmUp());
  }
}
