package io.github.gatlingllm.report;

import static io.github.gatlingllm.figures.level.Recorded.ORIGIN;
import static io.github.gatlingllm.figures.level.Recorded.at;
import static io.github.gatlingllm.report.CommandLine.call;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.GeneratorSecond.GeneratorField;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunOutcome.SingleStream;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.record.ServerSample.ServerFile;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.report.CommandLine.Called;
import io.github.gatlingllm.storage.S3Server;
import io.github.gatlingllm.testing.Reading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MergeCommandTest {

  private static final long MS = 1_000_000L;
  private static final int FROM_MS = 5_000;
  private static final int TO_MS = 25_000;
  private static final int INJECTORS = 3;

  @TempDir Path folder;

  private final List<RequestRecord> all = new ArrayList<>();

  private Path write(RunInfo info, List<RequestRecord> records) throws IOException {
    RunFiles files = new RunFiles(folder.resolve(info.id()));
    info.write(files.info());
    for (RequestRecord record : records) {
      append(files, RecordFile.line(record));
    }
    return files.run();
  }

  private static void append(RunFiles files, byte[] line) throws IOException {
    Files.write(files.requests(), line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  /** Ten requests a second from its start on, for ten seconds, each of 100 ms and two tokens. */
  private Path injector(String name, long startMs, String slo) throws IOException {
    long from = ORIGIN + startMs * MS;
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
    Path run =
        write(
            info,
            Recorded.requests(
                100,
                i ->
                    at(startMs + i * 100.0)
                        .id(name + "-" + i)
                        .injector(name)
                        .stage("r=10")
                        .lag(0)
                        .offset(i * 100)
                        .tokens(60, 100)));
    Files.write(new RunFiles(run).arrivals(), arrivals(from));
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

  /** Every third of the requests 0 to 1,199 of the schedule, beginning with {@code index}. */
  private List<RequestRecord> records(int index, int skewMs) {
    Random random = new Random(index);
    List<RequestRecord> own = new ArrayList<>();
    for (int i = index - 1; i < 1_200; i += INJECTORS) {
      double offset = i * 25;
      double lag = random.nextDouble();
      double[] tokens = new double[1 + random.nextInt(12)];
      double at = 40 * Math.exp(0.5 * random.nextGaussian());
      for (int k = 0; k < tokens.length; k++) {
        tokens[k] = at;
        at += 5 + 10 * random.nextDouble();
      }
      Phase phase =
          offset < FROM_MS ? Phase.STABILIZE : offset < TO_MS ? Phase.MEASURE : Phase.COOLDOWN;
      Recorded one =
          at(offset + lag + skewMs)
              .id("id-" + i)
              .injector("injector-" + index)
              .stage("r=40")
              .phase(phase)
              .lag(lag)
              .offset(offset)
              .tokens(tokens);
      own.add((i % 70 == 9 ? one.failed(RequestStatus.TIMEOUT, "timeout") : one).record());
    }
    return own;
  }

  /**
   * The run of an injector of three that share one schedule of 40 requests/s for 20 s, which begins
   * after 5 s.
   *
   * @param skewMs how much later it began than the first, in milliseconds
   * @param killedAt number of records written before it was killed; null if it was not
   */
  private Path share(int index, int skewMs, @Nullable Integer killedAt) throws IOException {
    long begin = ORIGIN + skewMs * MS;
    boolean isKilled = killedAt != null;
    List<PhaseWindow> phases =
        new ArrayList<>(
            List.of(
                new PhaseWindow(Phase.STABILIZE, begin, begin + FROM_MS * MS),
                new PhaseWindow(
                    Phase.MEASURE,
                    begin + FROM_MS * MS,
                    isKilled ? null : (Long) (begin + TO_MS * MS))));
    if (!isKilled) {
      phases.add(
          new PhaseWindow(Phase.COOLDOWN, begin + TO_MS * MS, begin + (30_000 - index) * MS));
    }
    List<RequestRecord> records = records(index, skewMs);
    List<RequestRecord> written = isKilled ? records.subList(0, killedAt) : records;
    long planned = records.stream().filter(r -> r.identity().phase() == Phase.MEASURE).count();
    RunInfo info =
        RunInfo.started("run-" + index, "demo.Shared", "injector-" + index, begin)
            .share(new InjectorShare(index, INJECTORS))
            .planned(planned)
            .seed(7L)
            .singleStreams(Map.of("a", new SingleStream(10 * index, 1, 0)))
            .versions(Map.of("java", "17"))
            .stages(
                List.of(
                    new LevelInfo("r=40", "a", null, "open loop", 40.0 / 3, "requests/s", phases)
                        .withPlanned(planned)));
    if (!isKilled) {
      info = info.ended(begin + 30_000 * MS, RunInfo.State.COMPLETE).started((long) records.size());
    }
    RunFiles files = new RunFiles(write(info, written));
    if (isKilled) {
      byte[] next = RecordFile.line(records.get(killedAt));
      append(files, Arrays.copyOf(next, next.length / 2));
    }
    all.addAll(written);
    for (int second = 0; second < 30; second++) {
      new GeneratorSecond()
          .with(GeneratorField.INJECTOR, "injector-" + index)
          .with(GeneratorField.START_UNIX_NS, begin + second * 1_000L * MS)
          .with(GeneratorField.LENGTH_S, 1_000 * MS)
          .with(GeneratorField.LOOP_LAG_MAX_US, new int[] {index * 1_000})
          .with(GeneratorField.LATEST_LOOP_US, new int[10])
          .with(GeneratorField.PROCESS_CPU_S, index * 200L * MS)
          .with(GeneratorField.MACHINE_USER_S, index * 200L * MS)
          .with(GeneratorField.MACHINE_SYSTEM_S, 0L)
          .with(GeneratorField.MACHINE_STEAL_S, 0L)
          .with(GeneratorField.MACHINE_IDLE_S, 2_000 * MS - index * 200L * MS)
          .append(files.generator());
    }
    return files.run();
  }

  private Called merge(Path... runs) {
    return mergeTo(folder.resolve("merged"), runs);
  }

  private static Called mergeTo(Path out, Path... runs) {
    Stream<String> names = Stream.of(runs).map(Path::toString);
    return call(
        Stream.concat(Stream.of("merge", "--out", out.toString()), names).toArray(String[]::new));
  }

  private RunFiles merged() {
    return new RunFiles(folder.resolve("merged"));
  }

  private JsonNode summary() throws IOException {
    return new ObjectMapper().readTree(merged().summaryJson().toFile());
  }

  private JsonNode check(String id) throws IOException {
    for (JsonNode check : summary().at("/checks")) {
      if (check.at("/id").asText().equals(id)) {
        return check;
      }
    }
    throw new AssertionError("no check " + id);
  }

  private String said(String check) throws IOException {
    return check(check).at("/message").asText();
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
  void joinedLoadIsTheSumWithinTheCommonWindow() throws IOException {
    Called called =
        merge(injector("north", 0, "ttft<200ms"), injector("south", 2_000, "ttft<200ms"));

    assertThat(called.error()).isEmpty();
    assertThat(called.exitCode()).isZero();
    assertThat(called.output())
        .contains("level r=10 of a: measured in the 8.0 s that all its injectors share")
        .contains("40 requests were scheduled outside the common measure window");
    RunInfo info = RunInfo.read(merged().info()).orElseThrow();
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
            new PhaseWindow(Phase.STABILIZE, ORIGIN, ORIGIN + 2_000 * MS),
            new PhaseWindow(Phase.MEASURE, ORIGIN + 2_000 * MS, ORIGIN + 10_000 * MS),
            new PhaseWindow(Phase.COOLDOWN, ORIGIN + 10_000 * MS, ORIGIN + 12_060 * MS),
            new PhaseWindow(Phase.DRAIN, ORIGIN + 12_060 * MS, ORIGIN + 12_100 * MS));

    JsonNode summary = summary();
    assertThat(summary.at("/run/injectors")).hasSize(2);
    assertThat(summary.at("/counts/started").asInt()).isEqualTo(160);
    assertThat(summary.at("/throughput/requests_per_s").asDouble()).isCloseTo(20, within(0.2));
    assertThat(summary.at("/throughput/output_tokens_per_s").asDouble()).isCloseTo(40, within(0.4));
    assertThat(summary.at("/stages/0/mean_in_flight").asDouble()).isCloseTo(2, within(0.03));
    assertThat(summary.at("/arrivals/planned_per_s").asDouble()).isEqualTo(20);
    assertThat(summary.at("/arrivals/planned_dispersion").asDouble()).isZero();
    // The plans' numbers are for windows that the joined run does not have.
    assertThat(summary.at("/counts/planned").isNull()).isTrue();
    assertThat(Files.readAllLines(merged().arrivals()))
        .containsAll(arrivals(ORIGIN))
        .containsAll(arrivals(ORIGIN + 2_000 * MS))
        .hasSize(200);
    List<RequestRecord> records = new ArrayList<>();
    RecordFile.ReadReport read = RecordFile.read(merged().requests(), records::add);
    assertThat(read.badLines()).isZero();
    assertThat(read.cutTailBytes()).isZero();
    assertThat(records).hasSize(200);
    assertThat(records.stream().filter(r -> r.identity().phase() == Phase.STABILIZE)).hasSize(20);
    assertThat(records.stream().filter(r -> r.identity().phase() == Phase.COOLDOWN)).hasSize(20);
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
    Called called = merge(runs);

    assertThat(called.exitCode()).isEqualTo(1);
    assertThat(called.error()).contains(message).hasLineCount(1);
    assertThat(merged().run()).doesNotExist();
  }

  @Test
  void outputFolderIsNeverOverwritten() throws IOException {
    Path north = injector("north", 0, "");
    Called called = mergeTo(north, north, injector("south", 0, ""));

    assertThat(called.exitCode()).isEqualTo(1);
    assertThat(called.error()).contains("is not an empty directory").hasLineCount(1);
    assertThat(new RunFiles(north).page()).doesNotExist();
  }

  /** Compared with a computation over all records, within the resolution of the histograms. */
  @Test
  void figuresEqualThoseOfTheConcatenatedRecords() throws IOException {
    Called called = merge(share(1, 0, null), share(2, 3, null), share(3, 1, null));

    assertThat(called.error()).isEmpty();
    assertThat(called.exitCode()).isZero();
    assertThat(called.output())
        .contains("level r=40 of a: measured in the 20.0 s that the plan of all its injectors has")
        .doesNotContain("outside the common measure window", "they sent the same prompts");
    JsonNode level = summary().at("/stages/0");
    List<RequestRecord> measured =
        all.stream().filter(r -> r.identity().phase() == Phase.MEASURE).toList();
    List<RequestRecord> ok = measured.stream().filter(r -> r.outcome().ok()).toList();
    assertThat(level.at("/offered").asDouble()).isEqualTo(40, within(1e-9));
    assertThat(level.at("/counts/planned").asLong()).isEqualTo(800).isEqualTo(measured.size());
    assertThat(level.at("/counts/started").asLong()).isEqualTo(800);
    assertThat(level.at("/counts/ok").asLong()).isEqualTo(ok.size());
    assertThat(said("all_accounted"))
        .isEqualTo(
            "All 800 requests planned for measure windows were sent; 1,200 requests started, 1,200"
                + " ended or cancelled.");
    // The requests that are not ok ended by requestTimeout, after their first token.
    distribution(
        level, "ttft_ms", measured.stream().mapToDouble(r -> r.timing().ttftNanos() / 1e6));
    distribution(level, "e2e_ms", ok.stream().mapToDouble(r -> r.timing().latencyNanos() / 1e6));
    distribution(level, "itl_ms", ok.stream().flatMapToDouble(MergeCommandTest::gaps));
    long from = ORIGIN + FROM_MS * MS;
    long to = ORIGIN + TO_MS * MS;
    long tokens =
        all.stream()
            .flatMapToLong(MergeCommandTest::tokenTimes)
            .filter(time -> time >= from && time < to)
            .count();
    assertThat(level.at("/throughput/output_tokens_per_s").asDouble())
        .isEqualTo(tokens / 20.0, within(1e-6));
    assertThat(level.at("/throughput/batching_gain").asDouble())
        .as("against the fastest of three that warmed up at once")
        .isEqualTo(tokens / 20.0 / (10 * INJECTORS), within(1e-6));
    long ended =
        all.stream()
            .filter(r -> r.outcome().ok())
            .mapToLong(r -> r.timing().closedUnixNanos())
            .filter(time -> time >= from && time < to)
            .count();
    assertThat(level.at("/throughput/requests_per_s").asDouble())
        .isEqualTo(ended / 20.0, within(1e-6));
  }

  private static LongStream tokenTimes(RequestRecord record) {
    long admitted = record.timing().admittedUnixNanos();
    return Arrays.stream(record.events().offsetsMicros()).mapToLong(at -> admitted + at * 1_000L);
  }

  private static DoubleStream gaps(RequestRecord record) {
    int[] at = record.events().offsetsMicros();
    return IntStream.range(1, at.length).mapToDouble(k -> (at[k] - at[k - 1]) / 1e3);
  }

  private static void distribution(JsonNode level, String metric, DoubleStream values) {
    double[] sorted = values.sorted().toArray();
    JsonNode found = level.at("/metrics/" + metric);
    assertThat(found.at("/count").asLong()).as(metric).isEqualTo(sorted.length);
    assertThat(found.at("/mean").asDouble())
        .isEqualTo(Arrays.stream(sorted).average().orElseThrow(), within(1e-3));
    for (int p : List.of(50, 90, 99)) {
      double value = sorted[(int) Math.ceil(p / 100.0 * sorted.length) - 1];
      assertThat(found.at("/p" + p).asDouble())
          .as(metric + " p" + p)
          .isEqualTo(value, within(0.001 * value));
    }
  }

  @Test
  void everyInjectorHasARowInOrderOfShares() throws IOException {
    Called called = merge(share(3, 1, null), share(1, 0, null), share(2, 3, null));

    assertThat(called.output()).contains("---- Injectors ----", "injector-2", "own CPU");
    JsonNode second = summary().at("/stages/0/injectors/1");
    assertThat(second.at("/name").asText()).isEqualTo("injector-2");
    assertThat(second.at("/planned").asLong()).isEqualTo(266);
    assertThat(second.at("/started").asLong()).isEqualTo(266);
    assertThat(second.at("/loop_lag_max_ms").asDouble()).isEqualTo(2);
    assertThat(second.at("/own_cpu").asDouble()).isEqualTo(0.2);
    assertThat(second.at("/idle_cpu").asDouble()).isEqualTo(0.8);
    assertThat(second.at("/generator").asText()).isEqualTo("ok");
    assertThat(summary().at("/injectors").findValuesAsText("share"))
        .containsExactly("1/3", "2/3", "3/3");
    assertThat(summary().at("/injectors/1/missing").asLong()).isZero();
    assertThat(check("injectors").at("/level").asText()).isEqualTo("ok");
    assertThat(merged().page())
        .content(UTF_8)
        .contains("The injectors, each by itself", "injector-3");
  }

  @Test
  void killedInjectorIsNamedWithItsMissingRequests() throws IOException {
    Called called = merge(share(1, 0, null), share(2, 3, 150), share(3, 1, null));

    // 150 records, of which the first 67 were scheduled before the measure window.
    JsonNode summary = summary();
    assertThat(check("injectors").at("/level").asText()).isEqualTo("invalid");
    assertThat(said("injectors"))
        .startsWith("injector-2 (2/3) died at 0:11 of the load: 183 of the 266 planned requests");
    assertThat(check("all_accounted").at("/value").asLong()).isEqualTo(182);
    assertThat(said("all_accounted"))
        .startsWith(
            "Of 800 requests planned for measure windows 617 were sent (injector-2 did not finish:"
                + " 183, lost records: 1)");
    assertThat(summary.at("/run/state").asText()).isEqualTo("interrupted");
    assertThat(summary.at("/stages/0/duration_s").asDouble()).isEqualTo(20);
    assertThat(called.output())
        .contains("run-2: the last line is cut off", "invalid injectors: injector-2 (2/3) died");
    RunInfo info = RunInfo.read(merged().info()).orElseThrow();
    assertThat(info.injectors().get(1).records()).isEqualTo(150);
    assertThat(info.injectors().get(1).missing()).isEqualTo(183);
    assertThat(info.injectors().get(1).dropped()).isEqualTo(1);
    assertThat(info.outcome().dropped()).isEqualTo(1);
    assertThat(call("render", merged().run().toString()).exitCode()).isZero();
    assertThat(summary()).as("rendered again").isEqualTo(summary);
  }

  @Test
  void missingInjectorsAreNamedByShare() throws IOException {
    assertThat(merge(share(2, 0, null)).exitCode()).isZero();
    assertThat(said("injectors"))
        .isEqualTo(
            "Of 3 injectors 2 are missing: 1/3, 3/3. Judged by the plans of the others, about 532"
                + " requests are missing.");
  }

  @Test
  void injectorWithoutRecordsIsIncluded() throws IOException {
    Path second = share(2, 0, 1);
    Files.delete(new RunFiles(second).requests());
    merge(share(1, 0, null), second, share(3, 1, null));
    assertThat(said("injectors"))
        .contains("266 of the 266 planned requests of its levels are missing");
  }

  /** Its share of a level it never began follows from the shares of the others. */
  @Test
  void levelThatAnInjectorNeverBeganIsReported() throws IOException {
    Path second = share(2, 0, 1);
    RunFiles files = new RunFiles(second);
    RunInfo info = RunInfo.read(files.info()).orElseThrow();
    info.stages(List.of()).planned(null).write(files.info());
    Files.delete(files.requests());
    merge(share(1, 0, null), second, share(3, 1, null));

    assertThat(said("injectors"))
        .isEqualTo(
            "injector-2 (2/3) never started its load: 0 requests recorded, of an unknown number"
                + " planned. It never started r=40: about 267 requests, judged by the plans of the"
                + " others.");
    assertThat(summary().at("/stages/0/counts/planned").asLong()).isEqualTo(534);
  }

  @Test
  void incompatibleSharesAreRefused() throws IOException {
    Path first = share(1, 0, null);
    RunInfo again =
        RunInfo.started("again", "demo.Shared", "again", ORIGIN)
            .share(new InjectorShare(1, INJECTORS));
    refused(
        "runs run-1 and again both have share 1/3; expected each share once",
        first,
        write(again, List.of()));
    assertThat(call("merge", first.toString(), "--out=x", "--expect=4").error())
        .startsWith("run run-1 has share 1/3, expected one of 4; ");
  }

  /** Of a metrics page the first complete run counts: one that died has no samples after that. */
  @Test
  void serverMetricsComeFromTheFirstCompleteInjectorThatReadThem() throws IOException {
    Path first = share(1, 0, 100);
    Path second = share(2, 0, null);
    Path third = share(3, 0, null);
    says(first, "http://a/metrics", 1);
    says(second, "http://a/metrics", 2);
    says(third, "http://a/metrics", 3);
    says(third, "http://b/metrics", 4);
    says(second, "http://a/metrics", 5);
    merge(first, second, third);

    List<String> found = new ArrayList<>();
    long damaged =
        ServerFile.read(
            merged().server(),
            sample -> found.add(sample.url() + sample.value(EngineMetric.GENERATION_TOKENS)));
    assertThat(damaged).isZero();
    assertThat(found)
        .containsExactly("http://a/metrics2.0", "http://a/metrics5.0", "http://b/metrics4.0");
  }

  private static void says(Path run, String url, double tokens) throws IOException {
    new ServerFile(new RunFiles(run).server())
        .append(
            Reading.at(ORIGIN, Map.of(EngineMetric.GENERATION_TOKENS, tokens))
                .of("a", url)
                .sample());
  }
}
