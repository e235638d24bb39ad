package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.gatling.javaapi.core.*;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.testing.GatlingRun;
import java.util.List;
import org.junit.jupiter.api.Test;

class AbandonIT {

  @Test
  void usersLeaveWithoutAFailureAndTimeoutsKeepTheirFirstToken() throws Exception {
    try (EmbeddedEngine engine =
        EmbeddedEngine.builder().fixed(ofMillis(20), ofMillis(40)).recordGroundTruth().start()) {
      GatlingRun run = GatlingRun.of(LeavingSimulation.class, engine.baseUrl()).succeed();

      List<RequestRecord> left = of(run, RequestStatus.ABANDONED);
      List<RequestRecord> complete = of(run, RequestStatus.COMPLETE);
      List<RequestRecord> cut = of(run, RequestStatus.TIMEOUT);
      assertThat(left).as("half of 20, more or less").hasSizeBetween(3, 17);
      assertThat(left.size() + complete.size()).as("all others were served").isEqualTo(20);
      assertThat(cut).as("users who left went on").hasSize(20);
      assertThat(left)
          .as("with a token, unless the machine was too slow for one")
          .anyMatch(record -> record.timing().ttftNanos() != null)
          .filteredOn(record -> record.timing().ttftNanos() != null)
          .extracting(record -> record.outcome().sloOk())
          .as("by the tokens until then")
          .containsOnly(true);
      assertThat(engine.groundTruth().stream().filter(GroundTruth::cancelled))
          .as("the engine stopped")
          .hasSize(left.size() + cut.size());

      JsonNode leaving = run.row("requests", "name", "leaving");
      assertThat(leaving.at("/counts/verdicts/abandoned").asInt()).isEqualTo(left.size());
      assertThat(leaving.at("/counts/ended").asInt()).isEqualTo(complete.size());
      assertThat(leaving.at("/counts/cancelled").asInt()).isZero();
      assertThat(leaving.at("/metrics/ttft_ms/count").asInt()).isEqualTo(complete.size());
      assertThat(leaving.at("/metrics/failed_e2e_ms/count").asInt()).isZero();
      JsonNode goodput = leaving.path("goodput");
      assertThat(goodput.path("met").asInt())
          .as("of all who were answered, or left with a token")
          .isEqualTo(goodput.path("attempted").asInt())
          .isEqualTo(20 - goodput.path("excluded").asInt())
          .isGreaterThan(complete.size());
      JsonNode late = run.row("requests", "name", "late");
      assertThat(late.at("/metrics/ttft_ms/count").asInt()).isEqualTo(20);
      assertThat(late.at("/metrics/tpot_ms/count").asInt()).isZero();
    }
  }

  private static List<RequestRecord> of(GatlingRun run, RequestStatus status) throws Exception {
    return run.requests().stream().filter(r -> r.outcome().status() == status).toList();
  }

  /** Answers take 2 s; half of the users leave before, then a timeout ends the second request. */
  public static final class LeavingSimulation extends Simulation {

    {
      ScenarioBuilder chat =
          scenario("Chat")
              .exec(
                  llm("leaving")
                      .chat()
                      .user("Hello")
                      .maxTokens(50)
                      .abandonAfter(0.5, ofMillis(1000), ofMillis(1500))
                      .check(finishReason().is("length")))
              .exitHereIfFailed()
              .exec(llm("late").chat().user("Hello").maxTokens(50).requestTimeout(1));
      setUp(closedLoop(10).requests(20).inject(chat))
          .protocols(llm.baseUrl(System.getProperty("baseUrl")).seed(5).slo("ttft<10s"));
    }
  }
}
