import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;

import io.gatling.javaapi.core.Simulation;

public class ChatSimulation extends Simulation {
  {
    int seconds = Integer.parseInt(System.getenv().getOrDefault("CHAT_SECONDS", "60"));
    // Each pod sends its share of this load; Gatling's own injectOpen cannot be shared.
    setUp(
            openLoop(6)
                .poisson()
                .stabilize(5)
                .measure(seconds)
                .inject(
                    scenario("Chat")
                        .exec(llm("ask").chat().user("Why is the sky blue?").maxTokens(128))))
        .protocols(
            llm.baseUrl(System.getenv("LLM_ENDPOINT"))
                .apiKey(System.getenv("LLM_API_KEY"))
                .slo(slo().ttft(ofMillis(500))));
  }
}
