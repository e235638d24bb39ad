package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.*;

import io.gatling.javaapi.core.*;

/** A chat of several turns, and requests at given rates: a correct simulation as users write it. */
public final class HealthySimulation extends Simulation {

  private final ScenarioBuilder chat =
      scenario("Chat")
          .exec(conversation("history"))
          .feed(prompts().builtIn().tokens(60).seed(3))
          .repeat(3)
          .on(llm("turn").chat().history("history").user("#{prompt}").maxTokens(8));

  private final ScenarioBuilder questions =
      scenario("Questions")
          .feed(prompts().builtIn().tokens(120).seed(4))
          .exec(llm("ask").chat().user("#{prompt}").maxTokens(8));

  {
    setUp(
            oneAfterTheOther(
                closedLoop(4).measure(ofMillis(1_200)).inject(chat),
                openLoop(20).seed(1).measure(ofMillis(1_200)).inject(questions)))
        .protocols(
            llm.baseUrl(System.getProperty("baseUrl"))
                .model("embedded")
                .tokenizer(chars4())
                .slo(slo().ttft(ofSeconds(20)))
                .disableJvmWarmUp());
  }
}
