package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.DatasetFeeder;

/** Recorded dialogs, as one request and turn by turn, and images: one scenario per aspect. */
public final class DialogsSimulation extends Simulation {

  static final int LIMIT = 15;

  private static DatasetFeeder tutor() {
    return dataset(shareGpt("datasets/sharegpt.json")).inOrder();
  }

  private final ScenarioBuilder oneShot =
      scenario("One shot")
          .feed(dataset(openAiChat("datasets/openai.jsonl")).seed(42))
          .exec(llm("one shot").chat().messages("#{dialog}").maxTokens("#{outputTokens}"));

  private final ScenarioBuilder ownAnswers =
      scenario("Own answers")
          .feed(tutor())
          .exec(conversation("history").dialog("#{dialog}"))
          .asLongAs(goesOn("history"))
          .on(llm("own #{turns}").chat().nextTurn("history"), pause(2, 8));

  private final ScenarioBuilder recordedAnswers =
      scenario("Recorded answers")
          .feed(tutor())
          .exec(conversation("history").dialog("#{dialog}").recordedAnswers().system("Be kind."))
          .asLongAs(goesOn("history"))
          .on(llm("recorded").chat().nextTurn("history"));

  private final ScenarioBuilder full =
      scenario("Full")
          .exec(conversation("history").contextLimit(LIMIT))
          .repeat(3)
          .on(llm("full").chat().history("history").user("say hi").maxTokens(10))
          .doIf(session -> !goesOn("history").apply(session))
          .then(llm("left").chat().user("say left"));

  private final ScenarioBuilder failing =
      scenario("Failing")
          .feed(tutor())
          .exec(conversation("history").dialog("#{dialog}"))
          .asLongAs(goesOn("history"))
          .on(llm("fails").chat().nextTurn("history").check(substring("never there")))
          .exec(conversation("history").dialog("#{dialog}"))
          .repeat(2)
          .on(llm("cannot be made").chat().nextTurn("history").maxTokens("#{nothing}"))
          .exec(conversation("plain"))
          .exec(llm("without dialog").chat().nextTurn("plain"));

  private final ScenarioBuilder images =
      scenario("Images")
          .exec(
              llm("look")
                  .chat()
                  .user("Which is red?", image("datasets/pixel.png"), image(4, 4).variants(2))
                  .choices(2)
                  .tools("[{\"type\": \"function\", \"function\": {\"name\": \"point\"}}]")
                  .toolChoice("\"auto\""));

  {
    setUp(
            oneShot.injectOpen(atOnceUsers(3)),
            ownAnswers.injectOpen(atOnceUsers(1)),
            recordedAnswers.injectOpen(atOnceUsers(1)),
            full.injectOpen(atOnceUsers(2)),
            failing.injectOpen(atOnceUsers(1)),
            images.injectOpen(atOnceUsers(2)))
        .disablePauses()
        .protocols(
            llm.baseUrl(System.getProperty("url") + "/v1").disableJvmWarmUp().disableIgnoreEos());
  }
}
