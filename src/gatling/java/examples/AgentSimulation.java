package examples;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.*;
import java.time.Duration;

/**
 * An agent: the model calls tools, gets their results, and continues until it has an answer. Tool
 * calls and results are part of the history. Each round is a separate request in the report.
 */
public class AgentSimulation extends Simulation {

  private static final String TOOLS =
      """
      [{"type": "function", "function": {
        "name": "population",
        "description": "How many people live in a city",
        "parameters": {
          "type": "object",
          "properties": {"city": {"type": "string"}},
          "required": ["city"]}}}]
      """;

  /** Limits the rounds, because a model can call tools again and again. */
  private static final int MAX_ROUNDS = 5;

  private final Server server = Server.fromProperties();

  private final LlmProtocolBuilder engine =
      llm.baseUrl(server.baseUrl()).model(server.model()).disableIgnoreEos();

  private final ScenarioBuilder agent =
      scenario("Agent")
          .exec(conversation("history").system("You are a guide. Look figures up."))
          .exec(
              llm("plan")
                  .chat()
                  .history("history")
                  .user("Do more people live in Paris or in Rome?")
                  .tools(TOOLS)
                  .toolChoice("\"required\"")
                  .maxTokens(200)
                  .check(toolCalls().saveAs("calls")))
          .asLongAs(session -> wantsTools(session) && session.getInt("round") < MAX_ROUNDS, "round")
          .on(
              llm("round")
                  .chat()
                  .history("history")
                  .toolResults("calls", AgentSimulation::run)
                  .tools(TOOLS)
                  .maxTokens(200)
                  .check(toolCalls().saveAs("calls")));

  private static boolean wantsTools(Session session) {
    return !session.isFailed() && !session.getList("calls").isEmpty();
  }

  /** The tool; a real one would send a request and take time. */
  private static String run(LlmResponse.ToolCall call) {
    return call.name().equals("population") ? "2100000" : "no such tool: " + call.name();
  }

  {
    setUp(agent.injectOpen(constantUsersPerSec(2).during(Duration.ofSeconds(5))))
        .protocols(engine)
        .assertions(global().failedRequests().count().is(0L));
  }
}
