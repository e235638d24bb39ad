package io.github.gatlingllm.action;

import io.gatling.core.check.Check$;
import io.gatling.core.session.Session;
import io.github.gatlingllm.client.Api.Message;
import io.github.gatlingllm.client.GenerationRequest;
import io.github.gatlingllm.client.ReceivedAnswer;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.client.StreamedExchange;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.record.RequestRecord.TokenSource;
import io.github.gatlingllm.record.RequestRecord.Tokens;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Timeline;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.workload.Conversation;
import io.github.gatlingllm.workload.PromptPrefix;
import io.netty.channel.EventLoop;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import scala.Option;
import scala.Tuple2;
import scala.collection.immutable.List$;

/**
 * One request of a virtual user, from its texts to its record: limits, exchange, checks, Gatling's
 * statistics, the user, the record. Belongs to the user's event loop; tokens may be counted, and
 * then the record is written, on another thread.
 */
final class Request {

  private final LlmAction step;
  private final LlmRequest request;
  private final Target target;
  private final LlmRun run;
  private final Session session;
  private final @Nullable RunningLevel level;
  private final PreparedRequest texts;
  private final long index;
  private final String id;
  private final io.gatling.http.client.Request http;
  private final Timeline timeline;
  private final long startNanos;
  private final @Nullable Long scheduledOffsetNanos;

  /** Null where the target has no limits. */
  private final Limit.@Nullable Permit permit;

  private final StreamedExchange exchange;
  private boolean isMeasured;

  /** Whether the tokens of the prompt are counted, or not to be counted. */
  private volatile boolean isPromptKnown;

  /** Written by the thread that counts; null without text, or if the tokenizer failed. */
  private @Nullable Integer promptTokens;

  private @Nullable Double sentBefore;

  Request(
      LlmAction step,
      Session session,
      PreparedRequest texts,
      long index,
      String id,
      io.gatling.http.client.Request http,
      Timeline timeline,
      long startNanos,
      @Nullable Long scheduledOffsetNanos) {
    this.step = step;
    this.session = session;
    this.texts = texts;
    this.index = index;
    this.id = id;
    this.http = http;
    this.timeline = timeline;
    this.startNanos = startNanos;
    this.scheduledOffsetNanos = scheduledOffsetNanos;
    request = step.request;
    target = step.target;
    run = target.run;
    level = UserSessions.levelOf(session);
    LlmProtocol protocol = target.protocol;
    isPromptKnown = request.isSilent || texts.body().promptChars() == 0;
    EventLoop eventLoop = session.eventLoop();
    permit =
        target.limits.isEmpty()
            ? null
            : new Limit.Permit(
                target.limits,
                timeline,
                eventLoop,
                System::nanoTime,
                texts::tokenBudget,
                this::admit);
    exchange =
        new StreamedExchange(
            timeline,
            texts.body(),
            protocol.get(Setting.IDLE_TIMEOUT).toNanos(),
            texts.secrets(),
            protocol.get(ProtocolPart.IN_THIS_JVM) ? null : http,
            eventLoop,
            System::nanoTime,
            over -> ended());
  }

  /** Starts it, and sends it when throttle and limits admit it. */
  void start() {
    isMeasured = level != null && level.requestStarted(timeline.scheduled());
    run.inFlight.add(exchange, session);
    abandonLater();
    if (!request.isSilent) {
      run.started();
    } else if (scheduledOffsetNanos != null) {
      run.totals.skipped(texts.name(), "it is silent");
    }
    if (!step.throttle(session, () -> enter(System.nanoTime()))) {
      enter(startNanos);
    }
    compareWithSent();
    if (request.isSilent) {
      return;
    }
    if (!step.isPromptReported() && !isPromptKnown) {
      var unused = run.counting.offer(this::countPrompt, texts.body().promptChars());
    }
  }

  /** On the thread of the tokenizer. */
  private void countPrompt() {
    if (!isPromptKnown) {
      promptTokens = run.counting.prompt(target.protocol.tokenizer(), texts.body());
      isPromptKnown = true;
    }
  }

  /** Null also without the time to count them. */
  private @Nullable Integer promptTokens() {
    return isPromptKnown ? promptTokens : null;
  }

  private void compareWithSent() {
    GenerationRequest body = texts.body();
    if (!body.isTextOnly() || target.protocol.get(ProtocolPart.IN_THIS_JVM)) {
      return;
    }
    boolean isUnique =
        target.protocol.prefix() instanceof PromptPrefix.Unique
            && SessionReplay.turnOf(session) == null; // whose requests share the nonce
    double share = run.sent.add(cacheScope(), body.promptTexts(), isUnique ? body.prefix() : "");
    sentBefore = body.api().generates() ? (Double) share : null;
    if (!request.isSilent) {
      run.totals.prompt(share == 1);
    }
  }

