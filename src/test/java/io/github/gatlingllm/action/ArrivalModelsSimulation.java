package io.github.gatlingllm.action;

import static io.gatling.javaapi.core.CoreDsl.nothingFor;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.github.gatlingllm.javaapi.LlmDsl.gammaUsersPerSec;
import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static io.github.gatlingllm.javaapi.LlmDsl.openLoop;
import static io.github.gatlingllm.javaapi.LlmDsl.replay;
import static io.github.gatlingllm.javaapi.LlmDsl.usersPerSec;

import io.gatling.javaapi.core.Simulation;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.load.Arrival;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Every arrival model in one {@code injectOpen}, and a level with gamma gaps after it. */
public final class ArrivalModelsSimulation extends Simulation {
  private final Queue<String> lines = new ConcurrentLinkedQueue<>();
  private final EmbeddedEngine engine = EmbeddedEngine.builder().seed(1).start();

  {
    setUp(
            scenario("Mixed")
                .exec(llm("ask").chat().user("Hi").maxTokens(2))
                .exec(
                    session -> {
                      Arrival arrival = session.get(Arrival.KEY);
                      lines.add("offset mixed " + arrival.scheduledOffsetNanos());
                      lines.add("lag mixed " + arrival.startLagNanos());
                      if (session.contains("inputTokens")) {
                        lines.add("input mixed " + session.getInt("inputTokens"));
                        lines.add("output mixed " + session.getInt("outputTokens"));
                      }
                      return session;
                    })
                .injectOpen(
                    gammaUsersPerSec(25).cv(1.4).seed(42).during(2),
                    nothingFor(1),
                    replay("src/test/resources/traces/azure.csv", 10),
                    usersPerSec(t -> 20 - 10 * t.toMillis() / 1000.0).seed(3).during(2))
                .andThen(
                    openLoop(20)
                        .gamma(0.5)
                        .seed(9)
                        .stabilize(0)
                        .measure(1)
                        .disableCooldown()
                        .inject(
                            scenario("Level").exec(llm("level").chat().user("Hi").maxTokens(2)))))
        .protocols(llm.baseUrl(engine.baseUrl()).model("embedded").warmUp(0).disableJvmWarmUp());
  }

  @Override
  public void after() {
    lines.forEach(line -> System.out.println("> " + line));
    engine.close();
  }
}
