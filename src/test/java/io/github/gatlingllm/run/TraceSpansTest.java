package io.github.gatlingllm.run;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.groups.Tuple.tuple;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.run.Observers.TraceContext;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceSpansTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final List<String> printed = new ArrayList<>();
  private final List<JsonNode> bodies = new ArrayList<>();
  private final List<String> keys = new ArrayList<>();
  private HttpServer collector;
  private TraceSpans spans;
  private int status = 200;

  @BeforeEach
  void start() throws IOException {
    collector = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    collector.createContext(
        "/v1/traces",
        exchange -> {
          try (exchange) {
            keys.add(exchange.getRequestHeaders().getFirst("x-key"));
            assertThat(exchange.getRequestHeaders().getFirst("Content-Type"))
                .isEqualTo("application/json");
            bodies.add(JSON.readTree(exchange.getRequestBody()));
            exchange.sendResponseHeaders(status, -1);
          }
        });
    collector.start();
    URI url = URI.create("http://127.0.0.1:" + collector.getAddress().getPort() + "/v1/traces");
    Map<String, String> environment = Map.of("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b,other=1");
    spans = new TraceSpans("run-1", TraceSpans.collector(url, environment), printed::add);
  }

  @AfterEach
  void stop() {
    collector.stop(0);
  }

  private static Recorded traced(Recorded recorded, String answer) {
    String id = recorded.record().identity().requestId();
    return recorded.ids(TraceContext.of(id).traceId(), answer);
  }

  private List<JsonNode> sent() {
    List<JsonNode> all = new ArrayList<>();
    bodies.forEach(body -> body.at("/resourceSpans/0/scopeSpans/0/spans").forEach(all::add));
    return all;
  }

  private static Map<String, String> attributes(JsonNode of) {
    Map<String, String> all = new TreeMap<>();
    of.path("attributes")
        .forEach(
            each ->
                all.put(
                    each.path("key").asText(),
                    each.path("value").elements().next().toString().replace("\"", "")));
    return all;
  }

  private static long millis(JsonNode span, String key) {
    return (span.path(key).asLong() - Recorded.ORIGIN) / 1_000_000;
  }

  /**
   * Scheduled at 30 ms, ready 20 ms later, admitted at 50 ms; tokens 100, 130 and 290 ms after
   * that: one gap of 160 ms is a stall, from 180 ms to 340 ms.
   */
  @Test
  void requestAndItsPartsAreSpans() {
    Recorded request = traced(at(50).lag(20).model("llama").tokens(100, 130, 290), "chatcmpl-7");
    spans.records(List.of(request.record(), at(60).tokens(5).record()));
    assertThat(bodies).as("not in the path of records").isEmpty();
    spans.tick(RunView.OPENED);
    assertThat(bodies).as("of changes within a second").isEmpty();
    spans.tick(after(1));

    assertThat(bodies).hasSize(1);
    assertThat(attributes(bodies.get(0).at("/resourceSpans/0/resource")))
        .isEqualTo(Map.of("service.name", "gatling-llm", "service.instance.id", "run-1"));
    assertThat(keys).containsExactly("a b");
    TraceContext trace = TraceContext.of(request.record().identity().requestId());
    assertThat(sent())
        .extracting(span -> span.path("traceId").asText())
        .containsOnly(trace.traceId());
    assertThat(sent())
        .extracting(
            span -> span.path("name").asText(),
            span -> millis(span, "startTimeUnixNano"),
            span -> millis(span, "endTimeUnixNano"))
        .containsExactly(
            tuple("chat llama", 30L, 340L),
            tuple("queue wait", 30L, 50L),
            tuple("first token", 50L, 150L));
    JsonNode root = sent().get(0);
    assertThat(root.path("spanId").asText()).isEqualTo(trace.spanId());
    assertThat(root.has("parentSpanId")).isFalse();
    assertThat(root.path("kind").asInt()).as("client").isEqualTo(3);
    assertThat(sent().subList(1, 3))
        .allSatisfy(
            part -> {
              assertThat(part.path("parentSpanId").asText()).isEqualTo(trace.spanId());
              assertThat(part.path("spanId").asText()).isNotEqualTo(trace.spanId()).hasSize(16);
            });
    assertThat(attributes(root))
        .containsEntry("gen_ai.operation.name", "chat")
        .containsEntry("gen_ai.provider.name", "openai")
        .containsEntry("gen_ai.request.model", "llama")
        .containsEntry("gen_ai.response.id", "chatcmpl-7")
        .containsEntry("gen_ai.usage.input_tokens", "10")
        .containsEntry("gen_ai.usage.output_tokens", "3")
        .containsEntry("server.address", "localhost")
        .containsEntry("server.port", "80")
        .containsKey("gatling_llm.request_id")
        .doesNotContainKeys("error.type", "gen_ai.conversation.id");
    assertThat(root.path("events")).hasSize(1);
    JsonNode stall = root.at("/events/0");
    assertThat(millis(stall, "timeUnixNano")).isEqualTo(180);
    assertThat(attributes(stall)).isEqualTo(Map.of("gatling_llm.stall", "0.16"));
    assertThat(root.has("status")).isFalse();
  }

  @Test
  void failedRequestHasItsErrorAndNoFirstToken() {
    Recorded failed = traced(at(0).failed(RequestStatus.TIMEOUT, "too long").closed(500), null);
    spans.records(List.of(failed.record()));
    spans.stop(RunView.OPENED);
    JsonNode root = sent().get(0);
    assertThat(root.path("status").toString()).isEqualTo("{\"code\":2,\"message\":\"too long\"}");
    assertThat(attributes(root)).containsEntry("error.type", "timeout");
    assertThat(sent()).extracting(span -> span.path("name").asText()).doesNotContain("first token");
  }

  private static RunView after(int seconds) {
    return RunView.OPENED.with(view -> view.seconds = seconds);
  }

  @Test
  void runWithoutTracedRequestsSendsNothing() {
    spans.records(List.of(at(0).tokens(5).record()));
    spans.tick(after(1));
    spans.stop(RunView.OPENED);
    assertThat(bodies).isEmpty();
    assertThat(printed).isEmpty();
  }

  @Test
  void collectorThatRefusesSpansIsPrintedOnce() {
    status = 503;
    for (int i = 0; i < 3; i++) {
      spans.records(List.of(traced(at(0).tokens(5), "a").record()));
      spans.tick(after(i + 1));
    }
    spans.stop(RunView.OPENED);
    assertThat(printed).hasSize(2);
    assertThat(printed.get(0)).endsWith("/v1/traces does not accept spans: HTTP 503");
    assertThat(printed.get(1)).contains(" 9 spans ");
  }

  /** A share of all ids, and the same ids in each larger share. */
  @Test
  void samplesAreNested() {
    int of = 20_000;
    int tenth = 0;
    for (int i = 0; i < of; i++) {
      TraceContext trace = TraceContext.of("run-" + i);
      if (trace.isSampled(0.1)) {
        tenth++;
        assertThat(trace.isSampled(0.5)).isTrue();
      }
      assertThat(trace.isSampled(1)).isTrue();
    }
    assertThat(tenth).isBetween(1_850, 2_150);
    assertThat(TraceContext.of("run-1").header(true))
        .matches("00-[0-9a-f]{32}-[0-9a-f]{16}-01")
        .isNotEqualTo(TraceContext.of("run-2").header(true));
    assertThat(TraceContext.of("run-1").header(false)).endsWith("-00");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0%", "101%", "1", "-1%", "", "NaN%"})
  void impossibleShareIsRefused(String text) {
    assertThatThrownBy(() -> TraceContext.share(text)).isInstanceOf(IllegalArgumentException.class);
  }
}
