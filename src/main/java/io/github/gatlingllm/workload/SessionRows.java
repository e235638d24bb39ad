package io.github.gatlingllm.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.client.Api.Message;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Arrivals.StampUnit;
import io.github.gatlingllm.load.DataFile;
import io.github.gatlingllm.workload.Conversation.Dialog;
import io.github.gatlingllm.workload.Dataset.Agent;
import io.github.gatlingllm.workload.Dataset.RecordedRequest;
import io.github.gatlingllm.workload.Dataset.RecordedSession;
import io.github.gatlingllm.workload.Dataset.RecordedTurn;
import io.github.gatlingllm.workload.Dataset.SessionReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Sessions of a file with a request per line, in our own format, or as <a
 * href="https://github.com/kvcache-ai/Mooncake">Mooncake</a>, <a
 * href="https://github.com/alibaba-edu/qwen-bailian-usagetraces-anon">Bailian</a> and Dynamo's
 * replay publish them: our format has their names too.
 *
 * <p>A request belongs to the session of its {@code session_id}, else to that of its {@code
 * parent_chat_id}. Without these it continues the session whose last prompt's complete blocks all
 * begin its own, longer prompt, by {@code hash_ids}, each of which stands for its block and all
 * blocks before it; else it begins a session.
 */
final class SessionRows implements SessionReader {

  private static final int MAX_AGENTS = 1_000;
  private static final double MAX_MILLIS = 1e9;

  /** Nanoseconds since 1970 until the year 2286. */
  private static final double LATEST = 1e19;

  /** Tokens of a block of traces with {@code chat_id}. */
  private static final int CHAT_BLOCK = 16;

  private final Mooncake texts;
  private final Map<String, List<Row>> bySession = new LinkedHashMap<>();
  private final Map<String, String> byChat = new HashMap<>();

  /** Not in the file, as a trace begins in the middle of dialogs; or below, which is a mistake. */
  private final Set<String> unknownParents = new HashSet<>();

  private final Map<Long, LastPrompt> byPrefix = new HashMap<>();
  private final @Nullable StampUnit set;
  private final Arrivals.Seen stamps = new Arrivals.Seen();
  private StampUnit unit = StampUnit.MS;
  private int inferred;

  private record LastPrompt(String session, int tokens) {}

  /**
   * A line. The gap in ms is after the request, the delay in ms before it, the time in the unit of
   * the file; they are not numbers where they are absent, as a file may have a million lines.
   */
  private record Row(
      DataFile file,
      long start,
      int length,
      @Nullable Integer input,
      @Nullable Integer output,
      int block,
      String agent,
      double gap,
      double delay,
      double time,
      List<String> children,
      List<String> background) {

    Stream<String> begun() {
      return Stream.concat(children.stream(), background.stream());
    }
  }

  SessionRows(@Nullable StampUnit set, Mooncake texts) {
    this.set = set;
    this.texts = texts;
  }

  /** What no other reader knows is a mistake of such a line. */
  @Override
  public boolean reads(JsonNode entry) {
    return true;
  }

  @Override
  public int add(DataFile file, JsonNode row, long start, int length) {
    Dialog given = DialogReader.prompt(row, output(row));
    if (given != null && given.size() == 0) {
      throw new IllegalArgumentException("has no message of a user or a tool");
    }
    int input = given == null ? input(row) : 0;
    double time = number(row, "timestamp", LATEST);
    if (!Double.isNaN(time)) {
      stamps.add(time);
    }
    unit = row.has("chat_id") ? StampUnit.S : unit;
    bySession
        .computeIfAbsent(session(row, input), id -> new ArrayList<>(1))
        .add(
            new Row(
                file,
                start,
                length,
                given == null ? (Integer) input : null,
                output(row),
                block(row),
                row.path("agent").asText(""),
                number(row, "gap_ms", MAX_MILLIS),
                number(row, row.has("delay") ? "delay" : "delay_ms", MAX_MILLIS),
                time,
                names(row, "children"),
                names(row, "background")));
    return 1;
  }

