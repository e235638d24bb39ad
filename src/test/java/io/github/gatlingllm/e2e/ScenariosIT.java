package io.github.gatlingllm.e2e;

import static java.time.Duration.ofMillis;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.Occupancy;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Several scenarios on one target side by side; one after the other: TargetsIT. */
class ScenariosIT {

  /** The same levels for two scenarios, with one and two requests per iteration. */
  @Test
  void eachScenarioHasItsOwnLevels() throws Exception {
    try (EmbeddedEngine engine =
            EmbeddedEngine.builder().fixed(ofMillis(20), ofMillis(5)).recordGroundTruth().start();
        GatlingRun run =
            GatlingRun.of(LevelsSimulation.class, engine.baseUrl())
                .set("plan", "sideBySide")
                .set("tokens", 20)
                .succeed()) {
      EngineTokens.assertAllArrived(run.requests(), engine.groundTruth());
      Map<String, GroundTruth> truths = EngineTokens.byRequest(engine.groundTruth());
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

  /**
   * Asserts that the summary of a level matches what the engine did for its scenario in its window.
   */
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

    PhaseWindow window = info.window(Phase.MEASURE).orElseThrow();
    assertThat(stage.at("/throughput/output_tokens_per_s").asDouble())
        .as(name)
        .isCloseTo(EngineTokens.arrivedIn(window, own), within(EngineTokens.AT_THE_EDGES));
    int mostAtTheEngine =
        Occupancy.most(
            own.stream()
                .filter(r -> r.identity().stage().equals(label))
                .map(r -> requireNonNull(truths.get(r.identity().requestId())))
                .map(t -> new Occupancy.Stay(t.receivedNanos(), t.endedNanos()))
                .toList());
    int users = Integer.parseInt(label.substring("c=".length()));
    assertThat(mostAtTheEngine).as(name).isEqualTo(users);
    assertThat(stage.get("mean_in_flight").asDouble()).as(name).isBetween(0.0, users + 0.001);
  }
}
