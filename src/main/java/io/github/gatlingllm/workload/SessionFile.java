package io.github.gatlingllm.workload;

import io.github.gatlingllm.load.DataFile;
import io.github.gatlingllm.load.PlanText;
import io.github.gatlingllm.workload.Conversation.Dialog;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * A file of recorded sessions: a request per line ({@link SessionRows}), or spans ({@link
 * OtelSpans}).
 *
 * <p>Opening reads the file once and fails at the first mistake. Then the order of the requests is
 * in memory, about 200 bytes each, and of what they say only the position: the file must not
 * change. Thread-safe.
 *
 * @param sessions in the order of their first request
 */
public record SessionFile(DataFile file, List<RecordedSession> sessions) {

  /** Most requests and spans of a file. */
  private static final int MOST = 1_000_000;

  public static SessionFile open(String location, Tokenizer tokenizer) {
    DataFile file = DataFile.of(location);
    Mooncake texts = new Mooncake(tokenizer);
    SessionRows rows = new SessionRows(file, texts);
    OtelSpans spans = new OtelSpans(file, texts);
    file.entries(
        (entry, start, length) -> {
          boolean isExport = entry.has("resourceSpans");
          int all = isExport ? spans.add(entry) : rows.add(entry, start, length);
          if (all > MOST) {
            throw new IllegalArgumentException("more than " + MOST + " requests; split the file");
          }
        });
    List<RecordedSession> all = new ArrayList<>(rows.sessions());
    all.addAll(spans.sessions());
    if (all.isEmpty()) {
      throw new IllegalArgumentException(
          file.name() + ": holds no session; expected a request per line, or spans of gen_ai");
    }
    return new SessionFile(file, List.copyOf(all));
  }

  /** The sessions in order, again and again. */
  public RecordedSession inOrder(long userIndex) {
    return sessions.get((int) (userIndex % sessions.size()));
  }

  /** For people: number and lengths of sessions. */
  public String summary() {
    var turns = sessions.stream().mapToInt(RecordedSession::turns).summaryStatistics();
    return sessions.size()
        + (sessions.size() == 1 ? " session, " : " sessions, ")
        + PlanText.spread(turns, "turn");
  }

  @Override
  public String toString() {
    return file.name() + ": " + summary();
  }

  /**
   * A recorded session of an agent and its sub-agents.
   *
   * @param turns number of requests of all its agents
   */
  public record RecordedSession(String id, Agent main, int turns) {}

  /**
   * Requests that are sent one after the other.
   *
   * @param name empty for the agent that begins the session
   */
  public record Agent(String name, List<Turn> turns) {}

  /**
   * One request.
   *
   * @param gapNanos wait for tools before it, from the end of the turn before and of its children
   * @param dueNanos it is not sent earlier than so long after the session's start
   * @param prompt reads or generates the messages, with the number of output tokens; blocks
   * @param children agents that begin with its answer, at the same time; the next turn waits for
   *     all of them
   */
  public record Turn(long gapNanos, long dueNanos, Supplier<Dialog> prompt, List<Agent> children) {}
}
