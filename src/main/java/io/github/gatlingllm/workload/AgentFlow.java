package io.github.gatlingllm.workload;

import io.github.gatlingllm.workload.Dataset.Agent;
import io.github.gatlingllm.workload.Dataset.RecordedRequest;
import io.github.gatlingllm.workload.Dataset.RecordedTurn;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The requests of an agent, one after the other by their recorded times, and the agents that begin
 * with their answers. What begins must be complete: add it from the inside out.
 */
final class AgentFlow {

  /** Times of traces are rounded to milliseconds. */
  private static final long ROUNDED_NANOS = 1_000_000;

  private static final Comparator<Agent> BY_START =
      Comparator.comparing(agent -> agent.turns().get(0).recorded().startNanos());

  final String name;
  final List<Call> calls = new ArrayList<>();
  private final Map<Integer, List<Agent>> begun = new HashMap<>();

  /** When the last agent that a call waits for has ended. */
  private final Map<Integer, Long> awaited = new HashMap<>();

  AgentFlow(String name) {
    this.name = name;
  }

  /**
   * A request.
   *
   * @param start in ns since the start of the session; the end is that of its answer, or the start
   *     where it is not recorded
   * @param thinkNanos the wait before it; null if not recorded
   * @param node the ids of its prompt's blocks
   */
  record Call(
      long start, long end, @Nullable Long thinkNanos, int model, int in, int out, int node) {

    boolean endsBefore(long instant) {
      return end <= instant + ROUNDED_NANOS;
    }
  }

  Call first() {
    return calls.get(0);
  }

  Call last() {
    return calls.get(calls.size() - 1);
  }

  /** The end of its last answer, and of all agents that one of its requests waits for. */
  long end() {
    return awaited.values().stream().reduce(last().end, Math::max);
  }

  /** The number of the last request that was answered before an instant; -1 for none. */
  int answeredBefore(long instant) {
    int call = calls.size() - 1;
    while (call >= 0 && !calls.get(call).endsBefore(instant)) {
      call--;
    }
    return call;
  }

  /** The first request after that number which starts when something has ended; null for none. */
  @Nullable Integer startedAfter(int call, long end) {
    for (int later = call + 1; later < calls.size(); later++) {
      if (end <= calls.get(later).start + ROUNDED_NANOS) {
        return later;
      }
    }
    return null;
  }

  /** An agent begins with the answer of that number. */
  void begin(AgentFlow inner, int call, @Nullable Integer joinedBy, BlockPrompts prompts) {
    begun
        .computeIfAbsent(call, none -> new ArrayList<>())
        .add(inner.agent(calls.get(call).end, joinedBy, prompts));
    if (joinedBy != null) {
      awaited.merge(joinedBy, inner.end(), Math::max);
    }
  }

  /** The agent, which begins at an instant. */
  Agent agent(long since, @Nullable Integer joinedBy, BlockPrompts prompts) {
    List<RecordedTurn> turns = new ArrayList<>(calls.size());
    long key = prompts.key() ^ Mooncake.key(name);
    for (int i = 0; i < calls.size(); i++) {
      Call call = calls.get(i);
      List<Agent> inner = new ArrayList<>(begun.getOrDefault(i, List.of()));
      inner.sort(BY_START);
      turns.add(
          new RecordedTurn(
              i == 0 ? Math.max(0, call.start - since) : gap(i),
              0,
              () -> prompts.dialog(call.node, call.in, call.out, key),
              List.copyOf(inner),
              new RecordedRequest(
                  call.start,
                  call.end,
                  call.model,
                  call.in,
                  call.out,
                  prompts.blockTokens(),
                  () -> prompts.blocks(call.node, call.in, key))));
    }
    return new Agent(name, List.copyOf(turns), joinedBy);
  }

  private long gap(int number) {
    Call call = calls.get(number);
    Call before = calls.get(number - 1);
    Long end = awaited.get(number);
    if (end == null && before.end == before.start && call.thinkNanos != null) {
      return call.thinkNanos;
    }
    return Math.max(0, call.start - (end == null ? before.end : Math.max(end, before.end)));
  }
}
