package examples;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.*;

/**
 * An open loop: as in production, requests arrive whether or not earlier ones have been answered.
 * Arrivals are a Poisson process, at three rates in one run; the seed pins every arrival time.
 */
public class PoissonSimulation extends Simulation {

  private final Server server = Server.fromProperties();

  private final LlmProtocolBuilder engine =
      llm.baseUrl(server.baseUrl()).model(server.model()).slo(slo().ttft(300).tpot(50));

  private final ScenarioBuilder complete =
      scenario("Complete")
          .exec(
              llm("complete")
                  .completion()
                  .prompt("Once upon a time, in a data centre far away,")
                  .maxTokens(64));

  {
    setUp(openLoop(2, 4, 8).poisson().seed(7).measure(10).drain(10).inject(complete))
        .protocols(engine);
  }
}
