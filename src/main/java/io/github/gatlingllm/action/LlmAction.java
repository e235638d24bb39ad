package io.github.gatlingllm.action;

import io.gatling.commons.util.Clock;
import io.gatling.commons.validation.Success;
import io.gatling.commons.validation.Validation;
import io.gatling.core.CoreComponents;
import io.gatling.core.action.Action;
import io.gatling.core.action.BlockExit;
import io.gatling.core.action.RequestAction;
import io.gatling.core.action.SessionHook;
import io.gatling.core.check.Check;
import io.gatling.core.controller.throttle.Throttler$Command$ThrottledRequest;
import io.gatling.core.session.Session;
import io.gatling.core.structure.ScenarioContext;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.client.StreamedExchange;
import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.ServerReport;
import io.github.gatlingllm.record.RequestRecord.SessionTurn;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.record.Timeline;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.workload.Conversation;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import scala.Function1;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.BoxedUnit;

/**
 * One LLM request of a scenario: sends it for each virtual user that comes by, as a {@link
 * Request}.
 *
 * <p>javac does not ask for the synthetic members of Scala traits: those for chaining come from
 * {@link SessionHook}, the exit from blocks is repeated here. Without them the run ends with {@code
 * AbstractMethodError}.
 */
final class LlmAction extends SessionHook implements RequestAction {

  final LlmRequest request;
  final Target target;
  final HttpCall call;
  final scala.collection.immutable.List<Check<MeasuredAnswer>> checks;

  /** The threads of Gatling's actors. */
  final Executor actors;

  private final CoreComponents core;
  private final boolean isThrottled;

  /** Whether the server reported the prompt tokens of an answer: it is going to do so again. */
  private volatile boolean isPromptReported;

  LlmAction(LlmRequest request, Target target, ScenarioContext context, Action next) {
    super(null, "llm", context.coreComponents().statsEngine(), next);
    this.request = request;
    this.target = target;
    core = context.coreComponents();
    isThrottled = context.throttled() && core.throttler().isDefined() && target.run.isLoad();
    call = new HttpCall(context, target, request);
    actors = Versions.threadsOf(core.actorSystem());
    checks = CollectionConverters.asScala(request.checks).toList();
  }

  static Action build(LlmRequest request, ScenarioContext context, Action next) {
    LlmComponents components = LlmComponents.of(context);
    components.building(context, request);
    Action action = new LlmAction(request, components.target, context, next);
    components.endBeforeClient(context.coreComponents().actorSystem());
    return action;
  }

  boolean isPromptReported() {
    return isPromptReported;
  }

  void promptReported() {
    if (!isPromptReported) {
      isPromptReported = true;
    }
  }

  @Override
  public void $bang(Session session) {
    Option<BlockExit> exit = BlockExit.mustExit(session);
    if (exit.isDefined()) {
      exit.get().exitBlock(statsEngine(), clock().nowMillis());
    } else {
      super.$bang(session);
    }
  }

  @Override
  public void execute(Session session) {
    RequestAction.super.execute(session);
  }

  @Override
  public Clock clock() {
    return core.clock();
  }

  @Override
  public Function1<Session, Validation<String>> requestName() {
    return session -> {
      try {
        return new Success<>(request.name.resolve(session));
      } catch (IllegalArgumentException e) {
        return Dynamic.failure(e.getMessage());
      }
    };
  }

  @Override
  public Validation<BoxedUnit> sendRequest(Session session) {
    if (!target.run.inFlight.mayStart(session)) {
      reject(session);
      return success();
    }
    Arrival arrival = UserSessions.arrivalOf(session);
    long now = System.nanoTime();
    if (arrival == null || !arrival.take()) {
      PlanUser user = PlanUser.orNull(session);
      sendSoon(session, null, user == null ? now : now - user.takeDelay());
    } else if (arrival.plannedNanos() - now <= 0) {
      sendSoon(session, arrival, now);
    } else {
      EventLoops.at(
          session.eventLoop(),
          arrival.plannedNanos(),
          () -> {
            long released = System.nanoTime();
            arrival.started(released);
            sendSoon(session, arrival, released);
          });
    }
    return success();
  }

