package io.github.gatlingllm.e2e;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.engine.GroundTruth;
import io.github.gatlingllm.testing.CpuPressure;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.Occupancy;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests in flight of closed profiles, by the engine's own account. */
class ConcurrencyIT {

  /**
   * Answers take 50 ms and 20 gaps of 10 ms: 250 ms. Both profiles start their users in one second.
   */
  @ParameterizedTest(name = "Gatling''s own: {0}")
  @ValueSource(booleans = {false, true})
  void asManyAreInFlightAsWereAskedFor(boolean gatling) throws Exception {
    try (CpuPressure pressure = new CpuPressure(System::nanoTime);
        EmbeddedEngine engine =
            EmbeddedEngine.builder().fixed(ofMillis(50), ofMillis(10)).recordGroundTruth().start();
        GatlingRun run =
            GatlingRun.of(ConcurrencySimulation.class)
                .set("baseUrl", engine.baseUrl())
                .set("gatling", gatling)
                .set("tokens", 21)
                .noReports()
                .run()) {
      assertThat(run.exitCode()).as(run.output()).isZero();
      List<GroundTruth> truths = engine.groundTruth();
      assertThat(truths).hasSameSizeAs(run.requests());
      long first = truths.stream().mapToLong(GroundTruth::receivedNanos).min().orElseThrow();
      long from = first + TimeUnit.SECONDS.toNanos(2);
      long until = first + TimeUnit.SECONDS.toNanos(7);
      Occupancy inFlight =
          Occupancy.of(
              truths.stream()
                  .map(t -> new Occupancy.Stay(t.receivedNanos(), t.endedNanos()))
                  .toList(),
              from,
              until);
      System.out.printf(
          "%s in flight: mean %.4f of %d, max %d, pressure %.2f%n",
          gatling ? "constantConcurrentUsers" : "closedLoop",
          inFlight.mean(),
          ConcurrencySimulation.USERS,
          inFlight.max(),
          pressure.share(from, until));
      assertThat(inFlight.max()).isEqualTo(ConcurrencySimulation.USERS);
      assertThat(inFlight.mean() / ConcurrencySimulation.USERS)
          .isGreaterThanOrEqualTo(pressure.isHigh(from, until) ? 0.8 : 0.99);
    }
  }
}
