import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;

import io.gatling.javaapi.core.Simulation;

public class ChatSimulation extends Simulation {
  {
    setUp(
            scenario("Chat")
                .exec(llm("ask").chat().user("Why is the sky blue?").maxTokens(128))
                .injectOpen(poissonUsersPerSec(6).during(60)))
        .protocols(
            llm.baseUrl(System.getenv("LLM_ENDPOINT"))
                .apiKey(System.getenv("LLM_API_KEY"))
                .slo(slo().ttft(ofMillis(500))));
  }
}
