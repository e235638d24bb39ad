package io.github.gatlingllm.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.client.Api.Message;
import io.github.gatlingllm.load.DataFile;
import io.github.gatlingllm.workload.Conversation.Dialog;
import io.github.gatlingllm.workload.Dataset.Agent;
import io.github.gatlingllm.workload.Dataset.RecordedRequest;
import io.github.gatlingllm.workload.Dataset.RecordedSession;
import io.github.gatlingllm.workload.Dataset.RecordedTurn;
import io.github.gatlingllm.workload.Dataset.SessionReader;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Sessions of spans in OTLP/JSON, as OpenTelemetry's <a
 * href="https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/">file exporter</a> writes
 * them, with the attributes of its <a
 * href="https://github.com/open-telemetry/semantic-conventions-genai">conventions for generative
 * AI</a>: {@code gen_ai.operation.name}, {@code gen_ai.usage.input_tokens} and {@code
 * output_tokens}, {@code gen_ai.agent.name}, {@code gen_ai.conversation.id}; also with the names of
 * usage that came before them. A span that has usage and no operation is a request.
 *
 * <p>A session is a conversation, else a trace. A request belongs to the nearest {@code
 * invoke_agent} span around it. An agent inside another one begins with the last answer that this
 * one had received before; those that overlap run at the same time. What else passes between
 * requests, mostly {@code execute_tool}, is the gap. Requests that failed, or that have no usage,
 * are left out, and those that only wrap the same request of a library below them. An agent's
 * prompts begin alike: each is the beginning of one text, by its number of tokens.
 */
final class OtelSpans implements SessionReader {

  private static final Set<String> REQUESTS = Set.of("chat", "text_completion", "generate_content");
  private static final List<String> INPUT =
      List.of(
          "gen_ai.usage.input_tokens",
          "gen_ai.usage.prompt_tokens",
          "llm.usage.prompt_tokens",
          "llm.token_count.prompt");
  private static final List<String> OUTPUT =
      List.of(
          "gen_ai.usage.output_tokens",
          "gen_ai.usage.completion_tokens",
          "llm.usage.completion_tokens",
          "llm.token_count.completion");

  /** Tokens of a block: those of an agent's text, which has no recorded ones. */
  private static final int BLOCK = 16;

  private static final long[] NO_IDS = {};
  private static final int ABSENT = -1;
  private static final int DEEPEST = 1_000;
  private static final int FAILED = 2;

  private final Mooncake texts;
  private final Map<String, Span> spans = new LinkedHashMap<>();
  private final Map<String, String> conversations = new HashMap<>();
  private final Set<String> wrappers = new HashSet<>();
  private int requests;
  private int failed;
  private int withoutUsage;

  /** The agent is empty for other spans than agents, tokens are 0 for others than requests. */
  private record Span(
      DataFile file,
      long position,
      String id,
      String trace,
      String parent,
      String agent,
      long start,
      long end,
      int in,
      int out) {}

  OtelSpans(Mooncake texts) {
    this.texts = texts;
  }

  /** Whether an entry has spans in one of the objects around them, or is one. */
  @Override
  public boolean reads(JsonNode entry) {
    return isExport(entry);
  }

  static boolean isExport(JsonNode entry) {
    return entry.has("spanId") || (entry.findValue("spans") != null && !entry.has("messages"));
  }

  @Override
  public int add(DataFile file, JsonNode export, long start, int length) {
    int before = spans.size();
    if (export.has("spanId")) {
      add(file, start, export, export.path("traceId").asText());
    }
    for (JsonNode some : export.findValues("spans")) {
      some.forEach(span -> add(file, start, span, span.path("traceId").asText()));
    }
    return spans.size() - before;
  }

  private void add(DataFile file, long position, JsonNode span, String trace) {
    Map<String, String> has = new HashMap<>();
    for (JsonNode each : span.path("attributes")) {
      // 64-bit numbers are texts in OTLP/JSON.
      each.path("value").forEach(value -> has.put(each.path("key").asText(), value.asText()));
    }
    String id = trace + span.path("spanId").asText();
    String operation = has.getOrDefault("gen_ai.operation.name", "");
    boolean mayBe = operation.isEmpty() || REQUESTS.contains(operation);
    int in = mayBe ? tokens(has, INPUT) : ABSENT;
    int out = mayBe ? tokens(has, OUTPUT) : ABSENT;
    boolean isRequest = mayBe && (in != ABSENT || !operation.isEmpty());
    requests += isRequest ? 1 : 0;
    if (isRequest && span.path("status").path("code").asInt() == FAILED) {
      failed++;
      return;
    }
    boolean hasUsage = in != ABSENT && out != ABSENT;
    withoutUsage += isRequest && !hasUsage ? 1 : 0;
    long start = span.path("startTimeUnixNano").asLong();
    long end = span.path("endTimeUnixNano").asLong();
    if (id.length() == trace.length() || trace.isEmpty() || start <= 0 || end < start) {
      throw new IllegalArgumentException(
          "expected traceId, spanId, startTimeUnixNano and a later endTimeUnixNano in each span");
    }
    if (has.containsKey("gen_ai.conversation.id")) {
      conversations.put(trace, has.get("gen_ai.conversation.id"));
    }
    boolean isAgent = operation.equals("invoke_agent");
    spans.put(
        id,
        new Span(
            file,
            position,
            id,
            trace,
            trace + span.path("parentSpanId").asText(),
            isAgent ? has.getOrDefault("gen_ai.agent.name", id) : "",
            start,
            end,
            isRequest && hasUsage ? in : 0,
            isRequest && hasUsage ? out : 0));
  }

