package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.action.Mistakes;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.JavaCommand;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A mistake in a simulation is one line before any load, never a stack trace: when the simulation
 * is constructed, and when Gatling builds its actions; {@link Mistakes} has the table.
 */
class MistakesIT {
  @Test
  void everyMistakeHasItsLine(@TempDir Path folder) throws Exception {
    Map<String, String> lines =
        JavaCommand.runFromJar(Mistakes.class, folder).stream()
            .filter(line -> line.matches("> \\w+\t.*"))
            .map(line -> line.substring(2).split("\t", 2))
            .collect(Collectors.toMap(line -> line[0], line -> line[1]));
    assertThat(Mistakes.values())
        .allSatisfy(
            each ->
                assertThat(lines.get(each.name()))
                    .startsWith(each.line)
                    .doesNotContain("¶")
                    .hasSizeLessThanOrEqualTo(200));
    assertThat(lines).hasSameSizeAs(Mistakes.values());
  }

  @Test
  void settingOfBenchmarkIsRefusedByAnOwnSimulation() throws Exception {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().start()) {
      GatlingRun run =
          GatlingRun.of(FirstProgramSimulation.class, engine.baseUrl())
              .set("llm.concurrency", "8")
              .run();

      assertThat(run.exitCode()).as(run.output()).isEqualTo(1);
      assertThat(run.lines()).filteredOn(line -> line.startsWith("llm.concurrency=8: ")).hasSize(1);
      assertThat(run.output()).doesNotContain("\tat ", "Exception");
      assertThat(engine.requestsReceived()).isZero();
    }
  }

  @Test
  void settingsApplyToAnOwnSimulation() throws Exception {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().start()) {
      GatlingRun run =
          GatlingRun.of(FirstProgramSimulation.class, "http://127.0.0.1:1/v1")
              .set("llm.endpoint", "named=" + engine.baseUrl())
              .llm(
                  "model=embedded slo=e2e<9s sloPercentile=50 assert=e2e.p50<1ms,ask:errors<1%"
                      + " seed=7 recordText=true csv=true uniquePrompts=true")
              .run();

      assertThat(run.exitCode()).as("a missed gate: " + run.output()).isEqualTo(2);
      assertThat(run.lines()).filteredOn(line -> line.startsWith("LLM settings ")).hasSize(1);
      assertThat(run.requests())
          .isNotEmpty()
          .allMatch(record -> record.identity().target().equals("named"))
          .allMatch(record -> record.outcome().sloOk() != null);
      assertThat(run.info().objectives().slo()).isEqualTo("e2e<9s");
      assertThat(run.info().objectives().sloPercentile()).isEqualTo(50);
      assertThat(run.info().config())
          .containsEntry("seed", "7")
          .containsEntry("uniquePrompts", "true")
          .containsEntry("slo", "e2e<9s");
      assertThat(run.files().csv()).exists();
    }
  }

  @Test
  void helpEndsWithoutAnError() throws Exception {
    GatlingRun run = GatlingRun.of(Benchmark.class).set("llm.help", "true").succeed();
    assertThat(run.output()).contains("\nTarget\n  endpoint ").doesNotContain("started...");
  }
}
