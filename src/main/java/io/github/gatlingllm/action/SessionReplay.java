package io.github.gatlingllm.action;

import io.gatling.core.action.Action;
import io.gatling.core.action.SessionHook;
import io.gatling.core.action.builder.ActionBuilder;
import io.gatling.core.session.Session;
import io.gatling.core.structure.ScenarioContext;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.record.RequestRecord.SessionTurn;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.workload.Conversation;
import io.github.gatlingllm.workload.Conversation.Dialog;
import io.github.gatlingllm.workload.Dataset;
import io.github.gatlingllm.workload.Dataset.Agent;
import io.github.gatlingllm.workload.Dataset.RecordedSession;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Replays a recorded session within one virtual user. Each agent of it is a flow of Gatling's
 * session through the request of a turn, all of them on the user's event loop: gaps are timers of
 * that loop, prompts are made on another thread. A turn that fails ends the session.
 */
final class SessionReplay extends SessionHook {

  private static final String TURN_KEY = "gatling.llm.session.turn";

  /** How soon a waiting session notices that its load level has ended. */
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Named, because the default is a new thread for each prompt where there are two processors. */
  private static final Executor PROMPTS = ForkJoinPool.commonPool();

  private final Action request;
  private final LlmRun run;

  private SessionReplay(ActionBuilder request, ScenarioContext context, Action next) {
    super(null, "replay", context.coreComponents().statsEngine(), next);
    this.request = request.build(context, this);
    run = LlmComponents.of(context).target.run;
  }

  static ActionBuilder of(ActionBuilder request) {
    return (context, next) -> new SessionReplay(request, context, next);
  }

  /** Begins the session of a user, and goes on after the request of a turn. */
  @Override
  public void execute(Session session) {
    ReplayedTurn turn = turnOf(session);
    if (turn != null) {
      turn.lane.ended(session);
    } else if (session.attributes().getOrElse(RecordedSession.KEY, () -> null)
        instanceof RecordedSession recorded) {
      new Replay(session, recorded).begin();
    } else {
      throw new IllegalStateException("no session to replay; feed one: feed(sessions(…))");
    }
  }

  /** The turn that this session sends; null outside a replay. */
  static @Nullable ReplayedTurn turnOf(Session session) {
    return (ReplayedTurn) session.attributes().getOrElse(TURN_KEY, () -> null);
  }

  /** The number of a conversation or replay, different from all others of this process. */
  static @Nullable Long numberOf(Session session, @Nullable Conversation conversation) {
    ReplayedTurn turn = turnOf(session);
    return turn != null
        ? (Long) turn.lane.replay.number
        : conversation == null ? null : (Long) conversation.number();
  }

  private final class Replay {
    private final Session user;
    private final RecordedSession recorded;
    private final long number = Conversation.of().number();
    private final long startNanos = System.nanoTime();

    /** Disjoint times with a request in flight, {from, to} in epoch nanoseconds. */
    private final Deque<long[]> served = new ArrayDeque<>();

    private @Nullable Long draw;
    private int lanes;
    private int sent;
    private int answered;
    private boolean stopped;

    Replay(Session user, RecordedSession recorded) {
      this.user = user;
      this.recorded = recorded;
    }

    /** Blocks that a failure leaves would be left by each agent: only groups are kept. */
    void begin() {
      Session own = UserSessions.outsideBlocks(user);
      for (String group : CollectionConverters.asJava(user.groups())) {
        own = own.enterGroup(group, 0);
      }
      begin(recorded.main(), null, own);
      for (Agent agent : recorded.beside()) {
        begin(agent, null, own);
      }
    }

    void begin(Agent agent, @Nullable Lane parent, Session session) {
      lanes++;
      new Lane(this, agent, parent, session).proceed();
    }

    /** The session ends with the last of its agents, whoever began it. */
    void ended(Lane lane) {
      boolean isLast = --lanes == 0;
      Integer joinedBy = lane.agent.joinedBy();
      if (lane.parent != null && joinedBy != null) {
        lane.parent.awaited.merge(joinedBy, -1, Integer::sum);
        lane.parent.proceedIfWaiting();
      }
      if (isLast) {
        end(lane.session);
      }
    }

    private void end(Session last) {
      for (int turn = sent; turn < recorded.turns(); turn++) {
        run.totals.skippedTurn("sessions", "a turn failed or the load level ended");
      }
      long millis = TimeUnit.NANOSECONDS.toMillis(servedNanos());
      Session after =
          user.setAll(last.remove(TURN_KEY).attributes()).logGroupRequestTimings(0, millis);
      if (run.inFlight.admits(after)) {
        next().$bang(stopped ? after.markAsFailed() : after);
      } else {
        LlmAction.reject(after);
      }
    }