  /** Tokens by the first name that a span has; at least 1, as a server cannot generate none. */
  private static int tokens(Map<String, String> has, List<String> names) {
    String name = names.stream().filter(has::containsKey).findFirst().orElse("");
    if (name.isEmpty()) {
      return ABSENT;
    }
    String tokens = has.getOrDefault(name, "").replaceFirst("\\.0+$", "");
    if (!tokens.matches("\\d{1,7}") || Integer.parseInt(tokens) > Mooncake.MAX_LENGTH) {
      throw new IllegalArgumentException(
          "%s is %s; expected an integer, at most %s"
              .formatted(name, DataFile.clipped(tokens), Mooncake.MAX_LENGTH));
    }
    return Math.max(1, Integer.parseInt(tokens));
  }

  /** What was no request to replay, each reason after a semicolon. */
  @Override
  public String notes() {
    return leftOut(withoutUsage, "without usage")
        + leftOut(failed, "failed")
        + leftOut(wrappers.size(), "around the same request");
  }

  private String leftOut(int count, String reason) {
    return count == 0 ? "" : "; left out %s of %s requests: %s".formatted(count, requests, reason);
  }

  @Override
  public List<RecordedSession> sessions() {
    spans.values().stream().filter(span -> span.in > 0).forEach(this::findWrappers);
    Map<String, Story> stories = new LinkedHashMap<>();
    spans.values().stream()
        .filter(span -> span.in > 0 && !wrappers.contains(span.id))
        .sorted(Comparator.comparingLong(Span::start))
        .forEach(
            request ->
                stories
                    .computeIfAbsent(
                        conversations.getOrDefault(request.trace, request.trace),
                        id -> new Story(id, request.start))
                    .add(request));
    return stories.values().stream()
        .map(of -> new RecordedSession(of.id, new Agent("", of.outermost.turns, null), of.size))
        .toList();
  }

  /** Requests around a request, in the same agent: a library's span around that of its client. */
  private void findWrappers(Span inner) {
    Span agent = agentOf(inner);
    for (Span span = spans.get(inner.parent); span != null; span = spans.get(span.parent)) {
      if (span.equals(agent)) {
        return;
      }
      if (span.in > 0) {
        wrappers.add(span.id);
      }
    }
  }

  /** The nearest agent around a span; null for none. */
  private @Nullable Span agentOf(Span inner) {
    Span agent = null;
    int depth = 0;
    for (Span span = spans.get(inner.parent); span != null; span = spans.get(span.parent)) {
      agent = agent == null && !span.agent.isEmpty() ? span : agent;
      if (++depth > DEEPEST) {
        throw inner.file.bad(
            inner.position,
            "span %s is in a circle, or below more than %s others".formatted(inner.id, DEEPEST));
      }
    }
    return agent;
  }

  /** The requests of a session, which are added by their start. */
  private final class Story {
    private final String id;
    private final Flow outermost;
    private final long first;
    private final Map<Span, Flow> flows = new HashMap<>();
    private int size;

    Story(String id, long start) {
      this.id = id;
      outermost = new Flow(null, start);
      first = start;
    }

    void add(Span request) {
      Span by = agentOf(request);
      Flow flow = flow(by, request.start);
      // The outermost agent goes on with its text in all traces of a conversation.
      String text = id + (by == null ? "" : flow == outermost ? by.agent : by.id);
      flow.add(request, request.start - first, Mooncake.key(text));
      size++;
    }

    /** Its own flow, that of an agent that has ended, or that of one around it before its first. */
    private Flow flow(@Nullable Span agent, long start) {
      Flow known = agent == null ? outermost : flows.get(agent);
      if (known == null) {
        Span around = agentOf(agent);
        Flow outer = flow(around, start);
        boolean isIn = outer.turns.isEmpty() || (around == null && outer.end <= start);
        known = isIn ? outer : outer.inner(agent.agent, start);
        flows.put(agent, known);
      }
      return known;
    }
  }

  /** Requests one after the other, and the flows that began with the last of them. */
  private final class Flow {
    private final @Nullable Flow outer;
    private final List<RecordedTurn> turns = new ArrayList<>();

    private List<Flow> inner = List.of();

    private List<Agent> children = List.of();
    private long answered;
    private long end; // of inner flows too

    Flow(@Nullable Flow outer, long from) {
      this.outer = outer;
      end = from;
    }

    void add(Span request, long start, long key) {
      inner = new ArrayList<>();
      children = new ArrayList<>();
      turns.add(
          new RecordedTurn(
              Math.max(0, request.start - end),
              0,
              () -> dialog(request, key),
              children,
              new RecordedRequest(
                  start,
                  start + request.end - request.start,
                  null,
                  request.in,
                  request.out,
                  BLOCK,
                  () -> texts.blocks(NO_IDS, BLOCK, request.in, key))));
      answered = request.end;
      for (Flow flow = this; flow != null; flow = flow.outer) {
        flow.end = Math.max(flow.end, request.end);
      }
    }

    private Flow inner(String name, long start) {
      return inner.stream()
          .filter(flow -> flow.end <= start)
          .max(Comparator.comparingLong(flow -> flow.end))
          .orElseGet(
              () -> {
                Flow made = new Flow(this, answered);
                inner.add(made);
                children.add(new Agent(name, made.turns, turns.size()));
                return made;
              });
    }
  }

  private Dialog dialog(Span of, long key) {
    String text = texts.text(NO_IDS, BLOCK, of.in, key);
    return new Dialog(List.of(Message.user(text)), null, of.in, of.out);
  }
}
