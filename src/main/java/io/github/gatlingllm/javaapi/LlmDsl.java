package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.CheckBuilder;
import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.MeasuredAnswer;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.Scope;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.workload.Conversation;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The entry point of gatling-llm's DSL. Import its members statically, together with Gatling's.
 *
 * <pre>{@code
 * import static io.gatling.javaapi.core.CoreDsl.*;
 * import static io.github.gatlingllm.javaapi.LlmDsl.*;
 *
 * LlmProtocolBuilder engine = llm.baseUrl("http://localhost:8000/v1").model("llama-8b");
 *
 * ScenarioBuilder chat =
 *     scenario("Chat").exec(llm("ask").chat().user("#{prompt}").maxTokens(256));
 *
 * { setUp(chat.injectOpen(poissonUsersPerSec(25).seed(42).during(60))).protocols(engine); }
 * }</pre>
 */
public final class LlmDsl extends WorkloadDsl {

  /** Starts a protocol: {@code llm.baseUrl("http://localhost:8000/v1")}. */
  public static final LlmProtocolBuilder llm = LlmProtocolBuilder.START;

  private LlmDsl() {}

  /**
   * Starts a request: {@code llm("ask").chat().user("#{prompt}")}. Its name in statistics, records
   * and reports is a Gatling EL String.
   */
  public static Llm llm(String name) {
    return new Llm(Dynamic.text(name));
  }

  public static Llm llm(Function<Session, String> name) {
    return new Llm(Dynamic.of(name));
  }

  /** Starts service level objectives: {@code slo().ttft(ofMillis(200)).percentile(99)}. */
  public static SloBuilder slo() {
    return SloBuilder.START;
  }

  /**
   * Objectives as in {@code llm.slo}: {@code slo("ttft<200ms,tpot<50ms")}, or the name of a preset.
   * Measures are ttft, ttfo, tpot, itl, e2e and stall; units are us, ms, s, m and h.
   */
  public static SloBuilder slo(String objectives) {
    return new SloBuilder(InvalidSimulation.checked(() -> Slo.parse(objectives)));
  }

  /**
   * Starts a conversation and stores it in this session attribute, in place of an earlier one:
   * {@code exec(conversation("h").system("You are a
   * tutor.")).exec(llm("turn").chat().history("h").user("#{question}"))}.
   */
  public static ConversationBuilder conversation(String sessionKey) {
    return new ConversationBuilder(sessionKey);
  }

  /**
   * A condition for {@code asLongAs(goesOn("history"))}: true while the dialog that the
   * conversation of this session attribute follows has another turn, no turn has failed, and the
   * context limit has not been reached.
   */
  public static Function<Session, Boolean> goesOn(String sessionKey) {
    return session -> {
      Object stored = session.get(sessionKey);
      return stored instanceof Conversation conversation && conversation.goesOn();
    };
  }

  // Assertions

  /** Starts an assertion on all requests under the protocol. */
  public static AssertionScope llmGlobal() {
    return new AssertionScope(Scope.GLOBAL, null);
  }

  /** Starts an assertion on the requests of one name. */
  public static AssertionScope llmDetails(String requestName) {
    return new AssertionScope(Scope.REQUEST, requestName);
  }

  /** Starts an assertion on the requests of one load level: {@code c=8} or {@code r=2.5}. */
  public static AssertionScope llmStage(String label) {
    return new AssertionScope(Scope.STAGE, label);
  }

  /** Starts an assertion that the requests of every name must meet separately. */
  public static AssertionScope llmForAll() {
    return new AssertionScope(Scope.EVERY_REQUEST, null);
  }

  /** An assertion that is met if no check calls the run invalid. */
  public static LlmAssertion llmValid() {
    return new LlmAssertion(Assertion.VALID);
  }

  // Checks

  /** Time to first token, from admission, in ms. */
  public static MillisCheck ttft() {
    return new MillisCheck("ttft", response -> response.timing().ttftNanos());
  }

