package io.github.gatlingllm.action;

import io.gatling.commons.stats.KO$;
import io.gatling.commons.stats.OK$;
import io.gatling.commons.stats.Status;
import io.gatling.core.CoreComponents;
import io.gatling.core.action.Action;
import io.gatling.core.check.Check;
import io.gatling.core.check.Check$;
import io.gatling.core.session.GroupBlock;
import io.gatling.core.session.Session;
import io.gatling.core.stats.StatsEngine;
import io.github.gatlingllm.action.LlmRequest.LlmChecks;
import io.github.gatlingllm.action.LlmRequest.LlmChecks.MeasuredAnswer;
import io.github.gatlingllm.client.Api.Message;
import io.github.gatlingllm.client.ReceivedAnswer;
import io.github.gatlingllm.client.StreamedExchange;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.workload.Conversation;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.ToIntFunction;
import scala.Option;
import scala.Tuple2;
import scala.collection.immutable.List$;
import scala.jdk.javaapi.CollectionConverters;

/** Processes the end of an exchange: checks, Gatling's statistics, the user, the record. */
final class ResponseProcessor {

  private static final int CHARS_PER_TOKEN = 4;

  private final LlmRequest request;
  private final LlmComponents components;
  private final RequestRecords records;
  private final StatsEngine statsEngine;
  private final Executor actors;
  private final Action next;
  private final scala.collection.immutable.List<Check<MeasuredAnswer>> checks;

  /** Whether the server reported the prompt tokens of an answer: it is going to do so again. */
  private volatile boolean promptReported;

  ResponseProcessor(
      LlmRequest request, LlmComponents components, CoreComponents core, Action next) {
    this.request = request;
    this.components = components;
    this.records = new RequestRecords(request, components);
    this.statsEngine = core.statsEngine();
    this.actors = Versions.threadsOf(core.actorSystem());
    this.next = next;
    this.checks =
        CollectionConverters.asScala(request.checks.stream().map(ResponseProcessor::build).toList())
            .toList();
  }

  private static Check<MeasuredAnswer> build(LlmRequest.ConditionalCheck conditional) {
    Check<MeasuredAnswer> check = LlmChecks.build(conditional.check());
    return conditional.condition() == null
        ? check
        : check.checkIf(
            io.gatling.javaapi.core.internal.Expressions.javaBiFunctionToExpression(
                (response, session) -> (Object) conditional.condition().apply(response, session)));
  }

  RequestRecords records() {
    return records;
  }

  boolean isPromptReported() {
    return promptReported;
  }

  /** Processes an exchange that has ended; called once, on its event loop. */
  void ended(StreamedExchange exchange, LlmAction.SentRequest sent) {
    if (exchange.timeline().isAdmitted()) {
      components.run.ended();
      if (!request.silent) {
        InFlight.closed(sent.session());
      }
    }
    long ended = System.nanoTime();
    components.inFlight.ended(exchange, ended);
    ReceivedAnswer answer = exchange.answer();
    if (answer.needsTokenizer() && needsCounts(exchange, sent)) {
      components.counting.countNow(
          answer.generatedBytes(),
          () -> answer.tokensByTokenizer(components.protocol.tokenizer()::count),
          () -> answer.tokensByEvents(),
          tokens ->
              EventLoops.execute(sent.session().eventLoop(), () -> finish(exchange, sent, tokens)));
    } else {
      EventLoops.DeferredTasks.execute(
          sent.session().eventLoop(),
          () -> {
            PlanUser user = PlanUser.orNull(sent.session());
            if (user != null) {
              user.delayed(System.nanoTime() - ended);
            }
            finish(exchange, sent, answer.tokens());
          });
    }
  }

  /**
   * Whether token counts are needed before the user goes on: checks may read them, and objectives
   * may need TPOT. Not for a cancelled request, as its user does not go on: its record is judged
   * when they are there.
   */
  private boolean needsCounts(StreamedExchange exchange, LlmAction.SentRequest sent) {
    return !exchange.ending().status().isCut()
        && (!request.checks.isEmpty()
            || !components.sloOf(request, sent.prepared().name()).isEmpty());
  }

  private void finish(
      StreamedExchange exchange, LlmAction.SentRequest sent, RequestRecord.Tokens tokens) {
    ReceivedAnswer answer = exchange.answer();
    StreamedExchange.Ending ending = exchange.ending();
    MeasuredAnswer response =
        new MeasuredAnswer(
            records.timing(exchange, sent, tokens),
            tokens,
            ending.status(),
            ending.httpStatus(),
            answer,
            () -> exchange.timeline().events(true));
    Session session = sent.session();
    boolean isAbandoned = ending.status() == RequestStatus.ABANDONED;
    Tuple2<Session, Option<io.gatling.commons.validation.Failure>> checked =
        Check$.MODULE$.check(response, session, isAbandoned ? List$.MODULE$.empty() : checks);
    String failedCheck =
        checked._2().isEmpty()
            ? null
            : sent.prepared().secrets().line(checked._2().get().message());
    boolean ok = ending.status() == RequestStatus.COMPLETE && failedCheck == null;
    String error = ending.error() == null ? failedCheck : ending.error();
    exchange.log(
        sent.prepared().name(),
        () -> UserSessions.withoutOwn(session),
        ok || isAbandoned ? null : String.valueOf(error));

    SessionReplay.Turn turn = SessionReplay.turnOf(session);
    if (turn != null) {
      turn.answered(response.timing(), ok);
    }
    Session after = checked._1();
    if (ok) {
      after = remember(sent, answer, tokens, after);
    } else {
      after = ChatMessages.afterFailure(request.messages, after);
      after = isAbandoned ? after : after.markAsFailed();
    }
    if (request.silent) {
      components.inFlight.remove(exchange);
    } else {
      RequestRecord record = records.sent(exchange, sent, tokens, ok, error);
      // Gatling would count a user who left as a failure, or as an answer of that time.
      if (!isAbandoned) {
        after = log(record, after);
      }
      keep(record, exchange, sent);
    }
    next.$bang(after);
  }

