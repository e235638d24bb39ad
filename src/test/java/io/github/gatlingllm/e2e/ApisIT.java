package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.gatling.javaapi.core.*;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import io.github.gatlingllm.javaapi.ChatRequestBuilder;
import io.github.gatlingllm.javaapi.Llm;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.TokenSource;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.GatlingRun;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Responses, messages, embeddings and rerank in one run, compared with the log of the engine. */
class ApisIT {
  @AutoClose private static EmbeddedEngine engine;
  private static GatlingRun run;

  @BeforeAll
  static void runOnce() throws Exception {
    engine =
        EmbeddedEngine.builder()
            .fixed(ofMillis(30), ofMillis(3))
            .reasoning(2)
            .recordGroundTruth()
            .apiKey("sk-never-to-be-seen")
            .start();
    run = GatlingRun.of(ApisSimulation.class, engine.baseUrl()).succeed();
  }

  @Test
  void allRequestsSucceedAndAssertionsHold() throws Exception {
    assertThat(run.requests())
        .hasSize(8 * ApisSimulation.ITERATIONS)
        .allMatch(record -> record.outcome().ok());
    assertThat(run.output()).doesNotContain("sk-never").contains("LLM report generated");
  }

  @Test
  void streamsMatchTheEngine() throws Exception {
    Map<String, GroundTruth> truths = GroundTruthIT.byRequest(engine);
    for (String name : List.of("responses", "messages", "responses plan", "messages plan")) {
      List<RequestRecord> records = run.requests(name);
      assertThat(records).hasSize(ApisSimulation.ITERATIONS);
      for (RequestRecord record : records) {
        GroundTruth truth = truths.get(record.identity().requestId());
        String api = name.replace(" plan", "");
        assertThat(record.identity().api()).isEqualTo(api);
        assertThat(record.identity().endpoint()).isEqualTo(engine.baseUrl() + "/" + api);
        assertThat(record.outcome().status()).isEqualTo(RequestStatus.COMPLETE);
        assertThat(record.events().done()).isTrue();
        assertThat(record.events().late()).isZero();
        assertThat(record.tokens().source()).isEqualTo(TokenSource.USAGE);
        assertThat(record.tokens().outputTokens()).isEqualTo(truth.outputTokens());
        assertThat(record.tokens().promptTokens()).isEqualTo(truth.promptTokens());
        assertThat(record.events().count()).isEqualTo(truth.outputTokens());
        assertThat(record.timing().ttftNanos())
            .as("never earlier than it was sent")
            .isGreaterThanOrEqualTo(truth.firstTokenNanos() - truth.receivedNanos());
        assertThat(record.timing().ttfoNanos()).isGreaterThanOrEqualTo(record.timing().ttftNanos());
        assertThat(record.text().reasoning()).isNotEmpty();
      }
    }
    assertThat(run.requests("responses").get(0).tokens().reasoningTokens()).isEqualTo(2);
  }

  @Test
  void bodiesHaveALatencyAndNoFirstToken() throws Exception {
    for (String name : List.of("responses in one body", "messages in one body")) {
      assertThat(run.requests(name)).hasSize(ApisSimulation.ITERATIONS);
      for (RequestRecord record : run.requests(name)) {
        assertThat(record.isOneBody()).isTrue();
        assertThat(record.tokens().outputTokens()).isEqualTo(5);
        assertThat(record.text().answer()).isNotBlank();
        assertThat(record.text().messages()).contains("How is it in Bern?", "sunny; asked");
        assertThat(record.identity().turn()).isEqualTo(3);
      }
    }
  }

  @Test
  void embeddingsCountInputsButNoOutput() throws Exception {
    for (RequestRecord record : run.requests("embed")) {
      assertThat(record.identity().api()).isEqualTo("embeddings");
      assertThat(record.identity().streamed()).isFalse();
      assertThat(record.tokens().inputs()).isEqualTo(3);
      assertThat(record.tokens().promptTokens()).isEqualTo(7);
      assertThat(record.tokens().outputTokens()).isNull();
      assertThat(record.timing().ttftNanos()).isNull();
      assertThat(record.timing().latencyNanos()).isGreaterThanOrEqualTo(30_000_000);
      assertThat(record.text().prompt()).contains("another text");
    }
    JsonNode embed = run.row("requests", "name", "embed");
    assertThat(embed.at("/throughput/inputs_per_s").asDouble())
        .isCloseTo(3 * embed.at("/throughput/requests_per_s").asDouble(), within(1e-6));
    for (String absent :
        List.of("output_tokens_per_s", "peak_output_tokens_per_s", "active_concurrency")) {
      assertThat(embed.path("throughput").path(absent).isNull()).as(absent).isTrue();
    }
    assertThat(embed.at("/metrics/ttft_ms/count").asInt()).isZero();
    assertThat(run.row("requests", "name", "messages").at("/throughput/inputs_per_s").isNull())
        .isTrue();
    assertThat(Files.readString(run.directory().resolve("llm.html"))).contains("inputs/s");
  }

