package io.github.gatlingllm.e2e;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.engine.GroundTruth;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunClock;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.testing.GatlingRun;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Load levels in real runs: their phases, and how they end. */
class LevelsIT {

  private static final int SIGTERM = 128 + 15;

  /** Of the engine that is searched. */
  private static final int BATCH = 32;

  private static final int STEPS = 4;

  private static GatlingRun.Setup plan(String plan, EmbeddedEngine engine) {
    return GatlingRun.of(LevelsSimulation.class)
        .set("plan", plan)
        .set("baseUrl", engine.baseUrl())
        .noReports();
  }

  private static List<RequestRecord> of(RequestStatus verdict, List<RequestRecord> records) {
    return records.stream().filter(r -> r.outcome().status() == verdict).toList();
  }

  @Test
  void whatDrainTimeDoesNotSufficeForIsCancelled() throws Exception {
    try (EmbeddedEngine engine =
            EmbeddedEngine.builder().fixed(ofMillis(5), ofMillis(50)).recordGroundTruth().start();
        GatlingRun run = plan("drain", engine).set("tokens", 400).run()) {
      assertThat(run.exitCode()).as(run.output()).isZero();
      List<RequestRecord> cancelled = of(RequestStatus.CANCELLED, run.requests());
      assertThat(cancelled).extracting(r -> r.identity().stage()).containsOnly("c=4", "c=2");
      assertThat(cancelled).hasSize(6);
      assertThat(run.requests()).hasSize(6);
      assertThat(cancelled)
          .as("nothing goes on after the cut, not even the next request of the iteration")
          .allSatisfy(
              r -> {
                assertThat(r.identity().name()).isEqualTo("ask");
                assertThat(r.outcome().error()).contains("drain time was over");
                assertThat(r.timing().closedNanos()).isBetween(300_000_000L, 1_500_000_000L);
              });
      assertThat(run.info().stages()).hasSize(2);
      assertThat(engine.running()).isZero();
      assertThat(engine.groundTruth()).hasSize(6).allMatch(truth -> truth.cancelled());
      assertThat(run.summary().at("/counts/cancelled").asInt()).isEqualTo(6);
    }
  }

  @Test
  void throughputIsThatOfTheMeasureWindow() throws Exception {
    try (EmbeddedEngine engine =
            EmbeddedEngine.builder().fixed(ofMillis(20), ofMillis(5)).recordGroundTruth().start();
        GatlingRun run = plan("phases", engine).set("tokens", 60).run()) {
      assertThat(run.exitCode()).as(run.output()).isZero();
      long epoch = RunClock.system().unixNanos(0);
      JsonNode stages = run.summary().get("stages");
      assertThat(stages).hasSize(2);
      for (int i = 0; i < 2; i++) {
        PhaseWindow window = run.info().stages().get(i).window(Phase.MEASURE).orElseThrow();
        long sent =
            engine.groundTruth().stream()
                .flatMapToLong(truth -> Arrays.stream(truth.tokenNanos()))
                .map(nanos -> nanos + epoch)
                .filter(at -> at >= window.startUnixNanos() && at < window.endUnixNanos())
                .count();
        double seconds = (window.endUnixNanos() - window.startUnixNanos()) / 1e9;
        double perSecond = stages.get(i).at("/throughput/output_tokens_per_s").asDouble();
        System.out.printf(
            "%s: %.2f tok/s, sent %.2f%n", stages.get(i).get("label"), perSecond, sent / seconds);
        assertThat(seconds).isEqualTo(2);
        assertThat(perSecond).isCloseTo(sent / seconds, within(0.005 * sent / seconds));
        assertThat(run.info().stages().get(i).phases())
            .extracting(PhaseWindow::phase)
            .containsExactly(Phase.FILL, Phase.STABILIZE, Phase.MEASURE, Phase.DRAIN);
      }
    }
  }

