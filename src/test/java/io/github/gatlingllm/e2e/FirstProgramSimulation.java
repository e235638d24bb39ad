package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.*;

/** The first program of the documentation. */
public class FirstProgramSimulation extends Simulation {
  LlmProtocolBuilder engine =
      llm.baseUrl(System.getProperty("baseUrl"))
          .apiKey(System.getenv("OPENAI_API_KEY"))
          .model("embedded")
          .slo(slo().ttft(ofMillis(200)).tpot(ofMillis(50)).percentile(99));

  ScenarioBuilder chat =
      scenario("Chat")
          .feed(jsonFile("e2e/prompts.json").random())
          .exec(
              llm("ask")
                  .chat()
                  .system("You are a helpful assistant.")
                  .user("#{prompt}")
                  .maxTokens(16)
                  .check(finishReason().is("length"), ttft().lt(500), answer().saveAs("draft")));

  {
    setUp(chat.injectOpen(poissonUsersPerSec(25).seed(42).during(2)))
        .protocols(engine)
        .assertions(details("ask TTFT").responseTime().percentile(99).lt(200));
  }
}
