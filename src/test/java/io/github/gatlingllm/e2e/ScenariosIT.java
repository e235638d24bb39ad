package io.github.gatlingllm.e2e;

import static java.time.Duration.ofMillis;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.engine.GroundTruth;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunClock;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.Occupancy;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several scenarios on one target under the same load plan. */
class ScenariosIT {

  /** So many may be on their way at the edges of a window when the machine is busy. */
  private static final int TOKENS_AT_AN_EDGE = 8;

  /** The same levels for two scenarios, of one and of two requests per iteration. */
  @ParameterizedTest
  @ValueSource(strings = {"oneAfterTheOther", "sideBySide"})
  void scenariosHaveStagesOfTheirOwn(String plan) throws Exception {
    try (EmbeddedEngine engine =
            EmbeddedEngine.builder().fixed(ofMillis(20), ofMillis(5)).recordGroundTruth().start();
        GatlingRun run =
            GatlingRun.of(LevelsSimulation.class)
                .set("plan", plan)
                .set("baseUrl", engine.baseUrl())
                .set("tokens", 20)
                .noReports()
                .run()) {
      assertThat(run.exitCode()).as(run.output()).isZero();
      Map<String, GroundTruth> truths =
          engine.groundTruth().stream()
              .collect(Collectors.toMap(GroundTruth::requestId, Function.identity()));
      JsonNode stages = run.summary().get("stages");
      assertThat(stages)
          .extracting(
              stage -> stage.get("label").asText() + " of " + stage.get("scenario").asText())
          .containsExactlyInAnyOrder(
              "c=1 of Once",
              "c=2 of Once",
              "c=4 of Once",
              "c=1 of Chat",
              "c=2 of Chat",
              "c=4 of Chat");
      for (JsonNode stage : stages) {
        assertOfItsOwn(stage, run, truths);
      }
      JsonNode curves = run.summary().get("curves");
      assertThat(curves)
          .extracting(curve -> curve.get("scenario").asText())
          .containsExactlyInAnyOrder("Once", "Chat");
      assertThat(curves.get(1).get("stages")).hasSize(3);
      assertThat(run.summary().get("verdict").asText()).contains("Once: ", "Chat: ");
      assertThat(run.output()).contains("c=4 of Once", "c=4 of Chat");
    }
  }

  /** What the summary says of a stage is what the engine did for its scenario in its window. */
  private static void assertOfItsOwn(
      JsonNode stage, GatlingRun run, Map<String, GroundTruth> truths) throws Exception {
    String scenario = stage.get("scenario").asText();
    String label = stage.get("label").asText();
    String name = label + " of " + scenario;
    LevelInfo info =
        run.info().stages().stream()
            .filter(s -> s.label().equals(label) && s.scenario().equals(scenario))
            .findFirst()
            .orElseThrow();
    List<RequestRecord> own =
        run.requests().stream().filter(r -> r.identity().scenario().equals(scenario)).toList();
    assertThat(stage.get("duration_s").asDouble()).isEqualTo(1);
    assertThat(stage.at("/counts/started").asLong())
        .as(name)
        .isEqualTo(
            own.stream()
                .filter(r -> r.identity().stage().equals(label))
                .filter(r -> r.identity().phase() == Phase.MEASURE)
                .count());

    long epoch = RunClock.system().unixNanos(0);
    PhaseWindow window = info.window(Phase.MEASURE).orElseThrow();
    long from = window.startUnixNanos() - epoch;
    long until = window.endUnixNanos() - epoch;
    List<GroundTruth> served =
        own.stream().map(r -> requireNonNull(truths.get(r.identity().requestId()))).toList();
    long sent =
        served.stream()
            .flatMapToLong(truth -> Arrays.stream(truth.tokenNanos()))
            .filter(at -> at >= from && at < until)
            .count();
    assertThat(stage.at("/throughput/output_tokens_per_s").asDouble())
        .as(name)
        .isCloseTo((double) sent, within(0.02 * sent + TOKENS_AT_AN_EDGE));
    Occupancy inFlight =
        Occupancy.of(
            served.stream()
                .filter(t -> t.receivedNanos() >= from && t.receivedNanos() < until)
                .map(t -> new Occupancy.Stay(t.receivedNanos(), t.endedNanos()))
                .toList(),
            from,
            until);
    int users = Integer.parseInt(label.substring("c=".length()));
    assertThat(inFlight.max()).as(name).isEqualTo(users);
    double mean = stage.get("mean_in_flight").asDouble();
    System.out.printf("%s in flight: %.4f, at the engine %.4f%n", name, mean, inFlight.mean());
    assertThat(mean).as(name).isBetween(inFlight.mean(), users + 0.001);
  }
}
