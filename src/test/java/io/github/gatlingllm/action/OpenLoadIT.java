package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.testing.PlanLines;
import io.github.gatlingllm.testing.SlowServer;
import java.util.List;
import java.util.Map;
import java.util.PrimitiveIterator;
import java.util.Spliterators;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/**
 * Open load in a real run of Gatling: every planned user starts, and none before its instant. How
 * late users start is in {@code bench.LoadTiming}; that a driver whose timer is exact starts them
 * exactly is in {@code PlanDriverTest}.
 */
class OpenLoadIT {
  private static final long SECOND = 1_000_000_000L;

  @Test
  void stepsInInjectOpenStartAtPlannedInstants() throws Exception {
    PlanLines lines = new PlanLines(GatlingProcess.run(OpenSimulation.class, Map.of()));

    assertThat(lines.numbers("offset", "r=10")).containsExactlyElementsOf(poisson(10, 1, 0));
    assertThat(lines.numbers("offset", "r=100")).containsExactlyElementsOf(poisson(100, 2, SECOND));
    assertThat(lines.numbers("offset", "r=1000"))
        .startsWith(poisson(1000, 3, 2 * SECOND).toArray(new Long[0]))
        .hasSize(poisson(1000, 3, 0).size() + 20);
    assertThat(lines.numbers("offset", "gatling")).hasSize(20);
    assertThat(lines.of("unplanned")).isNotEmpty().containsOnly("closed");
    for (String label : List.of("r=10", "r=100", "r=1000", "gatling")) {
      assertThat(lines.spread("lag", label).min()).as("never early").isNotNegative();
    }
  }

  @Test
  void planStartsEveryPlannedUserAndNoneEarly() throws Exception {
    try (SlowServer server = SlowServer.between(20, 80)) {
      PlanLines lines =
          new PlanLines(
              GatlingProcess.run(
                  PlanSimulation.class,
                  Map.of(
                      "url", server.url(), "plan", "open", "millis", 1000, "rates", "10,100,300")));

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

  @Test
  void planWithoutArrivalsEndsAndHandsOver() throws Exception {
    PlanLines lines =
        new PlanLines(
            GatlingProcess.run(
                PlanSimulation.class, Map.of("url", "http://127.0.0.1:1", "plan", "nobody")));

    assertThat(lines.of("lag")).isEmpty();
    assertThat(lines.all()).endsWith("after");
  }

  private static List<Long> poisson(double rate, long seed, long shiftNanos) {
    PrimitiveIterator.OfLong offsets = Arrivals.poisson(rate, seed).offsetsBefore(SECOND);
    return StreamSupport.longStream(Spliterators.spliteratorUnknownSize(offsets, 0), false)
        .map(offset -> offset + shiftNanos)
        .boxed()
        .toList();
  }
}
