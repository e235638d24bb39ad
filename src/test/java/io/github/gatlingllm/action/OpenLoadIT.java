package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.testing.PlanLines;
import io.github.gatlingllm.testing.SlowServer;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Open load in a real run of Gatling: every planned user starts, and none before its instant. How
 * late users start is in {@code bench.LoadTiming}; that a driver whose timer is exact starts them
 * exactly is in {@code PlanDriverTest}.
 */
class OpenLoadIT {
  private static final long SECOND = 1_000_000_000L;

  @Test
  void planStartsEveryPlannedUserAndNoneEarly() throws Exception {
    try (SlowServer server = SlowServer.between(20, 80)) {
      PlanLines lines =
          PlanLines.of(
              PlanSimulation.class,
              Map.of("url", server.url(), "plan", "open", "millis", 1000, "rates", "10,100,300"));

      assertThat(lines.of("started")).containsExactly("r=10", "r=100", "r=300");
      int seed = 7;
      for (int rate : List.of(10, 100, 300)) {
        PlanLines.Spread lag = lines.spread("lag", "r=" + rate);
        assertThat(lag.count()).isEqualTo((int) Arrivals.poisson(rate, seed++).countBefore(SECOND));
        assertThat(lag.min()).as("never early").isNotNegative();
        assertThat(lines.words("ended", "r=" + rate).get(3)).as("still running").isEqualTo("0");
      }
      assertThat(server.visits())
          .hasSize(lines.of("lag").size())
          .allMatch(visit -> visit.path().endsWith("/measure"));
      assertThat(lines.all()).endsWith("after");
    }
  }
}
