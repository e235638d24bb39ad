package io.github.gatlingllm.report;

import static io.github.gatlingllm.figures.level.Recorded.ORIGIN;
import static io.github.gatlingllm.figures.level.Recorded.at;
import static io.github.gatlingllm.report.CommandLine.call;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs of injectors that each have a separate load: what is joined, and what is refused. */
class MergeCommandTest {

  private static final long MS = 1_000_000L;

  @TempDir Path folder;
  @TempDir Path out;

  /** Ten requests a second from its start on, for ten seconds, each of 100 ms and two tokens. */
  private Path injector(String name, long startMs, String slo) throws IOException {
    long from = ORIGIN + startMs * MS;
    PhaseWindow measure = new PhaseWindow(Phase.MEASURE, from, from + 10_000 * MS);
    PhaseWindow cooldown = new PhaseWindow(Phase.COOLDOWN, from + 10_000 * MS, from + 10_060 * MS);
    PhaseWindow drain = new PhaseWindow(Phase.DRAIN, from + 10_060 * MS, from + 10_100 * MS);
    LevelInfo level =
        new LevelInfo(
            "r=10", "a", null, "open loop", 10.0, "requests/s", List.of(measure, cooldown, drain));
    RunInfo info =
        RunInfo.started("run-" + name, "demo.Chat", name, from)
            .ended(from + 10_100 * MS, RunInfo.State.COMPLETE)
            .seed((long) name.hashCode())
            .planned(100L)
            .config(Map.of("model", "m", "injectorOnly", name))
            .slo(slo.isEmpty() ? Slo.NONE : Slo.parse(slo))
            .stages(List.of(level));
    List<RequestRecord> records =
        Recorded.requests(
            100,
            i ->
                at(startMs + i * 100.0)
                    .id(name + "-" + i)
                    .injector(name)
                    .stage("r=10")
                    .lag(0)
                    .offset(i * 100)
                    .tokens(60, 100));
    RunFiles files = DemoRun.write(folder.resolve(info.id()), info, records);
    Files.write(files.arrivals(), arrivals(from));
    return files.run();
  }

  private static List<String> arrivals(long fromUnixNanos) {
    return IntStream.range(0, 100)
        .mapToObj(
            i ->
                "{\"target\":\"a\",\"stage\":\"r=10\",\"index\":%s,\"scheduled_unix_ns\":%s}"
                    .formatted(i, fromUnixNanos + i * 100L * MS))
        .toList();
  }

  static Called merge(Path out, Path... runs) {
    Stream<String> names = Stream.of(runs).map(Path::toString);
    return call(
        Stream.concat(Stream.of("merge", "--out", out.toString()), names).toArray(String[]::new));
  }

