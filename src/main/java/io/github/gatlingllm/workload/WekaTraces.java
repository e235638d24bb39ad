package io.github.gatlingllm.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.load.DataFile;
import io.github.gatlingllm.workload.AgentFlow.Call;
import io.github.gatlingllm.workload.Dataset.Agent;
import io.github.gatlingllm.workload.Dataset.RecordedSession;
import io.github.gatlingllm.workload.Dataset.SessionReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Sessions of <a href="https://github.com/callanjfox/kv-cache-tester">Weka's</a> traces of coding
 * agents: an object per session with its {@code requests}, of which those of type {@code subagent}
 * are separate conversations. These begin with the answer before them, and the next request waits
 * for them. Their times count from the start of the trace, or, where the first one is earlier than
 * the sub-agent, from the start of the sub-agent: captures differ.
 *
 * <p>Captures also have parallel agents as plain requests between those of another one, which their
 * {@code hash_ids} tell apart. A request whose ids extend those of the last request of an agent,
 * that has the same model and starts after its end, is this agent's next one. One that keeps only
 * the first of these ids goes on with it, as after a compaction, if no later request has the
 * others; else it is another agent, which begins with the last answer before it. What overlaps in
 * time is never one agent.
 */
final class WekaTraces implements SessionReader {

  /** The array of a trace, which may be longer than memory. */
  static final String PARTS = "requests";

  private static final int BLOCK = 64;
  private static final int MAX_AGENTS = 1_000;
  private static final double MAX_SECONDS = 1e7;

  private final Mooncake texts;
  private final List<RecordedSession> sessions = new ArrayList<>();
  private Trace trace = new Trace();
  private int nested;
  private int flat;
  private int background;
  private int timedFromStart;
  private int leftOut;

  WekaTraces(Mooncake texts) {
    this.texts = texts;
  }

  @Override
  public boolean reads(JsonNode entry) {
    return entry.path(PARTS).isArray();
  }

  /** Adds a request or sub-agent of the trace that is being read; returns its requests. */
  int add(JsonNode part) {
    int before = trace.requests;
    trace.add(part, trace.steps, 0);
    return trace.requests - before;
  }

  /** Ends the trace whose requests have been added. */
  @Override
  public int add(DataFile file, JsonNode entry, long start, int length) {
    Trace read = trace;
    trace = new Trace();
    if (!read.steps.isEmpty()) {
      sessions.add(read.session(file, entry));
    }
    return 0;
  }

  @Override
  public List<RecordedSession> sessions() {
    return sessions;
  }

  @Override
  public String notes() {
    String agents =
        Stream.of(
                noted(nested, "recorded as such"),
                noted(flat, "found in flat requests by hash_ids"),
                noted(background, "of them in the background, as no request follows them"),
                noted(timedFromStart, "of them with times since their start"),
                noted(leftOut, "left out, as no request is before them, or none in them"))
            .filter(note -> !note.isEmpty())
            .collect(Collectors.joining(", "));
    return agents.isEmpty() ? "" : "; sub-agents: " + agents;
  }

  private static String noted(int count, String what) {
    return count == 0 ? "" : count + " " + what;
  }

  /** A request, or a nested conversation; the other one is null. */
  private record Step(int order, @Nullable Call call, String name, List<Step> inner) {}

  /** An agent of a list of requests; the ids of its last one are a path. */
  private static final class Chain {
    private final AgentFlow flow;
    private final @Nullable Chain parent;

    private int[] last = {};

    Chain(String name, @Nullable Chain parent) {
      flow = new AgentFlow(name);
      this.parent = parent;
    }

    void add(Call call, int[] path) {
      flow.calls.add(call);
      last = path.length == 0 ? last : path;
    }

    /** Whether it is the better one of two that a request extends. */
    boolean isAfter(Chain other) {
      return last.length != other.last.length
          ? last.length > other.last.length
          : flow.last().end() > other.flow.last().end();
    }

    boolean mayGoOnWith(Call call) {
      return flow.last().model() == call.model() && flow.last().endsBefore(call.start());
    }
  }

  /** A nested conversation, which begins with the answer of that number. */
  private record Nested(Chain parent, int call, Conversations inner) {}

  /** The agents of a list of requests, the first of which sends its first one. */
  private record Conversations(List<Chain> chains, List<Nested> nested) {}

  private final class Trace {
    private final List<Step> steps = new ArrayList<>();
    private final BlockIds ids = new BlockIds();
    private final Map<String, Integer> models = new HashMap<>();
    private final List<int[]> firstPrompts = new ArrayList<>();
    private int[] lastUse = {};
    private int requests;