  private void sendSoon(Session session, @Nullable Arrival arrival, long reached) {
    EventLoops.defer(
        session.eventLoop(),
        () -> {
          if (target.run.inFlight.mayStart(session)) {
            sendNow(session, arrival, reached);
          } else {
            reject(session);
          }
        });
  }

  /** A user of a load plan goes to its next iteration; when the run is over, nowhere. */
  static void reject(Session session) {
    SessionReplay.ReplayedTurn turn = SessionReplay.turnOf(session);
    if (turn != null) {
      turn.stop();
      return;
    }
    PlanUser user = PlanUser.orNull(session);
    if (user != null) {
      user.abandonIteration(session);
    }
  }

  /** Sends, and handles exceptions as {@link #execute} would in the caller's stack. */
  private void sendNow(Session session, @Nullable Arrival arrival, long reached) {
    try {
      send(session, arrival, reached);
    } catch (RuntimeException e) {
      crash(session, arrival, reached, e.getClass().getSimpleName() + ": " + e.getMessage());
    }
  }

  /** The request could not be built: it has failed, and the user goes on. */
  private void crash(Session session, @Nullable Arrival arrival, long reached, String message) {
    logger().underlying().error("Failed to build request {}: {}", name(), message);
    String named = String.valueOf(requestName().apply(session).toOption().getOrElse(() -> name()));
    statsEngine().logRequestCrash(session.scenario(), session.groups(), named, message);
    if (request.isSilent) {
      target.run.totals.skipped(named, RunInfo.NOT_BUILT);
    } else {
      long now = System.nanoTime();
      Timeline timeline = new Timeline(reached - startLag(arrival), now);
      timeline.closed(now);
      recordNotBuilt(session, named, timeline, now, offset(arrival), message);
    }
    next().$bang(ChatMessages.afterFailure(request.messages, session).markAsFailed());
  }

  private static long startLag(@Nullable Arrival arrival) {
    return arrival == null ? 0 : arrival.startLagNanos();
  }

  private static @Nullable Long offset(@Nullable Arrival arrival) {
    return arrival == null ? null : (Long) arrival.scheduledOffsetNanos();
  }

  /** The conversation has ended: the user goes on without a request. */
  private void skip(Session session, PreparedRequest prepared, String reason) {
    Conversation over = prepared.conversation().ended(reason);
    target.run.totals.skippedTurn(prepared.name(), Objects.requireNonNull(over.endReason()));
    next().$bang(session.set(prepared.historyKey(), over));
  }

  private void send(Session session, @Nullable Arrival arrival, long reached) {
    PreparedRequest texts;
    io.gatling.http.client.Request http;
    long index;
    String id;
    try {
      PreparedRequest checked = AnswerPasses.request(target.run, session);
      texts = checked == null ? target.prepared(request, session) : checked;
      String reason = texts.whyNotToBeSent();
      if (reason != null) {
        skip(session, texts, reason);
        return;
      }
      index = target.run.nextRequest();
      id = target.run.requestId(index);
      http = call.build(session, texts, id);
    } catch (IllegalArgumentException e) {
      crash(session, arrival, reached, String.valueOf(e.getMessage()));
      return;
    }
    // Building the request is the client's own work: it counts as start lag, not as latency.
    long start = System.nanoTime();
    Timeline timeline = new Timeline(reached - startLag(arrival), start);
    new Request(this, session, texts, index, id, http, timeline, start, offset(arrival)).start();
  }

  /** Whether Gatling's throttle will run the task, on the user's event loop. */
  boolean throttle(Session session, Runnable task) {
    if (isThrottled) {
      core.throttler()
          .get()
          .$bang(
              new Throttler$Command$ThrottledRequest(
                  session.scenario(),
                  () -> {
                    EventLoops.execute(session.eventLoop(), task);
                    return BoxedUnit.UNIT;
                  }));
    }
    return isThrottled;
  }

