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
import io.github.gatlingllm.workload.Conversation;
import io.github.gatlingllm.workload.DatasetFormat;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.Tokenizer;
import io.github.gatlingllm.workload.WorkloadScenario;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
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

  // Tokenizers

  /**
   * One of OpenAI's encodings, for {@link LlmProtocolBuilder#tokenizer}.
   *
   * @param encoding {@code r50k_base}, {@code p50k_base}, {@code p50k_edit}, {@code cl100k_base} or
   *     {@code o200k_base}
   */
  public static Tokenizer tiktoken(String encoding) {
    return tokenizer(() -> Tokenizer.tiktoken(encoding));
  }

  /**
   * The tokenizer of a model on Hugging Face. Needs {@code ai.djl.huggingface:tokenizers} on the
   * class path; {@link Tokenizer#huggingFace} says what that does.
   *
   * @param file path of a {@code tokenizer.json}
   */
  public static Tokenizer huggingFace(String file) {
    return tokenizer(() -> Tokenizer.huggingFace(file));
  }

  /** One token per four characters: an estimate. */
  public static Tokenizer chars4() {
    return Tokenizer.chars4();
  }

  private static Tokenizer tokenizer(Supplier<Tokenizer> found) {
    try {
      return found.get();
    } catch (IllegalArgumentException e) {
      throw InvalidSimulation.because(String.valueOf(e.getMessage()));
    }
  }

  // Datasets

  /**
   * Recorded dialogs for users, one each, all of them once before any comes again.
   *
   * <pre>{@code
   * feed(dataset(shareGpt("sharegpt.json")).seed(42))
   *     .exec(llm("ask").chat().messages("#{dialog}").maxTokens("#{outputTokens}"))
   * }</pre>
   *
   * <p>Session attributes, null where the dialog has none: {@code dialog}, {@code prompt} (what was
   * asked last), {@code system}, {@code turns} (how many), {@code inputTokens} and {@code
   * outputTokens} (as recorded; else the recorded answer's by the tokenizer).
   *
   * @throws IllegalArgumentException in one line, with file and line, if the file is not as
   *     expected
   */
  public static DatasetFeeder dataset(DatasetFile file) {
    return DatasetFeeder.of(file.open());
  }

  /**
   * A file of dialogs in the form of ShareGPT.
   *
   * @param file a path, or a resource of the class path; may end in {@code .gz}
   */
  public static DatasetFile shareGpt(String file) {
    return DatasetFile.of(DatasetFormat.SHAREGPT, file);
  }

  /** A file of OpenAssistant's message trees, nested or flat; as {@link #shareGpt}. */
  public static DatasetFile openAssistant(String file) {
    return DatasetFile.of(DatasetFormat.OASST, file);
  }

  /** A file of LongBench v2's questions on long texts; as {@link #shareGpt}. */
  public static DatasetFile longBench(String file) {
    return DatasetFile.of(DatasetFormat.LONGBENCH, file);
  }

  /**
   * A trace of Mooncake, in its order. Its texts are made up: as long as recorded by the tokenizer,
   * and the same where the trace's hash ids are; so prefix caches share what they shared then.
   */
  public static DatasetFile mooncake(String file, Tokenizer tokenizer) {
    return DatasetFile.of(DatasetFormat.MOONCAKE, file).tokenizer(tokenizer);
  }

  /** A file of chats in OpenAI's form, or of its batch API; as {@link #shareGpt}. */
  public static DatasetFile openAiChat(String file) {
    return DatasetFile.of(DatasetFormat.OPENAI, file);
  }

  // Images

  /**
   * An image of a file, sent as a data URL.
   *
   * @param file a path, or a resource of the class path: PNG, JPEG, GIF or WebP by its extension
   */
  public static Image image(String file) {
    return ImageContent.of(file);
  }

  /**
   * An image, sent as a data URL.
   *
   * @param mimeType e.g. {@code image/png}
   */
  public static Image image(byte[] bytes, String mimeType) {
    return ImageContent.of(bytes, mimeType);
  }

  /** A made-up image of that many pixels, sent as a data URL. */
  public static NoiseImage image(int width, int height) {
    return NoiseImage.of(width, height);
  }

  /** An image by its URL; a Gatling EL String. */
  public static Image imageUrl(String url) {
    return new ImageContent(Dynamic.text(url));
  }

  /** An image by its URL, computed from the session. */
  public static Image imageUrl(Function<Session, String> url) {
    return new ImageContent(Dynamic.of(url));
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
   * @param file path of a trace in order of time, else its name on the class path
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

  /**
   * Ends a sweep within the level at which more requests than this have failed, in whatever phase:
   * at that instant it starts nothing new, and drains what was sent.
   *
   * @param count 0 or more
   */
  public static StopRule errorCountAbove(long count) {
    return new StopRule.ErrorCountAbove(count);
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

  // Prompts

  /**
   * A feeder of prompts: {@code feed(prompts().builtIn().tokens(256).seed(42))}. Each user gets the
   * next one as {@code #{prompt}}.
   */
  public static PromptsBuilder prompts() {
    return PromptsBuilder.START;
  }

  /**
   * Prompt lengths of a normal distribution, cut off below 1.
   *
   * @param mean tokens, 1 or more
   * @param std standard deviation in tokens, 0 or more
   */
  public static LengthDistribution normalTokens(double mean, double std) {
    return PromptsBuilder.lengths(() -> LengthDistribution.normal(mean, std));
  }

  /**
   * Prompt lengths of a lognormal distribution: many short, few long.
   *
   * @param mean tokens, of the lengths themselves; 1 or more
   * @param std tokens, of the lengths themselves; 0 or more
   */
  public static LengthDistribution lognormalTokens(double mean, double std) {
    return PromptsBuilder.lengths(() -> LengthDistribution.lognormal(mean, std));
  }

  /** Prompt lengths of {@code least} to {@code most} tokens, all alike. */
  public static LengthDistribution uniformTokens(int least, int most) {
    return PromptsBuilder.lengths(() -> LengthDistribution.uniform(least, most));
  }

  /**
   * One of several prompt lengths.
   *
   * <pre>{@code
   * prompts().tokens(weightedTokens(Map.of(128, 70.0, 4_096, 30.0)))
   * }</pre>
   *
   * @param weights of each length in tokens; its share is weight ÷ their sum
   */
  public static LengthDistribution weightedTokens(Map<Integer, Double> weights) {
    return PromptsBuilder.lengths(
        () ->
            LengthDistribution.weighted(
                new TreeMap<>(weights)
                    .entrySet().stream()
                        .map(e -> new LengthDistribution.Weighted.Choice(e.getKey(), e.getValue()))
                        .toList()));
  }

  /**
   * Prompt lengths as recorded, in that order, by a trace that {@link #replay(String)} reads: the
   * k-th prompt has the length of the k-th request that has one.
   */
  public static LengthDistribution tracedTokens(String file) {
    return PromptsBuilder.recorded(file);
  }

  /** Workload A1: the same prompt of 50 tokens, every time. Cached after the first request. */
  public static WorkloadBuilder sameShort() {
    return WorkloadBuilder.of(WorkloadScenario.A1);
  }

  /** Workload A2: the same prompt of 2,500 tokens, every time. The best case of prefix caching. */
  public static WorkloadBuilder sameLong() {
    return WorkloadBuilder.of(WorkloadScenario.A2);
  }

  /** Workload B1: prompts of 50 tokens that differ. Next to nothing to cache. */
  public static WorkloadBuilder diverseShort() {
    return WorkloadBuilder.of(WorkloadScenario.B1);
  }

  /** Workload B2: prompts of 2,500 tokens that differ. The worst case: all prefill, no cache. */
  public static WorkloadBuilder diverseLong() {
    return WorkloadBuilder.of(WorkloadScenario.B2);
  }

  /**
   * Workload C: a system prompt of 2,000 tokens that all requests share, and a query of 30 tokens.
   * What agents and RAG gain from prefix caching.
   *
   * <pre>{@code
   * scenario("Agents").exec(ragAgent().maxTokens(200).seed(42))
   * }</pre>
   */
  public static WorkloadBuilder ragAgent() {
    return WorkloadBuilder.of(WorkloadScenario.C);
  }

  /**
   * Workload D: a conversation of five turns of 50 tokens, each sent with all that was said before.
   * Whether a cache keeps whole dialogs.
   */
  public static WorkloadBuilder dialog() {
    return WorkloadBuilder.of(WorkloadScenario.D);
  }

  /**
   * Several workloads in one population, drawn by weight: {@code mix().add(70, ragAgent()).add(30,
   * diverseShort()).seed(42)}.
   */
  public static MixBuilder mix() {
    return MixBuilder.START;
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
