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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SelfTestIT {

  @TempDir private Path folder;

  /** It is the run of a Benchmark, in the results folder of the simulation that asked for it. */
  @Test
  void anOwnSimulationTestsItselfAndALaterRunQuotesIt() throws Exception {
    Path file = folder.resolve("kept/self-test.json");
    GatlingRun test;
    try (EmbeddedEngine engine = EmbeddedEngine.builder().start()) {
      test =
          GatlingRun.of(FirstProgramSimulation.class, engine.baseUrl())
              .set("llm.selfTestFile", file)
              .llm("selfTest=true concurrency=4 duration=3")
              .succeed();
      assertThat(engine.requestsReceived()).isZero();
    }

    SelfTest kept = SelfTest.read(file).orElseThrow();
    assertThat(kept.levels()).extracting(SelfTest.TestedLoad::streams).containsExactly(4);
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
    assertThat(kept.machine().jvmOptions())
        .as("in a JVM like that of the simulation")
        .containsAll(JvmOptions.OF_RUNS)
        .doesNotHaveDuplicates();
    assertThat(test.output())
        .contains("LLM self-test: result written to ", "Self-test: errors in ms", "> Ceiling: ")
        .doesNotContain("Exception");
    assertThat(test.info().selfTest()).isEqualTo(kept);
    assertThat(Files.readString(test.files().page())).contains("Self-test: errors in ms");

    GatlingRun later =
        GatlingRun.of(Benchmark.class)
            .set("llm.selfTestFile", file)
            .llm("rate=5 arrival=constant requests=4 maxTokens=2")
            .succeed();

    assertThat(later.info().selfTest()).isEqualTo(kept);
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
}
