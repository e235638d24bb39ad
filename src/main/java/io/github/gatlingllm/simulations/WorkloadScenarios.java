package io.github.gatlingllm.simulations;

import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.feed;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.github.gatlingllm.javaapi.LlmDsl.conversation;
import static io.github.gatlingllm.javaapi.LlmDsl.goesOn;
import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static io.github.gatlingllm.javaapi.LlmDsl.mix;
import static io.github.gatlingllm.javaapi.LlmDsl.replaySession;

import io.gatling.javaapi.core.ActionBuilder;
import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.ScenarioBuilder;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.core.exec.Executable;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.javaapi.ChatRequestBuilder;
import io.github.gatlingllm.javaapi.ConversationBuilder;
import io.github.gatlingllm.javaapi.DatasetFeeder;
import io.github.gatlingllm.javaapi.GenerationRequestBuilder;
import io.github.gatlingllm.javaapi.Image;
import io.github.gatlingllm.javaapi.Llm;
import io.github.gatlingllm.javaapi.LlmDsl;
import io.github.gatlingllm.javaapi.MixBuilder;
import io.github.gatlingllm.javaapi.PromptsBuilder;
import io.github.gatlingllm.javaapi.WorkloadBuilder;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.SettingValue.ShownImages;
import io.github.gatlingllm.settings.SettingValue.ThinkTime;
import io.github.gatlingllm.workload.Conversation.Dialog;
import io.github.gatlingllm.workload.Dataset;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.Prompts;
import io.github.gatlingllm.workload.WorkloadScenario;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The Gatling scenarios of a benchmark: the same prompts in the same order each time. */
record WorkloadScenarios(BenchmarkPlan plan, Api api) {

  private static final String HISTORY = "gatling.llm.dialog";
  private static final String TURN = "gatling.llm.turn";

  List<ScenarioBuilder> list() {
    Workload workload = plan.workload();
    if (!workload.pools().isEmpty()) {
      return workload.pools().stream().map(this::pool).toList();
    }
    if (workload.dataset() != null) {
      return List.of(recorded(workload.dataset()));
    }
    if (workload.sessions() != null) {
      return List.of(
          scenario(plan.named("Benchmark"))
              .feed(DatasetFeeder.of(workload.sessions()))
              .exec(replaySession(dialogRequest())));
    }
    return workload.isMix()
        ? List.of(scenario(plan.named("Mix")).exec(mixed(workload)))
        : workload.known().stream()
            .map(ready -> scenario(plan.named(ready.scenario().name())).exec(withThinkTime(ready)))
            .toList();
  }

  private ScenarioBuilder recorded(Dataset dataset) {
    ScenarioBuilder fed =
        scenario(plan.named("Benchmark")).feed(DatasetFeeder.of(dataset).seed(plan.seed()));
    if (plan.get(Setting.TURN_BY_TURN)) {
      return fed.exec(turnByTurn(request(), Integer.MAX_VALUE));
    }
    return fed.exec(withThinkTime(exec(dialogRequest()), false));
  }

  /** One request with the complete dialog of the user. */
  private ActionBuilder dialogRequest() {
    return api.takesMessages()
        ? withParameters(messages(request()).messages("#{dialog}"))
        : promptRequest(request(), session -> session.<Dialog>get("dialog").text(), outputs());
  }

  /** The user turns of the dialog that the user was fed, with the server's answers. */
  private ChainBuilder turnByTurn(Llm request, int turns) {
    ConversationBuilder dialog = conversation(HISTORY).dialog("#{dialog}");
    Integer context = plan.get(Setting.CONTEXT_TOKENS);
    return exec(context == null ? dialog : dialog.contextLimit(context))
        .asLongAs(session -> session.getInt(TURN) < turns && goesOn(HISTORY).apply(session), TURN)
        .on(withThinkTime(exec(withParameters(messages(request).nextTurn(HISTORY))), true));
  }

