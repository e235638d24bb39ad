package io.github.gatlingllm.workload;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Arrivals.StampUnit;
import io.github.gatlingllm.load.DataFile;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.workload.Dataset.Agent;
import io.github.gatlingllm.workload.Dataset.RecordedRequest;
import io.github.gatlingllm.workload.Dataset.RecordedSession;
import io.github.gatlingllm.workload.Dataset.RecordedTurn;
import io.github.gatlingllm.workload.Dataset.SessionFile;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Makes sessions without texts of a log with texts: lengths, times, and salted hashes of blocks, as
 * {@link WekaTraces} of which ids mean the same in all. The log has records of ours with their
 * texts, requests of an OpenAI-compatible API with their times, or spans of OpenTelemetry.
 *
 * <p>The hash of a block is that of its text and all before it (HMAC with SHA-256, 53 bits), so
 * equal prefixes have equal first ids, in files with the same salt too. Names of sessions and
 * models become numbers.
 */
public final class AnonymousLog {

  /** What logs call a request that failed, where they have no number. */
  private static final Set<String> FAILED = Set.of("error", "failed", "failure");

  private static final int BLOCK = 64;
  private static final long ID_BITS = 53; // exact in JavaScript too
  private static final double CHARS_PER_TOKEN = 4;
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final List<String> BODIES =
      List.of("body", "request", "request_body", "payload", "input");
  private static final List<String> PROMPTS =
      List.of("tools", "system", "instructions", "messages", "input", "prompt");
  private static final List<String> SESSIONS =
      List.of("session_id", "session", "conversation_id", "thread_id");
  private static final List<String> STARTS =
      List.of("start_unix_ns", "timestamp", "start_time", "time", "created_at", "created", "ts");

  /** Durations of a request, with their unit in ns. */
  private static final List<Map.Entry<String, Double>> DURATIONS =
      List.of(
          Map.entry("closed_s", 1e9),
          Map.entry("latency_s", 1e9),
          Map.entry("latency_ms", 1e6),
          Map.entry("duration_ms", 1e6),
          Map.entry("latency", 1e9),
          Map.entry("duration", 1e9));

  private final Mac mac;
  private final BlockIds ids = new BlockIds();
  private final Map<String, List<Logged>> bySession = new LinkedHashMap<>();
  private final Map<Long, Last> byLastBlock = new HashMap<>();
  private final Map<String, Integer> models = new LinkedHashMap<>();
  private final Arrivals.Seen stamps = new Arrivals.Seen();
  private final Map<String, Integer> leftOut = new TreeMap<>();
  private long chars;
  private long tokens;
  private int requests;
  private boolean hasSpans;
  private int blockTokens = BLOCK;

  /** The session of a prompt that may go on, and its number of tokens. */
  private record Last(String session, int tokens) {}

  private record Logged(long start, @Nullable Long end, int model, int in, int out, int node) {}

