package io.github.gatlingllm.e2e;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.storage.S3Server;
import io.github.gatlingllm.testing.GatlingRun;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Interrupted runs keep their records. */
class InterruptedRunIT {

  private static final int SIGTERM = 128 + 15;
  private static final int SIGKILL = 128 + 9;

  /** Streams of 300 ms, so that the signal interrupts some of them. */
  private static EmbeddedEngine engine() {
    return EmbeddedEngine.builder().fixed(ofMillis(5), ofMillis(3)).recordGroundTruth().start();
  }

  @Test
  void sigtermDuringStreamsGivesAReport() throws Exception {
    try (EmbeddedEngine engine = engine();
        S3Server s3 = new S3Server();
        GatlingRun run =
            GatlingRun.of(LongSimulation.class)
                .set("baseUrl", engine.baseUrl())
                .set("llm.upload", "s3://bench/t")
                .set(s3.properties())
                .start()) {
      run.awaitRecords(20);
      run.terminate();
      run.await();

      assertThat(run.exitCode()).as(run.output()).isEqualTo(SIGTERM);
      assertThat(run.output()).doesNotContain("\tat ", "Exception");
      assertThat(run.requests()).hasSizeGreaterThanOrEqualTo(20);
      assertThat(run.info().state()).isEqualTo(RunInfo.State.INTERRUPTED);
      assertThat(run.info().endUnixNanos()).isNotNull();
      assertThat(run.summary().at("/run/state").asText()).isEqualTo("interrupted");
      assertThat(run.summary().at("/counts/ok").asInt()).isBetween(1, run.requests().size());
      assertThat(run.files().page()).isNotEmptyFile();
      assertThat(run.files().summaryMarkdown()).isNotEmptyFile();
      String place = "t/" + run.info().id() + "-" + run.info().injector() + "/";
      for (Path file : List.of(run.files().requests(), run.files().info(), run.files().page())) {
        assertThat(s3.objects.get(place + run.files().run().relativize(file)))
            .isEqualTo(Files.readAllBytes(file));
      }
    }
  }

  /** {@code RecorderTest} checks how many records a kill can lose: those of one second. */
  @Test
  void recordsOfAKilledRunAreReadable() throws Exception {
    try (EmbeddedEngine engine = engine();
        GatlingRun run =
            GatlingRun.of(LongSimulation.class).set("baseUrl", engine.baseUrl()).start()) {
      run.awaitRecords(20);
      run.kill();
      run.await();

      assertThat(run.exitCode()).isEqualTo(SIGKILL);
      List<RequestRecord> records = new ArrayList<>();
      ReadReport report = RecordFile.read(run.files().requests(), records::add);
      assertThat(report.badLines()).isZero();
      assertThat(records)
          .hasSizeGreaterThanOrEqualTo(20)
          .extracting(r -> r.identity().requestId())
          .doesNotHaveDuplicates()
          .isSubsetOf(engine.groundTruth().stream().map(GroundTruth::requestId).toList());
      assertThat(run.info().state()).isEqualTo(RunInfo.State.RUNNING);
    }
  }

  @Test
  void interruptBeforeTheFirstRequestIsOneLine() throws Exception {
    try (GatlingRun run =
        GatlingRun.of(LongSimulation.class)
            .set("baseUrl", "http://127.0.0.1:1/v1")
            .set("idle", 300)
            .start()) {
      run.awaitLine("started...");
      run.terminate();
      run.await();

      assertThat(run.exitCode()).isEqualTo(SIGTERM);
      assertThat(run.output()).doesNotContain("\tat ", "Exception");
      assertThat(run.lines().stream().filter(line -> line.contains("LLM ")))
          .containsExactly("LLM report: none, because no llm request was sent");
      assertThat(run.files().page()).doesNotExist();
      assertThat(run.info().state()).isEqualTo(RunInfo.State.INTERRUPTED);
    }
  }
}