    /** Adds the time of a request; requests come by their end, or nearly so. */
    void served(long from, long to) {
      long[] time = {from, to};
      while (!served.isEmpty() && served.getLast()[1] >= time[0]) {
        long[] other = served.removeLast();
        time[0] = Math.min(time[0], other[0]);
        time[1] = Math.max(time[1], other[1]);
      }
      served.addLast(time);
      answered++;
    }

    private long servedNanos() {
      return served.stream().mapToLong(each -> each[1] - each[0]).sum();
    }

    SessionTurn turn(Agent agent) {
      String inner = agent.name().isEmpty() ? "" : "/" + agent.name();
      String id = "c" + number + "/" + recorded.id() + inner;
      if (answered < recorded.turns() || stopped) {
        return new SessionTurn(id, null, null);
      }
      long all = served.getLast()[1] - served.getFirst()[0];
      return new SessionTurn(id, all, all - servedNanos());
    }
  }

  /** An agent of a session, which sends its turns one after the other. */
  final class Lane {
    private final Replay replay;
    private final Agent agent;
    private final @Nullable Lane parent;
    private Session session;
    private int next;

    /** How many agents the turn of each number waits for. */
    private final Map<Integer, Integer> awaited = new HashMap<>();

    private boolean isWaiting;

    Lane(Replay replay, Agent agent, @Nullable Lane parent, Session session) {
      this.replay = replay;
      this.agent = agent;
      this.parent = parent;
      this.session = session;
    }

    /** Goes on to the next turn after its gap, in which the prompt is made. */
    void proceed() {
      if (replay.stopped || next == agent.turns().size()) {
        end();
        return;
      }
      Dataset.RecordedTurn turn = agent.turns().get(next);
      long due = replay.startNanos + turn.dueNanos();
      long at = Math.max(System.nanoTime() + turn.gapNanos(), due);
      var unused =
          CompletableFuture.supplyAsync(turn.prompt(), PROMPTS)
              .whenComplete(
                  (dialog, failure) -> {
                    if (failure != null) {
                      Throwable cause = failure.getCause() == null ? failure : failure.getCause();
                      logger()
                          .underlying()
                          .error("Failed to read a turn of a session: {}", cause.toString());
                    }
                    EventLoops.execute(session.eventLoop(), () -> sendAt(at, dialog));
                  });
    }

    private void sendAt(long at, @Nullable Dialog dialog) {
      long now = System.nanoTime();
      if (replay.stopped || dialog == null || !run.inFlight.admits(session)) {
        stop();
      } else if (now < at) {
        long look = Math.min(at, now + LOOK_NANOS);
        EventLoops.at(session.eventLoop(), look, () -> sendAt(at, dialog));
      } else {
        next++;
        replay.sent++;
        request.$bang(
            session
                .set(TURN_KEY, new ReplayedTurn(this, next))
                .set("dialog", dialog)
                .set(Arrivals.Lengths.OUTPUT_KEY, dialog.outputTokens()));
      }
    }

    /** Ends the session, as its load level has ended, or something failed. */
    void stop() {
      replay.stopped = true;
      end();
    }

    /** The turn has been answered: its children begin, and then the next turn. */
    void ended(Session after) {
      session = after.markAsSucceeded();
      replay.stopped |= after.isFailed();
      List<Agent> begun = replay.stopped ? List.of() : agent.turns().get(next - 1).children();
      for (Agent child : begun) { // before any begins, as one may end at once
        if (child.joinedBy() != null) {
          awaited.merge(child.joinedBy(), 1, Integer::sum);
        }
      }
      begun.forEach(child -> replay.begin(child, this, session));
      isWaiting = true;
      proceedIfWaiting();
    }

    private void proceedIfWaiting() {
      if (isWaiting && awaited.getOrDefault(next, 0) == 0) {
        isWaiting = false;
        proceed();
      }
    }

    private void end() {
      replay.ended(this);
    }
  }

  /** A turn whose request is on its way. */
  static final class ReplayedTurn {
    final Lane lane;
    final int number;
    private @Nullable SessionTurn recorded;

    private ReplayedTurn(Lane lane, int number) {
      this.lane = lane;
      this.number = number;
    }

    /** The number by which the session draws: that of its first request. */
    long draw(long number) {
      Long first = lane.replay.draw == null ? (Long) number : lane.replay.draw;
      lane.replay.draw = first;
      return first;
    }

    /** Its request has ended; called once, on the event loop, before its record is made. */
    void answered(Timing timing, boolean ok) {
      Long closed = timing.closedUnixNanos();
      if (ok && closed != null) {
        lane.replay.served(timing.scheduledUnixNanos(), closed);
      } else {
        lane.replay.stopped = true;
      }
      recorded = lane.replay.turn(lane.agent);
    }

    SessionTurn recorded() {
      return recorded == null ? lane.replay.turn(lane.agent) : recorded;
    }
  }
}
