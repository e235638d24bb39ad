package io.github.gatlingllm.action;

import io.gatling.commons.stats.KO$;
import io.gatling.commons.stats.OK$;
import io.gatling.commons.stats.Status;
import io.gatling.core.action.Action;
import io.gatling.core.check.Check;
import io.gatling.core.check.Check$;
import io.gatling.core.session.GroupBlock;
import io.gatling.core.session.Session;
import io.gatling.core.stats.StatsEngine;
import io.github.gatlingllm.client.Answer;
import io.github.gatlingllm.client.Exchange;
import io.github.gatlingllm.client.TokenCounts;
import io.github.gatlingllm.load.Stage;
import io.github.gatlingllm.sample.Phase;
import io.github.gatlingllm.sample.RequestRecord;
import io.github.gatlingllm.sample.Slo;
import io.github.gatlingllm.sample.SloJudge;
import io.github.gatlingllm.sample.StageInfo;
import io.github.gatlingllm.sample.Timeline;
import io.github.gatlingllm.sample.Verdict;
import io.github.gatlingllm.wire.Api;
import java.util.List;
import org.jspecify.annotations.Nullable;
import scala.Option;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;

/**
 * What happens when an exchange is over: count its tokens, run the checks, write its record, tell
 * Gatling's statistics, and let the user go on.
 */
final class LlmEnd {

  private static final int LONGEST_ERROR = 200;

  private final LlmRequest.Draft request;
  private final LlmComponents components;
  private final StatsEngine statsEngine;
  private final Action next;
  private final scala.collection.immutable.List<Check<LlmResponse>> checks;

  LlmEnd(LlmRequest.Draft request, LlmComponents components, StatsEngine statsEngine, Action next) {
    this.request = request;
    this.components = components;
    this.statsEngine = statsEngine;
    this.next = next;
    this.checks =
        CollectionConverters.asScala(request.checks.stream().map(LlmEnd::build).toList()).toList();
  }

  private static Check<LlmResponse> build(LlmRequest.ConditionalCheck conditional) {
    Check<LlmResponse> check = LlmChecks.build(conditional.check());
    return conditional.condition() == null
        ? check
        : check.checkIf(
            io.gatling.javaapi.core.internal.Expressions.javaBiFunctionToExpression(
                (response, session) -> (Object) conditional.condition().apply(response, session)));
  }

  /** Called once per exchange, on its event loop. */
  void ended(Exchange exchange, LlmAction.Sent sent) {
    if (exchange.timeline().isAdmitted()) {
      components.ledger().ended();
    }
    TokenCounts.Asked asked = sent.prepared().toCount();
    if (TokenCounts.needTokenizer(exchange.answer())) {
      components
          .tokenizing()
          .execute(
              () -> {
                RequestRecord.Tokens tokens =
                    TokenCounts.byTokenizer(
                        asked,
                        exchange.answer(),
                        exchange.timeline(),
                        components.tokenizer()::count);
                EventLoops.execute(
                    sent.session().eventLoop(), () -> finish(exchange, sent, tokens));
              });
    } else {
      finish(exchange, sent, TokenCounts.byUsage(asked, exchange.answer()));
    }
  }

  private void finish(Exchange exchange, LlmAction.Sent sent, RequestRecord.Tokens tokens) {
    Timeline timeline = exchange.timeline();
    Answer answer = exchange.answer();
    Exchange.Ending ending = exchange.ending();
    RequestRecord.Timing timing =
        timeline.timing(
            components.run().unixNanos(sent.startNanos()),
            sent.scheduledOffsetNanos(),
            tokens.streamedTokens());
    LlmResponse response =
        new LlmResponse(
            timing,
            tokens,
            ending.verdict(),
            ending.status(),
            answer.finishReason(),
            answer::text,
            answer::reasoning);
    Session session = sent.session();
    Tuple2<Session, Option<io.gatling.commons.validation.Failure>> checked =
        Check$.MODULE$.check(response, session, checks);
    String failedCheck = checked._2().isEmpty() ? null : shortened(checked._2().get().message());
    boolean ok = ending.verdict() == Verdict.COMPLETE && failedCheck == null;
    String error = ending.error() == null ? failedCheck : ending.error();

    Session after = checked._1();
    if (ok) {
      after = remember(sent.prepared(), answer, tokens, after);
    } else {
      after = ChatMessages.afterFailure(request.messages, after).markAsFailed();
    }
    if (!request.silent) {
      RequestRecord record = record(exchange, sent, tokens, timing, ok, error);
      components.ledger().keep(record);
      if (components.ledger().inStatistics()) {
        after = log(record, after);
      }
    }
    components.inFlight().remove(exchange);
    next.$bang(after);
  }

  private static Session remember(
      PreparedRequest prepared, Answer answer, RequestRecord.Tokens tokens, Session session) {
    if (prepared.conversation() == null) {
      return session;
    }
    Integer prompt =
        tokens.promptTokens() == null ? tokens.promptTokensLocal() : tokens.promptTokens();
    int reasoning = orZero(tokens.reasoningTokens());
    return session.set(
        prepared.historyKey(),
        prepared
            .conversation()
            .answered(
                prepared.asked(),
                answer.text(),
                orZero(prompt),
                Math.max(0, orZero(tokens.outputTokens()) - reasoning)));
  }