  /** Records a request that could not be built; its model and turn are not resolved. */
  private void recordNotBuilt(
      Session session,
      String name,
      Timeline timeline,
      long now,
      @Nullable Long scheduledOffsetNanos,
      String error) {
    LlmRun run = target.run;
    run.started();
    RunningLevel level = UserSessions.levelOf(session);
    if (level != null) {
      boolean isMeasured = level.requestStarted(timeline.scheduled());
      PlanUser.ended(session, level, isMeasured, now - timeline.scheduled());
    }
    long index = run.nextRequest();
    RequestRecord.Timing timing =
        timeline.timing(run.run.unixNanos(now), scheduledOffsetNanos, null);
    run.record(
        record(
            session,
            identity(session, run.requestId(index), index, timeline, name, null),
            timing,
            timeline,
            RequestRecord.Tokens.NONE,
            new StreamedExchange.Ending(RequestStatus.NOT_BUILT, null, Secrets.NONE.line(error)),
            null,
            null,
            null));
    if (level != null) {
      level.requestRecorded();
    }
  }

  /**
   * The record of a request, judged by its SLO, and compared if its answer is checked.
   *
   * @param exchange null where it could not be built
   */
  RequestRecord record(
      Session session,
      RequestRecord.Identity identity,
      RequestRecord.Timing timing,
      Timeline timeline,
      RequestRecord.Tokens tokens,
      StreamedExchange.Ending end,
      @Nullable String finishReason,
      @Nullable StreamedExchange exchange,
      RequestRecord.@Nullable RecordedText text) {
    boolean ok = end.status() == RequestStatus.COMPLETE;
    RequestRecord.Events events = timeline.events(true);
    Slo.Judgement judgement =
        target
            .sloOf(request, identity.name())
            .judge(identity.streamed(), end.status(), ok, timing, events, tokens);
    RequestRecord record =
        new RequestRecord(
            identity,
            timing,
            target.protocol.get(Setting.RECORD_TOKENS) ? events : timeline.events(false),
            tokens,
            new RequestRecord.RequestOutcome(
                finishReason,
                end.httpStatus(),
                end.status(),
                ok,
                end.error(),
                judgement.met(),
                judgement.missed(),
                exchange != null && exchange.wasResent(),
                exchange != null && exchange.wasLeftOpen()),
            exchange == null ? ServerReport.NONE : exchange.answer().server(),
            null,
            text);
    return AnswerPasses.judged(
        target.run, session, record, exchange == null ? null : exchange.answer());
  }

  /**
   * Which request of which user it is.
   *
   * @param texts null where they could not be resolved
   */
  RequestRecord.Identity identity(
      Session session,
      String id,
      long index,
      Timeline timeline,
      String name,
      @Nullable PreparedRequest texts) {
    RunningLevel level = UserSessions.levelOf(session);
    SessionReplay.ReplayedTurn replayed = SessionReplay.turnOf(session);
    Conversation conversation = texts == null ? null : texts.conversation();
    Integer turn = conversation == null ? null : (Integer) (conversation.turns() + 1);
    String url =
        texts == null
            ? target.protocol.url(target.prefixes.user(session), request.api)
            : texts.url();
    return new RequestRecord.Identity(
        id,
        target.run.run.id(),
        target.run.run.injector(),
        level == null ? null : level.trial(),
        index,
        PlanUser.scenarioOf(session),
        name,
        List.copyOf(CollectionConverters.asJava(session.groups())),
        session.userId(),
        replayed == null ? turn : (Integer) replayed.number,
        replayed != null
            ? replayed.recorded()
            : conversation == null ? null : SessionTurn.ofConversation(conversation.number()),
        target.name,
        Secrets.redactUrl(url),
        texts == null ? null : texts.body().model(),
        request.api.key(),
        texts == null ? request.isStreamed(target.protocol) : texts.body().stream(),
        texts == null ? request.tools != null : texts.body().hasTools(),
        level == null ? LevelInfo.ENTIRE_RUN : level.label(),
        level == null ? Phase.MEASURE : level.phaseAt(timeline.scheduled()),
        texts == null ? null : target.traceId(id));
  }

  private static Validation<BoxedUnit> success() {
    return new Success<>(BoxedUnit.UNIT);
  }
}
