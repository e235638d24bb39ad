package io.github.gatlingllm.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.load.DataFile;
import io.github.gatlingllm.workload.AgentFlow.Call;
import io.github.gatlingllm.workload.Dataset.RecordedSession;
import io.github.gatlingllm.workload.Dataset.SessionReader;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Sessions of <a href="https://github.com/uw-syfi/TraceLab">TraceLab</a>: a round of an agent per
 * line, with lengths and times, without texts and hashes. Blocks follow from how much of a prompt
 * was cached: a session's prompt begins with as many complete blocks of the one before. Nothing is
 * shared between sessions.
 *
 * <p>A sub-agent is a separate session, and nothing names its parent: it is taken to be one whose
 * entire span lies in the time of a tool call of the same user and project, the shortest one.
 */
final class TraceLab implements SessionReader {

  private static final int BLOCK = 64;
  private static final Set<String> INPUTS = Set.of("user_message", "tool_result");
  private static final Comparator<Round> IN_ORDER = Comparator.comparingInt(Round::index);

  private final Mooncake texts;
  private final Map<String, Recording> bySession = new LinkedHashMap<>();
  private int rounds;
  private int leftOut;
  private int joined;

  TraceLab(Mooncake texts) {
    this.texts = texts;
  }

  /** Times in ns since 1970. */
  private record Round(
      int index, long start, long end, int in, int cached, int out, String model) {}

  /** The time of a tool call of the round of that index. */
  private record Window(Recording by, int round, long from, long to) {

    boolean contains(Recording other) {
      return from <= other.start && other.end <= to && by.start < other.start;
    }
  }

  /** A session as it is recorded. */
  private static final class Recording {
    private final String id;
    private final String owner;
    private final List<Round> rounds = new ArrayList<>();
    private final List<Window> windows = new ArrayList<>();
    private long start = Long.MAX_VALUE;
    private long end = Long.MIN_VALUE;
    private @Nullable Window parent;
    private int turns;

    Recording(String id, String owner) {
      this.id = id;
      this.owner = owner;
    }

    void add(Round round) {
      rounds.add(round);
      start = Math.min(start, round.start);
      end = Math.max(end, round.end);
    }

    Recording root() {
      Recording root = this;
      while (root.parent != null) {
        root = root.parent.by;
      }
      return root;
    }
  }

  @Override
  public boolean reads(JsonNode entry) {
    return entry.has("input_tokens_total");
  }

  @Override
  public int add(DataFile file, JsonNode row, long start, int length) {
    int in = Mooncake.length(row, "input_tokens_total");
    int cached = in - Mooncake.length(row, "newly_append_tokens");
    int out = Mooncake.length(row, "output_tokens");
    if (cached < 0 || cached != Mooncake.length(row, "prefix_tokens")) {
      throw new IllegalArgumentException(
          "\"input_tokens_total\" is %s; expected \"prefix_tokens\" plus \"newly_append_tokens\""
              .formatted(in));
    }
    int index = Mooncake.length(row, "round_index");
    long from = Long.MIN_VALUE;
    long to = Long.MIN_VALUE;
    for (JsonNode event : row.path("timing_events")) {
      long at = unixNanos(event.path("timestamp"));
      boolean isInput = INPUTS.contains(event.path("event_type").asText());
      from = isInput ? Math.max(from, at) : from;
      to = isInput ? to : Math.max(to, at);
    }
    rounds++;
    if (from == Long.MIN_VALUE || to < from || in == 0) {
      leftOut++;
      return 1;
    }
    String id = DialogReader.text(row, "session_id");
    String owner = row.path("user").asText("") + '\n' + row.path("project").asText("");
    Recording session =
        bySession.computeIfAbsent(owner + '\n' + id, key -> new Recording(id, owner));
    session.add(
        new Round(
            index, from, to, in, cached, Math.max(1, out), row.path("model").asText("").intern()));
    for (JsonNode tool : row.path("tools")) {
      if (tool.hasNonNull("emitted_at") && tool.hasNonNull("result_at")) {
        session.windows.add(
            new Window(
                session,
                index,
                unixNanos(tool.path("emitted_at")),
                unixNanos(tool.path("result_at"))));
      }
    }
    return 1;
  }

