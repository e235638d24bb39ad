package io.github.gatlingllm.figures.level;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.report.RunReport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
    info().write(files.info());
    Random random = new Random(11);
    ByteArrayOutputStream lines = new ByteArrayOutputStream();
    for (int i = 0; i < 1_000; i++) {
      lines.writeBytes(RecordFile.line(random(random)));
    }
    Files.write(files.requests(), lines.toByteArray());
    RunReport.of(files).write();
  }

  @Test
  void agrees() throws Exception {
    assertThat(script()).isEqualTo("1000 records, 5 stages: all figures agree");
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

  private static RunInfo info() {
    List<LevelInfo> stages = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      double from = 500 + i * 5_000;
      stages.add(
          Recorded.stage(
              "c=" + (1 << i), "a", "closed loop", (double) (1 << i), "users", from, from + 4_000));
    }
    stages.add(Recorded.stage("c=1", "b", "closed loop", 1.0, "users", 21_000, 29_000));
    return Recorded.run(30, stages.toArray(LevelInfo[]::new))
        .slo(Slo.parse("ttft<300ms", 90, Slo.Rule.PERCENTILES));
  }

  private static RequestRecord random(Random random) {
    Recorded r =
        Recorded.at(random.nextDouble() * 29_000)
            .name(List.of("ask", "chat", "sum").get(random.nextInt(3)));
    boolean b = random.nextInt(4) == 0;
    r.target(b ? "b" : "a").stage(b ? "c=1" : "c=" + (1 << random.nextInt(4)));
    Phase[] phases = {Phase.MEASURE, Phase.MEASURE, Phase.MEASURE, Phase.FILL, Phase.STABILIZE};
    r.phase(phases[random.nextInt(phases.length)]);
    if (random.nextBoolean()) {
      r.lag(random.nextDouble() * 20).gate(random.nextDouble() * 50);
    }
    if (random.nextInt(10) == 0) {
      return r.body(random.nextDouble() * 3_000, 1 + random.nextInt(60)).record();
    }
    int n = 1 + random.nextInt(40);
    double[] tokens = new double[n];
    double at = 20 + random.nextDouble() * 400;
    for (int i = 0; i < n; i++) {
      tokens[i] = Math.round(at * 1_000) / 1e3;
      at += random.nextInt(5) == 0 ? 0 : -40 * Math.log(1 - random.nextDouble());
    }
    r.tokens(tokens).closed(at + 1).prompt(random.nextInt(5) == 0 ? null : random.nextInt(2_000));
    switch (random.nextInt(5)) {
      case 0 -> r.perEvent(random.ints(n, 1, 5).toArray());
      case 1 -> r.output(n + random.nextInt(n + 1));
      case 2 -> r.choices(random.ints(n, 0, 2).toArray());
      case 3 -> r.withoutTimes();
      default -> {}
    }
    switch (random.nextInt(12)) {
      case 0 -> r.failed(RequestStatus.TRUNCATED, "cut");
      case 1 -> r.failed(RequestStatus.CANCELLED, "cancelled");
      default -> {}
    }
    return r.record();
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
