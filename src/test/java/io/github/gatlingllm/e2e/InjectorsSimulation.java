package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.record.RequestStatus;

/**
 * A load that several injectors share: rates, then users, with requests that are determined by a
 * seed.
 */
public final class InjectorsSimulation extends Simulation {

  static final int ENOUGH = 35;

  public InjectorsSimulation() {
    ScenarioBuilder mixed =
        scenario("Mixed")
            .exec(
                mix()
                    .add(2, diverseShort().distinct(100).maxTokens(2).tokenizer(chars4()))
                    .add(1, dialog().turns(2).distinct(100).maxTokens(2).tokenizer(chars4())));
    ScenarioBuilder fed =
        scenario("Fed")
            .feed(prompts().synthetic())
            .exec(llm("fed").chat().user("#{prompt}").maxTokens(2));
    setUp(
            oneAfterTheOther(
                openLoop(60)
                    .poisson()
                    .stabilize(0)
                    .measure(1)
                    .disableCooldown()
                    .drain(1)
                    .inject(mixed),
                closedLoop(5).requests(10).inject(fed)))
        .protocols(
            llm.baseUrl(System.getProperty("baseUrl"))
                .tokenizer(chars4())
                .uniquePrompts()
                .maxInFlight(400)
                .assertions(llmGlobal().status(RequestStatus.COMPLETE).count().gt(ENOUGH))
                .recordText()
                .disableJvmWarmUp());
  }
}
