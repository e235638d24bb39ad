package examples;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.*;

/**
 * A dialog of five turns. Each prompt contains the history, which grows with each answer. The
 * record of each request has the number of its turn.
 */
public class ConversationSimulation extends Simulation {

  private final Server server = Server.fromProperties();

  private final LlmProtocolBuilder engine = llm.baseUrl(server.baseUrl()).model(server.model());

  private final ScenarioBuilder dialog =
      scenario("Dialog")
          .exec(conversation("history").system("You are a tutor."))
          .repeat(5, "turn")
          .on(
              feed(csv("questions.csv").circular()),
              llm("turn").chat().history("history").user("#{question}").maxTokens(48),
              pause(1));

  {
    setUp(dialog.injectOpen(rampUsers(10).during(10))).protocols(engine);
  }
}
