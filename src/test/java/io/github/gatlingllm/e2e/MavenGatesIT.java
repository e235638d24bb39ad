package io.github.gatlingllm.e2e;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.testing.MavenProject;
import io.github.gatlingllm.testing.MavenProject.Outcome;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code mvn gatling:test} in a project of a user's: to the build a miss of ours is a miss of
 * Gatling's, whose own assertion holds here.
 */
class MavenGatesIT {

  private static final String SIMULATION =
      """
      import static io.gatling.javaapi.core.CoreDsl.*;
      import static io.github.gatlingllm.javaapi.LlmDsl.*;

      import io.gatling.javaapi.core.*;
      import io.github.gatlingllm.javaapi.*;
      import io.github.gatlingllm.record.RequestStatus;

      public class %s extends Simulation {
        LlmProtocolBuilder engine =
            llm.baseUrl(System.getProperty("baseUrl"))
                .model("embedded")
                .disableJvmWarmUp()
                .assertions(llmGlobal().status(RequestStatus.COMPLETE).count().is(0));

        {
          setUp(
                  closedLoop(1).requests(2)
                      .inject(scenario("S").exec(llm("ask").chat().user("hi").maxTokens(2))))
              .protocols(engine)
              .assertions(global().failedRequests().count().is(0L));
        }
      }
      """;

  private static final String MISS =
      "Global: count of complete requests is 0.0 : false (actual : 2.0)";

  @TempDir Path folder;

  @Test
  void missFailsTheBuildAsGatlingsOwnDoes() throws Exception {
    MavenProject project =
        MavenProject.in(
            folder,
            Map.of(
                "FirstSimulation", SIMULATION.formatted("FirstSimulation"),
                "SecondSimulation", SIMULATION.formatted("SecondSimulation")));
    try (EmbeddedEngine engine = EmbeddedEngine.builder().fixed(ofMillis(5), ofMillis(1)).start()) {
      Outcome missed =
          project.run(
              "gatling:test",
              "-DbaseUrl=" + engine.baseUrl(),
              "-Dgatling.noReports=true",
              "-Dgatling.runMultipleSimulations=true",
              "-Dgatling.continueOnAssertionFailure=true");

      assertThat(missed.exitCode()).as(missed.output()).isEqualTo(1);
      assertThat(missed.output())
          .containsSubsequence(
              "Simulation FirstSimulation started...",
              MISS,
              "Simulation SecondSimulation started...",
              MISS,
              "BUILD FAILURE",
              "Gatling simulation assertions failed !");

      Outcome tolerated =
          project.run(
              "gatling:test",
              "-DbaseUrl=" + engine.baseUrl(),
              "-Dgatling.noReports=true",
              "-Dgatling.simulationClass=FirstSimulation",
              "-Dgatling.failOnError=false");

      assertThat(tolerated.exitCode()).as(tolerated.output()).isZero();
      assertThat(tolerated.output())
          .containsSubsequence(MISS, "failOnError was set to false", "BUILD SUCCESS");
    }
  }
}
