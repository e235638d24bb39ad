package io.github.gatlingllm.run;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.SessionTurn;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.record.TokenGaps;
import io.github.gatlingllm.run.Observers.TraceContext;
import java.net.URI;
import java.net.URLDecoder;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends the spans of traced requests in OTLP/JSON over HTTP, every second and at the end of the
 * run. A request is a span, from its planned start to its end; queue wait, connection and first
 * token are spans in it, stalls are events. Attributes have the names of OpenTelemetry's semantic
 * conventions for generative AI, others start with {@code gatling_llm}.
 */
final class TraceSpans implements RunObserver {

  private static final Duration LONGEST = Duration.ofSeconds(2);
  private static final int MAX_SPANS = 1 << 12;
  private static final int STALL_MICROS = 100_000;

  private static final int INTERNAL = 1;
  private static final int CLIENT = 3;
  private static final int ERROR = 2;

  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private final String run;
  private final MetricsPage collector;
  private final Consumer<String> print;
  private final PageClient client = new PageClient(LONGEST);
  private ArrayNode spans = JSON.arrayNode();
  private long lost;
  private long second;

  TraceSpans(String run, MetricsPage collector, Consumer<String> print) {
    this.run = run;
    this.collector = collector;
    this.print = print;
  }

  static TraceSpans of(String run, URI url) {
    return new TraceSpans(run, collector(url, System.getenv()), PrintableText::print);
  }

  /** With the headers of OpenTelemetry's variables, {@code name=value,…}. */
  static MetricsPage collector(URI url, Map<String, String> environment) {
    Map<String, String> headers = new LinkedHashMap<>();
    String all = environment.getOrDefault("OTEL_EXPORTER_OTLP_HEADERS", "");
    for (String header :
        environment.getOrDefault("OTEL_EXPORTER_OTLP_TRACES_HEADERS", all).split(",", -1)) {
      String[] parts = header.split("=", 2);
      if (parts.length == 2) {
        headers.put(parts[0].strip(), URLDecoder.decode(parts[1].strip(), UTF_8));
      }
    }
    return new MetricsPage("", url, Secrets.redactUrl(url.toString()), headers, true, true);
  }

  /**
   * What meters and spans print of a request, in the order of the conventions; no value is null.
   */
  static Map<String, String> attributes(RequestRecord record) {
    RequestRecord.Identity id = record.identity();
    URI endpoint = URI.create(id.endpoint());
    Api api = Api.of(id.api());
    int port = endpoint.getPort();
    Map<String, String> all = new LinkedHashMap<>();
    all.put("gen_ai.operation.name", api.operation());
    all.put("gen_ai.provider.name", api.provider());
    all.put("gen_ai.request.model", id.model() == null ? "" : id.model());
    all.put("server.address", endpoint.getHost() == null ? "" : endpoint.getHost());
    all.put(
        "server.port",
        Integer.toString(port >= 0 ? port : "https".equals(endpoint.getScheme()) ? 443 : 80));
    all.put("gatling_llm.target", id.target());
    all.put("gatling_llm.stage", id.stage());
    all.put("error.type", record.outcome().ok() ? "" : record.outcome().status().key());
    return all;
  }

  @Override
  public String name() {
    return "traces";
  }

  @Override
  public void records(List<RequestRecord> batch) {
    batch.stream().filter(record -> record.identity().traceId() != null).forEach(this::add);
    if (spans.size() >= MAX_SPANS) {
      send();
    }
  }

  @Override
  public void tick(RunView view) {
    if (view.seconds != second) {
      second = view.seconds;
      send();
    }
  }

  @Override
  public void stop(RunView view) {
    send();
    if (lost > 0) {
      print.accept("LLM otlpTraces: " + lost + " spans were not accepted");
    }
  }

