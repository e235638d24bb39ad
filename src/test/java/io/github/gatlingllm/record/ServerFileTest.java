package io.github.gatlingllm.record;

import static io.github.gatlingllm.record.ServerSample.EngineMetric.ENGINE_TTFT_S;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.GPU_CLOCK_MHZ;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.PROMPT_TOKENS;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.REQUESTS_RUNNING;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.ServerSample.Histogram;
import io.github.gatlingllm.record.ServerSample.ServerFile;
import io.github.gatlingllm.testing.Reading;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServerFileTest {

  private static final Histogram TTFT =
      new Histogram(12, 0.31, List.of(0.001, 0.5), List.of(0L, 11L));

  @TempDir Path dir;
  private Path file;
  private final List<ServerSample> read = new ArrayList<>();

  @BeforeEach
  void inADirectory() {
    file = dir.resolve("server.jsonl");
  }

  private static ServerSample sample(long unixNanos, @Nullable String target) {
    return new ServerSample(
        unixNanos,
        target,
        "prefill",
        "http://a:8000/metrics",
        "vllm",
        3.125,
        null,
        false,
        Map.of(REQUESTS_RUNNING, "vllm:num_requests_running"),
        Map.of(REQUESTS_RUNNING, 3.0, PROMPT_TOKENS, 12_345.5),
        Map.of(ENGINE_TTFT_S, TTFT),
        Map.of("node-1 GPU 0", Map.of(GPU_CLOCK_MHZ, 1_980.0)));
  }

  private long read() throws IOException {
    read.clear();
    return ServerFile.read(file, read::add);
  }

  @Test
  void samplesRoundTrip() throws IOException {
    assertThat(read()).as("without a file").isZero();
    ServerFile written = new ServerFile(file);
    written.append(sample(5, "a"));
    written.append(
        Reading.at(6, Map.of())
            .of("a", "http://a:8000/metrics")
            .failed("no answer\nin time")
            .reset(true)
            .sample());
    written.append(sample(7, "a"));
    written.append(sample(8, null));

    assertThat(read()).isZero();
    ServerSample failure = read.get(1);
    assertThat(List.of(read.get(0), read.get(2), read.get(3)))
        .containsExactly(sample(5, "a"), sample(7, "a"), sample(8, null));
    assertThat(failure.error()).isEqualTo("no answer\nin time");
    assertThat(failure.reset()).isTrue();
    assertThat(failure.value(REQUESTS_RUNNING)).isNull();
    assertThat(failure.names()).as("of the line before").containsKey(REQUESTS_RUNNING);
  }

  @Test
  void namesAndBoundsAreWrittenOncePerEndpoint() throws IOException {
    ServerFile written = new ServerFile(file);
    written.append(sample(5, "a"));
    written.append(sample(6, "a"));
    written.append(sample(7, "b"));

    List<String> lines = Files.readAllLines(file);
    assertThat(lines).hasSize(3);
    assertThat(lines.get(0))
        .startsWith(
            "{\"unix_ns\":5,\"target\":\"a\",\"role\":\"prefill\",\"url\":\"http://a:8000/metrics\",")
        .contains(
            "\"names\":{\"requests_running\":\"vllm:num_requests_running\"}", "\"le\":[0.001,0.5]");
    assertThat(lines.get(1))
        .contains(
            "\"names\":{}", "\"engine_ttft_s\":{\"count\":12,\"sum\":0.31,\"counts\":[0,11]}");
    assertThat(lines.get(2)).contains("\"le\":[0.001,0.5]");
  }

  @Test
  void damagedLinesAreSkipped() throws IOException {
    new ServerFile(file).append(sample(5, "a"));
    String line = Files.readString(file);
    for (String damage :
        List.of(
            line.substring(0, 100),
            "[1]",
            "5",
            "null",
            "{\"unix_ns\":1}",
            line.replace("\"unix_ns\":5", "\"unix_ns\":\"x\"").strip(),
            "\0\0\0",
            "x".repeat(2 << 20))) {
      Files.writeString(file, line + damage + "\n\n" + line);
      assertThat(read()).as(damage).isOne();
      assertThat(read).as(damage).hasSize(2);
    }
  }

  @Test
  void unknownMetricsNullsAndHistogramsWithoutBoundsAreSkipped() throws IOException {
    new ServerFile(file).append(sample(5, "a"));
    String line = Files.readString(file);
    Files.writeString(file, line.replace("\"requests_running\":3.0", "\"new\":1,\"gpus\":null"));
    assertThat(read()).isZero();
    assertThat(read.get(0).values()).containsOnlyKeys(PROMPT_TOKENS);

    Files.writeString(file, line.replace("\"le\":[0.001,0.5],", ""));
    assertThat(read()).isZero();
    assertThat(read.get(0).histograms()).isEmpty();
    assertThat(read.get(0).value(REQUESTS_RUNNING)).isEqualTo(3);
  }

  @Test
  void readingNeverFailsOnDamage() throws IOException {
    ServerFile written = new ServerFile(file);
    written.append(sample(5, "a"));
    written.append(sample(6, "a"));
    byte[] complete = Files.readAllBytes(file);
    Random random = new Random(5);
    for (int i = 0; i < 500; i++) {
      byte[] bytes = Arrays.copyOf(complete, random.nextInt(complete.length + 1));
      for (int k = 0; k < 3 && bytes.length > 0; k++) {
        byte[] marks = "{}[]\":,0-e\n".getBytes(StandardCharsets.US_ASCII);
        bytes[random.nextInt(bytes.length)] = marks[random.nextInt(marks.length)];
      }
      Files.write(file, bytes);
      assertThat(read() + read.size()).isLessThan(10);
    }
  }
}
