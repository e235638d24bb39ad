package io.github.gatlingllm.workload;

import io.github.gatlingllm.workload.Dataset.Agent;
import io.github.gatlingllm.workload.Dataset.RecordedSession;
import io.github.gatlingllm.workload.Dataset.RecordedTurn;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * When the requests of a recorded session were sent, by its gaps, its time stamps and the times of
 * its answers: what remains of it at an instant, and the session with shorter gaps. Pure.
 */
public final class SessionTimeline {

  /**
   * Of an answer without a recorded time: without any time, all requests would be at one instant.
   */
  private static final long UNKNOWN_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final IdentityHashMap<RecordedTurn, Long> sent = new IdentityHashMap<>();
  private final long cutNanos;
  private Agent fill = new Agent("", List.of(), null);
  private long fillNanos = Long.MIN_VALUE;

  private SessionTimeline(RecordedSession session, double share) {
    long unused = add(session.main(), 0);
    session.beside().forEach(agent -> add(agent, 0));
    long first = Collections.min(sent.values());
    cutNanos = first + (long) ((Collections.max(sent.values()) - first) * share);
  }

  /** Adds the instants of an agent that begins at one; returns when it has ended. */
  private long add(Agent agent, long begin) {
    Map<Integer, Long> joined = new HashMap<>();
    long now = begin;
    for (int i = 0; i < agent.turns().size(); i++) {
      RecordedTurn turn = agent.turns().get(i);
      long from = Math.max(now, joined.getOrDefault(i, now));
      long at = Math.max(from + turn.gapNanos(), turn.dueNanos());
      sent.put(turn, at);
      now = at + Math.max(turn.recorded().tookNanos(), UNKNOWN_NANOS);
      for (Agent child : turn.children()) {
        long ended = add(child, now);
        if (child.joinedBy() != null) {
          joined.merge(child.joinedBy(), ended, Math::max);
        }
      }
    }
    return Math.max(now, joined.getOrDefault(agent.turns().size(), now));
  }

  /**
   * What remains of a session at an instant, that share of the time from its first to its last
   * request. Requests until then count as answered; the last of them is its {@linkplain
   * RecordedSession#fill fill request}. Gaps and time stamps then count from that instant.
   */
  public static RecordedSession from(RecordedSession session, double share) {
    SessionTimeline line = new SessionTimeline(session, share);
    Agent rest = line.rest(session.main(), null);
    Agent main = rest == null ? new Agent("", List.of(), null) : rest;
    List<Agent> beside = new ArrayList<>();
    for (Agent agent : session.beside()) {
      Agent other = line.rest(agent, null);
      beside.addAll(other == null ? List.of() : List.of(other));
    }
    int requests = requests(main);
    for (Agent agent : beside) {
      requests += requests(agent);
    }
    return new RecordedSession(session.id(), main, requests, beside, line.fill);
  }

  /** The remaining requests of an agent, and those that it began; null for nothing. */
  private @Nullable Agent rest(Agent agent, @Nullable Integer joinedBy) {
    int done = 0;
    while (done < agent.turns().size() && at(agent.turns().get(done)) <= cutNanos) {
      done++;
    }
    List<Agent> begun = new ArrayList<>();
    for (int i = 0; i < done; i++) {
      RecordedTurn turn = agent.turns().get(i);
      if (at(turn) > fillNanos) {
        fillNanos = at(turn);
        fill =
            new Agent(agent.name(), List.of(turn.with(0, 0, List.of())), null, agent.before() + i);
      }
      for (Agent child : turn.children()) {
        // A turn without a request, which begins them, comes before the remaining ones.
        Agent rest = rest(child, moved(child, 1 - done));
        begun.addAll(rest == null ? List.of() : List.of(rest));
      }
    }
    int added = begun.isEmpty() ? 0 : 1;
    List<RecordedTurn> remaining = new ArrayList<>();
    if (added > 0) {
      RecordedTurn last = agent.turns().get(done - 1);
      remaining.add(new RecordedTurn(0, 0, RecordedTurn.NO_REQUEST, begun, last.recorded()));
    }
    for (int i = done; i < agent.turns().size(); i++) {
      RecordedTurn turn = agent.turns().get(i);
      RecordedTurn later = later(turn, added - done);
      boolean isWaiting =
          i > done || begun.stream().anyMatch(child -> Objects.equals(child.joinedBy(), 1));
      remaining.add(isWaiting ? later : later.with(at(turn) - cutNanos, 0, later.children()));
    }
    int before = agent.before() + done - added;
    return remaining.isEmpty() ? null : new Agent(agent.name(), remaining, joinedBy, before);
  }