  /** Writes the record as soon as its tokens are counted; the user does not wait for that. */
  private void keep(RequestRecord record, StreamedExchange exchange, LlmAction.SentRequest sent) {
    TokenCounting.PromptCount prompt = sent.promptCount();
    ReceivedAnswer answer = exchange.answer();
    ToIntFunction<String> tokenizer = components.protocol.tokenizer()::count;
    RequestRecord.TokenSource source = record.tokens().source();
    boolean ok = record.outcome().ok();
    String error = record.outcome().error();
    boolean answerToo = source == null && answer.needsTokenizer();
    boolean reported = record.tokens().promptTokens() != null;
    if (reported && !promptReported) {
      promptReported = true;
    }
    boolean sampled = components.counting.isSampled(sent.index());
    boolean compared = source == RequestRecord.TokenSource.USAGE && ok && sampled;
    boolean promptToo = !prompt.isKnown() && (!reported || sampled);
    if (!promptToo && !answerToo && !compared) {
      write(record, exchange, prompt);
      return;
    }
    components.counting.countLater(
        answer.generatedBytes() + (promptToo ? prompt.bytes() : 0),
        () -> {
          if (promptToo) {
            prompt.count();
          }
          if (answerToo) {
            RequestRecord.Tokens tokens = answer.tokensByTokenizer(tokenizer);
            return records.sent(exchange, sent, tokens, ok, error);
          }
          return compared ? record.withLocalCounts(null, answer.countLocally(tokenizer)) : record;
        },
        () -> answerToo ? records.sent(exchange, sent, answer.tokensByEvents(), ok, error) : record,
        counted -> write(counted, exchange, prompt));
  }

  private void write(
      RequestRecord record, StreamedExchange exchange, TokenCounting.PromptCount prompt) {
    components.record(record.withLocalCounts(prompt.tokens(), record.tokens().outputTokensLocal()));
    components.inFlight.remove(exchange);
  }

  /** Adds the answer to the conversation, with the number of tokens of prompt and answer. */
  private Session remember(
      LlmAction.SentRequest sent,
      ReceivedAnswer answer,
      RequestRecord.Tokens tokens,
      Session session) {
    PreparedRequest prepared = sent.prepared();
    if (prepared.conversation() == null) {
      return session;
    }
    Integer counted =
        tokens.promptTokens() == null ? sent.promptCount().tokens() : tokens.promptTokens();
    int prompt = counted == null ? tokens.promptChars() / CHARS_PER_TOKEN : counted;
    Integer output = tokens.outputTokens();
    Integer reasoning = tokens.reasoningTokens();
    String text = answer.text();
    Conversation before = prepared.conversation();
    Conversation after =
        before.answered(
            prepared.newMessages(),
            Message.answer(text, answer.toolCalls()),
            prompt,
            output == null
                ? text.length() / CHARS_PER_TOKEN
                : Math.max(0, output - (reasoning == null ? 0 : reasoning)));
    if (components.isLoad() && !after.remembers(before)) {
      components.totals.notRemembered(prepared.name());
    }
    return session.set(prepared.historyKey(), after);
  }

  /** Logs the row of the request, and its groups {@code <name> TTFT} and {@code <name> SLO}. */
  private Session log(RequestRecord record, Session session) {
    RequestRecord.Timing timing = record.timing();
    RequestRecord.RequestOutcome outcome = record.outcome();
    String name = record.identity().name();
    Long admitted = timing.admittedUnixNanos();
    long startMillis = millis(admitted == null ? timing.startUnixNanos() : admitted);
    long endMillis = startMillis + millis(Objects.requireNonNullElse(timing.closedNanos(), 0L));
    StatsBatcher.log(
        session.eventLoop(),
        actors,
        () -> {
          if (!components.isLoad()) {
            return;
          }
          statsEngine.logResponse(
              session.scenario(),
              session.groups(),
              name,
              startMillis,
              endMillis,
              status(outcome.ok()),
              Option.apply(outcome.httpStatus()).map(String::valueOf),
              Option.apply(outcome.error()).map(PrintableText::of));
          if (timing.ttftNanos() != null) {
            group(session, name + " TTFT", startMillis, timing.ttftNanos(), status(outcome.ok()));
          }
          if (outcome.sloOk() != null) {
            long latency = Objects.requireNonNullElse(timing.latencyFromScheduleNanos(), 0L);
            group(session, name + " SLO", startMillis, latency, status(outcome.sloOk()));
          }
        });
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

  private static long millis(long nanos) {
    return Math.round(nanos / 1e6);
  }
}
