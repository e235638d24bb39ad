package io.github.gatlingllm.e2e;

import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.storage.S3Server;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.Request;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What a real run sends: spans of its traced requests, and its files, which storage refuses. */
class OutputsIT {

  private static final ObjectMapper JSON = new ObjectMapper();

  private static final String NOT_SAMPLED = "00-\\w{32}-\\w{16}-00";

  private static final int REQUESTS = 120;

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

  /** TokenizersIT has a successful upload. */
  @Test
  void aShareOfRequestsIsTracedAndAFailedUploadLosesNothing() throws Exception {
    try (ScriptedServer server = server();
        ScriptedServer collector =
            ScriptedServer.start(exchange -> exchange.respond(200, "application/json", ""));
        S3Server s3 = new S3Server()) {
      s3.refusal = "403 AccessDenied";
      s3.refused = request -> request.startsWith("PUT");
      try (GatlingRun run =
          GatlingRun.benchmark(server.baseUrl())
              .llm("concurrency=4 cooldown=false trace=true traceShare=20% metricsUrl=none")
              .llm("upload=s3://bench/t requests=" + REQUESTS)
              .set("llm.otlpTraces", collector.baseUrl() + "/v1/traces")
              .set(s3.properties())
              .run()) {
        assertThat(run.requests()).hasSize(REQUESTS);
        assertTraced(run, headers(server), spans(collector));
        assertThat(run.output()).doesNotContain("otlpTraces:");

        assertThat(run.exitCode()).as(run.output()).isEqualTo(1);
        assertThat(run.lines())
            .filteredOn(line -> line.startsWith("LLM upload"))
            .singleElement()
            .asString()
            .startsWith("LLM upload failed: s3://bench/t/" + run.info().id() + "-")
            .contains("/llm/requests.jsonl at http://127.0.0.1:", ": 403 AccessDenied; ")
            .contains(
                "the files are kept, copy them with: aws s3 cp --recursive %s s3://bench/t/%s-"
                    .formatted(run.files().folder().toAbsolutePath(), run.info().id()));
        assertThat(run.files().page()).isNotEmptyFile();
        assertThat(s3.objects).isEmpty();
      }
    }
  }

  /** Server, records and collector have the same ids; others, as those of the warm-up, none. */
  private static void assertTraced(GatlingRun run, Map<String, String> sent, List<JsonNode> spans)
      throws Exception {
    List<RequestRecord> traced =
        run.requests().stream().filter(record -> record.identity().traceId() != null).toList();
    assertThat(traced)
        .hasSizeBetween(REQUESTS / 24, REQUESTS / 2)
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
    assertThat(sent)
        .hasSizeGreaterThan(REQUESTS - traced.size())
        .allSatisfy((id, header) -> assertThat(header).matches(NOT_SAMPLED));
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

  private static List<JsonNode> spans(ScriptedServer collector) throws IOException {
    List<JsonNode> spans = new ArrayList<>();
    for (Request request : collector.requests()) {
      JSON.readTree(request.body()).at("/resourceSpans/0/scopeSpans/0/spans").forEach(spans::add);
    }
    return spans;
  }
}
