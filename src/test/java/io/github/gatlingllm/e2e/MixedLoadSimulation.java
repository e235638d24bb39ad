package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.*;

import io.gatling.javaapi.core.*;

/** A load plan beside Gatling's own injection, with and without a throttle. */
public final class MixedLoadSimulation extends Simulation {

  public MixedLoadSimulation() {
    setUp(
            closedLoop(2)
                .fill(0)
                .stabilize(0)
                .measure(1)
                .disableCooldown()
                .inject(asks("Planned", "planned")),
            asks("Open", "open")
                .injectOpen(nothingFor(ofMillis(500)), constantUsersPerSec(20).during(1)),
            asks("Throttled", "throttled")
                .injectOpen(constantUsersPerSec(20).during(1))
                .throttle(reachRps(10).in(1), holdFor(60)),
            scenario("Broken")
                .exec(llm("broken").chat().user("#{missing}"))
                .injectOpen(constantUsersPerSec(5).during(1)),
            asks("At once", "at once").injectOpen(atOnceUsers(3)),
            asks("Closed", "closed").injectClosed(constantConcurrentUsers(2).during(1)))
        .protocols(
            llm.baseUrl(System.getProperty("baseUrl"))
                .slo(slo().ttft(ofMinutes(1)))
                .slo("throttled", slo().e2e(1).percentile(90))
                .disableJvmWarmUp());
  }

  private static ScenarioBuilder asks(String scenario, String request) {
    return scenario(scenario).exec(llm(request).chat().user("Hello").maxTokens(10));
  }
}
