import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;

/** Requests of Gatling's own and ours, under both protocols; those of the LLM are throttled. */
public class JourneySimulation extends Simulation {
  {
    String baseUrl = System.getProperty("baseUrl");
    setUp(
            scenario("Journey")
                .exec(
                    http("models").get("/models").check(status().is(200)),
                    llm("ask").chat().user("hi").maxTokens(2).check(httpStatus().is(200)))
                .injectOpen(atOnceUsers(4))
                .throttle(reachRps(8).in(1), holdFor(5)))
        .protocols(
            http.baseUrl(baseUrl),
            llm.baseUrl(baseUrl)
                .slo(slo().ttft(java.time.Duration.ofSeconds(9)))
                .disableJvmWarmUp()
                .disableFailOnInvalid())
        .assertions(global().failedRequests().count().is(0L));
  }
}