  private static int orZero(@Nullable Integer value) {
    return value == null ? 0 : value;
  }

  private RequestRecord record(
      Exchange exchange,
      LlmAction.Sent sent,
      RequestRecord.Tokens tokens,
      RequestRecord.Timing timing,
      boolean ok,
      @Nullable String error) {
    Timeline timeline = exchange.timeline();
    Answer answer = exchange.answer();
    Exchange.Ending ending = exchange.ending();
    PreparedRequest prepared = sent.prepared();
    LlmProtocol protocol = components.protocol();
    RequestRecord.Events events = timeline.events(true);
    Slo slo = protocol.sloOf(prepared.name());
    List<String> missed =
        SloJudge.missed(
            slo, prepared.body().stream(), ending.verdict(), ok, timing, events, tokens);
    return new RequestRecord(
        identity(sent, timeline),
        timing,
        protocol.recording().tokens() ? events : timeline.events(false),
        tokens,
        new RequestRecord.Outcome(
            answer.finishReason(),
            ending.status(),
            ending.verdict(),
            ok,
            error,
            SloJudge.met(slo, ending.verdict(), missed),
            missed),
        answer.server(),
        protocol.recording().text() ? text(prepared, answer) : null);
  }

  private RequestRecord.Identity identity(LlmAction.Sent sent, Timeline timeline) {
    Session session = sent.session();
    PreparedRequest prepared = sent.prepared();
    Stage stage = (Stage) session.attributes().getOrElse(Stage.KEY, () -> null);
    return new RequestRecord.Identity(
        sent.requestId(),
        components.run().id(),
        components.run().injector(),
        stage == null ? null : stage.trial(),
        sent.index(),
        PlanUser.scenarioOf(session),
        prepared.name(),
        List.copyOf(CollectionConverters.asJava(session.groups())),
        session.userId(),
        prepared.turn(),
        components.target(),
        prepared.url(),
        prepared.body().model(),
        prepared.body().api().key(),
        prepared.body().stream(),
        stage == null ? StageInfo.WHOLE_RUN : stage.label(),
        stage == null ? Phase.MEASURE : stage.phaseAt(timeline.scheduled()));
  }

  private static RequestRecord.Text text(PreparedRequest prepared, Answer answer) {
    boolean chat = prepared.body().api() == Api.CHAT;
    String reasoning = answer.reasoning();
    return new RequestRecord.Text(
        chat ? prepared.body().messagesJson() : null,
        chat ? null : prepared.body().prompt(),
        answer.text(),
        reasoning.isEmpty() ? null : reasoning);
  }

  /**
   * Gatling's own statistics: the request row, and beside it the groups {@code <name> TTFT} and
   * {@code <name> SLO}, which assertions can use and which count no request.
   */
  private Session log(RequestRecord record, Session session) {
    RequestRecord.Timing timing = record.timing();
    RequestRecord.Outcome outcome = record.outcome();
    String name = record.identity().name();
    Long admitted = timing.admittedUnixNanos();
    long startMillis = millis(admitted == null ? timing.startUnixNanos() : admitted);
    long endMillis = startMillis + millis(orZero(timing.closedNanos()));
    statsEngine.logResponse(
        session.scenario(),
        session.groups(),
        name,
        startMillis,
        endMillis,
        status(outcome.ok()),
        Option.apply(outcome.status()).map(String::valueOf),
        Option.apply(outcome.error()));
    if (timing.ttftNanos() != null) {
      group(session, name + " TTFT", startMillis, timing.ttftNanos(), status(outcome.ok()));
    }
    if (outcome.sloOk() != null) {
      long latency = orZero(timing.latencyFromScheduleNanos());
      group(session, name + " SLO", startMillis, latency, status(outcome.sloOk()));
    }
    return session.logGroupRequestTimings(startMillis, endMillis);
  }

  private void group(
      Session session, String name, long startMillis, long durationNanos, Status status) {
    long millis = millis(durationNanos);
    @SuppressWarnings("unchecked") // a List appended to is a List
    scala.collection.immutable.List<String> path =
        (scala.collection.immutable.List<String>) session.groups().appended(name);
    statsEngine.logGroupEnd(
        session.scenario(),
        new GroupBlock(path, startMillis, (int) millis, status),
        startMillis + millis);
  }

  private static Status status(boolean ok) {
    return ok ? OK$.MODULE$ : KO$.MODULE$;
  }

  private static long orZero(@Nullable Long value) {
    return value == null ? 0 : value;
  }

  private static long millis(long nanos) {
    return Math.round(nanos / 1e6);
  }

  private static String shortened(String message) {
    return message.length() <= LONGEST_ERROR ? message : message.substring(0, LONGEST_ERROR);
  }
}
