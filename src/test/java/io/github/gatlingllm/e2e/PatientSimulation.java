package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import java.time.Duration;

/** Closed loops whose users wait after a failure, so that none of them uses up all requests. */
public final class PatientSimulation extends Simulation {

  static final int USERS = 4;

  {
    ScenarioBuilder chat =
        scenario("Chat")
            .exec(llm("ask").chat().user("hi").maxTokens(2))
            .doIf(Session::isFailed)
            .then(pause(Duration.ofMillis(500)));
    setUp(closedLoop(USERS).requests(Integer.getInteger("requests")).inject(chat))
        .protocols(
            llm.baseUrl(System.getProperty("baseUrl"))
                .model("embedded")
                .idleTimeout(Duration.ofMillis(Integer.getInteger("idleMillis", 60_000)))
                .requestTimeout(Duration.ofMillis(Integer.getInteger("timeoutMillis", 60_000)))
                .recordText()
                .disableJvmWarmUp());
  }
}
