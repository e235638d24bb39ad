package io.github.gatlingllm.action;

import io.gatling.core.action.Action;
import io.gatling.core.action.SessionHook;
import io.gatling.core.action.builder.ActionBuilder;
import io.gatling.core.session.Session;
import io.gatling.core.structure.ScenarioContext;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.record.RequestRecord.SessionTurn;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.SettingValue.StartRange;
import io.github.gatlingllm.workload.AnsweredPrompts;
import io.github.gatlingllm.workload.Conversation;
import io.github.gatlingllm.workload.Conversation.Dialog;
import io.github.gatlingllm.workload.Dataset;
import io.github.gatlingllm.workload.Dataset.Agent;
import io.github.gatlingllm.workload.Dataset.RecordedSession;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.SessionTimeline;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Replays a recorded session within one virtual user. Each agent of it is a flow of Gatling's
 * session through the request of a turn, all of them on the user's event loop: gaps are timers of
 * that loop, prompts are made on another thread. A turn that fails ends the session.
 */
final class SessionReplay extends SessionHook {

  private static final String TURN_KEY = "gatling.llm.session.turn";

  private static final long START_SALT = 0x73746172745f6174L; // "start_at"

  /** How soon a waiting session notices that its load level has ended. */
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Named, because the default is a new thread for each prompt where there are two processors. */
  private static final Executor PROMPTS = ForkJoinPool.commonPool();

  private final Action request;
  private final Target target;
  private final LlmRun run;
  private final long gapCapNanos;
  private final double speed;

  /** Recorded sessions with the gaps of this protocol, which all replays of them share. */
  private final Map<RecordedSession, RecordedSession> paced =
      Collections.synchronizedMap(new IdentityHashMap<>());

