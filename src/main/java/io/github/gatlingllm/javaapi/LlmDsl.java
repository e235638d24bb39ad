package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.CheckBuilder;
import io.gatling.javaapi.core.OpenInjectionStep;
import io.gatling.javaapi.core.PopulationBuilder;
import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LlmChecks;
import io.github.gatlingllm.action.LlmResponse;
import io.github.gatlingllm.load.StopRule;
import io.github.gatlingllm.sample.Assertion;
import io.github.gatlingllm.sample.Assertion.Scope;
import io.github.gatlingllm.sample.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
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
public final class LlmDsl {

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

  // Load

  /**
   * Users that arrive as a Poisson process: independent exponential gaps, the same ones for the
   * same seed.
   *
   * <pre>{@code
   * chat.injectOpen(poissonUsersPerSec(25).seed(42).during(60))
   * }</pre>
   *
   * @param rate mean users per second, above 0
   */
  public static PoissonArrivals poissonUsersPerSec(double rate) {
    return PoissonArrivals.of(rate);
  }

  /**
   * Users that arrive with gamma-distributed gaps, in bursts where cv is above 1.
   *
   * <pre>{@code
   * chat.injectOpen(gammaUsersPerSec(25).cv(1.4).seed(42).during(60))
   * }</pre>
   *
   * @param rate mean users per second, above 0
   */
  public static GammaArrivals.Rate gammaUsersPerSec(double rate) {
    return GammaArrivals.of(rate);
  }

  /**
   * Users that arrive as a Poisson process whose rate follows a curve.
   *
   * <pre>{@code
   * chat.injectOpen(usersPerSec(t -> 5 + t.toMillis() / 2000.0).seed(1).during(60))
   * }</pre>
   *
   * @param rate users per second, 0 or more, by the time since the start of the step
   */
  public static CurveArrivals usersPerSec(ToDoubleFunction<Duration> rate) {
    return CurveArrivals.of(rate);
  }

  /**
   * Users that arrive as recorded traffic did: CSV with a header that names a {@code timestamp}
   * (Azure, BurstGPT), or JSONL (Mooncake). The first arrives at once. Where the trace has token
   * counts, each user has its own as the attributes {@code inputTokens} and {@code outputTokens}.
   *
   * <pre>{@code
   * chat.injectOpen(replay("azure-trace.csv", 2.0))
   * }</pre>
   *
   * @param file path of a trace in order of time
   * @param speed 2 replays it twice as fast
   */
  public static OpenInjectionStep replay(String file, double speed) {
    return Steps.replay(file, speed);
  }

  /** As {@link #replay(String, double)}, as fast as it was recorded. */
  public static OpenInjectionStep replay(String file) {
    return Steps.replay(file, 1);
  }

  /**
   * Load levels of so many users, each of which begins again as soon as it has ended.
   *
   * <pre>{@code
   * setUp(closedLoop(1, 2, 4, 8).stabilize(10).measure(60).drain(20).inject(chat)).protocols(engine)
   * }</pre>
   *
   * @param users users in flight, one number per level
   */
  public static ClosedLoop closedLoop(int... users) {
    return ClosedLoop.of(users);
  }

  /**
   * Load levels of so many users per second, whether or not earlier ones were served.
   *
   * <pre>{@code
   * setUp(openLoop(1, 2, 4).poisson().seed(7).measure(60).inject(chat)).protocols(engine)
   * }</pre>
   *
   * @param usersPerSecond one number per level
   */
  public static OpenLoop openLoop(double... usersPerSecond) {
    return OpenLoop.of(usersPerSecond);
  }

  /**
   * One load level whose rate follows a curve.
   *
   * <pre>{@code
   * setUp(openLoop(t -> 5 + t.toMillis() / 2000.0, ofSeconds(60)).seed(7).inject(chat))
   * }</pre>
   *
   * @param usersPerSecond 0 or more, by the time since the start
   */
  public static OpenLoop openLoop(ToDoubleFunction<Duration> usersPerSecond, Duration length) {
    return OpenLoop.of(usersPerSecond, length);
  }

