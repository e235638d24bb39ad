package io.github.gatlingllm.javaapi;

import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.pause;
import static io.gatling.javaapi.core.CoreDsl.repeat;

import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.core.exec.Executable;
import io.github.gatlingllm.action.Dynamic.Draft;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.load.Arrival.DrawOrder;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.LengthDistribution.Draw;
import io.github.gatlingllm.workload.Prompts;
import io.github.gatlingllm.workload.Tokenizer;
import io.github.gatlingllm.workload.WorkloadScenario;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One of the known workloads: {@code exec(ragAgent().maxTokens(200).seed(42))}. The name of its
 * requests is {@code A1}, {@code A2}, {@code B1}, {@code B2}, {@code C} or {@code D}. Prompts are
 * generated when the simulation is built: {@value io.github.gatlingllm.workload.Prompts#MAX_MADE}
 * distinct ones unless {@link #distinct} is set, which then repeat.
 */
public final class WorkloadBuilder implements Executable {

  private static final String HISTORY = "gatling.llm.dialog";

  private final WorkloadDraft parts;

  private WorkloadBuilder(WorkloadDraft parts) {
    this.parts = parts;
  }

  static WorkloadBuilder of(WorkloadScenario scenario) {
    return new WorkloadBuilder(new WorkloadDraft(scenario));
  }

  /**
   * For internal use only: a workload whose prompts have been generated; {@link #tokenizer}, {@link
   * #seed} and {@link #distinct} have no effect.
   */
  public static WorkloadBuilder of(WorkloadScenario.Ready ready) {
    return of(ready.scenario()).with(draft -> draft.ready = ready);
  }

  /** Output length of each request in tokens, 1 or more; 128 by default. */
  public WorkloadBuilder maxTokens(int tokens) {
    return maxTokens(InvalidSimulation.checked(() -> LengthDistribution.exactly(tokens)));
  }

  /** Draws the output length of each request, e.g. {@link LlmDsl#lognormalTokens}. */
  public WorkloadBuilder maxTokens(LengthDistribution lengths) {
    return with(draft -> draft.maxTokens = lengths);
  }

  /** The number of turns of a dialog, 1 or more; 5 by default. The other workloads have one. */
  public WorkloadBuilder turns(int count) {
    requireDialog(count >= 1, "turns(" + count + "): expected 1 turn or more, of a dialog");
    return with(draft -> draft.turns = count);
  }

  /**
   * The time between the turns of a dialog, drawn uniformly between these limits; none by default.
   */
  public WorkloadBuilder thinkTime(long min, long max) {
    return thinkTime(Duration.ofSeconds(min), Duration.ofSeconds(max));
  }

  public WorkloadBuilder thinkTime(Duration min, Duration max) {
    requireDialog(
        !min.isNegative() && max.compareTo(min) >= 0,
        "thinkTime(%s, %s): expected a dialog, and times of 0 or more, the shorter one first"
            .formatted(min, max));
    return with(
        draft -> {
          draft.minThinkTime = min;
          draft.maxThinkTime = max;
        });
  }

  /**
   * Ends a dialog before a turn that would exceed this number of tokens, 1 or more; no limit by
   * default.
   */
  public WorkloadBuilder contextLimit(int tokens) {
    requireDialog(true, "contextLimit(" + tokens + "): expected a dialog");
    return with(draft -> draft.contextLimit = tokens);
  }

  private void requireDialog(boolean isInRange, String message) {
    if (!isInRange || !parts.scenario.isDialog()) {
      throw InvalidSimulation.because(parts.scenario + "." + message);
    }
  }

  /**
   * The tokenizer that counts the prompts' tokens; {@code cl100k_base} by default, with a warning.
   */
  public WorkloadBuilder tokenizer(Tokenizer tokenizer) {
    return with(draft -> draft.tokenizer = tokenizer);
  }

  /** Pins the prompts. By default the seed is random. */
  public WorkloadBuilder seed(long seed) {
    return with(draft -> draft.seed = seed);
  }

  /** How many distinct prompts are generated, 1 or more; 1,000 by default. */
  public WorkloadBuilder distinct(int prompts) {
    int count = InvalidSimulation.requireMin(1, "distinct", prompts, "prompt");
    return with(draft -> draft.distinct = count);
  }

  /**
   * Changes the chat request: {@code request(ask -> ask.temperature(0.7).check(ttft().lt(500)))}.
   * Several changes are applied in order.
   */
  public WorkloadBuilder request(UnaryOperator<ChatRequestBuilder> change) {
    UnaryOperator<ChatRequestBuilder> before = parts.chat;
    return with(draft -> draft.chat = ask -> change.apply(before.apply(ask)));
  }

  /** The API that messages are sent to, chat completions by default: {@code by(Llm::responses)}. */
  public WorkloadBuilder by(Function<Llm, ChatRequestBuilder> api) {
    return with(draft -> draft.api = api);
  }

  /**
   * Sends text completions instead of messages, and changes those requests. {@code C} puts its
   * system prompt before the query. A dialog cannot be sent as text completions.
   */
  public WorkloadBuilder completion(UnaryOperator<CompletionRequestBuilder> change) {
    return with(
        draft -> {
          draft.isCompletion = true;
          draft.completion = change;
        });
  }

  @Override
  public ChainBuilder toChainBuilder() {
    if (parts.scenario.isDialog() && parts.isCompletion) {
      throw InvalidSimulation.because(
          parts.scenario + ".completion(): a dialog needs the chat API; leave it out");
    }
    WorkloadScenario.Ready ready = parts.ready();
    Prompts prompts = ready.prompts();
    Function<Session, String> prompt = inTurn(prompts);
    String name = parts.scenario.name();
    if (parts.isCompletion) {
      String before = ready.system() == null ? "" : ready.system() + "\n\n";
      return exec(
          parts.completion.apply(
              LlmDsl.llm(name)
                  .completion()
                  .prompt(session -> before + prompt.apply(session))
                  .maxTokens(parts.maxTokens)));
    }
    ChatRequestBuilder chat = parts.api.apply(LlmDsl.llm(name));
    if (parts.scenario.isDialog()) {
      ChainBuilder turn = exec(ask(chat.history(HISTORY).user(prompt)));
      ChainBuilder thought =
          parts.maxThinkTime.isZero()
              ? turn
              : turn.exec(pause(parts.minThinkTime, parts.maxThinkTime));
      ConversationBuilder begun = LlmDsl.conversation(HISTORY);
      return exec(parts.contextLimit == null ? begun : begun.contextLimit(parts.contextLimit))
          .exec(repeat(parts.turns).on(thought));
    }
    String system = ready.system();
    return exec(
        ask(system == null ? chat.user(prompt) : chat.system(session -> system).user(prompt)));
  }

  /**
   * For internal use only: the prompts in order. A warm-up request gets the first prompt without
   * using it up.
   */
  public static Function<Session, String> inTurn(Prompts prompts) {
    DrawOrder order = Seeds.drawOrder();
    return session -> {
      Draw draw = session.get(Draw.KEY);
      boolean isOfWarmUp = draw != null && draw.index() == null;
      return prompts.pick(isOfWarmUp ? draw.sample() : Seeds.drawIndex(order, session)).text();
    };
  }

  private ChatRequestBuilder ask(ChatRequestBuilder request) {
    return parts.chat.apply(request.maxTokens(parts.maxTokens));
  }

  private WorkloadBuilder with(Consumer<WorkloadDraft> change) {
    return new WorkloadBuilder(parts.with(change));
  }

  private static final class WorkloadDraft extends Draft<WorkloadDraft> {
    private final WorkloadScenario scenario;
    private WorkloadScenario.@Nullable Ready ready;
    private boolean isCompletion;
    private LengthDistribution maxTokens = LengthDistribution.exactly(128);
    private int turns = WorkloadScenario.TURNS;
    private @Nullable Integer contextLimit;
    private Duration minThinkTime = Duration.ZERO;
    private Duration maxThinkTime = Duration.ZERO;
    private @Nullable Tokenizer tokenizer;
    private @Nullable Long seed;
    private int distinct = Prompts.MAX_MADE;
    private Function<Llm, ChatRequestBuilder> api = Llm::chat;
    private UnaryOperator<ChatRequestBuilder> chat = ask -> ask;
    private UnaryOperator<CompletionRequestBuilder> completion = ask -> ask;

    WorkloadDraft(WorkloadScenario scenario) {
      this.scenario = scenario;
    }

    WorkloadScenario.Ready ready() {
      return ready == null
          ? scenario.ready(
              PromptsBuilder.orEstimate(tokenizer),
              seed == null ? Seeds.random() : seed,
              distinct,
              null)
          : ready;
    }
  }
}
