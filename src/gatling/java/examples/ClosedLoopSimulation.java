package examples;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.javaapi.*;

/**
 * A closed loop: so many users, each of which asks again as soon as it has its answer. Three load
 * levels make a latency-throughput curve.
 */
public class ClosedLoopSimulation extends Simulation {

  EmbeddedEngine server = EmbeddedEngine.builder().seed(1).start();

  LlmProtocolBuilder engine =
      llm.baseUrl(server.baseUrl())
          .model("embedded")
          .slo(slo().ttft(ofMillis(500)).tpot(ofMillis(50)).percentile(99));

  ScenarioBuilder chat =
      scenario("Chat").exec(llm("ask").chat().user("Why is the sky blue?").maxTokens(64));

  {
    setUp(closedLoop(1, 4, 16).measure(5).inject(chat)).protocols(engine);
  }
}