  /** Servers have a prefix cache for each model. */
  private String cacheScope() {
    return target.name + '\n' + texts.body().model();
  }

  /** Ends the request when its user leaves, if it is one of those. */
  private void abandonLater() {
    Long after = target.leavesAfter(request, index);
    if (after != null) {
      // An answer that ends before needs no memory until then.
      WeakReference<StreamedExchange> reference = new WeakReference<>(exchange);
      EventLoops.at(
          session.eventLoop(),
          timeline.scheduled() + after,
          () -> {
            StreamedExchange open = reference.get();
            if (open != null) {
              open.cut(RequestStatus.ABANDONED, "abandoned: its user left (abandonAfter)");
            }
          });
    }
  }

  private void enter(long now) {
    if (!exchange.isOver()) {
      if (permit == null) {
        admit(now);
      } else {
        permit.enter(now);
      }
    }
  }

  private void admit(long now) {
    run.inFlight.cancelIfLate(exchange, session);
    if (exchange.isOver()) {
      return;
    }
    run.admitted();
    timeline.admitted(now);
    if (level != null && !request.isSilent) {
      level.requestAdmitted(System.nanoTime());
    }
    try {
      exchange.send(step.call.transport(http, session));
    } catch (RuntimeException e) {
      // After a wait there is no caller that would release the permit and let the user go on.
      exchange.onThrowable(e);
    }
  }

  /** The exchange has ended; called once, on its event loop. */
  private void ended() {
    ReceivedAnswer answer = exchange.answer();
    if (permit != null) {
      permit.leave(answer.totalTokens());
    }
    if (timeline.isAdmitted()) {
      run.closed();
      if (level != null && !request.isSilent) {
        level.requestClosed(System.nanoTime());
      }
    }
    long ended = System.nanoTime();
    if (level != null) {
      PlanUser.ended(session, level, isMeasured, ended - timeline.scheduled());
    }
    if (answer.needsTokenizer() && needsTokenCounts()) {
      run.counting.countNow(
          answer.generatedBytes(),
          () -> answer.tokensByTokenizer(target.protocol.tokenizer()::count),
          answer::tokensByEvents,
          tokens -> EventLoops.execute(session.eventLoop(), () -> finish(tokens)));
    } else {
      EventLoops.defer(
          session.eventLoop(),
          () -> {
            PlanUser user = PlanUser.orNull(session);
            if (user != null) {
              user.delayed(System.nanoTime() - ended);
            }
            finish(answer.tokens());
          });
    }
  }

  /**
   * Whether token counts are needed before the user goes on: checks may read them, and objectives
   * may need TPOT. Not for a cancelled request, as its user does not go on: its record is judged
   * when they are there.
   */
  private boolean needsTokenCounts() {
    return !exchange.ending().status().isCut()
        && (!request.checks.isEmpty() || !target.sloOf(request, texts.name()).isEmpty());
  }

  private void finish(Tokens tokens) {
    ReceivedAnswer answer = exchange.answer();
    StreamedExchange.Ending ending = exchange.ending();
    Timing timing = timing(tokens);
    MeasuredAnswer measured =
        new MeasuredAnswer(
            timing,
            tokens,
            ending.status(),
            ending.httpStatus(),
            answer,
            () -> timeline.events(true));
    boolean isAbandoned = ending.status() == RequestStatus.ABANDONED;
    Tuple2<Session, Option<io.gatling.commons.validation.Failure>> checked =
        Check$.MODULE$.check(measured, session, isAbandoned ? List$.MODULE$.empty() : step.checks);
    String failedCheck =
        checked._2().isEmpty() ? null : texts.secrets().line(checked._2().get().message());
    boolean ok = ending.status() == RequestStatus.COMPLETE && failedCheck == null;
    String error = ending.error() == null ? failedCheck : ending.error();
    exchange.log(
        texts.name(),
        () -> UserSessions.withoutOwn(session),
        ok || isAbandoned ? null : String.valueOf(error));

    SessionReplay.ReplayedTurn turn = SessionReplay.turnOf(session);
    if (turn != null) {
      turn.answered(timing, ok, answer::text);
    }
    boolean isHistory =
        turn == null
            ? texts.conversation() != null
            : target.protocol.get(Setting.SESSION_ANSWERS).equals("server");
    if (ok && sentBefore != null && isHistory) {
      List<String> sentAndAnswered = new ArrayList<>(texts.body().promptTexts());
      sentAndAnswered.add(answer.text()); // servers cache what they have generated too
      run.sent.add(cacheScope(), sentAndAnswered, "");
    }
    Session after = checked._1();
    if (ok) {
      after = remember(tokens, after);
    } else {
      after = ChatMessages.afterFailure(request.messages, after);
      after = isAbandoned ? after : after.markAsFailed();
    }
    if (request.isSilent) {
      run.inFlight.remove(exchange);
    } else {
      RequestRecord record = record(tokens, timing, ok, error);
      // Gatling would count a user who left as a failure, or as an answer of that time.
      if (!isAbandoned) {
        after = StatsBatcher.log(record, after, step);
      }
      writeCounted(record);
    }
    step.next().$bang(after);
  }