  /**
   * Load levels of so many users at once, waiting for the slowest, in trials.
   *
   * <pre>{@code
   * setUp(batch(8).trials(10).inject(chat)).protocols(engine)
   * }</pre>
   *
   * @param users users of each trial, one number per level
   */
  public static Batch batch(int... users) {
    return Batch.of(users);
  }

  /**
   * Looks for the highest rate of users at which the SLO holds.
   *
   * <pre>{@code
   * setUp(maxGoodput().startingAt(2).measure(60).inject(chat)).protocols(engine)
   * }</pre>
   */
  public static MaxGoodput maxGoodput() {
    return MaxGoodput.start();
  }

  /**
   * Ends a sweep after a level at which less than this share of the requests met the SLO.
   *
   * @param percent above 0, at most 100
   */
  public static StopRule sloBelow(double percent) {
    return new StopRule.SloBelow(percent);
  }

  /**
   * Ends a sweep after a level at which more than this share of the requests failed.
   *
   * @param percent 0 to 100
   */
  public static StopRule errorsAbove(double percent) {
    return new StopRule.ErrorsAbove(percent);
  }

  /** Ends a sweep of rates after a level at which requests pile up. */
  public static StopRule overSaturated() {
    return new StopRule.OverSaturated();
  }

  /**
   * Loads several targets in turn: each when all users of the one before have ended.
   *
   * <pre>{@code
   * setUp(oneAfterTheOther(
   *     closedLoop(16).measure(60).target("vLLM", llm.baseUrl(a).model("llama-8b")).inject(chat),
   *     closedLoop(16).measure(60).target("SGLang", llm.baseUrl(b).model("llama-8b")).inject(chat)));
   * }</pre>
   */
  public static PopulationBuilder oneAfterTheOther(PopulationBuilder... populations) {
    return oneAfterTheOther(List.of(populations));
  }

  /** As {@link #oneAfterTheOther(PopulationBuilder...)}. */
  public static PopulationBuilder oneAfterTheOther(List<PopulationBuilder> populations) {
    if (populations.isEmpty()) {
      throw InvalidSimulation.because("oneAfterTheOther(): expected at least one population");
    }
    PopulationBuilder first = populations.get(0);
    return populations.size() == 1
        ? first
        : first.andThen(oneAfterTheOther(populations.subList(1, populations.size())));
  }

  /**
   * Loads several targets at the same time, as in {@link #oneAfterTheOther}: nothing that changes
   * with time favours one of them, but they share the load generator.
   */
  public static List<PopulationBuilder> sideBySide(PopulationBuilder... populations) {
    return List.of(populations);
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

  /** Time to the last token, from admission. */
  public static MillisCheck latency() {
    return new MillisCheck("latency", response -> response.timing().latencyNanos());
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

  /** Why the server stopped, e.g. {@code stop} or {@code length}. */
  public static CheckBuilder.Find<String> finishReason() {
    return find("finishReason", String.class, true, LlmResponse::finishReason);
  }

  /** How the exchange ended. */
  public static CheckBuilder.Find<Verdict> verdict() {
    return find("verdict", Verdict.class, true, LlmResponse::verdict);
  }

  /** The generated text, without reasoning: {@code answer().saveAs("draft")}. */
  public static CheckBuilder.Find<String> answer() {
    return find("answer", String.class, false, LlmResponse::answer);
  }

  /** The reasoning text. */
  public static CheckBuilder.Find<String> reasoning() {
    return find(
        "reasoning",
        String.class,
        false,
        response -> response.reasoning().isEmpty() ? null : response.reasoning());
  }

  private static <X> CheckBuilder.Find<X> find(
      String name, Class<X> type, boolean fewValues, Function<LlmResponse, @Nullable X> extractor) {
    return new CheckBuilder.Find.Default<LlmChecks.Type, LlmResponse, X, X>(
        LlmChecks.find(name, fewValues, extractor),
        LlmChecks.Type.RESPONSE,
        type,
        Function.identity());
  }
}