  /** Time to first token that is not reasoning, from admission, in ms. */
  public static MillisCheck ttfo() {
    return new MillisCheck("ttfo", response -> response.timing().ttfoNanos());
  }

  /** Mean time per output token after the first, in ms; absent for fewer than 2 tokens. */
  public static MillisCheck tpot() {
    return new MillisCheck("tpot", response -> response.timing().tpotNanos());
  }

  /**
   * The 99th percentile of the gaps between tokens of this request, in ms, as an SLO judges it;
   * absent for fewer than 2 tokens.
   */
  public static MillisCheck itl() {
    return new MillisCheck(
        "itl",
        response ->
            Slo.Measure.ITL.nanos(response.timing(), response.events().get(), response.tokens()));
  }

  /** Time to the last token, from admission, in ms. */
  public static MillisCheck e2e() {
    return new MillisCheck("e2e", response -> response.timing().latencyNanos());
  }

  /** Wait inside the client, from the planned arrival to admission, in ms. */
  public static MillisCheck queueWait() {
    return new MillisCheck("queueWait", response -> response.timing().queueWaitNanos());
  }

  /** Number of generated tokens, reasoning included. */
  public static CheckBuilder.Find<Integer> outputTokens() {
    return find("outputTokens", Integer.class, false, response -> response.tokens().outputTokens());
  }

  /** Number of prompt tokens, as counted by the server. */
  public static CheckBuilder.Find<Integer> promptTokens() {
    return find("promptTokens", Integer.class, false, response -> response.tokens().promptTokens());
  }

  /**
   * Number of prompt tokens that the server read from its cache; absent if it does not state it.
   */
  public static CheckBuilder.Find<Integer> cachedTokens() {
    return find("cachedTokens", Integer.class, false, response -> response.tokens().cachedTokens());
  }

  /** Why the server ended the answer, e.g. {@code stop} or {@code length}. */
  public static CheckBuilder.Find<String> finishReason() {
    return find("finishReason", String.class, true, response -> response.answer().finishReason());
  }

  /** How the request ended, without the results of checks. */
  public static CheckBuilder.Find<RequestStatus> requestStatus() {
    return find("requestStatus", RequestStatus.class, true, MeasuredAnswer::requestStatus);
  }

  /** HTTP status of the response; absent if there was no response. */
  public static CheckBuilder.Find<Integer> httpStatus() {
    return find("httpStatus", Integer.class, true, MeasuredAnswer::httpStatus);
  }

  /** The generated text, without reasoning: {@code answer().saveAs("draft")}. */
  public static CheckBuilder.Find<String> answer() {
    return find("answer", String.class, false, response -> response.answer().text());
  }

  /** The reasoning text; absent if there is none. */
  public static CheckBuilder.Find<String> reasoning() {
    return find(
        "reasoning",
        String.class,
        false,
        response -> {
          String reasoning = response.answer().reasoning();
          return reasoning.isEmpty() ? null : reasoning;
        });
  }

  /**
   * The tool calls of the answer, in order; empty if there is none: {@code
   * toolCalls().saveAs("calls")}.
   */
  @SuppressWarnings("unchecked") // Java has no class object for a parameterized type
  public static CheckBuilder.Find<List<LlmResponse.ToolCall>> toolCalls() {
    return find(
        "toolCalls",
        (Class<List<LlmResponse.ToolCall>>) (Class<?>) List.class,
        false,
        LlmResponse::toolCalls);
  }

  private static <X> CheckBuilder.Find<X> find(
      String name,
      Class<X> type,
      boolean fewValues,
      Function<MeasuredAnswer, @Nullable X> extractor) {
    return new CheckBuilder.Find.Default<Object, MeasuredAnswer, X, X>(
        MeasuredAnswer.find(name, fewValues, extractor),
        MeasuredAnswer.CHECK_TYPE,
        type,
        Function.identity());
  }
}