  @Test
  void sigtermClosesOpenStreamsAndReportsThem() throws Exception {
    try (EmbeddedEngine engine =
            EmbeddedEngine.builder().fixed(ofMillis(5), ofMillis(20)).recordGroundTruth().start();
        GatlingRun run = plan("crowd", engine).set("tokens", 5_000).start()) {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (engine.running() < 64) {
        assertThat(System.nanoTime()).as("64 streams").isLessThan(deadline);
        Thread.onSpinWait();
      }
      run.terminate();
      run.await(30);

      assertThat(run.exitCode()).as(run.output()).isEqualTo(SIGTERM);
      assertThat(run.output()).doesNotContain("\tat ", "Exception");
      assertThat(of(RequestStatus.CANCELLED, run.requests())).hasSize(64);
      assertThat(run.requests()).hasSize(64);
      assertThat(engine.requestsReceived()).as("no further request").isEqualTo(64);
      assertThat(run.info().state()).isEqualTo(RunInfo.State.INTERRUPTED);
      assertThat(run.info().dropped()).isZero();
      assertThat(run.summary().at("/counts/cancelled").asInt()).isEqualTo(64);
      assertThat(run.files().page()).isNotEmptyFile();
      assertThat(engine.running()).isZero();
    }
  }

  /** Two at a time, 300 ms each: the third of eight waits too long for its SLO. */
  @Test
  void sweepStopsAfterTheLevelThatBreaksARule() throws Exception {
    try (EmbeddedEngine engine =
            EmbeddedEngine.builder()
                .decodeStep(ofMillis(15))
                .decodeGrowth(0, 0)
                .maxBatch(2)
                .start();
        GatlingRun run = plan("stop", engine).set("tokens", 20).run()) {
      assertThat(run.exitCode()).as(run.output()).isZero();
      assertThat(run.info().stages())
          .extracting(stage -> stage.label())
          .containsExactly("c=1", "c=2", "c=8");
      assertThat(run.output()).contains("after c=8, 1 level left out: only ");
      assertThat(run.summary().get("config").toString()).contains("stopped early");
      assertThat(check(run, "stopped_early").get("level").asText()).isEqualTo("ok");
      assertThat(run.summary().get("verdict").asText()).contains("Stopped early: after c=8");
    }
  }

  /** A server that refuses everybody: the first level ends with the 51st error, not after 30 s. */
  @Test
  void tooManyErrorsEndALevelAtOnce() throws Exception {
    try (EmbeddedEngine engine =
            EmbeddedEngine.builder()
                .fixed(ofMillis(20), ofMillis(5))
                .apiKey("sk-nobody-has")
                .start();
        GatlingRun run = plan("errors", engine).set("tokens", 10).run()) {
      assertThat(run.exitCode()).as(run.output()).isZero();
      assertThat(run.info().stages()).extracting(stage -> stage.label()).containsExactly("c=4");
      PhaseWindow measure = run.info().stages().get(0).window(Phase.MEASURE).orElseThrow();
      double seconds = (measure.endUnixNanos() - measure.startUnixNanos()) / 1e9;
      System.out.printf("ended after %.3f s and %d errors%n", seconds, run.requests().size());
      assertThat(seconds).as("of 30 s").isLessThan(15);
      assertThat(run.requests()).hasSizeGreaterThan(50);
      assertThat(run.requests())
          .as("nothing starts after the cut")
          .allMatch(r -> r.timing().startUnixNanos() < measure.endUnixNanos() + 100_000_000L);
      JsonNode check = check(run, "stopped_early");
      assertThat(check.get("level").asText()).isEqualTo("warning");
      assertThat(check.get("message").asText())
          .startsWith("Stopped early: during c=4, 1 level left out: ")
          .endsWith(" requests failed, more than 50.");
    }
  }

  private static JsonNode check(GatlingRun run, String id) throws Exception {
    for (JsonNode check : run.summary().get("checks")) {
      if (check.get("id").asText().equals(id)) {
        return check;
      }
    }
    throw new AssertionError("no check " + id + " in " + run.summary().get("checks"));
  }

