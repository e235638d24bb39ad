package io.github.gatlingllm.bench;

import static java.time.Duration.ofMillis;

import io.github.gatlingllm.action.PlanSimulation;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.Occupancy;
import io.github.gatlingllm.testing.PlanLines;
import io.github.gatlingllm.testing.SlowServer;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Lateness of user starts, and occupancy of closed loops. */
final class LoadTiming {

  private LoadTiming() {}

  /** Open load: users start at their planned times. */
  static void open(BenchReport report) throws Exception {
    try (SlowServer server = SlowServer.between(50, 250)) {
      PlanLines planned =
          PlanLines.of(
              PlanSimulation.class,
              Map.of("url", server.url(), "plan", "open", "millis", 5_000, "rates", "10,100,1000"));
      for (String label : List.of("r=10", "r=100", "r=1000")) {
        lag(report, "openLoop " + label, planned.spread("lag", label));
      }
    }
    try (EmbeddedEngine engine = EmbeddedEngine.builder().fixed(ofMillis(5), ofMillis(1)).start()) {
      GatlingRun arrivals = GatlingRun.of(ArrivalsSimulation.class, engine.baseUrl()).succeed();
      lag(
          report,
          "injectOpen",
          PlanLines.Spread.of(
              arrivals.requests("first").stream()
                  .map(r -> r.timing().startLagNanos())
                  .sorted()
                  .toList()));
      double[] origins =
          arrivals.requests("first").stream()
              .mapToDouble(
                  r -> (r.timing().scheduledUnixNanos() - r.timing().scheduledOffsetNanos()) % 1e12)
              .toArray();
      double first = BenchReport.quantile(origins, 0);
      report.atMost(
          "planned instants of records, p50 off",
          (BenchReport.quantile(origins, 0.5) - first) / 1e6,
          1,
          "ms");
      report.atMost(
          "planned instants of records, most off",
          (BenchReport.quantile(origins, 1) - first) / 1e6,
          20,
          "ms");
    }
  }

  private static void lag(BenchReport report, String name, PlanLines.Spread lag) {
    report.atMost(name + " start lag p50", lag.p50() / 1e6, 2, "ms");
    report.say(name + " start lag p99", lag.p99() / 1e6, "ms");
  }

  /** Closed loops: levels are fully occupied, and users lose no time between iterations. */
  static void closed(BenchReport report) throws Exception {
    try (SlowServer server = SlowServer.between(200, 300)) {
      PlanLines lines = sweep(server, false);
      for (int users : List.of(32, 8, 1)) {
        String label = "c=" + users;
        double mean = mean(server, label, lines);
        report.atLeast(label + " in flight", mean / users, 0.99, "");
        double idle = lines.numbers("gap", label).stream().mapToLong(gap -> gap).sum();
        long length = lines.nanos("ended", label) - lines.nanos("started", label);
        report.atMost(label + " users idle", idle / users / length, 0.01, "");
        report.atMost(
            label + " between iterations p50", lines.spread("gap", label).p50() / 1e6, 0.5, "ms");
      }
      report.atMost(
          "from level to level",
          (lines.nanos("started", "c=8") - lines.nanos("ended", "c=32")) / 1e6,
          50,
          "ms");
    }
    try (SlowServer server = SlowServer.between(50, 51)) {
      PlanLines lines = sweep(server, true);
      report.atLeast("c=8 in flight where users exit", mean(server, "c=8", lines) / 8, 0.9, "");
    }
    PlanLines spin = PlanLines.of(PlanSimulation.class, Map.of("plan", "spin"));
    report.say(
        "iterations without waiting",
        100_000e9 / (spin.nanos("ended", "c=2") - spin.nanos("measure", "c=2")),
        "per second");
  }

  private static PlanLines sweep(SlowServer server, boolean exits)
      throws IOException, InterruptedException {
    return PlanLines.of(
        PlanSimulation.class,
        Map.of("url", server.url(), "plan", "sweep", "millis", 6_000, "exits", exits));
  }

  private static double mean(SlowServer server, String label, PlanLines lines) {
    return server.mean(label, lines.nanos("measure", label), lines.nanos("drain", label));
  }

  /** Closed loops by Gatling's own profile and by ours, with answers of 250 ms. */
  static void profiles(BenchReport report) throws Exception {
    for (boolean gatling : List.of(true, false)) {
      try (EmbeddedEngine engine =
          EmbeddedEngine.builder().fixed(ofMillis(50), ofMillis(10)).recordGroundTruth().start()) {
        var unused =
            GatlingRun.of(ConcurrencySimulation.class, engine.baseUrl())
                .set("gatling", gatling)
                .set("tokens", 21)
                .succeed();
        List<Occupancy.Stay> stays =
            engine.groundTruth().stream()
                .map(t -> new Occupancy.Stay(t.receivedNanos(), t.endedNanos()))
                .toList();
        long first =
            engine.groundTruth().stream().mapToLong(GroundTruth::receivedNanos).min().orElseThrow();
        double mean =
            Occupancy.mean(
                stays, first + TimeUnit.SECONDS.toNanos(2), first + TimeUnit.SECONDS.toNanos(7));
        String name = gatling ? "constantConcurrentUsers" : "closedLoop";
        report.atLeast(name + " in flight", mean / ConcurrencySimulation.USERS, 0.99, "");
        report.atMost(
            name + " in flight at most", Occupancy.most(stays), ConcurrencySimulation.USERS, "");
      }
    }
  }
}
