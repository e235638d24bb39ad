package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gatling.javaapi.core.*;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.Exchange;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.Request;
import io.github.gatlingllm.testing.ScriptedServer;
import io.github.gatlingllm.testing.SelfSigned;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server that does not answer gets no load, and one that stops answering gets no more. */
class WarmUpIT {
  @TempDir private Path folder;

  /** Servers by the first part of the path. */
  private static void answer(Exchange exchange) throws IOException, InterruptedException {
    String kind = exchange.request().path().split("/", -1)[1];
    switch (kind) {
      case "well", "v1" -> exchange.answer("Hi");
      case "silent" -> {
        var unused = exchange.startStream().awaitClientClose();
      }
      case "cut" -> exchange.startStream().event(ChatChunks.content("Hi")).lastChunk();
      case "empty" -> exchange.startStream().event(ChatChunks.finish("stop")).done().lastChunk();
      case "page" -> exchange.respond(200, "text/html", "<html><title>Welcome</title></html>");
      case "broken" ->
          exchange
              .startStream()
              .event("{\"error\":{\"message\":\"CUDA out of memory\"}}")
              .lastChunk();
      default ->
          exchange.respond(
              Integer.parseInt(kind), "application/json", "{\"error\":{\"message\":\"no\"}}");
    }
  }

  @Test
  void targetsThatFailTheFirstRequestGetNoLoad() throws Exception {
    Map<String, String> expected = new LinkedHashMap<>();
    Path hosts = Files.writeString(folder.resolve("hosts"), "127.0.0.1 localhost\n");
    try (ScriptedServer plain = ScriptedServer.start(WarmUpIT::answer);
        ScriptedServer tls =
            ScriptedServer.startTls(SelfSigned.sslContext(folder), WarmUpIT::answer)) {
      String host = "127.0.0.1:" + plain.port();
      expected.put("http://127.0.0.1:1/v1", "connection refused: is the server running");
      expected.put("http://no-such-host.invalid/v1", "unknown host: check the endpoint's name");
      expected.put("https://" + host + "/v1", "Check host, port and scheme (https:// for TLS)");
      expected.put("http://127.0.0.1:" + tls.port() + "/v1", "Check host, port and scheme");
      expected.put(tls.baseUrl() + "/v1", "certificate is not trusted");
      expected.put("http://" + host + "/401/v1", "HTTP 401: no. Set the API key: LLM_API_KEY");
      expected.put("http://" + host + "/404/v1", "most servers expect …/v1");
      expected.put(
          "http://" + host + "/400/v1", "HTTP 400: no. Change what the error names: the model");
      expected.put("http://" + host + "/429/v1", "HTTP 429: no. Wait");
      expected.put("http://" + host + "/503/v1", "is it still loading the model?");
      expected.put("http://" + host + "/silent/v1", "no byte for 4 s (idle timeout). Look at");
      expected.put("http://" + host + "/cut/v1", "stream ended before finish_reason");
      expected.put("http://" + host + "/empty/v1", "Check that the endpoint is OpenAI-compat");
      expected.put("http://" + host + "/page/v1", "Check that the endpoint is OpenAI-compat");
      expected.put("http://" + host + "/broken/v1", "CUDA out of memory. Look at the server's log");
      String well = "http://" + host + "/well/v1";

      GatlingRun run =
          GatlingRun.of(WarmUpSimulation.class)
              .triesTargets()
              .set("jdk.net.hosts.file", hosts) // asks no name server
              .set("baseUrls", well + "," + String.join(",", expected.keySet()))
              .run();

      assertThat(run.exitCode()).as(run.output()).isEqualTo(1);
      List<String> lines =
          run.lines().stream().filter(line -> line.startsWith("LLM warm-up")).toList();
      assertThat(lines).as("one per server").hasSameSizeAs(expected.keySet());
      int line = 0;
      for (Map.Entry<String, String> each : expected.entrySet()) {
        assertThat(lines.get(line++))
            .startsWith(
                "LLM warm-up request to ours (" + each.getKey() + "/chat/completions) failed: ")
            .contains(each.getValue())
            .endsWith(" No load was sent; warmup=0 skips this request");
      }
      assertThat(run.output())
          .doesNotContain("\tat ", "Exception", "started...", "sk-not-to-be-shown");
      assertThat(plain.requests()).as("one each").doesNotHaveDuplicates();
      assertThat(plain.requests())
          .extracting(request -> request.header("Authorization"))
          .containsOnly("Bearer sk-not-to-be-shown");
      assertThat(plain.requests()).extracting(Request::path).doesNotHaveDuplicates();
    }
  }

