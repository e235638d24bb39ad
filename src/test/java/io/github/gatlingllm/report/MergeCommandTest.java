package io.github.gatlingllm.report;

import static io.github.gatlingllm.report.CommandLine.call;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.report.CommandLine.Called;
import io.github.gatlingllm.storage.S3Server;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MergeCommandTest {

  private static final long START = Recorded.ORIGIN;
  private static final long MS = 1_000_000L;

  @TempDir Path folder;

  /** Ten requests a second from its start on, for ten seconds, each of 100 ms and two tokens. */
  private Path injector(String name, long startMs, String slo) throws IOException {
    Path run = folder.resolve("run-" + name);
    RunFiles files = new RunFiles(run);
    long from = START + startMs * MS;
    PhaseWindow measure = new PhaseWindow(Phase.MEASURE, from, from + 10_000 * MS);
    PhaseWindow cooldown = new PhaseWindow(Phase.COOLDOWN, from + 10_000 * MS, from + 10_060 * MS);
    PhaseWindow drain = new PhaseWindow(Phase.DRAIN, from + 10_060 * MS, from + 10_100 * MS);
    RunInfo info =
        RunInfo.started("run-" + name, "demo.Chat", name, from)
            .ended(from + 10_100 * MS, RunInfo.State.COMPLETE)
            .seed((long) name.hashCode())
            .planned(100L)
            .config(Map.of("model", "m", "injectorOnly", name))
            .slo(slo.isEmpty() ? Slo.NONE : Slo.parse(slo))
            .stages(
                List.of(
                    new LevelInfo(
                        "r=10",
                        "a",
                        null,
                        "open loop",
                        10.0,
                        "requests/s",
                        List.of(measure, cooldown, drain))));
    info.write(files.info());
    for (int i = 0; i < 100; i++) {
      append(files, RecordFile.line(request(name, i, from + i * 100L * MS)));
    }
    Files.write(files.arrivals(), arrivals(from));
    return run;
  }

  private static List<String> arrivals(long fromUnixNanos) {
    return IntStream.range(0, 100)
        .mapToObj(
            i ->
                "{\"target\":\"a\",\"stage\":\"r=10\",\"index\":%s,\"scheduled_unix_ns\":%s}"
                    .formatted(i, fromUnixNanos + i * 100L * MS))
        .toList();
  }

  private static void append(RunFiles files, byte[] line) throws IOException {
    Files.write(files.requests(), line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  private static RequestRecord request(String injector, int index, long start) {
    return Recorded.at((start - Recorded.ORIGIN) / 1e6)
        .id(injector + "-" + index)
        .injector(injector)
        .stage("r=10")
        .lag(0)
        .offset(index * 100)
        .tokens(60, 100)
        .record();
  }

  private Called merge(Path... runs) {
    return mergeTo(folder.resolve("merged"), runs);
  }

  private static Called mergeTo(Path out, Path... runs) {
    List<String> arguments = new ArrayList<>(List.of("merge", "--out", out.toString()));
    for (Path run : runs) {
      arguments.add(run.toString());
    }
    return call(arguments.toArray(String[]::new));
  }

  @Test
  void joinedRunIsUploadedToObjectStorage() throws IOException {
    try (S3Server s3 = new S3Server()) {
      Called called =
          call(
              "merge",
              injector("north", 0, "ttft<200ms").toString(),
              injector("south", 2_000, "ttft<200ms").toString(),
              "--out=" + folder.resolve("1795353600-merged"),
              "--upload=s3://bench/tests");

      assertThat(called.error()).isEmpty();
      assertThat(called.output()).contains("LLM upload: s3://bench/tests/1795353600-merged");
      assertThat(s3.objects)
          .containsKeys(
              "tests/1795353600-merged/llm/requests.jsonl",
              "tests/1795353600-merged/llm/run.json",
              "tests/1795353600-merged/llm.html");
      assertThat(call("merge", "x", "--out=" + folder.resolve("y"), "--upload=bucket").error())
          .isEqualTo("'bucket' is no place in object storage; expected s3://bucket/prefix");
    }
  }

  @Test
  void expectedNumberOfInjectorsIsPositive() {
    Path out = folder.resolve("merged");

    assertThat(call("merge", "north", "--out", out.toString(), "--expect", "0").error())
        .isEqualTo("--expect 0 is out of range; expected a whole number ≥ 1");
    assertThat(out).doesNotExist();
  }

  @Test
  void joinedLoadIsTheSumWithinTheCommonWindow() throws IOException {
    Path out = folder.resolve("merged");
    Called called =
        merge(injector("north", 0, "ttft<200ms"), injector("south", 2_000, "ttft<200ms"));

    assertThat(called.error()).isEmpty();
    assertThat(called.exitCode()).isZero();
    assertThat(called.output())
        .contains("level r=10 of a: measured in the 8.0 s that all its injectors share")
        .contains("40 requests were scheduled outside the common measure window");
    RunFiles files = new RunFiles(out);
    RunInfo info = RunInfo.read(files.info()).orElseThrow();
    assertThat(info.injector()).isEqualTo("north,south");
    assertThat(info.outcome().planned()).isEqualTo(200);
    assertThat(info.outcome().dropped()).isZero();
    assertThat(info.identity().seed()).isNull();
    assertThat(info.config())
        .containsEntry("injectorOnly", "north,south")
        .containsEntry("merged from", "run-north (north), run-south (south)");
    LevelInfo stage = info.stages().get(0);
    assertThat(stage.offered()).isEqualTo(20);
    assertThat(stage.phases())
        .containsExactly(
            new PhaseWindow(Phase.STABILIZE, START, START + 2_000 * MS),
            new PhaseWindow(Phase.MEASURE, START + 2_000 * MS, START + 10_000 * MS),
            new PhaseWindow(Phase.COOLDOWN, START + 10_000 * MS, START + 12_060 * MS),
            new PhaseWindow(Phase.DRAIN, START + 12_060 * MS, START + 12_100 * MS));

    JsonNode summary = new ObjectMapper().readTree(files.summaryJson().toFile());
    assertThat(summary.at("/run/injectors")).hasSize(2);
    assertThat(summary.at("/counts/started").asInt()).isEqualTo(160);
    assertThat(summary.at("/throughput/requests_per_s").asDouble()).isCloseTo(20, within(0.2));
    assertThat(summary.at("/throughput/output_tokens_per_s").asDouble()).isCloseTo(40, within(0.4));
    assertThat(summary.at("/stages/0/mean_in_flight").asDouble()).isCloseTo(2, within(0.03));
    assertThat(summary.at("/arrivals/planned_per_s").asDouble()).isEqualTo(20);
    assertThat(summary.at("/arrivals/planned_dispersion").asDouble()).isZero();
    // The plans' numbers are for windows that the joined run does not have.
    assertThat(summary.at("/counts/planned").isNull()).isTrue();
    assertThat(Files.readAllLines(files.arrivals()))
        .containsAll(arrivals(START))
        .containsAll(arrivals(START + 2_000 * MS))
        .hasSize(200);
    List<RequestRecord> records = new ArrayList<>();
    RecordFile.ReadReport read = RecordFile.read(files.requests(), records::add);
    assertThat(read.badLines()).isZero();
    assertThat(read.cutTailBytes()).isZero();
    assertThat(records).hasSize(200);
    assertThat(records.stream().filter(r -> r.identity().phase() == Phase.STABILIZE)).hasSize(20);
    assertThat(records.stream().filter(r -> r.identity().phase() == Phase.COOLDOWN)).hasSize(20);
  }

  @Test
  void damagedRecordsAreReportedAndCounted() throws IOException {
    Path north = injector("north", 0, "");
    append(new RunFiles(north), "{\"request_id\":\n{\"cut".getBytes(UTF_8));
    Path out = folder.resolve("merged");
    Called called = merge(north, injector("south", 0, ""));

    assertThat(called.exitCode()).isZero();
    assertThat(called.output())
        .contains("1 damaged line left out, the first is line 101: ")
        .contains("the last line is cut off (5 bytes) and left out");
    RunInfo info = RunInfo.read(new RunFiles(out).info()).orElseThrow();
    assertThat(info.outcome().dropped()).isEqualTo(2);
    assertThat(new RunFiles(out).summaryMarkdown()).content(UTF_8).contains("records_dropped");
  }

  @Test
  void incompatibleRunsAreRefused() throws IOException {
    Path north = injector("north", 0, "");
    refused("run run-north of injector north was given twice", north, north);
    refused("10.0 s apart): these runs are repeats", north, injector("south", 20_000, ""));
    refused("'none', of run-south 'ttft<300ms", north, injector("south", 0, "ttft<300ms"));
    refused(
        "'ttft<200ms at 99.0 %', of run-south 'ttft<300ms at 99.0 %'",
        injector("north", 0, "ttft<200ms"), injector("south", 0, "ttft<300ms"));
  }

  @ParameterizedTest
  @CsvSource({
    "\"model\":\"m\", \"model\":\"n\", 0, 'model of run-north is ''m'', of run-south ''n'''",
    "localhost, elsewhere, 0, 'endpoint of run-north is ''http://localhost/v1'', of run-south"
        + " ''http://elsewhere/v1'''",
    "r=10, r=20, 0, 'run run-south has load level r=20 of a, run run-north has not'",
    "demo.Chat, demo.Other, 0, 'simulation of run-north is ''demo.Chat'', of run-south"
        + " ''demo.Other'''",
    "none, none, 20000, 'level r=10 of a was not measured at the same time (10.0 s apart)'"
  })
  void runsOfTwoLoadTestsAreMergedOnlyByForce(String text, String other, int startMs, String why)
      throws IOException {
    Path north = injector("north", 0, "");
    Path south = injector("south", startMs, "");
    RunFiles files = new RunFiles(south);
    for (Path file : List.of(files.info(), files.requests())) {
      Files.writeString(file, Files.readString(file).replace(text, other));
    }
    refused(why, north, south);

    Path out = folder.resolve("forced");
    Called forced = call("merge", north.toString(), south.toString(), "--out=" + out, "--force");
    assertThat(forced.error()).isEmpty();
    assertThat(forced.exitCode()).isZero();
    assertThat(forced.output().lines()).anyMatch(l -> l.startsWith("merged by --force: " + why));
    RunInfo info = RunInfo.read(new RunFiles(out).info()).orElseThrow();
    assertThat(info.config().get("merged by force")).startsWith(why);
    JsonNode summary = new ObjectMapper().readTree(new RunFiles(out).summaryJson().toFile());
    assertThat(summary.at("/counts/started").asInt()).isEqualTo(200);
  }

  private void refused(String message, Path... runs) {
    Path out = folder.resolve("merged");
    Called called = merge(runs);

    assertThat(called.exitCode()).isEqualTo(1);
    assertThat(called.error()).contains(message).hasLineCount(1);
    assertThat(out).doesNotExist();
  }

  @Test
  void outputFolderIsNeverOverwritten() throws IOException {
    Path north = injector("north", 0, "");
    Called called = mergeTo(north, north, injector("south", 0, ""));

    assertThat(called.exitCode()).isEqualTo(1);
    assertThat(called.error()).contains("is not an empty directory").hasLineCount(1);
    assertThat(new RunFiles(north).page()).doesNotExist();
  }
}
