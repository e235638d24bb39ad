package io.github.gatlingllm.e2e;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.GatlingRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** One command, several processes, one run. */
class LocalInjectorsIT {

  private static GatlingRun.Setup benchmark(int injectors) {
    return GatlingRun.of(Benchmark.class)
        .set("llm.injectors", injectors)
        .set("llm.fill", 0)
        .set("llm.stabilize", 0)
        .set("llm.cooldown", false)
        .set("llm.drain", 1)
        .set("llm.clock", "off")
        .set("llm.warmup", 0);
  }

  private static List<Path> found(GatlingRun run, String file) throws IOException {
    try (Stream<Path> all = Files.walk(run.results())) {
      return all.filter(path -> path.endsWith(file)).toList();
    }
  }

  private static List<RequestRecord> records(Path file) throws IOException {
    List<RequestRecord> records = new ArrayList<>();
    var unused = RecordFile.read(file, records::add);
    return records;
  }

  private static RunFiles joined(GatlingRun run) throws IOException {
    return new RunFiles(found(run, "llm.html").get(0).getParent());
  }

  /** What each has, 6 requests, would miss the assertion that all together hold. */
  @Test
  void assertionsAreJudgedByTheJoinedRun() throws Exception {
    GatlingRun run =
        benchmark(2)
            .set("llm.concurrency", 2)
            .set("llm.requests", 12)
            .set("llm.assert", "ok>=7,errors=0")
            .run();

    assertThat(run.exitCode()).as(run.output()).isZero();
    RunInfo info = RunInfo.read(joined(run).info()).orElseThrow();
    assertThat(records(joined(run).requests()))
        .hasSize(12)
        .extracting(record -> record.identity().injector())
        .containsOnly(info.injectors().get(0).name(), info.injectors().get(1).name());
    assertThat(info.seed()).isNotNull();
  }

  @Test
  void oneThatIsKilledIsNamedAndWhatItHadCounts() throws Exception {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().fixed(ofMillis(5), ofMillis(2)).start();
        GatlingRun run =
            benchmark(3)
                .set("llm.endpoint", engine.baseUrl())
                .set("llm.model", "embedded")
                .set("llm.concurrency", 6)
                .set("llm.duration", 2)
                .start()) {
      run.await("records of the third", () -> lines(run, 3) >= 10);
      ProcessHandle third = process(run, "llm.injector=3/3");
      third.destroyForcibly();
      run.await();

      assertThat(run.exitCode()).as(run.output()).isEqualTo(1);
      assertThat(run.output())
          .contains(
              "LLM injector 3/3 (process %d) ended with exit code 137, by signal 9"
                  .formatted(third.pid()));
      assertThat(run.process().descendants()).isEmpty();
      RunFiles joined = joined(run);
      List<RequestRecord> parts = new ArrayList<>();
      for (Path each : found(run, "requests.jsonl")) {
        parts.addAll(each.equals(joined.requests()) ? List.of() : records(each));
      }
      assertThat(records(joined.requests()))
          .extracting(record -> record.identity().requestId())
          .containsExactlyInAnyOrderElementsOf(
              parts.stream().map(record -> record.identity().requestId()).toList());
      JsonNode summary = new ObjectMapper().readTree(joined.summaryJson().toFile());
      assertThat(summary.path("checks"))
          .filteredOn(check -> check.path("id").asText().equals("injectors"))
          .singleElement()
          .satisfies(
              check -> {
                assertThat(check.path("level").asText()).isEqualTo("invalid");
                assertThat(check.path("message").asText()).contains("3/3");
              });
    }
  }

  private static long lines(GatlingRun run, int injector) throws IOException {
    for (Path file : found(run, "requests.jsonl")) {
      if (file.toString().contains("-injectors/" + injector + "/")) {
        return Files.readAllLines(file).size();
      }
    }
    return 0;
  }

  private static ProcessHandle process(GatlingRun run, String option) {
    return run.process()
        .descendants()
        .filter(each -> each.info().commandLine().orElse("").contains(option))
        .findFirst()
        .orElseThrow();
  }
}