  /** The session of a line: a letter for where its id is from, and the id. */
  private String session(JsonNode row, int input) {
    long[] ids = Mooncake.ids(row);
    int block = block(row);
    if (row.hasNonNull("session_id")) {
      return "s" + row.path("session_id").asText();
    }
    if (row.hasNonNull("chat_id")) {
      String chat = row.path("chat_id").asText();
      String parent = row.path("parent_chat_id").asText();
      String before = byChat.get(parent);
      if (before == null) {
        unknownParents.add(parent);
      }
      if (unknownParents.contains(chat)) {
        throw new IllegalArgumentException(
            "chat %s is the \"parent_chat_id\" of itself or of a line above; sort parents first"
                .formatted(DataFile.clipped(row.path("chat_id"))));
      }
      String session = before == null ? "c" + chat : before;
      byChat.put(chat, session);
      return session;
    }
    String session = null;
    for (int i = ids.length - 1; i >= 0 && session == null; i--) {
      LastPrompt last = byPrefix.get(ids[i]);
      if (last != null && last.tokens < input) {
        session = last.session;
        byPrefix.remove(ids[i]);
      }
    }
    session = session == null ? "i" + ++inferred : session;
    int complete = Math.min(ids.length, input / block);
    if (complete > 0) {
      byPrefix.put(ids[complete - 1], new LastPrompt(session, input));
    }
    return session;
  }

  private static List<String> names(JsonNode row, String key) {
    if (row.has(key) && !row.path(key).isArray()) {
      throw new IllegalArgumentException(
          "expected \"%s\", a list of names of agents".formatted(key));
    }
    List<String> names = new ArrayList<>();
    row.path(key).forEach(name -> names.add(name.asText()));
    return List.copyOf(names);
  }

  private static int block(JsonNode row) {
    Integer block = Mooncake.optional(row, "block_size");
    if (block != null && block == 0) {
      throw new IllegalArgumentException("\"block_size\" is 0; expected 1 or more");
    }
    return block != null ? block : row.has("chat_id") ? CHAT_BLOCK : Mooncake.BLOCK;
  }

  private static int input(JsonNode row) {
    return tokens(row, "input_tokens", "input_length");
  }

  /** Null where the answer has the length of the setting. */
  private static @Nullable Integer output(JsonNode row) {
    boolean isRecorded = row.hasNonNull("output_tokens") || row.hasNonNull("output_length");
    return isRecorded ? (Integer) tokens(row, "output_tokens", "output_length") : null;
  }

  /** Tokens by our name or that of others; at least 1, as a server cannot generate none. */
  private static int tokens(JsonNode row, String name, String alias) {
    return Math.max(1, Mooncake.length(row, row.has(alias) ? alias : name));
  }

  private static double number(JsonNode row, String name, double max) {
    JsonNode value = row.path(name);
    if (value.isMissingNode() || value.isNull()) {
      return Double.NaN;
    }
    if (!value.isNumber() || !(value.doubleValue() >= 0 && value.doubleValue() <= max)) {
      throw new IllegalArgumentException(
          "\"%s\" is %s; expected %s to %s"
              .formatted(
                  name,
                  DataFile.clipped(value),
                  max == LATEST ? "a number, 0" : "milliseconds, 0",
                  max));
    }
    return value.doubleValue();
  }

  /** The sessions; what has been read is given up meanwhile. */
  @Override
  public List<RecordedSession> sessions() {
    unit = set == null ? stamps.unit(unit) : set;
    List<RecordedSession> sessions = new ArrayList<>(bySession.size());
    for (var each = bySession.entrySet().iterator(); each.hasNext(); each.remove()) {
      Map.Entry<String, List<Row>> next = each.next();
      String id = next.getKey().substring(1);
      Agent main = new Linked(id, next.getValue()).main;
      sessions.add(new RecordedSession(id, main, next.getValue().size()));
    }
    byChat.clear();
    byPrefix.clear();
    return sessions;
  }

