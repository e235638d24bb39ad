package io.github.gatlingllm.e2e;

import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.Request;
import io.github.gatlingllm.testing.ScriptedServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Traced requests of a real run: as the server, the records and a collector see them. */
class TracesIT {

  private static final ObjectMapper JSON = new ObjectMapper();

  private static final String NOT_SAMPLED = "00-\\w{32}-\\w{16}-00";

  private static ScriptedServer server() {
    return ScriptedServer.start(
        exchange ->
            exchange
                .startStream()
                .event(ChatChunks.content("Yes"))
                .event(ChatChunks.content(", sir"))
                .event(ChatChunks.finish("stop"))
                .event(ChatChunks.usage(5, 2))
                .done()
                .lastChunk());
  }

  private static Map<String, String> headers(ScriptedServer server) {
    return server.requests().stream()
        .filter(request -> request.header("traceparent") != null)
        .collect(
            toMap(
                request -> Objects.requireNonNull(request.header("x-request-id")),
                request -> Objects.requireNonNull(request.header("traceparent")),
                (first, again) -> again));
  }

  @Test
  void serverRecordsAndCollectorHaveTheSameIds() throws Exception {
    try (ScriptedServer server = server();
        ScriptedServer collector =
            ScriptedServer.start(exchange -> exchange.respond(200, "application/json", ""));
        GatlingRun run =
            GatlingRun.benchmark(server.baseUrl())
                .llm("concurrency=2 requests=6 cooldown=false trace=true metricsUrl=none")
                .set("llm.otlpTraces", collector.baseUrl() + "/v1/traces")
                .succeed()) {
      List<RequestRecord> records = run.requests();
      List<JsonNode> spans = new ArrayList<>();
      for (Request request : collector.requests()) {
        JSON.readTree(request.body()).at("/resourceSpans/0/scopeSpans/0/spans").forEach(spans::add);
      }
      Map<String, String> sent = headers(server);
      assertThat(records).hasSize(6);
      assertThat(records)
          .allSatisfy(
              record -> {
                String id = record.identity().requestId();
                String[] context = Objects.requireNonNull(sent.remove(id)).split("-", -1);
                assertThat(context[1]).isEqualTo(record.identity().traceId());
                assertThat(context[3]).isEqualTo("01");
                assertThat(record.server().answerId()).isNotNull();
                assertThat(spans)
                    .filteredOn(span -> span.path("traceId").asText().equals(context[1]))
                    .extracting(span -> span.path("parentSpanId").asText())
                    .containsExactlyInAnyOrder("", context[2], context[2], context[2]);
              });
      assertThat(sent.values()).as("warm-up").isNotEmpty().allMatch(v -> v.matches(NOT_SAMPLED));
      assertThat(run.output()).doesNotContain("otlpTraces:");
    }
  }

  @Test
  void onlyAShareIsSampled() throws Exception {
    try (ScriptedServer server = server();
        GatlingRun run =
            GatlingRun.benchmark(server.baseUrl())
                .llm(
                    "concurrency=4 requests=300 cooldown=false trace=true traceShare=10%"
                        + " metricsUrl=none")
                .succeed()) {
      Map<String, String> sent = headers(server);
      List<RequestRecord> sampled =
          run.requests().stream().filter(record -> record.identity().traceId() != null).toList();
      assertThat(sampled).hasSizeBetween(10, 60);
      sampled.forEach(
          record ->
              assertThat(sent.remove(record.identity().requestId()))
                  .contains(record.identity().traceId())
                  .endsWith("-01"));
      assertThat(sent.values()).allMatch(v -> v.matches(NOT_SAMPLED));
    }
  }
}
