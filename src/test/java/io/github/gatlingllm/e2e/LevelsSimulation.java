package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.load.RunningLevel;
import java.time.Duration;

public final class LevelsSimulation extends Simulation {

  static final Duration DRAIN = ofMillis(200);

  static final String LEVEL = "X-Load-Level";

  public LevelsSimulation() {
    ScenarioBuilder chat =
        scenario("Chat")
            .exec(
                asLongAs(LevelsSimulation::isSettling)
                    .on(llm("settle").chat().user("Hello").maxTokens(1)),
                group("both")
                    .on(
                        llm("ask").chat().user("Hello").maxTokens(Integer.getInteger("tokens", 10)),
                        llm("again").chat().user("Go on").maxTokens(10)));
    ScenarioBuilder once =
        scenario("Once")
            .exec(
                llm("ask")
                    .chat()
                    .user("Hello")
                    .maxTokens(Integer.getInteger("tokens", 10))
                    .header(LEVEL, session -> level(session).label()));
    setUp(population(chat, once))
        .protocols(
            llm.baseUrl(System.getProperty("baseUrl"))
                .slo(slo().ttft(ofMillis(Integer.getInteger("ttftMillis", 300))).percentile(90)));
  }

  private static RunningLevel level(Session session) {
    return session.get(RunningLevel.KEY);
  }

  /**
   * Whether users repeat a short request: so all have sent the long one before a level ends. Until
   * a second after measuring began, as a request is scheduled when the one before it ended, which a
   * busy machine notices later.
   */
  private static boolean isSettling(Session session) {
    RunningLevel level = level(session);
    return System.getProperty("plan").equals("drain")
        && !(level.isMeasureStartKnown()
            && System.nanoTime() > level.measureStartNanos() + ofSeconds(1).toNanos());
  }

  private static PopulationBuilder population(ScenarioBuilder chat, ScenarioBuilder once) {
    return switch (System.getProperty("plan")) {
      case "drain" ->
          closedLoop(4, 2).fill(0).measure(3).disableCooldown().drain(DRAIN).inject(chat);
      case "phases" ->
          closedLoop(2, 8)
              .fill(ofMillis(200))
              .stabilize(ofMillis(200))
              .measure(1)
              .disableCooldown()
              .drain(60)
              .inject(once);
      case "settled" ->
          oneAfterTheOther(
              closedLoop(4).measure(1).inject(once), openLoop(40).seed(1).measure(1).inject(chat));
      case "search" ->
          maxGoodput()
              .startingAt(20)
              .precision(0.2)
              .seed(5)
              .stabilize(0)
              .measure(1)
              .disableCooldown()
              .drain(60)
              .inject(once);
      case "batch" -> batch(4).trials(5).inject(once);
      default -> throw new IllegalArgumentException(System.getProperty("plan"));
    };
  }
}
