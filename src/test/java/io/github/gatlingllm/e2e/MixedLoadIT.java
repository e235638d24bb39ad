package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.*;
import static java.time.Duration.ofMillis;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.gatling.javaapi.core.*;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.testing.GatlingRun;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class MixedLoadIT {
  private static final double ROUNDING = 1e-6;

  @AutoClose private static EmbeddedEngine engine;
  private static GatlingRun run;

  @BeforeAll
  static void startRun() throws Exception {
    engine = EmbeddedEngine.builder().fixed(ofMillis(20), ofMillis(5)).start();
    run = GatlingRun.of(MixedLoadSimulation.class, engine.baseUrl()).succeed();
  }

  private static JsonNode stage(String scenario) throws IOException {
    return run.row("stages", "scenario", scenario);
  }

  private static double completed(JsonNode figures) {
    return figures.at("/throughput/requests_per_s").asDouble()
        * figures.at("/throughput/window_s").asDouble();
  }

  @Test
  void eachScenarioHasALoadLevel() throws Exception {
    assertThat(run.summary().get("stages"))
        .extracting(
            stage ->
                Stream.of("scenario", "label", "kind", "offered", "unit")
                    .map(key -> stage.get(key).asText())
                    .collect(joining(", ")))
        .containsExactlyInAnyOrder(
            "Planned, c=2, closed loop, 2, concurrent",
            "Open, all, injection, 20, users/s",
            "Throttled, all, injection, 20, users/s",
            "Broken, all, injection, 5, users/s",
            "At once, all, injection, null, null",
            "Closed, all, injection, 2, concurrent");
    assertThat(run.summary().at("/run/state").asText()).isEqualTo("complete");
    assertThat(run.check("windows").get("level").asText()).isEqualTo("ok");
    assertThat(run.check("all_accounted").get("level").asText()).isEqualTo("ok");
  }

  /** The throttle delays requests and does not change planned arrivals. */
  @Test
  void plannedArrivalsFollowTheInjectionSteps() throws Exception {
    for (String scenario : List.of("Open", "Throttled")) {
      JsonNode stage = stage(scenario);
      assertThat(stage.at("/counts/planned").asLong()).as(scenario).isEqualTo(20);
      assertThat(stage.at("/arrivals/count").asLong()).as(scenario).isEqualTo(20);
      assertThat(stage.at("/arrivals/planned_per_s").asDouble()).as(scenario).isEqualTo(20);
      assertThat(stage.get("arrived_per_s").asDouble()).as(scenario).isEqualTo(20);
      assertThat(stage.at("/phases/0/duration_s").asDouble()).as(scenario).isEqualTo(1);
    }
    assertThat(stage("At once").at("/counts/planned").asLong()).isEqualTo(3);
    assertThat(stage("Closed").at("/counts/planned").isNull()).isTrue();
    assertThat(stage("Throttled").at("/duration_s").asDouble()).isGreaterThan(1);
  }

  /** The window includes the last request, and the scenarios add up to the run. */
  @Test
  void ratesIncludeEveryInjectedRequest() throws Exception {
    List<String> injected = new ArrayList<>(List.of("Open", "Throttled", "At once", "Closed"));
    double all = 0;
    for (JsonNode stage : run.summary().get("stages")) {
      String scenario = stage.get("scenario").asText();
      all += completed(stage);
      if (injected.remove(scenario)) {
        long requests =
            run.requests().stream().filter(r -> r.identity().scenario().equals(scenario)).count();
        assertThat(completed(stage)).as(scenario).isCloseTo((double) requests, within(ROUNDING));
      }
    }
    assertThat(injected).isEmpty();
    assertThat(completed(run.summary())).isCloseTo(all, within(1e-3));
    long measured =
        run.requests().stream().filter(r -> r.identity().phase() == Phase.MEASURE).count();
    assertThat(run.summary().at("/counts/started").asLong()).isEqualTo(measured);
    assertThat(run.requests())
        .filteredOn(r -> !r.outcome().ok())
        .extracting(r -> r.identity().name())
        .containsOnly("broken");
  }

  /** A request that cannot be built counts as due and as failed, and is in no rate. */
  @Test
  void requestsThatCannotBeBuiltFail() throws Exception {
    JsonNode broken = stage("Broken");
    assertThat(broken.at("/counts/planned").asLong()).isEqualTo(5);
    assertThat(broken.at("/counts/ended").asLong()).isEqualTo(5);
    assertThat(broken.at("/counts/ok").asLong()).isZero();
    assertThat(broken.at("/counts/verdicts/not_built").asLong()).isEqualTo(5);
    assertThat(broken.at("/goodput/share").asDouble()).isZero();
    assertThat(broken.at("/errors/0/message").asText())
        .isEqualTo("No attribute named 'missing' is defined");
    assertThat(run.check("all_accounted").get("message").asText())
        .contains("were sent or could not be built (5)");
    assertThat(Files.readString(run.files().page()))
        .contains("not_built", "No attribute named &#39;missing&#39; is defined");
  }

  @Test
  void sloOfARequestNameIsJudgedSeparately() throws Exception {
    assertThat(run.summary().at("/slo/text").asText())
        .isEqualTo("ttft<60s; throttled: e2e<1ms (90 %)");
    assertThat(run.info().objectives().sloHeldByRequest()).containsOnlyKeys("throttled");
    assertThat(run.summary().get("verdict").asText())
        .contains(
            "E2E from schedule p90 < 1 ms of throttled is not met: E2E of throttled in 0 % of 20"
                + " requests.");
  }

  public static final class MixedLoadSimulation extends Simulation {

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
                  .slo("throttled", slo().e2e(1).percentile(90)));
    }

    private static ScenarioBuilder asks(String scenario, String request) {
      return scenario(scenario).exec(llm(request).chat().user("Hello").maxTokens(10));
    }
  }
}
