package io.github.gatlingllm.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.Exchange;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** One command, several processes, one run. */
class LocalInjectorsIT {

  private static final int ANSWERED_PER_CONNECTION = 4;

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

  /** The 6 requests of one injector would miss the assertion that all of them together meet. */
  @Test
  void assertionsAreJudgedInTheMergedRun() throws Exception {
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

  /**
   * The server answers a few requests per connection, and the rest after the third injector has
   * died.
   */
  @Test
  void killedInjectorIsNamedAndItsRecordsCount() throws Exception {
    CountDownLatch killed = new CountDownLatch(1);
    try (ScriptedServer server = ScriptedServer.start(exchange -> answer(exchange, killed));
        GatlingRun run =
            benchmark(3)
                .set("llm.endpoint", server.baseUrl() + "/v1")
                .set("llm.model", "m")
                .set("llm.concurrency", 6)
                .set("llm.requests", 60)
                .start()) {
      run.await("records of the third", () -> lines(run, 3) >= ANSWERED_PER_CONNECTION);
      ProcessHandle third = process(run, "llm.injector=3/3");
      third.destroyForcibly();
      third.onExit().get(1, TimeUnit.MINUTES);
      killed.countDown();
      run.await();

      assertThat(run.exitCode()).as(run.output()).isEqualTo(1);
      assertThat(run.output())
          .contains(
              "LLM injector 3/3 (process %s) ended with exit code 137, by signal 9"
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

  private static void answer(Exchange exchange, CountDownLatch killed)
      throws IOException, InterruptedException {
    if (exchange.request().indexOnConnection() >= ANSWERED_PER_CONNECTION) {
      exchange.await(killed);
    }
    exchange
        .startStream()
        .event(ChatChunks.content("a"))
        .event(ChatChunks.finish("stop"))
        .event(ChatChunks.usage(1, 1))
        .done()
        .lastChunk();
  }

  private static long lines(GatlingRun run, int injector) throws IOException {
    try {
      for (Path file : found(run, "requests.jsonl")) {
        if (file.toString().contains("-injectors/" + injector + "/")) {
          return GatlingRun.lineCount(file);
        }
      }
    } catch (UncheckedIOException e) {
      // A file was renamed while folders were read.
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