  /**
   * 32 at a time, 4 steps of 100 ms each: 80 requests per second, less where the engine's thread is
   * woken late, which its own account of its steps shows. Between a rate below that, at which
   * hardly anybody waits, and one above it, at which the queue grows second by second, TTFT differs
   * by more than a busy machine can add.
   */
  @Test
  void searchFindsTheCapacity() throws Exception {
    try (EmbeddedEngine engine =
            EmbeddedEngine.builder()
                .decodeStep(ofMillis(100))
                .decodeGrowth(0, 0)
                .prefillTokensPerSecond(1e6)
                .maxBatch(BATCH)
                .recordGroundTruth()
                .start();
        GatlingRun run =
            plan("search", engine)
                .set("tokens", STEPS)
                .set("ttftMillis", 1_000)
                .set("warm", true)
                .run(150)) {
      assertThat(run.exitCode()).as(run.output()).isZero();
      double capacity = BATCH / (STEPS * meanStepSeconds(engine));
      double found = run.summary().at("/goodput/max/offered").asDouble();
      System.out.printf(
          "capacity %.2f/s, found %.2f/s: %s%n",
          capacity, found, run.lines().stream().filter(l -> l.startsWith("LLM search")).toList());
      assertThat(capacity).isLessThan(80.5);
      assertThat(found).isCloseTo(capacity, within(LevelsSimulation.SEARCH_PRECISION * capacity));
      assertThat(run.output())
          .contains("max goodput " + run.summary().at("/goodput/max/stage").asText() + " holds");
      JsonNode search = check(run, "search");
      assertThat(search.get("value").asDouble()).as("low end of the interval").isBetween(0.5, 1.0);
      assertThat(search.get("threshold").asDouble()).isEqualTo(0.9);
      assertThat(run.summary().get("verdict").asText()).contains("Search: max goodput r=");
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

  /**
   * Each trial lasts as long as its slowest request: 20 ms and 29 gaps of 5 ms. Its figures are the
   * engine's, but for the way there and back.
   */
  @Test
  void trialsRunOneAfterTheOther() throws Exception {
    try (EmbeddedEngine engine =
            EmbeddedEngine.builder().fixed(ofMillis(20), ofMillis(5)).recordGroundTruth().start();
        GatlingRun run = plan("batch", engine).set("tokens", 30).run()) {
      assertThat(run.exitCode()).as(run.output()).isZero();
      List<RequestRecord> records = run.requests();
      assertThat(records).hasSize(20);
      assertThat(records).extracting(r -> r.identity().stage()).containsOnly("b=4");
      for (int trial = 1; trial < 5; trial++) {
        int of = trial;
        long ended =
            records.stream()
                .filter(r -> Integer.valueOf(of).equals(r.identity().trial()))
                .mapToLong(r -> r.timing().closedUnixNanos())
                .max()
                .orElseThrow();
        assertThat(records)
            .filteredOn(r -> Integer.valueOf(of + 1).equals(r.identity().trial()))
            .hasSize(4)
            .allMatch(r -> r.timing().startUnixNanos() >= ended);
      }
      JsonNode trials = run.summary().at("/stages/0/throughput/trials");
      assertThat(trials.get("count").asInt()).isEqualTo(5);
      assertThat(trials.get("max_tokens_per_s").asDouble()).isBetween(200.0, 4 * 30 / 0.165);
      assertThat(trials.get("rows")).hasSize(5);
      assertThat(trials.get("rows_left_out").asInt()).isZero();
      List<GroundTruth> truths =
          engine.groundTruth().stream()
              .sorted(Comparator.comparingLong(GroundTruth::receivedNanos))
              .toList();
      List<Double> ways = new ArrayList<>();
      for (int trial = 0; trial < 5; trial++) {
        List<GroundTruth> of = truths.subList(4 * trial, 4 * trial + 4);
        JsonNode row = trials.get("rows").get(trial);
        assertThat(row.get("trial").asInt()).isEqualTo(trial + 1);
        assertThat(row.get("requests").asInt()).isEqualTo(4);
        assertThat(row.get("ok").asInt()).isEqualTo(4);
        assertThat(row.get("output_tokens").asInt())
            .isEqualTo(of.stream().mapToInt(GroundTruth::outputTokens).sum());
        double served =
            (of.stream().mapToLong(t -> t.tokenNanos()[29]).max().orElseThrow()
                    - of.get(0).receivedNanos())
                / 1e9;
        double wall = row.get("wall_s").asDouble();
        System.out.printf("trial %d: %.4f s, served in %.4f s%n", trial + 1, wall, served);
        assertThat(wall).as("never shorter than it was served").isGreaterThan(served);
        ways.add(wall - served);
        assertThat(row.get("output_tokens_per_s").asDouble()).isCloseTo(120 / wall, within(0.001));
      }
      assertThat(ways.stream().sorted().toList().get(2))
          .as("median of the way there and back; the first trial connects, too")
          .isLessThan(0.1);
      assertThat(run.output()).contains("---- Trials ---");
    }
  }
}