  /** A date-time of ISO 8601, in ns since 1970. */
  static long unixNanos(JsonNode time) {
    try {
      return ChronoUnit.NANOS.between(
          Instant.EPOCH, OffsetDateTime.parse(time.asText()).toInstant());
    } catch (DateTimeException | ArithmeticException e) {
      throw new IllegalArgumentException(
          "expected a time such as 2026-08-25T10:00:00.250Z, but got " + DataFile.clipped(time), e);
    }
  }

  @Override
  public List<RecordedSession> sessions() {
    List<Recording> byStart = new ArrayList<>(bySession.values());
    bySession.clear();
    byStart.sort(Comparator.comparingLong(session -> session.start));
    Map<String, List<Window>> windows = new HashMap<>();
    byStart.forEach(
        session ->
            windows
                .computeIfAbsent(session.owner, owner -> new ArrayList<>())
                .addAll(session.windows));
    for (Recording session : byStart) {
      boolean isKnown = !session.owner.startsWith("\n") && !session.owner.endsWith("\n");
      session.parent =
          Objects.requireNonNull(windows.get(session.owner)).stream()
              .filter(window -> isKnown && window.contains(session))
              .min(Comparator.comparingLong(window -> window.to - window.from))
              .orElse(null);
      joined += session.parent == null ? 0 : 1;
    }
    return trees(byStart);
  }

  /** The sessions that are not a sub-agent, with their sub-agents. */
  private List<RecordedSession> trees(List<Recording> byStart) {
    Map<Recording, Map<String, Integer>> models = new HashMap<>();
    for (Recording session : byStart) {
      session.rounds.sort(IN_ORDER);
      Map<String, Integer> known = models.computeIfAbsent(session.root(), r -> new HashMap<>());
      session.rounds.forEach(round -> known.putIfAbsent(round.model, known.size()));
      session.root().turns += session.rounds.size();
    }
    Map<Recording, AgentFlow> flows = new HashMap<>();
    Map<Recording, BlockPrompts> prompts = new HashMap<>();
    for (Recording session : byStart) {
      Recording root = session.root();
      BlockIds ids = new BlockIds();
      AgentFlow flow = new AgentFlow(session == root ? "" : session.id);
      flow.calls.addAll(calls(session, root.start, models.get(root), ids));
      ids.close();
      flows.put(session, flow);
      prompts.put(
          session,
          new BlockPrompts(
              texts,
              ids,
              Mooncake.key(session.owner + '\n' + session.id),
              true,
              BLOCK,
              0,
              BlockIds.ROOT));
    }
    List<RecordedSession> trees = new ArrayList<>();
    for (int i = byStart.size() - 1; i >= 0; i--) { // a sub-agent starts after its parent
      Recording session = byStart.get(i);
      AgentFlow flow = flows.get(session);
      Window parent = session.parent;
      if (parent == null) {
        trees.add(
            0,
            new RecordedSession(
                session.id, flow.agent(0, null, prompts.get(session)), session.turns));
      } else {
        AgentFlow outer = flows.get(parent.by);
        int call = number(parent);
        outer.begin(flow, call, outer.startedAfter(call, flow.end()), prompts.get(session));
      }
    }
    return trees;
  }

  private static int number(Window window) {
    int number = 0;
    while (window.by.rounds.get(number).index != window.round) {
      number++;
    }
    return number;
  }

  private static List<Call> calls(
      Recording session, long origin, Map<String, Integer> models, BlockIds ids) {
    List<Call> calls = new ArrayList<>();
    long[] before = {};
    long next = 0;
    int tokens = 0;
    for (Round round : session.rounds) {
      int cached = Math.min(round.cached, tokens) / BLOCK;
      long[] list = new long[(round.in + BLOCK - 1) / BLOCK];
      for (int i = 0; i < list.length; i++) {
        list[i] = i < cached ? before[i] : next++;
      }
      calls.add(
          new Call(
              round.start - origin,
              round.end - origin,
              null,
              models.get(round.model),
              round.in,
              round.out,
              ids.add(list)));
      before = list;
      tokens = round.in;
    }
    return calls;
  }

  @Override
  public String notes() {
    return (joined == 0
            ? ""
            : "; joined as sub-agents, by the time of a tool call of the same user and project,"
                + " which is a guess: "
                + joined
                + " sessions")
        + (leftOut == 0
            ? ""
            : "; left out %s of %s rounds: without input, or its time".formatted(leftOut, rounds));
  }
}