    /** The time of the first request, from which all others count. */
    private long origin;

    /**
     * @param base what the times of the list count from, in ns since the first request
     */
    void add(JsonNode part, List<Step> to, long base) {
      long time = nanos(part, "t");
      origin = requests == 0 ? time : origin;
      long at = base + time - (to == steps ? origin : 0);
      Call before = to.isEmpty() ? null : to.get(to.size() - 1).call;
      if (before != null && at < before.start()) {
        throw new IllegalArgumentException(
            "\"t\" is %s, less than that of the request above; sort requests by time"
                .formatted(part.path("t")));
      }
      switch (part.path("type").asText("n")) {
        case "n", "s" -> to.add(new Step(requests++, call(part, at), "", List.of()));
        case "subagent" -> {
          if (to.isEmpty()) {
            leftOut++;
          } else {
            to.add(nested(part, at));
          }
        }
        default ->
            throw new IllegalArgumentException(
                "\"type\" is %s; expected \"n\", \"s\" or \"subagent\""
                    .formatted(DataFile.clipped(part.path("type"))));
      }
    }

    private Step nested(JsonNode part, long at) {
      String name = part.path("agent_id").asText("agent");
      if (!part.path(PARTS).isArray()) {
        throw new IllegalArgumentException(
            "expected \"requests\", a list, in sub-agent " + DataFile.clipped(name));
      }
      List<Step> inner = new ArrayList<>();
      JsonNode first = part.path(PARTS).path(0);
      boolean isTimedFromStart = first.has("t") && nanos(first, "t") - origin < at;
      timedFromStart += isTimedFromStart ? 1 : 0;
      for (JsonNode each : part.path(PARTS)) {
        add(each, inner, isTimedFromStart ? at : -origin);
      }
      return new Step(requests, null, name, inner);
    }

    private Call call(JsonNode part, long start) {
      int seen = models.size();
      return new Call(
          start,
          start + (part.hasNonNull("api_time") ? nanos(part, "api_time") : 0),
          part.hasNonNull("think_time") ? (Long) nanos(part, "think_time") : null,
          models.computeIfAbsent(part.path("model").asText(""), name -> seen),
          Math.max(1, Mooncake.length(part, "in")),
          Math.max(1, Mooncake.length(part, "out")),
          ids.add(Mooncake.ids(part)));
    }

    private static long nanos(JsonNode part, String name) {
      JsonNode value = part.path(name);
      if (!value.isNumber() || !(value.doubleValue() >= 0 && value.doubleValue() <= MAX_SECONDS)) {
        throw new IllegalArgumentException(
            "\"%s\" is %s; expected seconds, 0 to %s"
                .formatted(name, DataFile.clipped(value), MAX_SECONDS));
      }
      return Math.round(value.doubleValue() * 1e9);
    }

    RecordedSession session(DataFile file, JsonNode entry) {
      int[] uses = new int[ids.size()];
      noteUses(steps, uses);
      lastUse = ids.highest(uses);
      Conversations all = conversations(steps, "");
      String id = entry.path("id").asText(file.name() + '-' + (sessions.size() + 1));
      boolean isLocal = entry.path("hash_id_scope").asText("local").equals("local");
      BlockPrompts prompts = prompts(entry, Mooncake.key(file.name() + '\n' + id), isLocal);
      List<Agent> agents =
          begun(all, prompts).stream().map(chain -> chain.flow.agent(0, null, prompts)).toList();
      ids.close();
      return new RecordedSession(id, agents.get(0), requests, agents.subList(1, agents.size()));
    }

    private BlockPrompts prompts(JsonNode entry, long key, boolean isLocal) {
      Integer given = Mooncake.optional(entry, "block_size");
      int block = given == null ? BLOCK : given;
      if (block == 0) {
        throw new IllegalArgumentException("\"block_size\" is 0; expected 1 or more");
      }
      int[] first = firstPrompts.get(0);
      int shared = firstPrompts.size() < 2 ? 0 : first.length;
      for (int[] path : firstPrompts) {
        shared = Math.min(shared, BlockIds.common(path, first));
      }
      int declared = setUp(entry, "tool_tokens") + setUp(entry, "system_tokens");
      int system = Math.max(shared * block, declared);
      int last = (system + block - 1) / block - 1;
      boolean isRecorded = last >= 0 && last < first.length;
      return new BlockPrompts(
          texts,
          ids,
          key,
          isLocal,
          block,
          isRecorded ? system : 0,
          isRecorded ? first[last] : BlockIds.ROOT);
    }

