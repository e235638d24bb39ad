package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.CheckBuilder;
import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.LlmChecks;
import io.github.gatlingllm.action.LlmChecks.MeasuredAnswer;
import io.github.gatlingllm.record.Assertion;
import io.github.gatlingllm.record.Assertion.Scope;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.workload.Conversation;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The DSL of gatling-llm: import its members statically, beside Gatling's own.
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

  /** Where a protocol starts: {@code llm.baseUrl("http://localhost:8000/v1")}. */
  public static final LlmProtocolBuilder llm = LlmProtocolBuilder.START;

  private LlmDsl() {}

  /**
   * Where a request starts: {@code llm("ask").chat().user("#{prompt}")}.
   *
   * @param name of the request in statistics, records and reports; a Gatling EL String
   */
  public static Llm llm(String name) {
    return new Llm(Dynamic.text(name));
  }

  /** As {@link #llm(String)}, its name computed from the session. */
  public static Llm llm(Function<Session, String> name) {
    return new Llm(Dynamic.of(name));
  }

  /** Where service level objectives start: {@code slo().ttft(ofMillis(200)).percentile(99)}. */
  public static SloBuilder slo() {
    return SloBuilder.START;
  }

  /**
   * Starts a conversation that is kept in that session attribute, in place of any before.
   *
   * <pre>{@code
   * exec(conversation("history").system("You are a tutor."))
   *     .repeat(5).on(llm("turn").chat().history("history").user("#{question}"))
   * }</pre>
   */
  public static ConversationBuilder conversation(String sessionKey) {
    return new ConversationBuilder(sessionKey);
  }

  /**
   * Whether a conversation goes on: the dialog that it follows has a turn left, none failed, and
   * its context limit was not reached. To be used as {@code asLongAs(goesOn("history"))}.
   */
  public static Function<Session, Boolean> goesOn(String sessionKey) {
    return session -> {
      Object kept = session.get(sessionKey);
      return kept instanceof Conversation conversation && conversation.goesOn();
    };
  }

  // Assertions

  /** Where an assertion on all requests under the protocol starts. */
  public static AssertionScope llmGlobal() {
    return new AssertionScope(Scope.GLOBAL, null);
  }

  /** Where an assertion on the requests of one name starts. */
  public static AssertionScope llmDetails(String requestName) {
    return new AssertionScope(Scope.REQUEST, requestName);
  }

  /**
   * Where an assertion on the requests of one load level starts.
   *
   * @param label as in reports, e.g. {@code c=8} or {@code r=2.5}
   */
  public static AssertionScope llmStage(String label) {
    return new AssertionScope(Scope.STAGE, label);
  }

  /** Where an assertion starts that every request name must meet by itself. */
  public static AssertionScope llmForAll() {
    return new AssertionScope(Scope.EVERY_REQUEST, null);
  }

  /** Demands a run that no validity check calls invalid. */
  public static LlmAssertion llmValid() {
    return new LlmAssertion(Assertion.VALID);
  }

  // Checks

  /** Time to first token, from admission. */
  public static MillisCheck ttft() {
    return new MillisCheck("ttft", response -> response.timing().ttftNanos());
  }

  /** Time to first token that is not reasoning, from admission. */
  public static MillisCheck ttfo() {
    return new MillisCheck("ttfo", response -> response.timing().ttfoNanos());
  }

  /** Mean time per output token after the first; absent for fewer than 2 tokens. */
  public static MillisCheck tpot() {
    return new MillisCheck("tpot", response -> response.timing().tpotNanos());
  }

  /**
   * The 99th percentile of the request's own gaps between tokens, as an SLO judges it; absent for
   * fewer than 2 tokens.
   */
  public static MillisCheck itl() {
    return new MillisCheck(
        "itl",
        response ->
            Slo.Measure.ITL.nanos(response.timing(), response.events().get(), response.tokens()));
  }

  /** Time to the last token, from admission. */
  public static MillisCheck e2e() {
    return new MillisCheck("e2e", response -> response.timing().latencyNanos());
  }

  /** Waiting inside the client: from the planned arrival to admission. */
  public static MillisCheck queueWait() {
    return new MillisCheck("queueWait", response -> response.timing().queueWaitNanos());
  }

  /** Generated tokens, reasoning included. */
  public static CheckBuilder.Find<Integer> outputTokens() {
    return find("outputTokens", Integer.class, false, response -> response.tokens().outputTokens());
  }

  /** Tokens of the prompt, by the server's count. */
  public static CheckBuilder.Find<Integer> promptTokens() {
    return find("promptTokens", Integer.class, false, response -> response.tokens().promptTokens());
  }

  /** Tokens of the prompt that the server took from its cache; absent where it does not say. */
  public static CheckBuilder.Find<Integer> cachedTokens() {
    return find("cachedTokens", Integer.class, false, response -> response.tokens().cachedTokens());
  }

  /** Why the server stopped, e.g. {@code stop} or {@code length}. */
  public static CheckBuilder.Find<String> finishReason() {
    return find("finishReason", String.class, true, MeasuredAnswer::finishReason);
  }

  /** How the exchange ended. */
  public static CheckBuilder.Find<RequestStatus> requestStatus() {
    return find("requestStatus", RequestStatus.class, true, MeasuredAnswer::requestStatus);
  }

  /** HTTP status of the response; absent when none came. */
  public static CheckBuilder.Find<Integer> httpStatus() {
    return find("httpStatus", Integer.class, true, MeasuredAnswer::httpStatus);
  }

  /** The generated text, without reasoning: {@code answer().saveAs("draft")}. */
  public static CheckBuilder.Find<String> answer() {
    return find("answer", String.class, false, answer -> answer.text());
  }

  /** The reasoning text. */
  public static CheckBuilder.Find<String> reasoning() {
    return find(
        "reasoning",
        String.class,
        false,
        response -> response.reasoning().isEmpty() ? null : response.reasoning());
  }

  /**
   * The tools that the model calls, in order; an empty list for none.
   *
   * <pre>{@code
   * llm("ask").chat().history("h").user("#{question}").tools(TOOLS).check(toolCalls().saveAs("calls"))
   * }</pre>
   */
  @SuppressWarnings("unchecked") // there is no class of a list of something
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
    return new CheckBuilder.Find.Default<LlmChecks.Type, MeasuredAnswer, X, X>(
        LlmChecks.find(name, fewValues, extractor),
        LlmChecks.Type.RESPONSE,
        type,
        Function.identity());
  }
}
