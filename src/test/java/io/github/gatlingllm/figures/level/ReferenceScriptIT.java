package io.github.gatlingllm.figures.level;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.report.RunReport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Records written to a file, and judged by a script in another language. */
class ReferenceScriptIT {

  private static final Path SCRIPT = Path.of("src/test/resources/reference/summary.py");

  @TempDir private Path folder;

  private Path run;

  @BeforeEach
  void recordedRun() throws IOException {
    RunFiles files = new RunFiles(folder);
    run = Files.createDirectories(files.folder());
    ReferenceFiguresTest.info().write(files.info());
    Random random = new Random(11);
    ByteArrayOutputStream lines = new ByteArrayOutputStream();
    for (int i = 0; i < 500; i++) {
      lines.writeBytes(RecordFile.line(ReferenceFiguresTest.random(random)));
    }
    Files.write(files.requests(), lines.toByteArray());
    RunReport.of(files).write();
  }

  @Test
  void agrees() throws Exception {
    assertThat(script()).isEqualTo("500 records, 5 stages: all figures agree");
  }

  @Test
  void noticesAWrongFigure() throws Exception {
    Path summary = run.resolve("summary.json");
    String right = Files.readString(summary);
    String wrong =
        right.replaceFirst("\"output_tokens_per_s\" : [0-9.]+", "\"output_tokens_per_s\" : 1");
    Files.writeString(summary, wrong);
    assertThat(script()).startsWith("/throughput/output_tokens_per_s: expected ");
  }

  private String script() throws IOException, InterruptedException {
    Process python;
    try {
      python =
          new ProcessBuilder("python3", SCRIPT.toString(), run.toString(), "--compare")
              .redirectErrorStream(true)
              .start();
    } catch (IOException e) {
      assumeTrue(false, "python3 is not installed: the reference script was not run");
      throw e;
    }
    String said = new String(python.getInputStream().readAllBytes(), UTF_8).trim();
    assertThat(python.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return said;
  }
}
