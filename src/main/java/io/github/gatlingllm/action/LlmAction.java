package io.github.gatlingllm.action;

import io.gatling.commons.util.Clock;
import io.gatling.commons.validation.Success;
import io.gatling.commons.validation.Validation;
import io.gatling.core.CoreComponents;
import io.gatling.core.action.Action;
import io.gatling.core.action.BlockExit;
import io.gatling.core.action.RequestAction;
import io.gatling.core.action.SessionHook;
import io.gatling.core.controller.throttle.Throttler$Command$ThrottledRequest;
import io.gatling.core.session.Session;
import io.gatling.core.structure.ScenarioContext;
import io.gatling.http.client.Request;
import io.github.gatlingllm.client.GenerationRequest;
import io.github.gatlingllm.client.StreamedExchange;
import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Timeline;
import io.github.gatlingllm.workload.Conversation;
import io.github.gatlingllm.workload.PromptPrefix;
import io.netty.channel.EventLoop;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Objects;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import scala.Function1;
import scala.Option;
import scala.runtime.BoxedUnit;

/**
 * Sends one LLM request for a virtual user and starts the {@link StreamedExchange}, which ends in
 * {@link ResponseProcessor}.
 *
 * <p>javac does not ask for the synthetic members of Scala traits: those for chaining come from
 * {@link SessionHook}, the exit from blocks is repeated here. Without them the run ends with {@code
 * AbstractMethodError}.
 */
final class LlmAction extends SessionHook implements RequestAction {

  private final LlmRequest request;
  private final LlmComponents components;
  private final CoreComponents core;
  private final HttpCall call;
  private final ResponseProcessor end;
  private final boolean throttled;

  LlmAction(LlmRequest request, LlmComponents components, ScenarioContext context, Action next) {
    super(null, "llm", context.coreComponents().statsEngine(), next);
    this.request = request;
    this.components = components;
    this.core = context.coreComponents();
    this.throttled = context.throttled() && core.throttler().isDefined() && components.isLoad();
    this.call = components.httpCall(context, request);
    this.end = new ResponseProcessor(request, components, core, next);
  }