    private static int setUp(JsonNode entry, String name) {
      Integer tokens = Mooncake.optional(entry, name);
      return tokens == null ? 0 : tokens;
    }

    private void noteUses(List<Step> some, int[] uses) {
      for (Step step : some) {
        noteUses(step.inner, uses);
        if (step.call != null && step.call.node() != BlockIds.ROOT) {
          uses[step.call.node()] = Math.max(uses[step.call.node()], step.order);
        }
      }
    }

    private Conversations conversations(List<Step> some, String name) {
      Conversations all = new Conversations(new ArrayList<>(), new ArrayList<>());
      Chain last = null;
      for (Step step : some) {
        if (step.call != null) {
          int[] path = ids.path(step.call.node());
          last = chain(all.chains, step, path, name);
          last.add(step.call, path);
        } else if (step.inner.isEmpty() || last == null) {
          leftOut++;
        } else {
          Conversations inner = conversations(step.inner, step.name);
          all.nested.add(new Nested(last, last.flow.calls.size() - 1, inner));
        }
      }
      return all;
    }

    /** The agent that sends a request, which may be a new one. */
    private Chain chain(List<Chain> chains, Step step, int[] path, String name) {
      Call call = Objects.requireNonNull(step.call);
      Chain next = null;
      int shared = 0;
      for (Chain chain : chains) {
        int common = BlockIds.common(chain.last, path);
        boolean isExtended = common == chain.last.length && (common > 0 || path.length == 0);
        if (isExtended && chain.mayGoOnWith(call) && (next == null || chain.isAfter(next))) {
          next = chain;
        }
        shared = Math.max(shared, common);
      }
      if (next == null
          && path.length == 0
          && !chains.isEmpty()
          && chains.get(0).mayGoOnWith(call)) {
        next = chains.get(0); // nothing states that it is another agent's
      }
      Chain nearest = chains.isEmpty() ? null : chains.get(0);
      for (int i = chains.size() - 1; next == null && shared > 0 && i >= 0; i--) {
        Chain chain = chains.get(i);
        if (BlockIds.common(chain.last, path) == shared) {
          boolean isCompacted =
              shared < chain.last.length
                  && lastUse[chain.last[shared]] < step.order
                  && chain.mayGoOnWith(call);
          next = isCompacted ? chain : null;
          nearest = chain;
        }
      }
      return next == null ? begin(chains, nearest, path, name) : next;
    }

    private Chain begin(List<Chain> chains, @Nullable Chain parent, int[] path, String name) {
      if (firstPrompts.size() == MAX_AGENTS) {
        throw new IllegalArgumentException(
            "more than %s agents in a trace, by hash_ids; split it".formatted(MAX_AGENTS));
      }
      String flatName = name.isEmpty() ? "flat-" : name + "/flat-";
      Chain begun = new Chain(chains.isEmpty() ? name : flatName + chains.size(), parent);
      flat += chains.isEmpty() ? 0 : 1;
      chains.add(begun);
      firstPrompts.add(path);
      return begun;
    }

    /**
     * Lets all agents begin with the answer before them, from the inside out; returns those that
     * begin with the conversations, as there is no answer before them.
     */
    private List<Chain> begun(Conversations all, BlockPrompts prompts) {
      for (Nested each : all.nested) {
        AgentFlow outer = each.parent.flow;
        Integer next = each.call + 1 < outer.calls.size() ? each.call + 1 : null;
        for (Chain inner : begun(each.inner, prompts)) {
          outer.begin(inner.flow, each.call, next, prompts);
        }
        nested++;
        background += next == null ? 1 : 0;
      }
      List<Chain> first = new ArrayList<>();
      for (int i = all.chains.size() - 1; i >= 0; i--) {
        AgentFlow flow = all.chains.get(i).flow;
        long start = flow.first().start();
        Chain outer = all.chains.get(i).parent;
        while (outer != null && outer.flow.answeredBefore(start) < 0) {
          outer = outer.parent;
        }
        if (outer == null) {
          first.add(0, all.chains.get(i));
        } else {
          int call = outer.flow.answeredBefore(start);
          Integer next = outer.flow.startedAfter(call, flow.end());
          outer.flow.begin(flow, call, next, prompts);
          background += next == null ? 1 : 0;
        }
      }
      return first;
    }
  }
}
