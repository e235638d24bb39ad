package examples;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.*;

/**
 * A closed loop: a fixed number of users, each of which sends its next request as soon as it has an
 * answer. Several load levels in one run give a latency-throughput curve with its knee.
 */
public class ClosedLoopSimulation extends Simulation {

  private final Server server = Server.fromProperties();

  private final LlmProtocolBuilder engine =
      llm.baseUrl(server.baseUrl())
          .model(server.model())
          .slo(slo().ttft(ofMillis(500)).tpot(ofMillis(50)).percentile(99));

  private final ScenarioBuilder chat =
      scenario("Chat").exec(llm("ask").chat().user("Why is the sky blue?").maxTokens(64));

  {
    setUp(closedLoop(1, 4, 16, 64).measure(20).drain(10).inject(chat)).protocols(engine);
  }
}
