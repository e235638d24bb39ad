package io.github.gatlingllm.javaapi;

import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.pause;
import static io.gatling.javaapi.core.CoreDsl.repeat;

import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.core.exec.Executable;
import io.github.gatlingllm.action.Draft;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LlmProtocol;
import io.github.gatlingllm.load.Arrival.DrawOrder;
import io.github.gatlingllm.workload.Prompts;
import io.github.gatlingllm.workload.Tokenizer;
import io.github.gatlingllm.workload.WorkloadScenario;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One of the known workloads as a building block: what {@code exec} takes. Its requests are called
 * {@code A1}, {@code A2}, {@code B1}, {@code B2}, {@code C} and {@code D}.
 *
 * <pre>{@code
 * scenario("Agents").exec(ragAgent().maxTokens(200).seed(42))
 * }</pre>
 *
 * <p>Prompts are made when the simulation is built, {@value
 * io.github.gatlingllm.workload.Prompts#MOST_MADE} distinct ones; after these they come again.
 *
 * <p>Immutable, so all methods return a new occurrence and leave the original unmodified.
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

  /** One whose prompts were made before; tokenizer and seed change nothing any more. */
  public static WorkloadBuilder of(WorkloadScenario.Ready ready) {
    return of(ready.scenario()).with(draft -> draft.ready = ready);
  }

  /** Tokens of each answer; 128 unless set. */
  public WorkloadBuilder maxTokens(int tokens) {
    return with(draft -> draft.maxTokens = tokens);
  }

  /**
   * Turns of a dialog; the other workloads have one.
   *
   * @param count 1 or more; 5 unless set
   */
  public WorkloadBuilder turns(int count) {
    if (count < 1 || !parts.scenario.dialog()) {
      throw InvalidSimulation.because(
          parts.scenario + ".turns(" + count + "): expected 1 turn or more, of a dialog");
    }
    return with(draft -> draft.turns = count);
  }

  /**
   * Time between the turns of a dialog, uniform; none unless set.
   *
   * @param least seconds, 0 or more
   * @param most seconds, not less
   */
  public WorkloadBuilder thinkTime(long least, long most) {
    return thinkTime(Duration.ofSeconds(least), Duration.ofSeconds(most));
  }

  /** As {@link #thinkTime(long, long)}. */
  public WorkloadBuilder thinkTime(Duration least, Duration most) {
    if (least.isNegative() || most.compareTo(least) < 0 || !parts.scenario.dialog()) {
      throw InvalidSimulation.because(
          "%s.thinkTime(%s, %s): expected 0 or more, the least first, of a dialog"
              .formatted(parts.scenario, least, most));
    }
    return with(
        draft -> {
          draft.leastThinkTime = least;
          draft.mostThinkTime = most;
        });
  }

  /**
   * Ends a dialog before a turn that would not fit into the context; no limit unless set.
   *
   * @param tokens 1 or more
   */
  public WorkloadBuilder contextLimit(int tokens) {
    if (!parts.scenario.dialog()) {
      throw InvalidSimulation.because(
          parts.scenario + ".contextLimit(" + tokens + "): expected a dialog");
    }
    return with(draft -> draft.contextLimit = tokens);
  }

  /** What its sizes are counted by; {@code cl100k_base} unless set. */
  public WorkloadBuilder tokenizer(Tokenizer tokenizer) {
    return with(draft -> draft.tokenizer = tokenizer);
  }

  /** Pins its prompts. Without it they are random. */
  public WorkloadBuilder seed(long seed) {
    return with(draft -> draft.seed = seed);
  }

  /** How many distinct prompts are made; 1,000 unless set. */
  public WorkloadBuilder distinct(int prompts) {
    if (prompts < 1) {
      throw InvalidSimulation.because("distinct(" + prompts + "): expected 1 prompt or more");
    }
    return with(draft -> draft.distinct = prompts);
  }

  /**
   * Changes its chat request: checks, sampling, a group of its own.
   *
   * <pre>{@code
   * diverseShort().request(ask -> ask.temperature(0.7).check(ttft().lt(500)))
   * }</pre>
   */
  public WorkloadBuilder request(UnaryOperator<ChatRequestBuilder> change) {
    UnaryOperator<ChatRequestBuilder> before = parts.chat;
    return with(draft -> draft.chat = ask -> change.apply(before.apply(ask)));
  }

  /**
   * Which API its messages go to; chat unless set.
   *
   * <pre>{@code
   * ragAgent().by(Llm::responses)
   * }</pre>
   */
  public WorkloadBuilder by(Function<Llm, ChatStep> api) {
    return with(draft -> draft.api = api);
  }

  /**
   * Asks by text completion, and changes that request; {@code C} puts its system prompt before the
   * query. A dialog cannot.
   */
  public WorkloadBuilder completion(UnaryOperator<CompletionRequestBuilder> change) {
    return with(
        draft -> {
          draft.completes = true;
          draft.completion = change;
        });
  }

  /** For internal use only. */
  @Override
  public ChainBuilder toChainBuilder() {
    if (parts.scenario.dialog() && parts.completes) {
      throw InvalidSimulation.because(
          parts.scenario + ".completion(): a dialog needs the chat API; leave it out");
    }
    WorkloadScenario.Ready ready = parts.ready();
    Prompts prompts = ready.prompts();
    Function<Session, String> prompt = inTurn(prompts);
    String name = parts.scenario.name();
    if (parts.completes) {
      String before = ready.system() == null ? "" : ready.system() + "\n\n";
      return exec(
          parts.completion.apply(
              LlmDsl.llm(name)
                  .completion()
                  .prompt(session -> before + prompt.apply(session))
                  .maxTokens(parts.maxTokens)));
    }
    ChatStep chat = parts.api.apply(LlmDsl.llm(name));
    if (parts.scenario.dialog()) {
      ChainBuilder turn = exec(ask(chat.history(HISTORY).user(prompt)));
      ChainBuilder thought =
          parts.mostThinkTime.isZero()
              ? turn
              : turn.exec(pause(parts.leastThinkTime, parts.mostThinkTime));
      ConversationBuilder begun = LlmDsl.conversation(HISTORY);
      return exec(parts.contextLimit == null ? begun : begun.contextLimit(parts.contextLimit))
          .exec(repeat(parts.turns).on(thought));
    }
    String system = ready.system();
    return exec(
        ask(system == null ? chat.user(prompt) : chat.system(session -> system).user(prompt)));
  }

  /**
   * For internal use only: the prompts one after the other. A warm-up request asks as the first one
   * does, and takes no turn.
   */
  public static Function<Session, String> inTurn(Prompts prompts) {
    DrawOrder order = Seeds.drawOrder();
    return session ->
        prompts
            .pick(session.contains(LlmProtocol.WARM_UP_KEY) ? 0 : Seeds.drawIndex(order, session))
            .text();
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
    private boolean completes;
    private int maxTokens = 128;
    private int turns = WorkloadScenario.TURNS;
    private @Nullable Integer contextLimit;
    private Duration leastThinkTime = Duration.ZERO;
    private Duration mostThinkTime = Duration.ZERO;
    private Tokenizer tokenizer = Tokenizer.cl100k();
    private @Nullable Long seed;
    private int distinct = Prompts.MOST_MADE;
    private Function<Llm, ChatStep> api = Llm::chat;
    private UnaryOperator<ChatRequestBuilder> chat = ask -> ask;
    private UnaryOperator<CompletionRequestBuilder> completion = ask -> ask;

    WorkloadDraft(WorkloadScenario scenario) {
      this.scenario = scenario;
    }

    WorkloadScenario.Ready ready() {
      return ready == null
          ? scenario.ready(tokenizer, seed == null ? Seeds.random() : seed, distinct)
          : ready;
    }
  }
}