  static JsonNode summary(Path run) throws IOException {
    return new ObjectMapper().readTree(new RunFiles(run).summaryJson().toFile());
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
          .isEqualTo("'bucket' is not a location in object storage; expected s3://bucket/prefix");
    }
  }

  @Test
  void joinedLoadIsTheSumWithinTheCommonWindow() throws IOException {
    Called called =
        merge(out, injector("north", 0, "ttft<200ms"), injector("south", 2_000, "ttft<200ms"));

    assertThat(called.error()).isEmpty();
    assertThat(called.exitCode()).isZero();
    assertThat(called.output())
        .contains("level r=10 of a: measured in the 8.0 s that all its injectors share")
        .contains("40 requests were scheduled outside the common measure window");
    RunInfo info = RunInfo.read(new RunFiles(out).info()).orElseThrow();
    assertThat(info.injector()).isEqualTo("north,south");
    assertThat(info.outcome().planned()).isEqualTo(200);
    assertThat(info.outcome().dropped()).isZero();
    assertThat(info.seed()).isNull();
    assertThat(info.config())
        .containsEntry("injectorOnly", "north,south")
        .containsEntry("merged from", "run-north (north), run-south (south)");
    LevelInfo stage = info.stages().get(0);
    assertThat(stage.offered()).isEqualTo(20);
    assertThat(stage.phases())
        .containsExactly(
            new PhaseWindow(Phase.STABILIZE, ORIGIN, ORIGIN + 2_000 * MS),
            new PhaseWindow(Phase.MEASURE, ORIGIN + 2_000 * MS, ORIGIN + 10_000 * MS),
            new PhaseWindow(Phase.COOLDOWN, ORIGIN + 10_000 * MS, ORIGIN + 12_060 * MS),
            new PhaseWindow(Phase.DRAIN, ORIGIN + 12_060 * MS, ORIGIN + 12_100 * MS));

    JsonNode summary = summary(out);
    assertThat(summary.at("/run/injectors")).hasSize(2);
    assertThat(summary.at("/counts/started").asInt()).isEqualTo(160);
    assertThat(summary.at("/throughput/requests_per_s").asDouble()).isCloseTo(20, within(0.2));
    assertThat(summary.at("/throughput/output_tokens_per_s").asDouble()).isCloseTo(40, within(0.4));
    assertThat(summary.at("/stages/0/mean_in_flight").asDouble()).isCloseTo(2, within(0.03));
    assertThat(summary.at("/arrivals/planned_per_s").asDouble()).isEqualTo(20);
    assertThat(summary.at("/arrivals/planned_dispersion").asDouble()).isZero();
    // The plans' numbers are for windows that the joined run does not have.
    assertThat(summary.at("/counts/planned").isNull()).isTrue();
    assertThat(Files.readAllLines(new RunFiles(out).arrivals()))
        .containsAll(arrivals(ORIGIN))
        .containsAll(arrivals(ORIGIN + 2_000 * MS))
        .hasSize(200);
    List<RequestRecord> records = new ArrayList<>();
    RecordFile.ReadReport read = RecordFile.read(new RunFiles(out).requests(), records::add);
    assertThat(read.badLines()).isZero();
    assertThat(read.cutTailBytes()).isZero();
    assertThat(records).hasSize(200);
    assertThat(records.stream().filter(r -> r.identity().phase() == Phase.STABILIZE)).hasSize(20);
    assertThat(records.stream().filter(r -> r.identity().phase() == Phase.COOLDOWN)).hasSize(20);
  }

  @Test
  void incompatibleRunsAreRefused() throws IOException {
    Path north = injector("north", 0, "");
    refused(folder, "run run-north of injector north was given twice", north, north);
    refused(folder, "10.0 s apart): these runs are repeats", north, injector("south", 20_000, ""));
    refused(folder, "'none', of run-south 'ttft<300ms", north, injector("south", 0, "ttft<300ms"));
    refused(
        folder,
        "'ttft<200ms at 99.0 %', of run-south 'ttft<300ms at 99.0 %'",
        injector("north", 0, "ttft<200ms"),
        injector("south", 0, "ttft<300ms"));
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
    refused(folder, why, north, south);

    Path joined = folder.resolve("forced");
    Called forced = call("merge", north.toString(), south.toString(), "--out=" + joined, "--force");
    assertThat(forced.error()).isEmpty();
    assertThat(forced.exitCode()).isZero();
    assertThat(forced.output().lines()).anyMatch(l -> l.startsWith("merged by --force: " + why));
    RunInfo info = RunInfo.read(new RunFiles(joined).info()).orElseThrow();
    assertThat(info.config().get("merged by force")).startsWith(why);
    assertThat(summary(joined).at("/counts/started").asInt()).isEqualTo(200);
  }

  static void refused(Path folder, String message, Path... runs) {
    Path out = folder.resolve("refused");
    Called called = merge(out, runs);

    assertThat(called.exitCode()).isEqualTo(1);
    assertThat(called.error()).contains(message).hasLineCount(1);
    assertThat(out).doesNotExist();
  }

  @Test
  void outputFolderIsNeverOverwritten() throws IOException {
    Path north = injector("north", 0, "");
    Called called = merge(north, north, injector("south", 0, ""));

    assertThat(called.exitCode()).isEqualTo(1);
    assertThat(called.error()).contains("is not an empty directory").hasLineCount(1);
    assertThat(new RunFiles(north).page()).doesNotExist();
  }
}
