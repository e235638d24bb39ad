package io.github.gatlingllm.e2e;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.MavenProject;
import io.github.gatlingllm.testing.MavenProject.Outcome;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code mvn gatling:test} in a project that has our jar and one simulation of its own. */
class UserProjectIT {

  private static final String SIMULATION =
      """
      import static io.gatling.javaapi.core.CoreDsl.*;
      import static io.github.gatlingllm.javaapi.LlmDsl.*;

      import io.gatling.javaapi.core.*;

      public class FirstSimulation extends Simulation {
        {
          setUp(scenario("Chat").exec(llm("ask").chat().user("hi").maxTokens(2))
                  .injectOpen(atOnceUsers(3)))
              .protocols(llm.baseUrl(System.getProperty("baseUrl")).disableJvmWarmUp());
        }
      }
      """;

  @TempDir Path folder;

  @Test
  void jarAddsNoSimulationToTheUsersAndYetHasTheBenchmark() throws Exception {
    MavenProject project = MavenProject.in(folder, Map.of("FirstSimulation", SIMULATION));
    try (EmbeddedEngine engine = EmbeddedEngine.builder().fixed(ofMillis(5), ofMillis(1)).start()) {
      Outcome own = project.run("gatling:test", "-DbaseUrl=" + engine.baseUrl());

      assertThat(own.exitCode()).as(own.output()).isZero();
      assertThat(own.output())
          .contains("Simulation FirstSimulation started...", "LLM report generated")
          .doesNotContain(Benchmark.class.getName());
      assertThat(engine.requestsReceived()).isEqualTo(3);

      Outcome older =
          project.run(
              "gatling:test",
              "-DbaseUrl=" + engine.baseUrl(),
              "-Dgatling.version=" + MavenProject.property("gatling.older.version"));

      assertThat(older.exitCode()).as(older.output()).isZero();
      assertThat(older.output()).contains("0 failed", "LLM report generated");
      assertThat(engine.requestsReceived()).isEqualTo(6);
    }

    Outcome benchmark =
        project.run(
            "gatling:test",
            "-Dgatling.simulationClass=" + Benchmark.class.getName(),
            "-Dllm.dryRun=true");

    assertThat(benchmark.exitCode()).as(benchmark.output()).isZero();
    assertThat(benchmark.output()).contains("Dry run: nothing was sent");
  }
}
