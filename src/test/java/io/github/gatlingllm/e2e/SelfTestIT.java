package io.github.gatlingllm.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.record.SelfTest.JvmOptions;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.GatlingRun;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A short self-test, and a later run. */
class SelfTestIT {

  @TempDir private Path folder;

  private GatlingRun benchmark(Map<String, Object> settings) throws Exception {
    GatlingRun run =
        GatlingRun.of(Benchmark.class)
            .set("llm.selfTestFile", folder.resolve("kept/self-test.json"))
            .set(settings)
            .succeed();
    return run;
  }

  @Test
  void resultIsSavedPrintedAndQuotedByALaterRun() throws Exception {
    GatlingRun test =
        benchmark(Map.of("llm.selfTest", true, "llm.concurrency", "4", "llm.duration", "2"));

    SelfTest kept = SelfTest.read(folder.resolve("kept/self-test.json")).orElseThrow();
    assertThat(kept.levels()).extracting(SelfTest.Level::streams).containsExactly(4);
    assertThat(kept.levels())
        .allSatisfy(
            level -> {
              assertThat(level.requests()).isPositive();
              assertThat(level.eventsPerS()).isPositive();
              assertThat(level.ttftErrorMs().p50()).isPositive();
              assertThat(level.itlErrorMs().max()).isPositive();
              assertThat(level.itlErrorMs().p50()).isLessThanOrEqualTo(level.itlErrorMs().max());
              assertThat(level.engineLateP99Ms()).isPositive();
            });
    assertThat(test.info().environment().selfTest()).isEqualTo(kept);
    assertThat(test.output())
        .contains("LLM self-test: result written to ", "Self-test: errors in ms", "> Ceiling: ");
    assertThat(Files.readString(test.files().page())).contains("Self-test: errors in ms");

    GatlingRun later =
        benchmark(
            Map.of(
                "llm.rate", "5",
                "llm.arrival", "constant",
                "llm.requests", "4",
                "llm.maxTokens", "2"));

    assertThat(later.info().environment().selfTest()).isEqualTo(kept);
    assertThat(later.summary().at("/self_test/operating_point/tested/streams").asInt())
        .as("4 requests are at most 4 streams, and 2 tokens each far fewer events")
        .isEqualTo(4);
    for (String text :
        List.of(
            Files.readString(later.files().summaryMarkdown()),
            Files.readString(later.files().page()))) {
      assertThat(text).contains("measurement error").containsPattern("TTFT ± [0-9.]+ ms \\(p99");
    }
    assertThat(later.output()).doesNotContain("Self-test: errors in ms");
  }

  /** The run that is kept is that of the Benchmark, in the results folder of the simulation. */
  @Test
  void anOwnSimulationTestsItselfAndSendsNothing() throws Exception {
    Path kept = folder.resolve("self-test.json");
    try (EmbeddedEngine engine = EmbeddedEngine.builder().start()) {
      GatlingRun run =
          GatlingRun.of(FirstProgramSimulation.class, engine.baseUrl())
              .set("llm.selfTestFile", kept)
              .set("llm.selfTest", true)
              .set("llm.concurrency", 4)
              .set("llm.duration", 1)
              .succeed();

      assertThat(engine.requestsReceived()).isZero();
      assertThat(run.output()).contains("Self-test: errors in ms").doesNotContain("Exception");
      SelfTest result = SelfTest.read(kept).orElseThrow();
      assertThat(result.levels()).extracting(SelfTest.Level::streams).containsExactly(4);
      assertThat(result.machine().jvmOptions())
          .as("in a JVM like that of the simulation")
          .containsAll(JvmOptions.OF_RUNS)
          .doesNotHaveDuplicates();
    }
  }
}
