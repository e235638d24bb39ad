package io.github.gatlingllm.action;

import io.gatling.commons.validation.Success;
import io.gatling.core.session.Session;
import io.gatling.core.structure.ScenarioContext;
import io.gatling.http.protocol.HttpComponents;
import io.github.gatlingllm.action.LlmRequest.MessagePart;
import io.github.gatlingllm.client.Api.FunctionCall;
import io.github.gatlingllm.client.ReceivedAnswer;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.AnswerFault;
import io.github.gatlingllm.record.RequestRecord.AnswerPass;
import io.github.gatlingllm.record.RequestRecord.CheckedAnswer;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.SettingValue.Slos;
import io.github.gatlingllm.workload.CheckedPrompts;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The requests of the setting {@code answers} to a target: the same prompts with temperature 0,
 * twice before the load, beside each level and after the load; few at a time, as they are a load
 * too. They have an {@link LlmRun} and a separate gate; their records are of the phase {@link
 * Phase#CHECK}, in no figure of the load. First answers are in memory, in no file.
 */
final class AnswerPasses {

  private static final String KEY = "gatling.llm.asked";

  private static final int MAX_TOGETHER = 4;

  /** Beside a load, one of these for this number in flight. */
  private static final int LOAD_OF_ONE = 16;

  /** Fewer prompts of the load that differ do not show a share. */
  private static final int MIN_DISTINCT = 10;

  /** After this number of failed requests a pass ends: the server is down. */
  private static final int MAX_FAILURES = 10;

  private static final Set<String> REFUSALS =
      Set.of("content_filter", "refusal", "safety", "sensitive");

  private final ScenarioContext context;
  private final HttpComponents http;
  private final Target target;
  private final LlmAction action;
  private final CheckedPrompts checked;
  private final List<String> prompts;
  private final List<PreparedRequest> requests = new ArrayList<>();

  /** By the number of the prompt, from 0. */
  private final Map<Integer, ComparedAnswer> first = new ConcurrentHashMap<>();

  /** Why an answer could not be searched by the pattern of its prompt. */
  private volatile @Nullable String unsearched;

  AnswerPasses(ScenarioContext context, Target load, LlmRequest request, CheckedPrompts checked) {
    this.context = context;
    http = HttpCall.components(context);
    this.checked = checked;
    prompts = checked.prompts();
    LlmProtocol own =
        load.protocol
            .with(Setting.IGNORE_EOS, false)
            .with(Setting.SLO, Slos.NONE)
            .with(Setting.BODY, load.protocol.get(Setting.BODY).deepCopy().put("temperature", 0));
    target =
        new Target(
            load.all,
            load.run.forAnswers(),
            prompts.isEmpty()
                ? own
                : own.with(Setting.UNIQUE_PROMPTS, false).with(Setting.SHARED_PREFIX, null),
            null);
    LlmRequest sent = request.with(AnswerPasses::asCheck);
    action =
        new LlmAction(
            sent,
            target,
            context,
            UserSessions.step(
                "answers-end",
                context.coreComponents().statsEngine(),
                session -> ((CheckedRequest) session.attributes().apply(KEY)).ended(session)));
    prepare(sent);
  }

  private static void asCheck(LlmRequest draft) {
    draft.checks = List.of();
    draft.isSilent = false;
    draft.slo = null;
  }

  /** Resolves the requests once, so that each pass sends the same bytes. */
  private void prepare(LlmRequest sent) {
    EventLoop eventLoop = context.coreComponents().eventLoopGroup().next();
    if (!sent.api.generates()) {
      throw InvalidSimulation.because(
          "answers: %s has no answers to compare; leave answers out".formatted(sent.api.key()));
    }
    try {
      int count = prompts.isEmpty() ? CheckedPrompts.OF_LOAD : prompts.size();
      for (int i = 0; i < count; i++) {
        Session session = session(i, eventLoop).set(KEY, new CheckedRequest(null, i));
        requests.add(
            target.prepared(prompts.isEmpty() ? sent : withPrompt(sent, prompts.get(i)), session));
      }
    } catch (IllegalArgumentException e) {
      throw refused("the request cannot be made before the load (%s)".formatted(e.getMessage()));
    }
    long distinct = requests.stream().map(AnswerPasses::text).distinct().count();
    if (prompts.isEmpty() && distinct < MIN_DISTINCT) {
      throw refused(
          "the load has %s, expected %s or more"
              .formatted(NumberText.counted(distinct, "different prompt"), MIN_DISTINCT));
    }
  }

  private static InvalidSimulation refused(String why) {
    return InvalidSimulation.because(
        "answers=check: " + why + "; give prompts in a file: answers=<file>");
  }

  private static LlmRequest withPrompt(LlmRequest sent, String prompt) {
    Dynamic<String> text = Dynamic.of(prompt);
    return sent.with(
        draft -> {
          draft.messages =
              sent.api.takesMessages() ? List.of(MessagePart.text("user", text)) : List.of();
          draft.prompt = sent.api.takesMessages() ? null : text;
        });
  }

  /** What differs from prompt to prompt but for a nonce. */
  private static String text(PreparedRequest request) {
    return String.join("\n", request.body().promptTexts())
        .substring(request.body().prefix().length());
  }

  private Session session(long userId, EventLoop eventLoop) {
    return UserSessions.outsideLoad("answers", userId, http, target.protocol, eventLoop);
  }

  /** Blocks the thread that builds the simulation. */
  void beforeLoad() {
    long start = System.nanoTime();
    try {
      for (AnswerPass pass : List.of(AnswerPass.FIRST, AnswerPass.AGAIN)) {
        CountDownLatch over = new CountDownLatch(1);
        new Pass(pass, LevelInfo.ENTIRE_RUN, () -> true, over::countDown).start(MAX_TOGETHER);
        over.await();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (first.isEmpty()) {
      throw InvalidSimulation.because(
          "answers: %s answered none of its %s requests before the load; look at the server, or leave answers out"
              .formatted(target.name, requests.size()));
    }
    if (unsearched != null) {
      throw InvalidSimulation.because("answers: " + unsearched);
    }
    PrintableText.print(
        "LLM answers of %s: 2 × %s requests before the load, %s"
            .formatted(
                target.name,
                requests.size(),
                NumberText.duration((System.nanoTime() - start) / 1e9)));
  }

  /** Sends those that fit into the measure phase of a level, beside its load. */
  void during(RunningLevel level) {
    long inFlight = target.run.run.inFlight();
    new Pass(
            AnswerPass.LOAD,
            level.label(),
            () -> level.phaseAt(System.nanoTime()) == Phase.MEASURE,
            () -> {})
        .start((int) Math.max(1, Math.min(MAX_TOGETHER, inFlight / LOAD_OF_ONE)));
  }

  void after(Runnable then) {
    new Pass(AnswerPass.AFTER, LevelInfo.ENTIRE_RUN, () -> true, then).start(MAX_TOGETHER);
  }

  /** The request that a session sends; null for those of the load. */
  static @Nullable PreparedRequest request(LlmRun run, Session session) {
    CheckedRequest checked = requestOf(run, session);
    return checked == null ? null : checked.request();
  }

  /** The record of a request, with what came of the comparison if its answer is compared. */
  static RequestRecord judged(
      LlmRun run, Session session, RequestRecord record, @Nullable ReceivedAnswer answer) {
    CheckedRequest checked = requestOf(run, session);
    return checked == null ? record : checked.judged(record, answer);
  }

  private static @Nullable CheckedRequest requestOf(LlmRun run, Session session) {
    return run.isLoad() ? null : (CheckedRequest) session.attributes().getOrElse(KEY, () -> null);
  }

  /** The number of its prompt among those of the load; 0 for other requests. */
  static int sample(Session session) {
    return session.attributes().getOrElse(KEY, () -> null) instanceof CheckedRequest checked
        ? checked.number
        : 0;
  }

  /** Each prompt once, some at a time, until they or the time are over. */
  private final class Pass {
    private final AnswerPass pass;
    private final String stage;
    private final BooleanSupplier mayContinue;
    private final Runnable then;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger lanes = new AtomicInteger();
    private final AtomicInteger failures = new AtomicInteger();

    Pass(AnswerPass pass, String stage, BooleanSupplier mayContinue, Runnable then) {
      this.pass = pass;
      this.stage = stage;
      this.mayContinue = mayContinue;
      this.then = then;
    }

    void start(int together) {
      lanes.set(together);
      for (int lane = 0; lane < together; lane++) {
        EventLoop eventLoop = context.coreComponents().eventLoopGroup().next();
        EventLoops.execute(eventLoop, () -> sendNext(eventLoop));
      }
    }

    private void sendNext(EventLoop eventLoop) {
      int number = next.getAndIncrement();
      if (number < requests.size() && failures.get() < MAX_FAILURES && mayContinue.getAsBoolean()) {
        action.$bang(session(number, eventLoop).set(KEY, new CheckedRequest(this, number)));
      } else if (lanes.decrementAndGet() == 0) {
        then.run();
      }
    }
  }

  /** A prompt that is being sent; of no pass while it is prepared. */
  private final class CheckedRequest {
    private final @Nullable Pass pass;
    private final int number;

    private CheckedRequest(@Nullable Pass pass, int number) {
      this.pass = pass;
      this.number = number;
    }

    private PreparedRequest request() {
      return requests.get(number);
    }

    private void ended(Session session) {
      if (pass != null) {
        pass.failures.addAndGet(session.isFailed() ? 1 : 0);
        pass.sendNext(session.eventLoop());
      }
    }

    private RequestRecord judged(RequestRecord record, @Nullable ReceivedAnswer answer) {
      if (pass == null) {
        return record;
      }
      RequestStatus status = record.outcome().status();
      return record.checked(
          pass.stage,
          answer != null && (status == RequestStatus.COMPLETE || status == RequestStatus.EMPTY)
              ? compared(pass.pass, ComparedAnswer.by(answer))
              : new CheckedAnswer(pass.pass, number + 1, null, null, null, null));
    }

    private CheckedAnswer compared(AnswerPass in, ComparedAnswer answer) {
      if (in == AnswerPass.FIRST) {
        first.put(number, answer);
      }
      ComparedAnswer before = in == AnswerPass.FIRST ? null : first.get(number);
      int at = before == null ? -1 : answer.differsAt(before);
      return new CheckedAnswer(
          in,
          number + 1,
          before == null ? null : (Boolean) (at < 0),
          at < 0 ? null : (Integer) at,
          answer.fault(before),
          isRight(answer.text));
    }

    /** An answer that its pattern cannot tell in time is not right. */
    private @Nullable Boolean isRight(String answer) {
      try {
        return checked.isRight(number, answer);
      } catch (IllegalArgumentException e) {
        unsearched = String.valueOf(e.getMessage());
        return Boolean.FALSE;
      }
    }
  }

  /** What is compared of an answer. */
  private record ComparedAnswer(
      String reasoning, String text, List<String> calls, boolean isJson, boolean isRefused) {

    static ComparedAnswer by(ReceivedAnswer answer) {
      List<FunctionCall> calls = answer.toolCalls();
      String text = answer.text();
      return new ComparedAnswer(
          answer.reasoning(),
          text,
          calls.stream().map(call -> call.name() + call.arguments()).toList(),
          calls.isEmpty()
              ? isContainer(text)
              : calls.stream().allMatch(c -> isContainer(c.arguments())),
          answer.finishReason() != null && REFUSALS.contains(answer.finishReason()));
    }

    private static boolean isContainer(String text) {
      return text.matches("(?s)\\s*[{\\[].*") && MeasuredAnswer.tree(text) instanceof Success<?>;
    }

    /** Characters before the first that differs; -1 where none does. */
    int differsAt(ComparedAnswer other) {
      return Arrays.mismatch(fullText().toCharArray(), other.fullText().toCharArray());
    }

    private String fullText() {
      return reasoning + text + String.join("", calls);
    }

    @Nullable AnswerFault fault(@Nullable ComparedAnswer before) {
      if (isRefused) {
        return AnswerFault.REFUSED;
      }
      if (text.isBlank() && calls.isEmpty()) {
        return AnswerFault.EMPTY;
      }
      boolean isLost = before != null && !before.calls.isEmpty() && calls.isEmpty();
      return isLost || (before != null && before.isJson && !isJson) ? AnswerFault.INVALID : null;
    }
  }
}