  private void add(RequestRecord record) {
    Timing timing = record.timing();
    TraceContext trace = TraceContext.of(record.identity().requestId());
    long start = timing.startUnixNanos();
    Long admitted = timing.admittedUnixNanos();
    long sent = admitted == null ? start : admitted;
    long end = sent + (timing.closedNanos() == null ? 0 : timing.closedNanos());
    long planned = timing.scheduledUnixNanos();
    Map<String, String> texts = attributes(record);
    String name =
        (texts.get("gen_ai.operation.name") + " " + record.identity().model()).replace(" null", "");
    ObjectNode request = span(trace, trace.spanId(), name, CLIENT, planned, end);
    described(request, record, texts);
    if (!record.outcome().ok()) {
      request.putObject("status").put("code", ERROR).put("message", record.outcome().error());
    }
    ArrayNode stalls = request.putArray("events");
    TokenGaps.visit(
        record.events(),
        record.tokens(),
        (event, micros, perToken, tokens) -> {
          if (micros > STALL_MICROS) {
            long before = (long) record.events().offsetsMicros()[event] - micros;
            ObjectNode stall =
                stalls
                    .addObject()
                    .put("timeUnixNano", Long.toString(sent + 1_000 * before))
                    .put("name", "stall");
            put(stall.putArray("attributes"), "gatling_llm.stall", "doubleValue", micros / 1e6);
          }
        });
    Long connect = timing.connectNanos();
    long written = sent + (connect == null ? 0 : connect);
    part(trace, 1, "queue wait", planned, admitted);
    part(trace, 2, "connect", sent, connect == null ? null : (Long) written);
    Long first = timing.ttftNanos();
    part(trace, 3, "first token", written, first == null ? null : (Long) (sent + first));
  }

  /** A part of a request; its id differs from the request's in its last digits. */
  private void part(TraceContext trace, int number, String name, long from, @Nullable Long to) {
    if (to != null) {
      String id = "%016x".formatted(Long.parseUnsignedLong(trace.spanId(), 16) ^ number);
      span(trace, id, name, INTERNAL, from, to).put("parentSpanId", trace.spanId());
    }
  }

  private ObjectNode span(
      TraceContext trace, String id, String name, int kind, long from, long to) {
    return spans
        .addObject()
        .put("traceId", trace.traceId())
        .put("spanId", id)
        .put("name", name)
        .put("kind", kind)
        .put("flags", 1)
        .put("startTimeUnixNano", Long.toString(from))
        .put("endTimeUnixNano", Long.toString(to));
  }

  private static void described(ObjectNode span, RequestRecord record, Map<String, String> texts) {
    ArrayNode all = span.putArray("attributes");
    texts.put("gatling_llm.request_id", record.identity().requestId());
    texts.put("gatling_llm.phase", record.identity().phase().key());
    texts.put("gen_ai.response.id", record.server().answerId());
    texts.put("gen_ai.conversation.id", SessionTurn.of(record, SessionTurn::id));
    put(all, "server.port", "intValue", texts.remove("server.port"));
    texts.forEach((name, text) -> put(all, name, "stringValue", "".equals(text) ? null : text));
    put(all, "gen_ai.request.max_tokens", "intValue", record.tokens().maxTokens());
    put(all, "gen_ai.usage.input_tokens", "intValue", record.tokens().prompt());
    put(all, "gen_ai.usage.output_tokens", "intValue", record.tokens().outputTokens());
    put(all, "http.response.status_code", "intValue", record.outcome().httpStatus());
    String reason = record.outcome().finishReason();
    if (reason != null) {
      all.addObject()
          .put("key", "gen_ai.response.finish_reasons")
          .putObject("value")
          .putObject("arrayValue")
          .putArray("values")
          .addObject()
          .put("stringValue", reason);
    }
  }

  /** An attribute, unless its value is null. 64-bit numbers are texts in OTLP/JSON. */
  private static void put(ArrayNode all, String name, String type, @Nullable Object value) {
    if (value != null) {
      ObjectNode typed = all.addObject().put("key", name).putObject("value");
      if (value instanceof Double number) {
        typed.put(type, number);
      } else {
        typed.put(type, value.toString());
      }
    }
  }

  private void send() {
    if (spans.isEmpty()) {
      return;
    }
    ObjectNode all = JSON.objectNode();
    ObjectNode group = all.putArray("resourceSpans").addObject();
    ArrayNode resource = group.putObject("resource").putArray("attributes");
    put(resource, "service.name", "stringValue", "gatling-llm");
    put(resource, "service.instance.id", "stringValue", run);
    ObjectNode scope = group.putArray("scopeSpans").addObject();
    scope.putObject("scope").put("name", "gatling-llm");
    scope.set("spans", spans);
    int count = spans.size();
    spans = JSON.arrayNode();
    try {
      var unused = client.post(collector, all.toString()).join();
    } catch (CompletionException e) {
      if (lost == 0) {
        print.accept("LLM otlpTraces: " + collector + " does not accept spans: " + e.getMessage());
      }
      lost += count;
    }
  }
}
