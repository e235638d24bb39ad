package io.github.gatlingllm.simulations;

import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static io.github.gatlingllm.javaapi.LlmDsl.mix;

import io.gatling.javaapi.core.ScenarioBuilder;
import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.javaapi.DatasetFeeder;
import io.github.gatlingllm.javaapi.LlmRequestBuilder;
import io.github.gatlingllm.javaapi.MixBuilder;
import io.github.gatlingllm.javaapi.WorkloadBuilder;
import io.github.gatlingllm.load.Trace;
import io.github.gatlingllm.wire.Api;
import io.github.gatlingllm.workload.Dialog;
import io.github.gatlingllm.workload.Prompts;
import io.github.gatlingllm.workload.WorkloadScenario;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The Gatling scenarios of a benchmark. Each call makes new ones, which ask the same prompts in the
 * same order: so every target gets the same.
 */
record WorkloadScenarios(BenchmarkPlan plan, Api api) {

  /** Those that run one after the other, in their order. */
  List<ScenarioBuilder> list() {
    if (plan.workload() instanceof Workload.Known known) {
      return known.mixed()
          ? List.of(scenario("Mix").exec(drawn(known)))
          : known.list().stream()
              .map(ready -> scenario(ready.scenario().name()).exec(block(ready)))
              .toList();
    }
    if (plan.workload() instanceof Workload.Recorded recorded) {
      return List.of(recorded(recorded));
    }
    return List.of(pool(((Workload.Pool) plan.workload()).prompts()));
  }

  private ScenarioBuilder recorded(Workload.Recorded recorded) {
    ScenarioBuilder fed =
        scenario("Benchmark").feed(DatasetFeeder.of(recorded.dataset()).seed(plan.seed()));
    return fed.exec(
        api == Api.CHAT
            ? asked(llm("chat").chat().messages("#{dialog}"))
            : asked(
                llm("completion")
                    .completion()
                    .prompt(session -> session.<Dialog>get("dialog").text())));
  }

  /** What a user has in his session when he sends the first request. */
  static Map<String, Object> firstSession(BenchmarkPlan plan) {
    return plan.workload() instanceof Workload.Recorded recorded
        ? DatasetFeeder.of(recorded.dataset()).seed(plan.seed()).get().next().entrySet().stream()
            .filter(attribute -> attribute.getValue() != null)
            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue))
        : Map.of();
  }

  private ScenarioBuilder pool(Prompts prompts) {
    Function<Session, String> prompt = WorkloadBuilder.inTurn(prompts);
    return scenario("Benchmark")
        .exec(
            api == Api.CHAT
                ? asked(llm("chat").chat().user(prompt))
                : asked(llm("completion").completion().prompt(prompt)));
  }

  private MixBuilder drawn(Workload.Known shares) {
    MixBuilder mix = mix().seed(plan.seed());
    for (Workload.Known.Share share : shares.shares()) {
      mix = mix.add(share.weight(), block(share.ready()));
    }
    return mix;
  }

  private WorkloadBuilder block(WorkloadScenario.Ready ready) {
    WorkloadBuilder block = WorkloadBuilder.of(ready);
    return api == Api.CHAT ? block.request(this::asked) : block.completion(this::asked);
  }

  private <T extends LlmRequestBuilder<T>> T asked(T request) {
    boolean asRecorded =
        plan.workload() instanceof Workload.Recorded recorded && recorded.lengths();
    int maxTokens = plan.get(Setting.MAX_TOKENS);
    Double temperature = plan.get(Setting.TEMPERATURE);
    Double topP = plan.get(Setting.TOP_P);
    T limited =
        (asRecorded
                ? request.maxTokens(session -> recordedLength(session, maxTokens))
                : request.maxTokens(maxTokens))
            .stream(plan.get(Setting.STREAM));
    T warm = temperature == null ? limited : limited.temperature(temperature);
    return topP == null ? warm : warm.topP(topP);
  }

  private static Integer recordedLength(Session session, int otherwise) {
    Integer recorded = session.get(Trace.Lengths.OUTPUT_KEY);
    return recorded == null ? (Integer) otherwise : recorded;
  }
}