  static Action build(LlmRequest request, ScenarioContext context, Action next) {
    LlmComponents components = LlmComponents.of(context);
    components.building(context, request);
    return new LlmAction(request, components, context, next);
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
      } catch (Dynamic.Unresolved e) {
        return Dynamic.Validations.failure(e.getMessage());
      }
    };
  }

  @Override
  public Validation<BoxedUnit> sendRequest(Session session) {
    if (!components.inFlight.admits(session)) {
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
    EventLoops.DeferredTasks.execute(
        session.eventLoop(),
        () -> {
          if (components.inFlight.admits(session)) {
            sendNow(session, arrival, reached);
          } else {
            reject(session);
          }
        });
  }

  /** A user of a load plan goes to its next iteration; when the run is over, nowhere. */
  static void reject(Session session) {
    SessionReplay.Turn turn = SessionReplay.turnOf(session);
    if (turn != null) {
      turn.lane.stop();
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
    if (request.silent) {
      components.totals.skipped(named, RunInfo.NOT_BUILT);
    } else {
      long now = System.nanoTime();
      Timeline timeline = new Timeline(reached - startLag(arrival), now);
      timeline.closed(now);
      components.started();
      InFlight.notBuilt(
          session,
          timeline.scheduled(),
          now,
          () ->
              components.record(
                  end.records().notBuilt(session, named, timeline, now, offset(arrival), message)));
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
    components.totals.skippedTurn(prepared.name(), Objects.requireNonNull(over.endReason()));
    next().$bang(session.set(prepared.historyKey(), over));
  }

  private void send(Session session, @Nullable Arrival arrival, long reached) {
    PreparedRequest prepared;
    Request httpRequest;
    long index;
    String requestId;
    try {
      prepared = components.prepared(request, session);
      String reason = prepared.whyNotToBeSent();
      if (reason != null) {
        skip(session, prepared, reason);
        return;
      }
      index = components.nextRequest();
      requestId = components.requestId(index);
      httpRequest = call.build(session, prepared, requestId);
    } catch (Dynamic.Unresolved | IllegalArgumentException e) {
      crash(session, arrival, reached, String.valueOf(e.getMessage()));
      return;
    }
    // Building the request is the client's own work: it counts as start lag, not as latency.
    long start = System.nanoTime();
    long lag = start - reached + startLag(arrival);
    Timeline timeline = new Timeline(start - lag, start);
    SentRequest sent =
        new SentRequest(
            session,
            prepared,
            components.counting.prompt(
                components.protocol.tokenizer(), request.silent ? null : prepared.body()),
            requestId,
            index,
            start,
            offset(arrival));
    InFlightGate.Passage passage =
        new InFlightGate.Passage(
            components.gate, components.limiter, timeline, session.eventLoop(), System::nanoTime);
    StreamedExchange exchange =
        new StreamedExchange(
            timeline,
            prepared.body(),
            new StreamedExchange.ReadOptions(
                components.protocol.idleTimeout().toNanos(),
                prepared.secrets(),
                components.protocol.inThisJvm() ? null : httpRequest),
            session.eventLoop(),
            System::nanoTime,
            ended -> {
              passage.leave(ended.answer().totalTokens());
              end.ended(ended, sent);
            });
    components.inFlight.add(exchange, session);
    abandonLater(exchange, index, session.eventLoop());
    if (!request.silent) {
      components.started();
    } else if (arrival != null) {
      components.totals.skipped(prepared.name(), "it is silent");
    }
    LongConsumer go =
        now -> {
          if (!exchange.isOver()) {
            passage.enter(
                now,
                prepared::tokenBudget,
                admitted -> admit(exchange, admitted, session, httpRequest));
          }
        };
    if (throttled) {
      core.throttler()
          .get()
          .$bang(
              new Throttler$Command$ThrottledRequest(
                  session.scenario(),
                  () -> {
                    EventLoops.execute(session.eventLoop(), () -> go.accept(System.nanoTime()));
                    return BoxedUnit.UNIT;
                  }));
    } else {
      go.accept(start);
    }
    if (prepared.body().isTextOnly() && !request.silent) {
      components.seen.add(components.target, distinct(prepared.body()));
    }
    if (!end.isPromptReported()) {
      sent.promptCount().start();
    }
  }

  /** Ends the request when its user leaves, if it is one of those. */
  private void abandonLater(StreamedExchange exchange, long index, EventLoop eventLoop) {
    Long after = components.leavesAfter(request, index);
    if (after != null) {
      // An answer that ends before needs no memory until then.
      WeakReference<StreamedExchange> left = new WeakReference<>(exchange);
      EventLoops.at(
          eventLoop,
          exchange.timeline().scheduled() + after,
          () -> {
            StreamedExchange open = left.get();
            if (open != null) {
              open.cut(RequestStatus.ABANDONED, "abandoned: its user left (abandonAfter)");
            }
          });
    }
  }

  /** What makes a prompt differ from others: its nonce, or all of it. */
  private List<String> distinct(GenerationRequest body) {
    return components.protocol.prefix() instanceof PromptPrefix.Unique
        ? List.of(body.prefix())
        : body.promptTexts();
  }

  private void admit(StreamedExchange exchange, long now, Session session, Request httpRequest) {
    components.inFlight.cancelIfLate(exchange, session);
    if (exchange.isOver()) {
      return;
    }
    components.run.admitted();
    exchange.timeline().admitted(now);
    if (!request.silent) {
      InFlight.admitted(session);
    }
    try {
      exchange.send(call.transport(httpRequest, session));
    } catch (RuntimeException e) {
      // After a wait there is no caller that would release the permit and let the user go on.
      exchange.onThrowable(e);
    }
  }

  record SentRequest(
      Session session,
      PreparedRequest prepared,
      TokenCounting.PromptCount promptCount,
      String requestId,
      long index,
      long startNanos,
      @Nullable Long scheduledOffsetNanos) {}

  private static Validation<BoxedUnit> success() {
    return new Success<>(BoxedUnit.UNIT);
  }
}