  private static @Nullable Integer moved(Agent agent, int turns) {
    return agent.joinedBy() == null ? null : (Integer) (agent.joinedBy() + turns);
  }

  private long at(RecordedTurn turn) {
    return sent.getOrDefault(turn, 0L);
  }

  /** A turn after the cut, from which its time stamps, and those of its agents, count. */
  private RecordedTurn later(RecordedTurn turn, int moved) {
    List<Agent> children = new ArrayList<>();
    for (Agent child : turn.children()) {
      List<RecordedTurn> turns = new ArrayList<>();
      for (RecordedTurn each : child.turns()) { // no stream: it takes a dozen frames of the stack
        turns.add(later(each, 0));
      }
      children.add(new Agent(child.name(), turns, moved(child, moved), child.before()));
    }
    return turn.with(turn.gapNanos(), Math.max(0, turn.dueNanos() - cutNanos), children);
  }

  private static int requests(Agent agent) {
    int requests = 0;
    for (RecordedTurn turn : agent.turns()) {
      requests += turn.isRequest() ? 1 : 0;
      for (Agent child : turn.children()) {
        requests += requests(child);
      }
    }
    return requests;
  }

  /**
   * The session with gaps of at most {@code cap} nanoseconds, all divided by {@code speed}. Time
   * stamps do not state when an answer ended: between two of an agent, the cap is from start to
   * start.
   */
  public static RecordedSession paced(RecordedSession session, long cap, double speed) {
    if (cap == Long.MAX_VALUE && speed == 1) {
      return session;
    }
    List<Agent> beside = new ArrayList<>();
    session.beside().forEach(agent -> beside.add(paced(agent, 0, 0, cap, speed)));
    Agent main = paced(session.main(), 0, 0, cap, speed);
    return new RecordedSession(session.id(), main, session.turns(), beside, session.fill());
  }

  /**
   * The {@code before} is the time stamp before that agent; what the cap took away comes before.
   */
  private static Agent paced(Agent agent, long before, long taken, long cap, double speed) {
    List<RecordedTurn> turns = new ArrayList<>();
    long stamp = before;
    long removed = taken;
    for (RecordedTurn turn : agent.turns()) {
      if (turn.dueNanos() > 0) {
        removed += Math.max(0, turn.dueNanos() - stamp - cap);
        stamp = Math.max(stamp, turn.dueNanos());
      }
      List<Agent> children = new ArrayList<>();
      for (Agent child : turn.children()) {
        children.add(paced(child, stamp, removed, cap, speed));
      }
      turns.add(
          turn.with(
              (long) (Math.min(turn.gapNanos(), cap) / speed),
              (long) (Math.max(0, turn.dueNanos() - removed) / speed),
              children));
    }
    return new Agent(agent.name(), turns, agent.joinedBy(), agent.before());
  }

  /** All gaps between requests, and times between time stamps, in nanoseconds. */
  public static double gaps(RecordedSession session) {
    double sum = gaps(session.main(), 0);
    for (Agent agent : session.beside()) {
      sum += gaps(agent, 0);
    }
    return sum;
  }

  private static double gaps(Agent agent, long before) {
    double sum = 0;
    long stamp = before;
    for (RecordedTurn turn : agent.turns()) {
      sum += turn.gapNanos() + Math.max(0, turn.dueNanos() - stamp);
      stamp = Math.max(stamp, turn.dueNanos());
      for (Agent child : turn.children()) {
        sum += gaps(child, stamp);
      }
    }
    return sum;
  }
}