  /** The unit of time stamps in words, if there are any. */
  @Override
  public String notes() {
    return stamps.isEmpty() ? "" : "; time stamps in " + unit;
  }

  private long[] blocks(Row of, long key) {
    long[] ids = Mooncake.ids(of.file.entry(of.start, of.length));
    return of.input == null ? ids : texts.blocks(ids, of.block, of.input, key);
  }

  private Dialog dialog(Row of, long key) {
    JsonNode row = of.file.entry(of.start, of.length);
    Dialog given = DialogReader.prompt(row, output(row));
    if (given != null) {
      return given;
    }
    String text = texts.text(Mooncake.ids(row), block(row), input(row), key);
    return new Dialog(List.of(Message.user(text)), null, input(row), output(row));
  }

  /** The agents of a session, each of which begins once. */
  private final class Linked {
    private final String id;
    private final Map<String, List<Row>> byAgent = new LinkedHashMap<>();
    private final Set<String> begun = new HashSet<>();
    private final Set<String> built = new HashSet<>();
    private final Row first;
    private final Agent main;

    Linked(String id, List<Row> rows) {
      this.id = id;
      rows.forEach(row -> byAgent.computeIfAbsent(row.agent, a -> new ArrayList<>()).add(row));
      first = rows.get(0);
      begun.add(first.agent);
      rows.forEach(row -> row.begun().forEach(child -> begin(child, row)));
      main = new Agent("", turns(first.agent), null);
      byAgent.keySet().removeAll(built);
      byAgent.forEach(
          (name, unused) -> {
            String mistake =
                begun.contains(name)
                    ? "agent '%s' of session %s waits for itself: its children lead back to it"
                    : "agent '%s' is in no \"children\" or \"background\" of session %s";
            throw unused.get(0).file.bad(unused.get(0).start, mistake.formatted(name, id));
          });
    }

    private void begin(String child, Row row) {
      String mistake =
          !byAgent.containsKey(child)
              ? "child '%s' has no request in session %s"
              : !begun.add(child)
                  ? "child '%s' has begun before in session %s; give each another name"
                  : begun.size() > MAX_AGENTS ? "child '%s' is one too many in session %s" : "";
      if (!mistake.isEmpty()) {
        throw row.file.bad(row.start, mistake.formatted(child, id));
      }
    }

    private List<RecordedTurn> turns(String name) {
      built.add(name);
      long key = Mooncake.key(id + '\n' + name);
      List<RecordedTurn> turns = new ArrayList<>();
      double before = Double.NaN;
      SessionRows all = SessionRows.this; // a prompt must not retain these maps
      for (Row row : Objects.requireNonNull(byAgent.get(name))) {
        double gap = Double.isNaN(row.delay) ? before : row.delay;
        double due = Double.isNaN(gap) ? (row.time - first.time) * unit.nanos : Double.NaN;
        if (due > MAX_MILLIS * 1e6) {
          throw row.file.bad(
              row.start, "timestamp is over 1e9 ms after the first of session " + id);
        }
        List<Agent> children = new ArrayList<>();
        for (String child : row.children) { // no stream: it takes a dozen frames of the stack
          children.add(new Agent(child, turns(child), turns.size() + 1));
        }
        for (String child : row.background) {
          children.add(new Agent(child, turns(child), null));
        }
        double start = (row.time - first.time) * unit.nanos;
        turns.add(
            new RecordedTurn(
                Math.round(gap * 1e6), // 0 where it is not a number
                Math.round(due),
                () -> all.dialog(row, key),
                List.copyOf(children),
                new RecordedRequest(
                    Double.isNaN(start) ? null : Math.round(start),
                    null,
                    null,
                    row.input,
                    row.output,
                    row.block,
                    () -> all.blocks(row, key))));
        before = row.gap;
      }
      return List.copyOf(turns);
    }
  }
}
