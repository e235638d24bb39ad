import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;

/**
 * A chat with five users per second. {@code -DbaseUrl}, {@code -Dmodel} and {@code -Dseconds} set
 * the server, the model and the duration.
 */
public class FirstSimulation extends Simulation {
  {
    setUp(
            scenario("Chat")
                .exec(llm("ask").chat().user("Why is the sky blue?").maxTokens(128))
                .injectOpen(
                    poissonUsersPerSec(5).seed(42).during(Integer.getInteger("seconds", 30))))
        .protocols(
            llm.baseUrl(System.getProperty("baseUrl", "http://localhost:8000/v1"))
                .model(System.getProperty("model", "llama-8b")));
  }
}
