package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.action.SlowServer.Visit;
import io.github.gatlingllm.testing.CpuPressure;
import io.github.gatlingllm.testing.Occupancy;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Closed loops in a real run of Gatling, judged by what the server saw. */
class ClosedLoopIT {

  /** Answers take 250 ms on average, and not all the same, so that users do not march in step. */
  @Test
  void sweepKeepsEachLevelFull() throws Exception {
    try (CpuPressure pressure = new CpuPressure(EpochNanos::now);
        SlowServer server = new SlowServer(200, 300)) {
      PlanLines lines =
          new PlanLines(
              GatlingProcess.run(
                  PlanSimulation.class,
                  Map.of("url", server.url(), "plan", "sweep", "millis", 6000),
                  90));

      assertThat(lines.of("started")).containsExactly("c=32", "c=8", "c=1");
      assertThat(lines.all()).endsWith("after");
      for (int users : List.of(32, 8, 1)) {
        String label = "c=" + users;
        assertThat(lines.words("ended", label).get(3)).as("still running").isEqualTo("0");
        long measure = lines.nanos("measure", label);
        long drain = lines.nanos("drain", label);
        assertThat(drain - measure).isEqualTo(6_000_000_000L);
        List<Visit> visits =
            server.visits().stream().filter(v -> v.path().startsWith("/" + label + "/")).toList();
        assertThat(visits)
            .as("none starts after measure")
            .allSatisfy(v -> assertThat(v.fromNanos()).isLessThan(drain + 100_000_000));
        assertThat(visits)
            .as("all ended when the level did")
            .allSatisfy(v -> assertThat(v.untilNanos()).isLessThan(lines.nanos("ended", label)));
        Occupancy inFlight = occupancy(visits, measure, drain);
        System.out.printf(
            "%s in flight: mean %.4f of %d, max %d, pressure %.2f; iteration gap %s%n",
            label,
            inFlight.mean(),
            users,
            inFlight.max(),
            pressure.share(measure, drain),
            lines.spread("gap", label));
        assertThat(inFlight.max()).isLessThanOrEqualTo(users);
        assertThat(inFlight.mean() / users)
            .isGreaterThanOrEqualTo(pressure.isHigh(measure, drain) ? 0.8 : 0.99);
        long idle = lines.numbers("gap", label).stream().mapToLong(gap -> gap).sum();
        assertThat(
                1
                    - (double) idle
                        / users
                        / (lines.nanos("ended", label) - lines.nanos("started", label)))
            .isGreaterThan(0.99);
        assertThat(lines.spread("gap", label).p50()).isLessThan(500_000);
      }
      assertThat(lines.nanos("started", "c=8"))
          .isBetween(lines.nanos("ended", "c=32"), lines.nanos("ended", "c=32") + 50_000_000);
    }
  }

  @Test
  void usersThatExitAreReplaced() throws Exception {
    try (SlowServer server = new SlowServer(50, 50)) {
      PlanLines lines =
          new PlanLines(
              GatlingProcess.run(
                  PlanSimulation.class,
                  Map.of("url", server.url(), "plan", "sweep", "millis", 3000, "exits", true),
                  60));

      Occupancy inFlight =
          occupancy(
              server.visits().stream().filter(v -> v.path().startsWith("/c=8/")).toList(),
              lines.nanos("measure", "c=8"),
              lines.nanos("drain", "c=8"));
      System.out.printf("exiting users in flight: mean %.4f of 8%n", inFlight.mean());
      assertThat(inFlight.max()).isLessThanOrEqualTo(8);
      assertThat(inFlight.mean()).isGreaterThan(0.9 * 8);
    }
  }

  @Test
  void countBoundsALevel() throws Exception {
    try (SlowServer server = new SlowServer(50, 250)) {
      PlanLines lines =
          new PlanLines(
              GatlingProcess.run(
                  PlanSimulation.class, Map.of("url", server.url(), "plan", "count"), 60));

      assertThat(server.visits()).hasSize(50);
      assertThat(server.visits()).extracting(Visit::path).containsOnly("/c=4/measure");
      assertThat(lines.all()).endsWith("after");
    }
  }

  /** A body that never leaves the stack must not grow it. */
  @Test
  void iterationsThatNeverWaitDoNotOverflow() throws Exception {
    PlanLines lines =
        new PlanLines(GatlingProcess.run(PlanSimulation.class, Map.of("plan", "spin"), 60));

    assertThat(lines.words("spins", "all").get(2)).isEqualTo("500000");
    System.out.printf(
        "iterations per second without waiting: %.0f%n",
        500_000 / ((lines.nanos("ended", "c=2") - lines.nanos("measure", "c=2")) / 1e9));
  }

  private static Occupancy occupancy(List<Visit> visits, long fromNanos, long untilNanos) {
    return Occupancy.of(
        visits.stream().map(v -> new Occupancy.Stay(v.fromNanos(), v.untilNanos())).toList(),
        fromNanos,
        untilNanos);
  }
}