  private AnonymousLog(byte[] salt) {
    try {
      mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(salt, "HmacSHA256"));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e); // every JVM has it
    }
  }

  /** Writes the sessions of a log; returns in words what has been written and left out. */
  public static String write(String log, Path out, byte[] salt) throws IOException {
    AnonymousLog sessions = new AnonymousLog(salt);
    List<DataFile> files = DataFile.all(log);
    files.forEach(file -> file.entries("", (entry, at, length) -> sessions.survey(entry)));
    if (sessions.hasSpans) {
      sessions.addSpans(SessionFile.open(log, Tokenizer.chars4()));
    } else {
      StampUnit unit = sessions.stamps.isEmpty() ? StampUnit.S : sessions.stamps.unit(StampUnit.S);
      files.forEach(file -> file.entries("", (entry, at, length) -> sessions.add(entry, unit)));
    }
    if (sessions.requests == 0) {
      throw new IllegalArgumentException(
          log
              + ": has no request with its body and time, and no span of gen_ai"
              + sessions.missing());
    }
    sessions.ids.close();
    RunFiles.write(out, sessions::writeTo);
    int all = sessions.bySession.size();
    return "%s requests of %s %s%s"
        .formatted(sessions.requests, all, all == 1 ? "session" : "sessions", sessions.missing());
  }

  private String missing() {
    StringBuilder text = new StringBuilder();
    leftOut.forEach(
        (why, count) -> text.append("; left out ").append(count).append(": ").append(why));
    return text.toString();
  }

  /** Notes the unit of time stamps, and how many characters a token has. */
  private void survey(JsonNode entry) {
    String prompt = prompt(body(entry));
    hasSpans |= prompt.isEmpty() && OtelSpans.isExport(entry);
    JsonNode start = first(entry, STARTS);
    if (start.isNumber() && !entry.has("start_unix_ns")) {
      stamps.add(start.doubleValue());
    }
    JsonNode known = promptTokens(entry);
    if (known.isInt() && !prompt.isEmpty()) {
      chars += prompt.length();
      tokens += known.intValue();
    }
  }

  private double charsPerToken() {
    return tokens == 0 ? CHARS_PER_TOKEN : Math.max(1.0, (double) chars / tokens);
  }

  private static JsonNode first(JsonNode object, List<String> names) {
    return names.stream()
        .map(object::path)
        .filter(value -> !value.isMissingNode() && !value.isNull())
        .findFirst()
        .orElse(object.path(""));
  }

  /** The request's body, which may be a text of JSON; the entry itself where there is none. */
  private static JsonNode body(JsonNode entry) {
    JsonNode body = json(first(entry, BODIES));
    return body.isObject() ? body : entry;
  }

  private static JsonNode json(JsonNode value) {
    try {
      return value.isTextual() && value.textValue().startsWith("{")
          ? JSON.readTree(value.textValue())
          : value;
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("a body is not JSON: " + e.getOriginalMessage(), e);
    }
  }

  private static JsonNode response(JsonNode entry) {
    JsonNode response = json(first(entry, List.of("response", "response_body", "output")));
    return response.path("body").isObject() ? response.path("body") : response;
  }

  private static JsonNode promptTokens(JsonNode entry) {
    JsonNode usage = response(entry).path("usage");
    return entry.has("prompt_tokens")
        ? entry.path("prompt_tokens")
        : first(usage, List.of("prompt_tokens", "input_tokens"));
  }

  private int outputTokens(JsonNode entry) {
    JsonNode usage = response(entry).path("usage");
    JsonNode known =
        entry.has("output_tokens")
            ? entry.path("output_tokens")
            : first(usage, List.of("completion_tokens", "output_tokens"));
    if (known.isInt()) {
      return Math.max(1, known.intValue());
    }
    String answer =
        entry.path("answer").asText(response(entry).at("/choices/0/message/content").asText());
    JsonNode max = first(body(entry), List.of("max_completion_tokens", "max_tokens"));
    return answer.isEmpty()
        ? Math.max(1, max.asInt(1))
        : (int) Math.ceil(answer.length() / charsPerToken());
  }

  /**
   * All that a server makes tokens of, so that what begins alike is alike from its beginning on.
   */
  private static String prompt(JsonNode body) {
    StringBuilder text = new StringBuilder();
    for (String name : PROMPTS) {
      JsonNode part = body.path(name);
      if (part.isTextual() && !part.textValue().isEmpty()) {
        text.append(part.textValue()).append('\n');
      }
      part.forEach(each -> text.append(each).append('\n'));
    }
    return text.toString();
  }

  private void add(JsonNode entry, StampUnit unit) {
    String prompt = prompt(body(entry));
    Long start = start(entry, unit);
    JsonNode status = first(entry, List.of("http_status", "status_code", "status"));
    boolean isFailed =
        (entry.has("ok") && !entry.path("ok").asBoolean())
            || entry.hasNonNull("error")
            || status.asInt() >= 400
            || FAILED.contains(status.asText().toLowerCase(Locale.ROOT));
    if (isFailed || prompt.isEmpty() || start == null) {
      leftOut.merge(
          isFailed ? "failed" : prompt.isEmpty() ? "without a prompt" : "without a time",
          1,
          Integer::sum);
      return;
    }
    JsonNode known = promptTokens(entry);
    int in = known.isInt() ? known.intValue() : (int) Math.ceil(prompt.length() / charsPerToken());
    long[] blocks = hashes(prompt, Math.max(1, in));
    String model = first(entry, List.of("model")).asText(body(entry).path("model").asText());
    add(
        session(entry, blocks, in),
        new Logged(
            start,
            end(entry, start, unit),
            model(model),
            Math.max(1, in),
            outputTokens(entry),
            ids.add(blocks)));
  }

  private void add(String session, Logged request) {
    bySession.computeIfAbsent(session, id -> new ArrayList<>()).add(request);
    requests++;
  }

  private int model(String name) {
    int seen = models.size();
    return models.computeIfAbsent(name, unused -> seen);
  }

  private static @Nullable Long start(JsonNode entry, StampUnit unit) {
    JsonNode start = first(entry, STARTS);
    return entry.has("start_unix_ns") ? (Long) start.longValue() : nanos(start, unit);
  }

  private static @Nullable Long end(JsonNode entry, long start, StampUnit unit) {
    Long end = nanos(first(entry, List.of("end_time", "ended_at")), unit);
    for (Map.Entry<String, Double> each : DURATIONS) {
      JsonNode value = entry.path(each.getKey());
      if (end == null && value.isNumber()) {
        end = start + Math.round(value.doubleValue() * each.getValue());
      }
    }
    if (end != null && end < start) {
      throw new IllegalArgumentException(
          "ends before it starts; expected its end, or a duration ≥ 0");
    }
    return end;
  }

  private static @Nullable Long nanos(JsonNode time, StampUnit unit) {
    if (time.isNumber()) {
      return Math.round(time.doubleValue() * unit.nanos);
    }
    return time.isTextual() ? (Long) TraceLab.unixNanos(time) : null;
  }

  /** The ids of the complete blocks of a prompt. */
  private long[] hashes(String prompt, int in) {
    int length = (int) Math.max(1, Math.round(BLOCK * charsPerToken()));
    long[] hashes = new long[Math.min(prompt.length() / length, in / BLOCK)];
    long before = 0;
    for (int i = 0; i < hashes.length; i++) {
      before = hash(before, prompt.substring(i * length, (i + 1) * length).getBytes(UTF_8));
      hashes[i] = before;
    }
    return hashes;
  }

  private long hash(long before, byte[] text) {
    mac.update(ByteBuffer.allocate(Long.BYTES).putLong(before).flip());
    return ByteBuffer.wrap(mac.doFinal(text)).getLong() >>> (Long.SIZE - ID_BITS);
  }

  /**
   * By its id, where the agents of a replay are one; else it goes on with what its prompt repeats.
   */
  private String session(JsonNode entry, long[] blocks, int in) {
    JsonNode id = first(entry, SESSIONS);
    if (!id.isMissingNode()) {
      return "s" + String.join("/", Stream.of(id.asText().split("/", -1)).limit(2).toList());
    }
    String session = null;
    for (int i = blocks.length - 1; i >= 0 && session == null; i--) {
      Last last = byLastBlock.get(blocks[i]);
      session = last != null && last.tokens < in ? last.session : null;
    }
    session = session == null ? "i" + bySession.size() : session;
    if (blocks.length > 0) {
      byLastBlock.put(blocks[blocks.length - 1], new Last(session, in));
    }
    return session;
  }

  /** Spans have no texts: the ids of their blocks, which come from names, are hashed instead. */
  private void addSpans(SessionFile spans) {
    for (RecordedSession session : spans.sessions()) {
      List<Agent> agents = new ArrayList<>(List.of(session.main()));
      for (int i = 0; i < agents.size(); i++) {
        for (RecordedTurn turn : agents.get(i).turns()) {
          agents.addAll(turn.children());
          add("s" + session.id(), logged(turn.recorded()));
        }
      }
    }
  }

  private Logged logged(RecordedRequest of) {
    int in = Objects.requireNonNull(of.inputTokens());
    blockTokens = of.blockTokens();
    long[] blocks =
        Arrays.stream(of.blocks().get())
            .limit(in / blockTokens)
            .map(id -> hash(id, new byte[0]))
            .toArray();
    return new Logged(
        Objects.requireNonNull(of.startNanos()),
        of.endNanos(),
        model(""),
        in,
        Objects.requireNonNull(of.outputTokens()),
        ids.add(blocks));
  }

  private void writeTo(OutputStream out) throws IOException {
    List<List<Logged>> sessions = new ArrayList<>(bySession.values());
    sessions.forEach(each -> each.sort(Comparator.comparingLong(Logged::start)));
    sessions.sort(Comparator.comparingLong(each -> each.get(0).start));
    try (JsonGenerator json = JSON.createGenerator(out)) {
      json.setRootValueSeparator(null);
      int number = 0;
      for (List<Logged> session : sessions) {
        write(json, "s" + ++number, session);
        json.writeRaw('\n');
      }
    }
  }

  private void write(JsonGenerator json, String id, List<Logged> session) throws IOException {
    json.writeStartObject();
    json.writeStringField("id", id);
    json.writeNumberField("block_size", blockTokens);
    json.writeStringField("hash_id_scope", "global");
    json.writeArrayFieldStart(WekaTraces.PARTS);
    for (Logged each : session) {
      json.writeStartObject();
      json.writeNumberField("t", (each.start - session.get(0).start) / 1e9);
      json.writeStringField("type", "s");
      json.writeStringField("model", "m" + (each.model + 1));
      json.writeNumberField("in", each.in);
      json.writeNumberField("out", each.out);
      if (each.end != null) {
        json.writeNumberField("api_time", (each.end - each.start) / 1e9);
      }
      json.writeFieldName("hash_ids");
      long[] list = ids.list(each.node);
      json.writeArray(list, 0, list.length);
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeEndObject();
  }
}