  @Test
  void rerankHasALatencyAndNoFirstToken() throws Exception {
    assertThat(run.requests("rank")).hasSize(ApisSimulation.ITERATIONS);
    for (RequestRecord record : run.requests("rank")) {
      assertThat(record.identity().api()).isEqualTo("rerank");
      assertThat(record.identity().endpoint()).isEqualTo(engine.baseUrl() + "/rerank");
      assertThat(record.tokens().inputs()).isEqualTo(3);
      assertThat(record.tokens().promptTokens()).as("19, 23 and 18 characters").isEqualTo(16);
      assertThat(record.tokens().outputTokens()).isNull();
      assertThat(record.timing().ttftNanos()).isNull();
      assertThat(record.timing().latencyNanos()).isGreaterThanOrEqualTo(30_000_000);
      assertThat(record.text().prompt()).contains("Which text?", "another text");
    }
    JsonNode rank = run.row("requests", "name", "rank");
    assertThat(rank.at("/throughput/inputs_per_s").asDouble())
        .isCloseTo(3 * rank.at("/throughput/requests_per_s").asDouble(), within(1e-6));
    assertThat(rank.at("/throughput/output_tokens_per_s").isNull()).isTrue();
  }

  /** The endpoint is that of TEI, whose answer is a list. */
  @Test
  void benchmarkReranks() throws Exception {
    GatlingRun benchmark =
        GatlingRun.of(Benchmark.class)
            .set("llm.endpoint", engine.baseUrl().replace("/v1", "/rerank"))
            .set("llm.apiKey", "sk-never-to-be-seen")
            .llm("concurrency=2 requests=6 inputsPerRequest=4 promptTokens=40")
            .succeed();
    assertThat(benchmark.requests("rerank"))
        .hasSize(6)
        .allMatch(record -> record.outcome().ok())
        .allMatch(record -> record.tokens().inputs() == 4)
        .allMatch(record -> record.timing().latencyNanos() >= 30_000_000);
    assertThat(benchmark.row("stages", "label", "c=2").at("/throughput/inputs_per_s").asDouble())
        .isPositive();
  }

  public static final class ApisSimulation extends Simulation {

    static final int ITERATIONS = 6;

    private static final String TOOLS =
        "[{\"type\":\"function\",\"function\":{\"name\":\"weather\",\"parameters\":"
            + "{\"type\":\"object\",\"properties\":{\"days\":{\"type\":\"integer\"}},"
            + "\"required\":[\"days\"]}}}]";

    public ApisSimulation() {
      setUp(
              closedLoop(2)
                  .requests(ITERATIONS)
                  .inject(
                      scenario("APIs")
                          .exec(
                              agent("responses", Llm::responses, "completed", "max_output_tokens"),
                              agent("messages", Llm::messages, "tool_use", "max_tokens"),
                              exec(
                                  llm("embed")
                                      .embeddings()
                                      .input("one text", "another text", "a third")
                                      .dimensions(8)
                                      .encodingFormat("base64"),
                                  llm("rank")
                                      .rerank()
                                      .query("Which text?")
                                      .documents("one text", "another text", "a third")
                                      .topN(2)))))
          .protocols(
              llm.baseUrl(System.getProperty("baseUrl"))
                  .apiKey("sk-never-to-be-seen")
                  .recordText()
                  .assertions(llmDetails("embed").inputsPerSec().gt(0)));
    }

    /** Calls a tool, sends the result with the history, ends with one that is not streamed. */
    private static ChainBuilder agent(
        String name, Function<Llm, ChatRequestBuilder> api, String called, String cut) {
      String history = name + "-history";
      String calls = name + "-calls";
      return exec(conversation(history).system("Be brief."))
          .exec(
              api.apply(llm(name + " plan"))
                  .history(history)
                  .user("How is it in Bern?")
                  .tools(TOOLS)
                  .toolChoice("\"required\"")
                  .maxTokens(24)
                  .check(toolCalls().saveAs(calls), finishReason().in(List.of(called, cut))),
              api.apply(llm(name))
                  .history(history)
                  .toolResults(calls, call -> "sunny; asked " + call.arguments())
                  .tools(TOOLS)
                  .maxTokens(12)
                  .check(finishReason().is(cut), answer().saveAs("said"), substring(" ")),
              api
                  .apply(llm(name + " in one body"))
                  .history(history)
                  .user("Again.")
                  .maxTokens(5)
                  .stream(false)
                  .check(finishReason().is(cut), substring(" ")));
    }
  }
}
