package io.github.gatlingllm.e2e;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.testing.GatlingRun;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Loads that Gatling stops: open requests are cancelled, not failed, and no record is missing. */
class StoppedRunIT {

  private static final int ASSERTIONS_MISSED = 2;

  /** All but the first streams of users take 15 s, so that the stop interrupts some of them. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void openRequestsAreCancelledAndCounted(boolean byAction) throws Exception {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().fixed(ofMillis(5), ofMillis(3)).start();
        GatlingRun run =
            GatlingRun.of(StoppedSimulation.class, engine.baseUrl())
                .set("action", byAction)
                .run()) {
      List<RequestRecord> records = run.requests();
      assertThat(records)
          .as("one may be cancelled on its way to the server")
          .hasSizeGreaterThanOrEqualTo((int) engine.requestsReceived());
      for (String load : List.of("rate", "concurrent", "closed loop")) {
        assertThat(run.requests(load))
            .as(load)
            .extracting(r -> r.outcome().status())
            .contains(RequestStatus.CANCELLED)
            .isSubsetOf(RequestStatus.COMPLETE, RequestStatus.CANCELLED);
        if (byAction) { // which waits for them
          assertThat(run.requests(load)).as(load).anyMatch(r -> r.outcome().ok());
        }
      }
      assertThat(records)
          .filteredOn(r -> r.outcome().status() == RequestStatus.CANCELLED)
          .allSatisfy(r -> assertThat(r.outcome().error()).contains("maxDuration"));
      JsonNode counts = run.summary().get("counts");
      assertThat(counts.get("started").asInt())
          .isEqualTo(records.size())
          .isEqualTo(counts.get("ended").asInt() + counts.get("cancelled").asInt());
      assertThat(run.check("all_accounted").get("level").asText()).isEqualTo("ok");
      assertThat(run.info().state()).isEqualTo(RunInfo.State.INTERRUPTED);
      assertThat(run.info().outcome().dropped()).isZero();
      assertThat(run.summary().get("verdict").asText()).startsWith("Interrupted: ");
      assertThat(run.exitCode())
          .as("assertions are judged, as Gatling's own are")
          .isEqualTo(ASSERTIONS_MISSED);
    }
  }
}
