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
import io.github.gatlingllm.report.CommandLine.Called;
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
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Joins injectors that share one schedule of 40 requests/s for 20 s, which begins after 5 s. */
class MergedInjectorsTest {

  private static final long MS = 1_000_000L;
  private static final int FROM_MS = 5_000;
  private static final int TO_MS = 25_000;
  private static final int INJECTORS = 3;

  @TempDir Path folder;

  private final List<RequestRecord> all = new ArrayList<>();

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
   * Writes the run of an injector.
   *
   * @param skewMs how much later it began than the first, in milliseconds
   * @param killedAt number of records written before it was killed; null if it was not
   */
  private Path injector(int index, int skewMs, @Nullable Integer killedAt) throws IOException {
    Path run = folder.resolve("run-" + index);
    RunFiles files = new RunFiles(run);
    Files.createDirectories(files.folder());
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
    (isKilled
            ? info
            : info.ended(begin + 30_000 * MS, RunInfo.State.COMPLETE)
                .started((long) records.size()))
        .write(files.info());
    for (RequestRecord record : written) {
      append(files, RecordFile.line(record));
    }
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
    return run;
  }

  private static void append(RunFiles files, byte[] line) throws IOException {
    Files.write(files.requests(), line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  private Called merge(List<Path> runs, String... more) {
    List<String> arguments = new ArrayList<>(List.of("merge"));
    runs.forEach(run -> arguments.add(run.toString()));
    arguments.addAll(List.of("--out", folder.resolve("joined").toString()));
    arguments.addAll(List.of(more));
    return call(arguments.toArray(String[]::new));
  }

  private JsonNode summary() throws IOException {
    return new ObjectMapper()
        .readTree(new RunFiles(folder.resolve("joined")).summaryJson().toFile());
  }

  private static JsonNode check(JsonNode summary, String id) {
    for (JsonNode check : summary.at("/checks")) {
      if (check.at("/id").asText().equals(id)) {
        return check;
      }
    }
    throw new AssertionError("no check " + id);
  }

  private static double percentile(DoubleStream values, double percent) {
    double[] sorted = values.sorted().toArray();
    return sorted[(int) Math.ceil(percent / 100 * sorted.length) - 1];
  }

  /** Compared with a computation over all records, within the resolution of the histograms. */
  @Test
  void figuresEqualThoseOfTheConcatenatedRecords() throws IOException {
    Called called =
        merge(List.of(injector(1, 0, null), injector(2, 3, null), injector(3, 1, null)));

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
    assertThat(check(summary(), "all_accounted").at("/message").asText())
        .isEqualTo(
            "All 800 requests planned for measure windows were sent; 1,200 requests started, 1,200"
                + " ended or cancelled.");
    // The requests that are not ok ended by requestTimeout, after their first token.
    distribution(
        level, "ttft_ms", measured.stream().mapToDouble(r -> r.timing().ttftNanos() / 1e6));
    distribution(level, "e2e_ms", ok.stream().mapToDouble(r -> r.timing().latencyNanos() / 1e6));
    distribution(level, "itl_ms", ok.stream().flatMapToDouble(MergedInjectorsTest::gaps));
    long from = ORIGIN + FROM_MS * MS;
    long to = ORIGIN + TO_MS * MS;
    long tokens =
        all.stream()
            .flatMapToLong(MergedInjectorsTest::tokenTimes)
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
    double[] known = values.toArray();
    JsonNode found = level.at("/metrics/" + metric);
    assertThat(found.at("/count").asLong()).as(metric).isEqualTo(known.length);
    assertThat(found.at("/mean").asDouble())
        .isEqualTo(Arrays.stream(known).average().orElseThrow(), within(1e-3));
    ToDoubleFunction<Double> percentile = p -> percentile(Arrays.stream(known), p);
    for (Map.Entry<String, Double> p : Map.of("p50", 50.0, "p90", 90.0, "p99", 99.0).entrySet()) {
      double value = percentile.applyAsDouble(p.getValue());
      assertThat(found.at("/" + p.getKey()).asDouble())
          .as(metric + " " + p.getKey())
          .isEqualTo(value, within(0.001 * value));
    }
  }

  @Test
  void everyInjectorHasARow() throws IOException {
    Called called =
        merge(List.of(injector(1, 0, null), injector(2, 3, null), injector(3, 1, null)));

    assertThat(called.output()).contains("---- Injectors ----", "injector-2", "own CPU");
    JsonNode second = summary().at("/stages/0/injectors/1");
    assertThat(second.at("/name").asText()).isEqualTo("injector-2");
    assertThat(second.at("/planned").asLong()).isEqualTo(266);
    assertThat(second.at("/started").asLong()).isEqualTo(266);
    assertThat(second.at("/loop_lag_max_ms").asDouble()).isEqualTo(2);
    assertThat(second.at("/own_cpu").asDouble()).isEqualTo(0.2);
    assertThat(second.at("/idle_cpu").asDouble()).isEqualTo(0.8);
    assertThat(second.at("/generator").asText()).isEqualTo("ok");
    assertThat(summary().at("/injectors/1/share").asText()).isEqualTo("2/3");
    assertThat(summary().at("/injectors/1/missing").asLong()).isZero();
    assertThat(check(summary(), "injectors").at("/level").asText()).isEqualTo("ok");
    assertThat(new RunFiles(folder.resolve("joined")).page())
        .content(UTF_8)
        .contains("The injectors, each by itself", "injector-3");
  }

  @Test
  void killedInjectorIsNamedWithItsMissingRequests() throws IOException {
    Called called = merge(List.of(injector(1, 0, null), injector(2, 3, 150), injector(3, 1, null)));

    // 150 records, of which the first 67 were scheduled before the measure window.
    JsonNode summary = summary();
    assertThat(check(summary, "injectors").at("/level").asText()).isEqualTo("invalid");
    assertThat(check(summary, "injectors").at("/message").asText())
        .startsWith("injector-2 (2/3) died at 0:11 of the load: 183 of the 266 planned requests");
    assertThat(check(summary, "all_accounted").at("/value").asLong()).isEqualTo(182);
    assertThat(check(summary, "all_accounted").at("/message").asText())
        .startsWith(
            "Of 800 requests planned for measure windows 617 were sent (injector-2 did not finish:"
                + " 183, lost records: 1)");
    assertThat(summary.at("/run/state").asText()).isEqualTo("interrupted");
    assertThat(summary.at("/stages/0/duration_s").asDouble()).isEqualTo(20);
    assertThat(called.output())
        .contains("run-2: the last line is cut off", "invalid injectors: injector-2 (2/3) died");
    RunInfo info = RunInfo.read(new RunFiles(folder.resolve("joined")).info()).orElseThrow();
    assertThat(info.injectors().get(1).records()).isEqualTo(150);
    assertThat(info.injectors().get(1).missing()).isEqualTo(183);
    assertThat(info.injectors().get(1).dropped()).isEqualTo(1);
  }

  @Test
  void laterRenderGivesTheFiguresOfTheMerge() throws IOException {
    merge(List.of(injector(1, 0, null), injector(2, 3, 150), injector(3, 1, null)));
    JsonNode merged = summary();

    assertThat(call("render", folder.resolve("joined").toString()).exitCode()).isZero();
    assertThat(summary()).isEqualTo(merged);
  }

  @Test
  void injectorRowsAreOrderedByShare() throws IOException {
    merge(List.of(injector(3, 0, null), injector(1, 0, null), injector(2, 0, null)));
    assertThat(summary().at("/injectors").findValuesAsText("share"))
        .containsExactly("1/3", "2/3", "3/3");
  }

  @Test
  void missingInjectorsAreNamedByShare() throws IOException {
    assertThat(merge(List.of(injector(2, 0, null))).exitCode()).isZero();
    assertThat(check(summary(), "injectors").at("/message").asText())
        .isEqualTo(
            "Of 3 injectors 2 are missing: 1/3, 3/3. Judged by the plans of the others, about 532"
                + " requests are missing.");
  }

  @Test
  void injectorWithoutRecordsIsIncluded() throws IOException {
    Path second = injector(2, 0, 1);
    Files.delete(new RunFiles(second).requests());
    merge(List.of(injector(1, 0, null), second, injector(3, 1, null)));
    assertThat(check(summary(), "injectors").at("/message").asText())
        .contains("266 of the 266 planned requests of its levels are missing");
  }

  /** Its share of a level it never began follows from the shares of the others. */
  @Test
  void levelThatAnInjectorNeverBeganIsReported() throws IOException {
    Path second = injector(2, 0, 1);
    RunFiles files = new RunFiles(second);
    RunInfo info = RunInfo.read(files.info()).orElseThrow();
    info.stages(List.of()).planned(null).write(files.info());
    Files.delete(files.requests());
    merge(List.of(injector(1, 0, null), second, injector(3, 1, null)));

    assertThat(check(summary(), "injectors").at("/message").asText())
        .isEqualTo(
            "injector-2 (2/3) never started its load: 0 requests recorded, of an unknown number"
                + " planned. It never started r=40: about 267 requests, judged by the plans of the"
                + " others.");
    assertThat(summary().at("/stages/0/counts/planned").asLong()).isEqualTo(534);
  }

  @Test
  void incompatibleSharesAreRefused() throws IOException {
    Path first = injector(1, 0, null);
    Path again = folder.resolve("again");
    Files.createDirectories(new RunFiles(again).folder());
    Files.copy(new RunFiles(first).requests(), new RunFiles(again).requests());
    RunInfo info = RunInfo.read(new RunFiles(first).info()).orElseThrow();
    RunInfo.started("other", info.simulation(), "other", info.startUnixNanos())
        .ended(info.endUnixNanos(), info.state())
        .stages(info.stages())
        .share(info.share())
        .write(new RunFiles(again).info());

    assertThat(merge(List.of(first, again)).error())
        .isEqualTo("runs run-1 and other both have share 1/3; expected each share once");
    assertThat(merge(List.of(first), "--expect", "4").error())
        .startsWith("run run-1 has share 1/3, expected one of 4; ");
  }

  /** Each injector read other samples of two metrics pages. */
  @Test
  void serverMetricsComeFromTheFirstInjectorThatReadThem() throws IOException {
    Path first = injector(1, 0, null);
    Path second = injector(2, 0, null);
    said(first, "http://a/metrics", 1);
    said(second, "http://a/metrics", 2);
    said(second, "http://b/metrics", 3);
    said(first, "http://a/metrics", 4);
    merge(List.of(first, second));

    List<String> found = new ArrayList<>();
    long damaged =
        ServerFile.read(
            new RunFiles(folder.resolve("joined")).server(),
            sample -> found.add(sample.url() + sample.value(EngineMetric.GENERATION_TOKENS)));
    assertThat(damaged).isZero();
    assertThat(found)
        .containsExactly("http://a/metrics1.0", "http://a/metrics4.0", "http://b/metrics3.0");
  }

  private static void said(Path run, String url, double tokens) throws IOException {
    new ServerFile(new RunFiles(run).server())
        .append(
            Reading.at(ORIGIN, Map.of(EngineMetric.GENERATION_TOKENS, tokens))
                .of("a", url)
                .sample());
  }

  /** A run that died has no samples of the server after that. */
  @Test
  void serverMetricsPreferACompleteRun() throws IOException {
    Path first = injector(1, 0, 100);
    Path second = injector(2, 0, null);
    said(first, "http://a/metrics", 1);
    said(second, "http://a/metrics", 2);
    merge(List.of(first, second));

    assertThat(Files.readString(new RunFiles(folder.resolve("joined")).server()))
        .contains("tokens\":2.0")
        .doesNotContain("tokens\":1.0");
  }
}
