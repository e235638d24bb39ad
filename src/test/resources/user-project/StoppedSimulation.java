import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;

/** Gatling stops it while its users are served. */
public class StoppedSimulation extends Simulation {
  {
    setUp(
            scenario("Endless")
                .exec(llm("ask").chat().user("hi").maxTokens(1))
                .forever()
                .on(exec(llm("ask").chat().user("hi").maxTokens(5_000)))
                .injectOpen(atOnceUsers(4)))
        .protocols(llm.baseUrl(System.getProperty("baseUrl")).disableJvmWarmUp())
        .maxDuration(4);
  }
}
