package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.testing.GatlingRun;
import org.junit.jupiter.api.Test;

/** {@code llm.dryRun=true} with a user's own simulation; no server listens at its URL. */
class PlannedIT {
  @Test
  void dryRunPrintsThePlanAndSendsNothing() throws Exception {
    GatlingRun run = GatlingRun.of(PlannedSimulation.class).llm("dryRun=true seed=42").succeed();
    assertThat(run.output())
        .contains(
            "scenario       Levels",
            "load           closed loop, 2 levels",
            "c=4      20 s",
            "scenario       Fed",
            "load           open loop, gamma arrivals of cv 1.4, 1 level",
            "r=2.5    60 s, about 150 requests",
            "scenario       Injected",
            "load           injected by Gatling for 10 s, 5 users/s, ",
            "target         127.0.0.1:9: http://127.0.0.1:9/v1",
            "API key        set",
            "SLO            ttft<200ms; a level holds when 95 % of its requests meet each"
                + " objective",
            "limits         10 min per request, 2 min between events, 600 requests a minute, 90000"
                + " tokens a minute",
            "request        B1: chat of llama-8b, streamed; prompts of 50 tokens; answers of"
                + " exactly 32 tokens",
            "request        own: chat; made for each user (",
            "LLM dry run: prompts of built-in, exactly 60 tokens by tiktoken:cl100k_base",
            "request        ask: completions of llama-8b, streamed; prompts of 4 tokens; answers of"
                + " exactly 7 tokens",
            "seed           42",
            "LLM: seed 42 for everything without a separate seed; llm.seed=42 repeats this",
            "Dry run: nothing was sent")
        .doesNotContain("sk-secret", "Simulation io.github", "refused");
    assertThat(run.lines())
        .as("two workloads without a tokenizer")
        .filteredOn(line -> line.startsWith("LLM WARNING: prompts in code are sized by "))
        .hasSize(1);
  }

  public static final class PlannedSimulation extends Simulation {

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
}
