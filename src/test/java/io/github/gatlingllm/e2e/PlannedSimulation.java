package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;

/** A simulation whose plan is printed; no server listens at its URL. */
public final class PlannedSimulation extends Simulation {

  private final LlmProtocolBuilder protocol =
      llm.baseUrl("http://127.0.0.1:9/v1")
          .maxRequestsPerMinute(600)
          .maxTokensPerMinute(90_000)
          .model("llama-8b")
          .apiKey("sk-secret")
          .tokenizer(tiktoken("cl100k_base"))
          .slo(slo().ttft(ofMillis(200)).percentile(95));

  public PlannedSimulation() {
    ScenarioBuilder levels =
        scenario("Levels").exec(diverseShort().maxTokens(32), llm("own").chat().user("#{mine}"));
    ScenarioBuilder fed =
        scenario("Fed")
            .feed(prompts().builtIn().tokens(60).distinct(5))
            .exec(llm("fed").chat().user("#{prompt}"));
    ScenarioBuilder injected =
        scenario("Injected")
            .exec(http("site").get("http://127.0.0.1:9/"))
            .exec(llm("ask").completion().prompt("Once upon a time").maxTokens(7));
    setUp(
            closedLoop(1, 4).measure(20).inject(levels),
            openLoop(2.5).gamma(1.4).measure(60).inject(fed),
            injected.injectOpen(poissonUsersPerSec(5).during(10)))
        .protocols(protocol);
  }
}
