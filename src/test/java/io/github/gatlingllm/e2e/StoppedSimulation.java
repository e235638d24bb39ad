package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.record.RequestStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Loads that Gatling stops with requests in flight: after some seconds, or by an action once users
 * of each scenario have received an answer.
 */
public final class StoppedSimulation extends Simulation {

  private static final int SECONDS = 3;

  private static final int ANSWERS = 3;

  /** Answers still awaited, per load. */
  private final List<AtomicInteger> left = new ArrayList<>();

  {
    List<PopulationBuilder> loads =
        new ArrayList<>(
            List.of(
                chat("rate").injectOpen(constantUsersPerSec(5).during(60)),
                chat("concurrent").injectClosed(constantConcurrentUsers(6).during(60)),
                closedLoop(4, 8).fill(0).stabilize(0).measure(60).inject(chat("closed loop"))));
    LlmProtocolBuilder engine =
        llm.baseUrl(System.getProperty("baseUrl"))
            .disableJvmWarmUp()
            .assertions(llmGlobal().status(RequestStatus.CANCELLED).count().is(0));
    if (Boolean.getBoolean("action")) {
      ScenarioBuilder stops =
          scenario("Stops")
              .asLongAs(session -> left.stream().anyMatch(answers -> answers.get() > 0))
              .on(pause(ofMillis(100)))
              .exec(stopLoadGenerator("enough"));
      loads.add(stops.injectOpen(atOnceUsers(1)));
      setUp(loads).protocols(engine);
    } else {
      setUp(loads).protocols(engine).maxDuration(SECONDS);
    }
  }

  private ScenarioBuilder chat(String name) {
    AtomicInteger answers = new AtomicInteger(ANSWERS);
    left.add(answers);
    return scenario(name)
        .exec(llm(name).chat().user("hi").maxTokens(2))
        .exec(
            session -> {
              answers.decrementAndGet();
              return session;
            })
        .during(60)
        .on(exec(llm(name).chat().user("hi").maxTokens(5_000)));
  }
}