  /** The first of two targets answers: it gets its warm-up request, and no load. */
  @Test
  void warmUpSendsTheFirstRequestOfTheWorkloadToEachTarget() throws Exception {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().start();
        ScriptedServer refusing =
            ScriptedServer.start(
                exchange -> exchange.respond(401, "application/json", "{\"detail\":\"no key\"}"))) {
      GatlingRun run =
          GatlingRun.of(Benchmark.class)
              .set("llm.endpoint", engine.baseUrl() + "," + refusing.baseUrl() + "/v1")
              .set("llm.prompt", "Why is the sky blue?")
              .llm("stream=false maxTokens=7 assert=errors<1%")
              .run();

      assertThat(run.exitCode()).as(run.output()).isEqualTo(1);
      assertThat(run.lines())
          .filteredOn(line -> line.startsWith("LLM warm-up"))
          .singleElement()
          .asString()
          .startsWith("LLM warm-up request to 127.0.0.1:" + refusing.port() + " (")
          .contains("/v1/chat/completions) failed: HTTP 401: no key. Set the API key: ");
      assertThat(engine.requestsReceived()).isEqualTo(1);
      assertThat(refusing.requests()).hasSize(1);
      JsonNode asked = new ObjectMapper().readTree(refusing.requests().get(0).body());
      assertThat(asked.at("/messages/0/content").asText()).endsWith("Why is the sky blue?");
      assertThat(asked.path("max_tokens").asInt()).isEqualTo(7);
      assertThat(asked.path("stream").asBoolean()).isFalse();
    }
  }

  /** The JVM's warm-up takes seconds: what is wrong with the server is known before it. */
  @Test
  void serverIsTriedBeforeTheJvmIsWarm() throws Exception {
    try (ScriptedServer server =
        ScriptedServer.start(
            exchange ->
                exchange.respond(
                    404,
                    "application/json",
                    "{\"error\":{\"message\":\"The model `m` does not exist.\"}}"))) {
      GatlingRun run =
          GatlingRun.benchmark(server.baseUrl()).llm("model=m jvmWarmUp=true warmup=2").run();
      assertThat(run.exitCode()).as(run.output()).isEqualTo(1);
      assertThat(run.output())
          .contains("The model `m` does not exist. Check the name of the model. No load was sent")
          .doesNotContain("warm-up of the JVM", "Check the path");
      assertThat(server.requests()).hasSize(1);
    }
  }

  /**
   * Health, models and the first request once each; the model is asked for when it is there. The
   * first answer comes after two pauses of a second.
   */
  @Test
  void waitReadyLetsAServerStart() throws Exception {
    AtomicInteger polls = new AtomicInteger();
    try (ScriptedServer server =
        ScriptedServer.start(
                exchange -> exchange.respond(503, "text/plain", "loading"),
                exchange -> exchange.answer("Yes"))
            .pages(
                page -> {
                  boolean isUp = polls.getAndIncrement() > 0;
                  page.respond(
                      isUp ? 200 : 503, "application/json", "{\"data\":[{\"id\":\"llama\"}]}");
                })) {
      GatlingRun run =
          GatlingRun.benchmark(server.baseUrl())
              .llm("waitReady=1m concurrency=1 requests=1")
              .succeed();
      assertThat(run.lines()).anyMatch(line -> line.contains("waiting for " + server.baseUrl()));
      assertThat(server.requests())
          .as("refused, warm-up, measured")
          .hasSize(3)
          .allMatch(request -> request.body().contains("llama"));
      assertThat(run.requests()).hasSize(1);
      assertThat(run.info().outcome().firstAnswers().values())
          .singleElement()
          .satisfies(seconds -> assertThat(seconds).isGreaterThan(2));
      assertThat(run.output()).contains("> cold start: first answer ");
    }
  }

  /** The last of three warm-up requests is the single-stream peak, and is in no other figure. */
  @Test
  void requestsBeforeTheLoadAreInNoCount() throws Exception {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().start()) {
      GatlingRun run =
          GatlingRun.of(Benchmark.class)
              .set("llm.endpoint", engine.baseUrl())
              .llm("jvmWarmUp=true warmup=3 concurrency=2 requests=10 maxTokens=2")
              .run();

      assertThat(run.lines())
          .anyMatch(line -> line.matches("LLM warm-up of the JVM: \\d+ requests, [\\d.]+ s.*"));
      assertThat(run.requests()).hasSize(10);
      assertThat(run.info().outcome().started()).isEqualTo(10);
      assertThat(engine.requestsReceived()).isEqualTo(13);
      JsonNode alone = run.summary().at("/targets/0/single_stream");
      assertThat(alone.path("tokens").asInt()).isEqualTo(2);
      assertThat(alone.path("before").asInt()).isEqualTo(2);
      double peak = alone.path("tokens_per_s").asDouble();
      JsonNode output = run.summary().path("throughput");
      assertThat(output.path("batching_gain").asDouble())
          .isCloseTo(output.path("output_tokens_per_s").asDouble() / peak, withinPercentage(1e-4));
      assertThat(run.output()).contains("> single stream: ");
    }
  }

  /** The warm-up succeeds, all else fails: the first level ends, and the build fails. */
  @Test
  void serverThatStopsAnsweringEndsTheRunAndFailsTheBuild() throws Exception {
    try (ScriptedServer server =
        ScriptedServer.start(
            WarmUpIT::answer,
            exchange -> exchange.respond(500, "application/json", "{\"error\":\"crashed\"}"))) {
      GatlingRun run =
          GatlingRun.benchmark(server.baseUrl()).llm("concurrency=4,8 failOnInvalid=true").run();

      assertThat(run.exitCode()).as(run.output()).isEqualTo(GatlingRun.ASSERTIONS_FAILED);
      Conclusion end = run.info().outcome().conclusions().get(0);
      assertThat(end.topic()).isEqualTo("stopped early");
      assertThat(end.text())
          .startsWith("during c=4, 1 level skipped: ")
          .endsWith(
              " requests failed one after the other and none succeeded in between (last error: HTTP"
                  + " 500: crashed)");
      assertThat(end.value()).isGreaterThan(100);
      assertThat(end.threshold()).isEqualTo(100);
      assertThat(run.info().stages()).extracting(LevelInfo::label).containsExactly("c=4");
      assertThat(run.output()).contains("LLM stopped early (");
      assertThat(run.lines())
          .filteredOn(line -> line.startsWith("LLM: the run is invalid"))
          .singleElement()
          .asString()
          .startsWith(
              "LLM: the run is invalid, so the build fails (failOnInvalid=false lets it pass): ")
          .contains("stopped_early, errors. ", " failed (100 %)", " See the table of errors");
      assertThat(run.check("stopped_early").path("level").asText()).isEqualTo("invalid");
      assertThat(run.summary().path("checks"))
          .extracting(check -> check.path("id").asText())
          .doesNotContain("low_n");
    }
  }

  public static class WarmUpSimulation extends Simulation {

    /** Values come from feeders and earlier answers, so it cannot be sent on its own. */
    static final String UNKNOWN = "#{question}";

    {
      setUp(
              scenario("Chat")
                  .exec(llm("ask").chat().user(UNKNOWN).maxTokens(4))
                  .injectOpen(atOnceUsers(1)))
          .protocols(
              llm.baseUrls(List.of(System.getProperty("baseUrls").split(",")))
                  .target("ours")
                  .verifyTls()
                  .apiKey("sk-not-to-be-shown\n") // as files of secrets end
                  .idleTimeout(Duration.ofSeconds(4))
                  .requestTimeout(Duration.ofSeconds(20)));
    }
  }
}
