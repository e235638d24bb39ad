package io.github.gatlingllm.e2e;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.JavaCommand;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProgramsIT {

  @Test
  void firstProgram() throws Exception {
    try (EmbeddedEngine engine =
        EmbeddedEngine.builder().fixed(ofMillis(10), ofMillis(2)).start()) {
      GatlingRun run =
          GatlingRun.of(FirstProgramSimulation.class, engine.baseUrl()).byOwnMain().reports().run();

      List<Long> planned = new ArrayList<>();
      Arrivals.poisson(25, 42).offsetsBefore(TimeUnit.SECONDS.toNanos(2)).forEach(planned::add);
      assertThat(run.exitCode())
          .as("its assertion is about this machine's speed: %s", run.output())
          .isIn(0, GatlingRun.ASSERTIONS_FAILED);
      assertThat(run.files().page()).as("beside Gatling's own").isNotEmptyFile();
      assertThat(engine.requestsReceived()).isEqualTo(planned.size());
      assertThat(run.requests("ask"))
          .hasSize(planned.size())
          .allSatisfy(
              record -> {
                assertThat(record.outcome().finishReason()).isEqualTo("length");
                assertThat(record.tokens().outputTokens()).isEqualTo(16);
                assertThat(record.identity().stage()).isEqualTo("all");
                assertThat(record.outcome().sloOk()).isNotNull();
                assertThat(record.text()).as("not kept unless asked for").isNull();
                assertThat(record.timing().startLagNanos()).isNotNegative();
                assertThat(record.timing().ttftFromScheduleNanos())
                    .isGreaterThanOrEqualTo(record.timing().ttftNanos());
              });
      assertThat(run.requests("ask").stream().map(r -> r.timing().scheduledOffsetNanos()).sorted())
          .as("the arrivals of the seed, in any JVM")
          .containsExactlyElementsOf(planned);
      assertThat(run.info().outcome().planned()).isEqualTo(planned.size());
      assertThat(run.info().outcome().started()).isEqualTo(planned.size());
      assertThat(run.check("all_accounted").get("level").asText()).isEqualTo("ok");
    }
  }

  /** One JVM runs them from our jar, one after the other, and makes their reports when it ends. */
  @Test
  void simulationsOfNewcomersRunFromTheJar(@TempDir Path folder) throws Exception {
    List<String> output = JavaCommand.runFromJar(Programs.class, folder);

    assertThat(output).noneMatch(line -> line.contains("Exception") || line.startsWith("\tat "));
    for (Programs each : Programs.values()) {
      RunFiles run;
      try (Stream<Path> runs = Files.list(folder.resolve(each.name()))) {
        run = new RunFiles(runs.findFirst().orElseThrow());
      }
      List<RequestStatus> ends = new ArrayList<>();
      RecordFile.read(run.requests(), record -> ends.add(record.outcome().status()));
      assertThat(ends).as(each.name()).isNotEmpty().containsOnly(RequestStatus.COMPLETE);
      if (each.requests > 0) {
        assertThat(ends).as(each.name()).hasSize(each.requests);
      }
      assertThat(RunInfo.read(run.info()).orElseThrow().state()).isEqualTo(RunInfo.State.COMPLETE);
      assertThat(run.page()).isNotEmptyFile();
    }
  }
}
