package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.GatlingRun;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A mistake in a simulation is one line before any load, never a stack trace: when the simulation
 * is constructed, and when Gatling builds its actions. Tests of the DSL cover all mistakes.
 */
class MistakesIT {
  @ParameterizedTest
  @CsvSource({
    "none, scenario 'Browse' or 'Chat' sends llm requests but has no llm protocol; ",
    "two, protocols(…) has two llm protocols; ",
    "noUrl, the llm protocol has no base URL; "
  })
  void mistakeInASimulationIsOneLine(String protocols, String line) throws Exception {
    GatlingRun run = GatlingRun.of(MistakenSimulation.class).set("protocols", protocols).run();

    assertThat(run.exitCode()).as(run.output()).isEqualTo(1);
    assertThat(run.lines()).filteredOn(each -> each.startsWith(line)).hasSize(1);
    assertThat(run.output()).doesNotContain("\tat ", "Exception", "started...");
  }

  @Test
  void invalidSettingIsOneLine() throws Exception {
    GatlingRun run = GatlingRun.of(Benchmark.class).set("llm.concurency", "8").run();

    assertThat(run.exitCode()).as(run.output()).isEqualTo(1);
    assertThat(run.lines())
        .containsOnlyOnce("llm.concurency is not a setting; did you mean llm.concurrency?");
    assertThat(run.output()).doesNotContain("\tat ", "Exception", "started...");
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

  /** Everything that the report advises for the next run has an effect on it. */
  @Test
  void settingsApplyToAnOwnSimulation() throws Exception {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().start()) {
      GatlingRun run =
          GatlingRun.of(FirstProgramSimulation.class, "http://127.0.0.1:1/v1")
              .set("llm.endpoint", "named=" + engine.baseUrl())
              .set("llm.model", "embedded")
              .set("llm.slo", "e2e<9s")
              .set("llm.sloPercentile", "50")
              .set("llm.assert", "e2e.p50<1ms,c=1:errors<1%")
              .set("llm.seed", "7")
              .set("llm.recordText", "true")
              .set("llm.csv", "true")
              .set("llm.uniquePrompts", "true")
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

  /** Requests of ours, with Gatling's protocol and as many of ours as said. */
  public static final class MistakenSimulation extends Simulation {

    public MistakenSimulation() {
      ScenarioBuilder chat = scenario("Chat").exec(llm("ask").chat().user("Hello"));
      SetUp load =
          setUp(
              scenario("Browse").pause(1).injectOpen(atOnceUsers(1)),
              chat.injectOpen(atOnceUsers(1)));
      switch (System.getProperty("protocols")) {
        case "two" -> load.protocols(llm.baseUrl("http://a/v1"), llm.baseUrl("http://b/v1"), http);
        case "noUrl" -> load.protocols(llm.model("x"), http);
        default -> load.protocols(http);
      }
    }
  }
}
