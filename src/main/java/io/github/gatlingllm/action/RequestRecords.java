package io.github.gatlingllm.action;

import io.gatling.core.session.Session;
import io.github.gatlingllm.client.ReceivedAnswer;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.client.StreamedExchange;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.ServerReport;
import io.github.gatlingllm.record.RequestRecord.SessionTurn;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.record.Timeline;
import io.github.gatlingllm.workload.Conversation;
import java.util.List;
import org.jspecify.annotations.Nullable;
import scala.jdk.javaapi.CollectionConverters;

final class RequestRecords {

  private final LlmRequest request;
  private final LlmComponents components;

  RequestRecords(LlmRequest request, LlmComponents components) {
    this.request = request;
    this.components = components;
  }

  RequestRecord sent(
      StreamedExchange exchange,
      LlmAction.SentRequest sent,
      RequestRecord.Tokens tokens,
      boolean ok,
      @Nullable String error) {
    Timeline timeline = exchange.timeline();
    RequestRecord.Timing timing = timing(exchange, sent, tokens);
    ReceivedAnswer answer = exchange.answer();
    StreamedExchange.Ending ending = exchange.ending();
    boolean isRefused = ending.status() == RequestStatus.COMPLETE && !ok;
    RequestStatus status = isRefused ? RequestStatus.CHECK_FAILED : ending.status();
    String finishReason = answer.finishReason();
    PreparedRequest prepared = sent.prepared();
    LlmProtocol protocol = components.protocol;
    RequestRecord.Events events = timeline.events(true);
    Slo slo = components.sloOf(request, prepared.name());
    Slo.Judgement judgement =
        slo.judge(prepared.body().stream(), status, ok, timing, events, tokens);
    return new RequestRecord(
        identity(
            sent.session(),
            sent.requestId(),
            sent.index(),
            timeline,
            prepared.name(),
            prepared.conversation(),
            prepared.url(),
            prepared.body().model(),
            prepared.body().stream(),
            prepared.body().hasTools()),
        timing,
        protocol.recordTokens() ? events : timeline.events(false),
        tokens,
        new RequestRecord.RequestOutcome(
            // Known ones need no look for secrets: patterns are slow at every request.
            finishReason == null || RequestStatus.ofFinishReason(finishReason) != null
                ? finishReason
                : prepared.secrets().line(finishReason),
            ending.httpStatus(),
            status,
            ok,
            error,
            judgement.met(),
            judgement.missed(),
            exchange.wasResent(),
            exchange.wasLeftOpen()),
        answer.server(),
        protocol.recordText() ? text(prepared, answer) : null);
  }

  /** The record of a request that could not be built; its model and turn are not resolved. */
  RequestRecord notBuilt(
      Session session,
      String name,
      Timeline timeline,
      long startNanos,
      @Nullable Long scheduledOffsetNanos,
      String error) {
    long index = components.nextRequest();
    Boolean own = request.stream == null ? null : request.stream.constant();
    boolean streamed =
        request.api.generates() && (own == null ? components.protocol.streaming() : own);
    RequestRecord.Identity identity =
        identity(
            session,
            components.requestId(index),
            index,
            timeline,
            name,
            null,
            components.protocol.url(components.prefixes.user(session), request.api),
            null,
            streamed,
            request.tools != null);
    RequestRecord.Timing timing =
        timeline.timing(components.run.unixNanos(startNanos), scheduledOffsetNanos, null);
    RequestRecord.Events events = timeline.events(false);
    RequestRecord.Tokens tokens = RequestRecord.Tokens.NONE;
    Slo.Judgement judgement =
        components
            .sloOf(request, name)
            .judge(streamed, RequestStatus.NOT_BUILT, false, timing, events, tokens);
    return new RequestRecord(
        identity,
        timing,
        events,
        tokens,
        new RequestRecord.RequestOutcome(
            null,
            null,
            RequestStatus.NOT_BUILT,
            false,
            Secrets.NONE.line(error),
            judgement.met(),
            judgement.missed(),
            false,
            false),
        ServerReport.NONE,
        null);
  }

  private RequestRecord.Identity identity(
      Session session,
      String requestId,
      long index,
      Timeline timeline,
      String name,
      @Nullable Conversation conversation,
      String url,
      @Nullable String model,
      boolean streamed,
      boolean hasTools) {
    RunningLevel stage = UserSessions.levelOf(session);
    SessionReplay.Turn replayed = SessionReplay.turnOf(session);
    Integer turn = conversation == null ? null : (Integer) (conversation.turns() + 1);
    return new RequestRecord.Identity(
        requestId,
        components.run.id(),
        components.run.injector(),
        stage == null ? null : stage.trial(),
        index,
        PlanUser.scenarioOf(session),
        name,
        List.copyOf(CollectionConverters.asJava(session.groups())),
        session.userId(),
        replayed == null ? turn : (Integer) replayed.number,
        replayed != null
            ? replayed.recorded()
            : conversation == null
                ? null
                : new SessionTurn("c" + conversation.number(), null, null),
        components.target,
        Secrets.redactUrl(url),
        model,
        request.api.key(),
        streamed,
        hasTools,
        stage == null ? LevelInfo.WHOLE_RUN : stage.label(),
        stage == null ? Phase.MEASURE : stage.phaseAt(timeline.scheduled()));
  }

  private static RequestRecord.RecordedText text(PreparedRequest prepared, ReceivedAnswer answer) {
    boolean chat = prepared.body().api().takesMessages();
    String reasoning = answer.reasoning();
    Secrets secrets = prepared.secrets();
    String asked = chat ? prepared.body().messagesJson() : prepared.body().prompt();
    String shown = asked == null ? null : secrets.redact(asked);
    return new RequestRecord.RecordedText(
        chat ? shown : null,
        chat ? null : shown,
        secrets.redact(answer.text()),
        reasoning.isEmpty() ? null : secrets.redact(reasoning));
  }

  RequestRecord.Timing timing(
      StreamedExchange exchange, LlmAction.SentRequest sent, RequestRecord.Tokens tokens) {
    return exchange
        .timeline()
        .timing(
            components.run.unixNanos(sent.startNanos()),
            sent.scheduledOffsetNanos(),
            tokens.streamedTokens());
  }
}