  /** The session attributes that a user has when it sends its first request. */
  static Map<String, Object> firstSession(BenchmarkPlan plan) {
    Workload workload = plan.workload();
    if (workload.sessions() != null) {
      Dialog dialog = workload.sessions().inOrder(0).main().turns().get(0).prompt().get();
      Integer output = dialog.outputTokens();
      return output == null
          ? Map.of("dialog", dialog)
          : Map.of("dialog", dialog, Arrivals.Lengths.OUTPUT_KEY, output);
    }
    Dataset own = workload.datasets().get(Setting.D_DATASET);
    Dataset dataset = own == null ? workload.dataset() : own;
    Map<String, Object> first = new HashMap<>();
    if (dataset != null) {
      first.putAll(DatasetFeeder.of(dataset).seed(plan.seed()).get().next());
    } else if (workload.hasOutputs()) {
      first.putAll(PromptsBuilder.feeder(workload.pools().get(0).prompts()).get().next());
    }
    first.values().removeIf(Objects::isNull);
    return first;
  }

  private ScenarioBuilder pool(Workload.Pool pool) {
    Prompts prompts = pool.prompts();
    LongFunction<String> drawn = pool.drawn();
    Llm request =
        drawn != null && plan.settings().className() == null
            ? llm(session -> name(session, drawn))
            : pool.pair().isEmpty() ? request() : llm(pool.pair());
    Function<Session, String> inTurn = WorkloadBuilder.inTurn(prompts);
    boolean isRecorded = prompts.lengths() != null && prompts.lengths().isRecorded();
    boolean isFed = prompts.hasOutputs() && !isRecorded;
    Function<Session, String> prompt =
        isRecorded
            ? ofRecordedLengths(prompts, inTurn)
            : isFed ? session -> session.getString("prompt") : inTurn;
    ScenarioBuilder scenario =
        scenario(plan.named(pool.pair().isEmpty() ? "Benchmark" : pool.pair()));
    return (isFed ? scenario.feed(PromptsBuilder.feeder(prompts)) : scenario)
        .exec(
            withThinkTime(
                exec(
                    api.takesMessages()
                        ? withParameters(withImages(messages(request), prompt), pool.outputs())
                        : promptRequest(request, prompt, pool.outputs())),
                false));
  }

  /** The name of a request whose pair of lengths is drawn, as its lengths are. */
  private String name(Session session, LongFunction<String> drawn) {
    LengthDistribution.Draw draw = session.get(LengthDistribution.Draw.KEY);
    Long index = draw == null ? null : draw.index();
    return index == null ? api.requestName() : drawn.apply(index);
  }

  private ChatRequestBuilder withImages(ChatRequestBuilder chat, Function<Session, String> prompt) {
    ShownImages images = plan.get(Setting.IMAGES);
    if (images == null) {
      return chat.user(prompt);
    }
    List<Image> all = images(images, plan.seed());
    return chat.user(prompt, all.get(0), all.stream().skip(1).toArray(Image[]::new));
  }

  /** The images of a request; generated ones differ from request to request. */
  static List<Image> images(ShownImages images, long seed) {
    return images.file() == null
        ? IntStream.range(0, images.perRequest())
            .<Image>mapToObj(
                i ->
                    LlmDsl.image(images.width(), images.height())
                        .seed(seed + ((long) i << 40))
                        .variants(images.variants()))
            .toList()
        : List.of(LlmDsl.image(images.file()));
  }

  /** Prompts with the recorded lengths of a trace; each user's session has its length. */
  private static Function<Session, String> ofRecordedLengths(
      Prompts prompts, Function<Session, String> otherwise) {
    NavigableMap<Integer, String> byTokens = new TreeMap<>();
    for (Prompts.DrawnPrompt prompt : prompts.made()) {
      byTokens.put(Objects.requireNonNull(prompt.tokens()), prompt.text());
    }
    return session -> {
      Integer tokens = session.get(Arrivals.Lengths.INPUT_KEY);
      if (tokens == null) {
        return otherwise.apply(session);
      }
      Map.Entry<Integer, String> nearest = byTokens.ceilingEntry(tokens);
      return (nearest == null ? byTokens.lastEntry() : nearest).getValue();
    };
  }

