package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.ClosedLoop;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import java.util.List;

/** Load levels by name, against the engine of the test. */
public final class LevelsSimulation extends Simulation {

  static final double SEARCH_PRECISION = 0.15;

  public LevelsSimulation() {
    ScenarioBuilder chat =
        scenario("Chat")
            .exec(
                group("both")
                    .on(
                        llm("ask").chat().user("Hello").maxTokens(Integer.getInteger("tokens", 10)),
                        llm("again").chat().user("Go on").maxTokens(10)));
    ScenarioBuilder once =
        scenario("Once")
            .exec(llm("ask").chat().user("Hello").maxTokens(Integer.getInteger("tokens", 10)));
    LlmProtocolBuilder engine =
        llm.baseUrl(System.getProperty("baseUrl"))
            .slo(slo().ttft(ofMillis(Integer.getInteger("ttftMillis", 300))).percentile(90));
    setUp(populations(chat, once))
        .protocols(Boolean.getBoolean("warm") ? engine : engine.disableJvmWarmUp());
  }

  private static List<PopulationBuilder> populations(ScenarioBuilder chat, ScenarioBuilder once) {
    ClosedLoop sweep = closedLoop(1, 2, 4).measure(1);
    return System.getProperty("plan").equals("sideBySide")
        ? sideBySide(sweep.inject(once), sweep.inject(chat))
        : List.of(population(chat, once));
  }

  private static PopulationBuilder population(ScenarioBuilder chat, ScenarioBuilder once) {
    return switch (System.getProperty("plan")) {
      case "drain" -> closedLoop(4, 2).measure(ofMillis(500)).drain(ofMillis(200)).inject(chat);
      case "phases" ->
          closedLoop(2, 8)
              .fill(ofMillis(400))
              .stabilize(ofMillis(400))
              .measure(2)
              .drain(5)
              .inject(once);
      case "stop" ->
          closedLoop(1, 2, 8, 16).measure(1).stopWhen(errorsAbove(10), sloBelow(50)).inject(once);
      case "errors" -> closedLoop(4, 8).measure(30).stopWhen(errorCountAbove(50)).inject(once);
      case "oneAfterTheOther" ->
          oneAfterTheOther(
              closedLoop(1, 2, 4).measure(1).inject(once),
              closedLoop(1, 2, 4).measure(1).inject(chat));
      case "search" ->
          maxGoodput()
              .startingAt(50)
              .precision(SEARCH_PRECISION)
              .seed(5)
              .stabilize(ofMillis(500))
              .measure(6)
              .drain(1)
              .inject(once);
      case "batch" -> batch(4).trials(5).inject(once);
      case "crowd" -> closedLoop(64).measure(300).inject(chat);
      default -> throw new IllegalArgumentException(System.getProperty("plan"));
    };
  }
}
