package io.github.gatlingllm.e2e;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.testing.GatlingRun;
import java.util.ArrayList;
import java.util.List;
import java.util.PrimitiveIterator;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A seeded open load has the same arrivals in every JVM, and no user starts before its arrival. */
class ArrivalsIT {

  @Test
  void sameSeedGivesTheSameArrivals() throws Exception {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().fixed(ofMillis(5), ofMillis(1)).start()) {
      GatlingRun once =
          GatlingRun.of(ArrivalsSimulation.class)
              .set("baseUrl", engine.baseUrl())
              .noReports()
              .run();

      assertThat(offsets(once)).isEqualTo(planned());
      assertThat(engine.requestsReceived()).isEqualTo(2L * planned().size());
      assertThat(once.info().seed()).isEqualTo(42);
      assertThat(once.info().planned()).isEqualTo(planned().size());
      assertThat(once.info().started()).isEqualTo(2L * planned().size());
      assertThat(once.check("all_accounted").get("level").asText()).isEqualTo("ok");
      assertThat(once.requests()).allMatch(record -> record.outcome().ok());
      assertThat(once.requests())
          .extracting(record -> record.timing().startLagNanos())
          .allMatch(lag -> lag >= 0);
      assertThat(once.requests())
          .extracting(RequestRecord::timing)
          .allMatch(timing -> timing.ttftFromScheduleNanos() >= timing.ttftNanos());
      assertThat(once.requests("second"))
          .as("only the first request of a user has a plan")
          .extracting(RequestRecord::timing)
          .allMatch(timing -> timing.scheduledOffsetNanos() == null);
    }
  }

  private static List<Long> offsets(GatlingRun run) throws Exception {
    assertThat(run.exitCode()).as(run.output()).isZero();
    return run.requests("first").stream()
        .map(record -> record.timing().scheduledOffsetNanos())
        .sorted()
        .toList();
  }

  private static List<Long> planned() {
    List<Long> planned = new ArrayList<>();
    PrimitiveIterator.OfLong offsets =
        Arrivals.poisson(ArrivalsSimulation.RATE, 42)
            .offsetsBefore(TimeUnit.SECONDS.toNanos(ArrivalsSimulation.SECONDS));
    offsets.forEachRemaining((long offset) -> planned.add(offset));
    return planned;
  }
}
