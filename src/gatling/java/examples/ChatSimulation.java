package examples;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.*;

/**
 * A chat with checks and build gates. Users arrive at random, five per second on average. The build
 * fails if more than 1 % of the requests get their first token after more than one second.
 */
public class ChatSimulation extends Simulation {

  private final Server server = Server.fromProperties();

  private final LlmProtocolBuilder engine =
      llm.baseUrl(server.baseUrl())
          .apiKey(System.getenv("OPENAI_API_KEY"))
          .model(server.model())
          .slo(slo().ttft(ofMillis(500)).tpot(ofMillis(50)).percentile(99));

  private final ScenarioBuilder chat =
      scenario("Chat")
          .feed(jsonFile("prompts.json").random())
          .exec(
              llm("ask")
                  .chat()
                  .system("You are a helpful assistant.")
                  .user("#{prompt}")
                  .maxTokens(64)
                  .check(
                      finishReason().is("length"),
                      ttft().lt(ofSeconds(5)),
                      answer().saveAs("draft")));

  {
    setUp(chat.injectOpen(poissonUsersPerSec(5).seed(42).during(20)))
        .protocols(engine)
        .assertions(
            details("ask TTFT").responseTime().percentile(99).lt(1_000),
            details("ask SLO").failedRequests().percent().lt(5.0),
            global().failedRequests().count().is(0L));
  }
}
