package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.action.PlanLines.Spread;
import io.github.gatlingllm.load.Arrivals;
import java.util.List;
import java.util.Map;
import java.util.PrimitiveIterator;
import java.util.Spliterators;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/** Open load in a real run of Gatling: users start at the instants that were planned. */
class OpenLoadIT {
  private static final long SECOND = 1_000_000_000L;

  @Test
  void stepsInInjectOpenStartAtPlannedInstants() throws Exception {
    PlanLines lines = new PlanLines(GatlingProcess.run(OpenSimulation.class, Map.of(), 60));

    assertThat(lines.numbers("offset", "r=10")).containsExactlyElementsOf(poisson(10, 1, 0));
    assertThat(lines.numbers("offset", "r=100"))
        .containsExactlyElementsOf(poisson(100, 2, 5 * SECOND));
    assertThat(lines.numbers("offset", "r=1000"))
        .startsWith(poisson(1000, 3, 10 * SECOND).toArray(new Long[0]))
        .hasSize(poisson(1000, 3, 0).size() + 40);
    assertThat(lines.numbers("offset", "gatling")).hasSize(80);
    assertThat(lines.of("unplanned")).isNotEmpty().containsOnly("closed");
    for (String label : List.of("r=10", "r=100", "r=1000", "gatling")) {
      Spread lag = lines.spread("lag", label);
      System.out.printf("injectOpen %s start lag %s%n", label, lag);
      assertThat(lag.min()).as("never early").isNotNegative();
      assertThat(lag.p50()).isLessThan(2_000_000);
    }
  }

  @Test
  void planStartsUsersAtPlannedInstants() throws Exception {
    try (SlowServer server = new SlowServer(50, 250)) {
      PlanLines lines =
          new PlanLines(
              GatlingProcess.run(
                  PlanSimulation.class,
                  Map.of("url", server.url(), "plan", "open", "millis", 5000, "drain", 5000),
                  60));

      assertThat(lines.of("started")).containsExactly("r=10", "r=100", "r=1000");
      int seed = 7;
      for (int rate : List.of(10, 100, 1000)) {
        Spread lag = lines.spread("lag", "r=" + rate);
        System.out.printf("openLoop r=%d start lag %s%n", rate, lag);
        assertThat(lag.count())
            .isEqualTo((int) Arrivals.poisson(rate, seed++).countBefore(5 * SECOND));
        assertThat(lag.min()).as("never early").isNotNegative();
        assertThat(lag.p50()).isLessThan(2_000_000);
        assertThat(lines.words("ended", "r=" + rate).get(3)).isEqualTo("0");
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
                PlanSimulation.class, Map.of("url", "http://127.0.0.1:1", "plan", "nobody"), 60));

    assertThat(lines.of("lag")).isEmpty();
    assertThat(lines.all()).endsWith("after");
  }

  private static List<Long> poisson(double rate, long seed, long shiftNanos) {
    PrimitiveIterator.OfLong offsets = Arrivals.poisson(rate, seed).offsetsBefore(5 * SECOND);
    return StreamSupport.longStream(Spliterators.spliteratorUnknownSize(offsets, 0), false)
        .map(offset -> offset + shiftNanos)
        .boxed()
        .toList();
  }
}
