package io.github.gatlingllm.simulations.cli;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.report.CommandLine;
import io.github.gatlingllm.testing.JavaCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The simulation of {@code deploy/kubernetes/overlays/example}, as two of its pods run it. */
class ExampleOverlayIT {

  private static final int PODS = 2;

  private static final String SOURCE =
      "deploy/kubernetes/components/simulation/ChatSimulation.java";

  @TempDir Path dir;

  @Test
  @Tag("nightly")
  void podsShareTheLoadOfTheSimulation() throws Exception {
    Path runs = dir.resolve("runs-20");
    try (EmbeddedEngine engine = EmbeddedEngine.builder().fixed(ofMillis(5), ofMillis(1)).start()) {
      for (int lead = 20; !areInTime(engine.baseUrl(), lead, runs); lead *= 2) {
        runs = dir.resolve("runs-" + 2 * lead);
      }
    }
    Path joined = dir.resolve("joined");
    List<String> merge = List.of("merge", "--expect=" + PODS, "--out=" + joined, runs.toString());
    var merged = CommandLine.call(() -> GatlingLlm.execute(merge));

    assertThat(merged.exitCode()).as(merged.output()).isZero();
    JsonNode summary = new ObjectMapper().readTree(joined.resolve("llm/summary.json").toFile());
    assertThat(summary.at("/counts/ok").asInt()).isPositive();
    assertThat(summary.at("/counts/ok")).isEqualTo(summary.at("/counts/started"));
    assertThat(summary.at("/injectors")).hasSize(PODS);
    assertThat(summary.at("/injectors"))
        .allSatisfy(
            pod -> {
              assertThat(pod.path("ok").asInt()).as(pod.toString()).isPositive();
              assertThat(pod.path("planned")).isEqualTo(pod.path("started"));
            });
  }

  private boolean areInTime(String endpoint, int leadSeconds, Path runs) throws Exception {
    Instant start = Instant.now().plusSeconds(leadSeconds);
    List<Process> pods = new ArrayList<>();
    for (int index = 0; index < PODS; index++) {
      pods.add(pod(index, endpoint, start, runs));
    }
    boolean inTime = true;
    for (int index = 0; index < PODS; index++) {
      assertThat(pods.get(index).waitFor(5, TimeUnit.MINUTES)).isTrue();
      String log = Files.readString(log(runs, index));
      inTime &= !log.contains("has passed");
      assertThat(pods.get(index).exitValue()).as(log).isLessThan(inTime ? 1 : 2);
    }
    return inTime;
  }

  private Process pod(int index, String endpoint, Instant start, Path runs) throws IOException {
    Files.createDirectories(runs);
    ProcessBuilder pod =
        new ProcessBuilder(
            JavaCommand.of(
                List.of("-XX:TieredStopAtLevel=1"),
                GatlingLlm.class,
                "benchmark",
                "--simulation=" + SOURCE,
                "--results=" + runs.resolve("" + index)));
    pod.environment()
        .putAll(
            Map.of(
                "JOB_COMPLETION_INDEX",
                "" + index,
                "INJECTORS",
                "" + PODS,
                "LLM_START_AT",
                "" + start.getEpochSecond(),
                "LLM_ENDPOINT",
                endpoint,
                "CHAT_SECONDS",
                "3",
                "LLM_FAIL_ON_INVALID",
                "false"));
    return pod.redirectErrorStream(true).redirectOutput(log(runs, index).toFile()).start();
  }

  private static Path log(Path runs, int index) {
    return runs.resolveSibling(runs.getFileName() + "-" + index + ".log");
  }
}