  private Timing timing(Tokens tokens) {
    return timeline.timing(
        run.run.unixNanos(startNanos), scheduledOffsetNanos, tokens.streamedTokens());
  }

  /** Writes the record as soon as its tokens are counted; the user does not wait for that. */
  private void writeCounted(RequestRecord record) {
    ReceivedAnswer answer = exchange.answer();
    ToIntFunction<String> tokenizer = target.protocol.tokenizer()::count;
    TokenSource source = record.tokens().source();
    boolean answerToo = source == null && answer.needsTokenizer();
    boolean reported = record.tokens().promptTokens() != null;
    if (reported) {
      step.promptReported();
    }
    boolean sampled = run.counting.isSampled(index);
    boolean compared = source == TokenSource.USAGE && record.outcome().ok() && sampled;
    boolean promptToo = !isPromptKnown && (!reported || sampled);
    if (!promptToo && !answerToo && !compared) {
      write(record);
      return;
    }
    run.counting.countLater(
        answer.generatedBytes() + (promptToo ? texts.body().promptChars() : 0),
        () -> {
          if (promptToo) {
            countPrompt();
          }
          if (answerToo) {
            return counted(record, answer.tokensByTokenizer(tokenizer));
          }
          return compared
              ? record.withLocalCounts(null, answer.countLocally(tokenizer), null)
              : record;
        },
        () -> answerToo ? counted(record, answer.tokensByEvents()) : record,
        this::write);
  }

  /** The record of an answer whose tokens, and with them TPOT, were not known when it ended. */
  private RequestRecord counted(RequestRecord record, Tokens tokens) {
    return record(tokens, timing(tokens), record.outcome().ok(), record.outcome().error());
  }

  private void write(RequestRecord record) {
    run.record(
        record.withLocalCounts(promptTokens(), record.tokens().outputTokensLocal(), sentBefore));
    run.inFlight.remove(exchange);
  }

  /** Adds the answer to the conversation, with the number of tokens of prompt and answer. */
  private Session remember(Tokens tokens, Session after) {
    Conversation before = texts.conversation();
    if (before == null) {
      return after;
    }
    Integer counted = tokens.promptTokens() == null ? promptTokens() : tokens.promptTokens();
    int promptTokensOrEstimate =
        counted == null ? tokens.promptChars() / PreparedRequest.CHARS_PER_TOKEN : counted;
    Integer output = tokens.outputTokens();
    Integer reasoning = tokens.reasoningTokens();
    ReceivedAnswer answer = exchange.answer();
    String text = answer.text();
    Conversation more =
        before.answered(
            texts.newMessages(),
            Message.answer(text, answer.toolCalls()),
            promptTokensOrEstimate,
            output == null
                ? text.length() / PreparedRequest.CHARS_PER_TOKEN
                : Math.max(0, output - (reasoning == null ? 0 : reasoning)));
    if (run.isLoad() && !more.remembers(before)) {
      run.totals.notRemembered(texts.name());
    }
    return after.set(texts.historyKey(), more);
  }

  private RequestRecord record(Tokens tokens, Timing timing, boolean ok, @Nullable String error) {
    StreamedExchange.Ending ending = exchange.ending();
    boolean isRefused = ending.status() == RequestStatus.COMPLETE && !ok;
    RequestStatus status = isRefused ? RequestStatus.CHECK_FAILED : ending.status();
    String reason = exchange.answer().finishReason();
    // Known ones need no look for secrets: patterns are slow at every request.
    boolean isKnown = reason == null || RequestStatus.ofFinishReason(reason) != null;
    return step.record(
        session,
        step.identity(session, id, index, timeline, texts.name(), texts),
        timing,
        timeline,
        tokens,
        new StreamedExchange.Ending(status, ending.httpStatus(), error),
        isKnown ? reason : texts.secrets().line(reason),
        exchange,
        target.protocol.get(Setting.RECORD_TEXT) ? text() : null);
  }

  private RequestRecord.RecordedText text() {
    GenerationRequest body = texts.body();
    ReceivedAnswer answer = exchange.answer();
    boolean chat = body.api().takesMessages();
    String reasoning = answer.reasoning();
    Secrets secrets = texts.secrets();
    String sent = chat ? body.messagesJson() : body.prompt();
    String shown = sent == null ? null : secrets.redact(sent);
    return new RequestRecord.RecordedText(
        chat ? shown : null,
        chat ? null : shown,
        secrets.redact(answer.text()),
        reasoning.isEmpty() ? null : secrets.redact(reasoning));
  }
}
