package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.details;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.global;
import static io.gatling.javaapi.core.CoreDsl.group;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.github.gatlingllm.javaapi.LlmDsl.closedLoop;
import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static io.github.gatlingllm.javaapi.LlmDsl.slo;
import static java.time.Duration.ofMillis;

import io.gatling.javaapi.core.Assertion;
import io.gatling.javaapi.core.Simulation;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import java.util.List;

/**
 * Requests inside and outside a group under a closed loop, and Gatling's own assertions on them.
 */
public final class GroundTruthSimulation extends Simulation {

  static final int ITERATIONS = 40;

  public GroundTruthSimulation() {
    LlmProtocolBuilder engine =
        llm.baseUrl(System.getProperty("baseUrl"))
            .model("embedded")
            .apiKey("sk-never-to-be-seen")
            .slo(slo().ttft(ofMillis(Integer.getInteger("ttftMillis"))).percentile(90));
    setUp(
            closedLoop(4)
                .requests(ITERATIONS)
                .inject(
                    scenario("Chat")
                        .exec(
                            exec(llm("ask").chat().user("Why is the sky blue?").maxTokens(24)),
                            group("answer")
                                .on(llm("grouped").completion().prompt("Once").maxTokens(8)))))
        .protocols(Boolean.getBoolean("cold") ? engine.disableJvmWarmUp() : engine)
        .assertions(assertions());
  }

  private static List<Assertion> assertions() {
    double limit = Integer.getInteger("ttftMillis");
    return List.of(
        details("ask TTFT").responseTime().percentile(90).lt((int) limit),
        details("answer", "grouped TTFT").responseTime().percentile(90).lt((int) limit),
        details("ask SLO").failedRequests().percent().lt(10.0),
        details("answer", "grouped SLO").failedRequests().percent().lt(10.0),
        global().failedRequests().count().is(0L),
        global().allRequests().count().is(2L * ITERATIONS));
  }
}
