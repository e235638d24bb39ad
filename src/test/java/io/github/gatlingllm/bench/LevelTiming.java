package io.github.gatlingllm.bench;

import static java.time.Duration.ofMillis;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.e2e.LevelsSimulation;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import io.github.gatlingllm.testing.GatlingRun;
import java.util.Comparator;
import java.util.List;

/** Results of levels and searches, compared with the capacity of the engine. */
final class LevelTiming {

  private static final int TRIALS = 5;
  private static final int USERS = 4;

  /** Of the engine under search. */
  private static final int BATCH = 32;

  private static final int STEPS = 4;

  private LevelTiming() {}

  /** Time on the network that a trial adds; the first trial also connects. */
  static void trials(BenchReport report) throws Exception {
    try (EmbeddedEngine engine =
        EmbeddedEngine.builder().fixed(ofMillis(20), ofMillis(5)).recordGroundTruth().start()) {
      GatlingRun run =
          GatlingRun.of(LevelsSimulation.class, engine.baseUrl())
              .set("plan", "batch")
              .set("tokens", 30)
              .run();
      List<GroundTruth> truths =
          engine.groundTruth().stream()
              .sorted(Comparator.comparingLong(GroundTruth::receivedNanos))
              .toList();
      JsonNode rows = run.summary().at("/stages/0/throughput/trials/rows");
      double[] ways = new double[TRIALS];
      for (int trial = 0; trial < TRIALS; trial++) {
        List<GroundTruth> of = truths.subList(USERS * trial, USERS * (trial + 1));
        long last = of.stream().mapToLong(t -> t.tokenNanos()[29]).max().orElseThrow();
        double served = (last - of.get(0).receivedNanos()) / 1e6;
        ways[trial] = 1e3 * rows.get(trial).get("wall_s").asDouble() - served;
      }
      report.atMost(
          "trials longer than they were served p50", BenchReport.quantile(ways, 0.5), 100, "ms");
    }
  }

  /**
   * A batch of 32, 4 steps of 100 ms each: 80 requests per second, or fewer if the engine's thread
   * is woken late, which its own log of steps shows. Below that rate almost no request waits; above
   * it the queue grows every second.
   */
  static void search(BenchReport report) throws Exception {
    try (EmbeddedEngine engine =
        EmbeddedEngine.builder()
            .decodeStep(ofMillis(100))
            .decodeGrowth(0, 0)
            .prefillTokensPerSecond(1e6)
            .maxBatch(BATCH)
            .recordGroundTruth()
            .start()) {
      GatlingRun run = GatlingRun.of(SearchSimulation.class, engine.baseUrl()).run();
      double capacity = BATCH / (STEPS * meanStepSeconds(engine));
      double found = run.summary().at("/goodput/max/offered").asDouble();
      report.say("capacity of the engine", capacity, "req/s");
      report.say("found by the search", found, "req/s");
      report.atMost(
          "search off the capacity",
          Math.abs(found - capacity) / capacity,
          SearchSimulation.PRECISION,
          "");
    }
  }

  private static double meanStepSeconds(EmbeddedEngine engine) {
    return engine.groundTruth().stream()
            .map(GroundTruth::tokenNanos)
            .filter(tokens -> tokens.length == STEPS)
            .mapToLong(tokens -> tokens[STEPS - 1] - tokens[0])
            .average()
            .orElseThrow()
        / (STEPS - 1)
        / 1e9;
  }
}