  private SessionReplay(ActionBuilder request, ScenarioContext context, Action next) {
    super(null, "replay", context.coreComponents().statsEngine(), next);
    this.request = request.build(context, this);
    target = LlmComponents.of(context).target;
    run = target.run;
    Duration cap = target.protocol.get(Setting.SESSION_GAP_CAP);
    gapCapNanos = cap == null ? Long.MAX_VALUE : cap.toNanos();
    speed = target.protocol.get(Setting.SESSION_SPEED);
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
      begin(session, recorded);
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

  /**
   * Begins a replay of the session as this protocol sends it; made on another thread if it has
   * other gaps or begins inside, as it may be long.
   */
  private void begin(Session user, RecordedSession recorded) {
    LlmProtocol protocol = target.protocol;
    if (!(protocol.prefix() instanceof PromptPrefix.Unique)) {
      run.totals.replayed(target.name, recorded.main());
    }
    StartRange range = protocol.get(Setting.SESSION_START);
    RunningLevel level = UserSessions.levelOf(user);
    boolean isInside = range != null && level != null && PlanUser.isFirstOfFill(user, level);
    if (!isInside && gapCapNanos == Long.MAX_VALUE && speed == 1) {
      new Replay(user, recorded, null).begin();
      return;
    }
    Supplier<RecordedSession> timed =
        () ->
            paced.computeIfAbsent(
                recorded, each -> SessionTimeline.paced(each, gapCapNanos, speed));
    Supplier<RecordedSession> rest = timed;
    if (isInside) {
      long salt = START_SALT ^ level.label().hashCode();
      double drawn = Seed.at(Seed.orOfProcess(protocol.seed()), salt, user.userId()).nextDouble();
      rest = () -> SessionTimeline.from(timed.get(), range.at(drawn));
    }
    var unused =
        CompletableFuture.supplyAsync(rest, PROMPTS)
            .whenComplete(
                (made, failure) -> {
                  if (failure != null) {
                    logger().underlying().error("Failed to prepare a session: {}", failure + "");
                  }
                  EventLoops.execute(
                      user.eventLoop(),
                      () -> {
                        if (failure == null) {
                          new Replay(user, made, isInside ? level : null).begin();
                        } else {
                          next().$bang(user.markAsFailed());
                        }
                      });
                });
  }

  private final class Replay {
    private final Session user;
    private final RecordedSession recorded;

    /** The level whose users begin inside their sessions at the same instant; null for others. */
    private final @Nullable RunningLevel filling;

    private final long number = Conversation.of().number();

    /** Disjoint times with a request in flight, {from, to} in epoch nanoseconds. */
    private final Deque<long[]> served = new ArrayDeque<>();

    private long startNanos = System.nanoTime();
    private @Nullable Long draw;
    private @Nullable Session main;
    private int lanes;
    private int sent;
    private int answered;
    private boolean isStopped;

    Replay(Session user, RecordedSession recorded, @Nullable RunningLevel filling) {
      this.user = user;
      this.recorded = recorded;
      this.filling = filling;
    }

    /** Only groups remain: blocks that a failure leaves would be left by each agent. */
    void begin() {
      Session own = UserSessions.outsideBlocks(user);
      for (String group : CollectionConverters.asJava(user.groups())) {
        own = own.enterGroup(group, 0);
      }
      Agent fill = recorded.fill();
      if (fill == null) {
        beginAll(own);
      } else {
        begin(List.of(fill), null, own, startNanos);
      }
    }

    private void beginAll(Session own) {
      List<Agent> all = new ArrayList<>(recorded.beside());
      all.add(0, recorded.main());
      begin(all, null, own, startNanos);
    }

    void begin(List<Agent> agents, @Nullable Lane parent, Session session, long from) {
      lanes += agents.size(); // before any begins, as one may end immediately
      agents.forEach(agent -> new Lane(this, agent, parent, session, from).proceed());
    }

    boolean isFill(Agent agent) {
      return isSame(agent, recorded.fill());
    }

    @SuppressWarnings("ReferenceEquality") // two agents of a session may be equal
    private static boolean isSame(Agent agent, @Nullable Agent other) {
      return agent == other;
    }

    /** The session ends with the last of its agents, whoever began it. */
    void ended(Lane lane) {
      lanes--;
      if (isFill(lane.agent) && !isStopped && filling != null) {
        filling.whenFilled(
            nanos -> EventLoops.execute(lane.session.eventLoop(), () -> beginInside(lane, nanos)));
        return;
      }
      boolean isLast = lanes == 0;
      main = isSame(lane.agent, recorded.main()) ? lane.session : main;
      if (lane.parent != null && lane.agent.joinedBy() != null) {
        lane.parent.joined(lane, lane.agent.joinedBy());
      }
      if (isLast) {
        end(main == null ? lane.session : main);
      }
    }

    private void beginInside(Lane fill, long nanos) {
      startNanos = nanos;
      beginAll(fill.session);
    }

    private void end(Session last) {
      for (int turn = sent; turn < recorded.turns(); turn++) {
        run.totals.skippedTurn("sessions", "a turn failed or the load level ended");
      }
      long millis = TimeUnit.NANOSECONDS.toMillis(servedNanos());
      Session after =
          user.setAll(last.remove(TURN_KEY).attributes()).logGroupRequestTimings(0, millis);
      if (run.inFlight.mayStart(after)) {
        next().$bang(isStopped ? after.markAsFailed() : after);
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

    SessionTurn turn(ReplayedTurn of) {
      Agent agent = of.lane.agent;
      String inner = agent.name().isEmpty() ? "" : "/" + agent.name();
      String id = "c" + number + "/" + recorded.id() + inner;
      boolean isLast = answered == recorded.turns() && recorded.fill() == null && !isStopped;
      Long all = isLast ? (Long) (served.getLast()[1] - served.getFirst()[0]) : null;
      return new SessionTurn(
          id,
          all,
          all == null ? null : (Long) (all - servedNanos()),
          of.gapNanos,
          of.lateNanos,
          of.isEnd || (answered == recorded.turns() && !isStopped));
    }
  }

  /** An agent of a session, which sends its turns one after the other. */
  private final class Lane {
    private final Replay replay;
    private final Agent agent;
    private final @Nullable Lane parent;
    private Session session;
    private int next;

    /** How many agents the turn of each number waits for. */
    private final Map<Integer, Integer> awaited = new HashMap<>();

    private boolean isWaiting;

    /** Null where prompts are sent as recorded. */
    private final @Nullable AnsweredPrompts prompts =
        target.protocol.get(Setting.SESSION_ANSWERS).equals("server")
            ? new AnsweredPrompts()
            : null;

    /** The prompt of the next turn, which may still be made. */
    private @Nullable CompletableFuture<Dialog> ahead;

    /** When all before its next turn was answered; gaps begin then. */
    private long answeredNanos;

    Lane(Replay replay, Agent agent, @Nullable Lane parent, Session session, long answeredNanos) {
      this.replay = replay;
      this.agent = agent;
      this.parent = parent;
      this.session = session;
      this.answeredNanos = answeredNanos;
    }

    /**
     * Goes on to the next turn after its gap; its prompt is made while the one before is answered.
     */
    void proceed() {
      if (replay.isStopped || next == agent.turns().size()) {
        replay.ended(this);
        return;
      }
      Dataset.RecordedTurn turn = agent.turns().get(next);
      if (!turn.isRequest()) {
        next++;
        beginChildren();
        return;
      }
      long due = replay.startNanos + turn.dueNanos();
      long at = Math.max(answeredNanos + turn.gapNanos(), due);
      long gap = at - answeredNanos;
      CompletableFuture<Dialog> prompt =
          ahead == null ? CompletableFuture.supplyAsync(turn.prompt(), PROMPTS) : ahead;
      ahead = null;
      if (prompts != null) {
        prompt = prompt.thenApplyAsync(prompts::next, PROMPTS);
      }
      var unused =
          prompt.whenComplete(
              (dialog, failure) -> {
                if (failure != null) {
                  Throwable cause = failure.getCause() == null ? failure : failure.getCause();
                  logger()
                      .underlying()
                      .error("Failed to read a turn of a session: {}", cause.toString());
                }
                EventLoops.execute(session.eventLoop(), () -> sendAt(at, gap, dialog));
              });
    }

    private void sendAt(long at, long gap, @Nullable Dialog dialog) {
      long now = System.nanoTime();
      if (replay.isStopped || dialog == null || !run.inFlight.mayStart(session)) {
        stop();
      } else if (now < at) {
        long look = Math.min(at, now + LOOK_NANOS);
        EventLoops.at(session.eventLoop(), look, () -> sendAt(at, gap, dialog));
      } else {
        next++;
        replay.sent += replay.isFill(agent) ? 0 : 1;
        if (next < agent.turns().size() && agent.turns().get(next).isRequest()) {
          ahead = CompletableFuture.supplyAsync(agent.turns().get(next).prompt(), PROMPTS);
        }
        request.$bang(
            session
                .set(TURN_KEY, new ReplayedTurn(this, gap, now - at))
                .set("dialog", dialog)
                .set(Arrivals.Lengths.OUTPUT_KEY, dialog.outputTokens()));
      }
    }

    /** Ends the session, as its load level has ended, or something failed. */
    void stop() {
      replay.isStopped = true;
      replay.ended(this);
    }

    private void answered(@Nullable Long unixNanos, Supplier<String> text) {
      if (prompts != null) {
        prompts.answered(text.get());
      }
      answeredNanos = unixNanos == null ? System.nanoTime() : run.run.nanoTime(unixNanos);
    }

    /** The turn has been answered: its children begin, and then the next turn. */
    void ended(Session after) {
      session = after.markAsSucceeded();
      replay.isStopped |= after.isFailed();
      beginChildren();
    }

    private void beginChildren() {
      List<Agent> begun = replay.isStopped ? List.of() : agent.turns().get(next - 1).children();
      for (Agent child : begun) {
        if (child.joinedBy() != null) {
          awaited.merge(child.joinedBy(), 1, Integer::sum);
        }
      }
      replay.begin(begun, this, session, answeredNanos);
      isWaiting = true;
      proceedIfWaiting();
    }

    /** An agent has ended that the turn of that number waits for. */
    private void joined(Lane child, int number) {
      awaited.merge(number, -1, Integer::sum);
      answeredNanos = Math.max(answeredNanos, child.answeredNanos);
      proceedIfWaiting();
    }

    private void proceedIfWaiting() {
      if (isWaiting && awaited.getOrDefault(next, 0) == 0) {
        isWaiting = false;
        proceed();
      }
    }
  }

  /** A turn whose request is on its way. */
  static final class ReplayedTurn {
    private final Lane lane;
    final int number;

    /** Which of the models of the session was recorded; null if one is drawn. */
    final @Nullable Integer model;

    private final long gapNanos;
    private final long lateNanos;
    private boolean isEnd;
    private @Nullable SessionTurn recorded;

    private ReplayedTurn(Lane lane, long gapNanos, long lateNanos) {
      this.lane = lane;
      this.number = lane.agent.before() + lane.next;
      this.model = lane.agent.turns().get(lane.next - 1).recorded().model();
      this.gapNanos = gapNanos;
      this.lateNanos = lateNanos;
    }

    /** Ends its session, as its request is not sent. */
    void stop() {
      lane.stop();
    }

    /** The number by which the session draws: that of its first request. */
    long draw(long number) {
      Long first = lane.replay.draw == null ? (Long) number : lane.replay.draw;
      lane.replay.draw = first;
      return first;
    }

    /** Its request has ended; called once, on the event loop, before its record is made. */
    void answered(Timing timing, boolean ok, Supplier<String> text) {
      Long closed = timing.closedUnixNanos();
      lane.answered(closed, text);
      if (!ok || closed == null) {
        isEnd = !lane.replay.isStopped;
        lane.replay.isStopped = true;
      } else if (!lane.replay.isFill(lane.agent)) {
        lane.replay.served(timing.scheduledUnixNanos(), closed);
      }
      recorded = lane.replay.turn(this);
    }

    /** How often its session had been fed before it; null where another feeder gave it. */
    @Nullable Long round() {
      return (Long) lane.session.attributes().getOrElse(RecordedSession.ROUND_KEY, () -> null);
    }

    SessionTurn recorded() {
      return recorded == null ? lane.replay.turn(this) : recorded;
    }
  }
}