  /** A scenario with think time: between the turns of a dialog, else after the request. */
  private Executable withThinkTime(WorkloadScenario.Ready ready) {
    if (!ready.scenario().isDialog()) {
      return withThinkTime(exec(workload(ready)), false);
    }
    int turns = plan.get(Setting.TURNS);
    if (ready.dataset() != null) {
      return feed(DatasetFeeder.of(ready.dataset()).seed(plan.seed()))
          .exec(turnByTurn(llm(plan.named(ready.scenario().name())), turns));
    }
    ThinkTime think = plan.get(Setting.THINK_TIME);
    Integer context = plan.get(Setting.CONTEXT_TOKENS);
    WorkloadBuilder dialog = workload(ready);
    dialog = think.isNone() ? dialog : dialog.thinkTime(think.min(), think.max());
    dialog = dialog.turns(turns);
    return context == null ? dialog : dialog.contextLimit(context);
  }

  /** The requests, with a pause after them if the same user sends another one. */
  private ChainBuilder withThinkTime(ChainBuilder requests, boolean repeats) {
    ThinkTime think = plan.get(Setting.THINK_TIME);
    boolean isClosed = plan.loadText().levels().get(0) instanceof LoadLevel.Closed;
    return think.isNone() || !(repeats || isClosed)
        ? requests
        : requests.pause(think.min(), think.max());
  }

  private MixBuilder mixed(Workload workload) {
    MixBuilder mix = mix().seed(plan.seed());
    for (int i = 0; i < workload.known().size(); i++) {
      mix = mix.add(workload.weights().get(i), withThinkTime(workload.known().get(i)));
    }
    return mix;
  }

  private WorkloadBuilder workload(WorkloadScenario.Ready ready) {
    WorkloadBuilder workload = WorkloadBuilder.of(ready);
    return api.takesMessages()
        ? workload
            .by(own -> messages(plan.settings().className() == null ? own : request()))
            .request(this::withParameters)
        : workload.completion(this::withParameters);
  }

  private Llm request() {
    return llm(plan.named(api.requestName()));
  }

  private ChatRequestBuilder messages(Llm request) {
    return request.withMessages(api);
  }

  private ActionBuilder promptRequest(
      Llm request, Function<Session, String> prompt, LengthDistribution outputs) {
    if (api.generates()) {
      return withParameters(request.completion().prompt(prompt), outputs);
    }
    int inputs = plan.get(Setting.INPUTS_PER_REQUEST);
    Function<Session, List<String>> texts =
        session -> Stream.generate(() -> prompt.apply(session)).limit(inputs).toList();
    return api.is(Api.Trait.QUERY)
        ? request.rerank().query(prompt).documents(texts)
        : request.embeddings().input(texts);
  }

  /** The lengths of all outputs; a grid, in which they differ, has only pools. */
  private LengthDistribution outputs() {
    return plan.get(Setting.MAX_TOKENS).get(0).tokens();
  }

  private <T extends GenerationRequestBuilder<T>> T withParameters(T request) {
    return withParameters(request, outputs());
  }

  private <T extends GenerationRequestBuilder<T>> T withParameters(
      T request, LengthDistribution outputs) {
    boolean isAsRecorded = plan.hasRecordedOutputs();
    Double temperature = plan.get(Setting.TEMPERATURE);
    Double topP = plan.get(Setting.TOP_P);
    T limited =
        (isAsRecorded
                ? request.maxTokens(session -> recordedLength(session, outputs))
                : request.maxTokens(outputs))
            .stream(plan.get(Setting.STREAM));
    T warm = temperature == null ? limited : limited.temperature(temperature);
    return topP == null ? warm : warm.topP(topP);
  }

  private static Integer recordedLength(Session session, LengthDistribution otherwise) {
    Integer recorded = session.get(Arrivals.Lengths.OUTPUT_KEY);
    return recorded == null
        ? (Integer) session.<LengthDistribution.Draw>get(LengthDistribution.Draw.KEY).of(otherwise)
        : recorded;
  }
}
