package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.javaapi.*;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.testing.GatlingRun;
import org.junit.jupiter.api.Test;

class GatesIT {
  private static final String MISS =
      "Global: 99th percentile of TTFT is less than 1.0 ms : false (actual : ";
  private static final String OTHER_HOOK = "another hook has ended";

  @Test
  void missedAssertionEndsLikeOneOfGatling() throws Exception {
    try (EmbeddedEngine engine =
        EmbeddedEngine.builder().fixed(ofMillis(20), ofMillis(2)).start()) {
      GatlingRun ours = GatlingRun.of(GatesSimulation.class, engine.baseUrl()).reports().run();

      assertThat(ours.exitCode())
          .as("as GroundTruthIT.gatlingAssertionsFail; %s", ours.output())
          .isEqualTo(GatlingRun.ASSERTIONS_FAILED);
      assertThat(ours.lines())
          .anyMatch(line -> line.startsWith(MISS))
          .anyMatch(
              line -> line.startsWith("c=2: mean of TPOT is less than 40000.0 ms : true (actual "))
          .contains(
              "ask: percentage of requests in SLO is greater than or equal to 95.0 % : true"
                  + " (actual : 100.0 %)",
              "Global: count of truncated requests is 0.0 : true (actual : 0.0)",
              "ask: percentage of failed requests is less than 1.0 % : true (actual : 0.0 %)");
      assertThat(ours.output())
          .containsSubsequence(
              "Reports generated", "LLM Information", MISS, "LLM report generated");
      assertThat(ours.lines()).as("halting does not cut others off").contains(OTHER_HOOK);

      assertThat(ours.info().objectives().assertions()).hasSize(5);
      assertThat(ours.summary().at("/assertions/0/ok").asBoolean()).isFalse();
      assertThat(ours.files().junit())
          .content(UTF_8)
          .contains("tests=\"5\" failures=\"1\"", "<failure ");
      assertThat(ours.files().summaryMarkdown()).content(UTF_8).contains("| < 1 ms |", "| KO |");
      assertThat(ours.files().page())
          .content(UTF_8)
          .contains("✗ KO", "Global: 99th percentile of TTFT");
      assertThat(ours.directory().resolve("index.html"))
          .content(UTF_8)
          .containsSubsequence("id=\"gatling-llm\"", "Global: 99th percentile of TTFT");
    }
  }

  public static final class GatesSimulation extends Simulation {

    {
      Runtime.getRuntime()
          .addShutdownHook(
              new Thread(
                  () -> {
                    try {
                      Thread.sleep(1_500);
                      System.out.println("another hook has ended");
                    } catch (InterruptedException e) {
                      System.out.println("another hook was interrupted");
                    }
                  }));
      LlmProtocolBuilder engine =
          llm.baseUrl(System.getProperty("baseUrl"))
              .model("embedded")
              .slo(slo().ttft(60_000))
              .assertions(
                  llmGlobal().ttft().percentile(99).lt(1),
                  llmDetails("ask").goodput().percent().gte(95),
                  llmStage("c=2").tpot().mean().lt(40_000),
                  llmGlobal().status(RequestStatus.TRUNCATED).count().is(0),
                  llmForAll().failedRequests().percent().lt(1));
      ScenarioBuilder chat = scenario("Gates").exec(llm("ask").chat().user("hi").maxTokens(4));
      setUp(closedLoop(2).requests(8).inject(chat))
          .protocols(engine)
          .assertions(global().failedRequests().count().is(0L));
    }
  }
}
