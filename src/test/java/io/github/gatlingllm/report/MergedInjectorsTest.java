package io.github.gatlingllm.report;

import static io.github.gatlingllm.figures.level.Recorded.ORIGIN;
import static io.github.gatlingllm.figures.level.Recorded.at;
import static io.github.gatlingllm.report.CommandLine.call;
import static io.github.gatlingllm.report.MergeCommandTest.merge;
import static io.github.gatlingllm.report.MergeCommandTest.refused;
import static io.github.gatlingllm.report.MergeCommandTest.summary;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.Runs;
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
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs of three injectors that share one load. */
class MergedInjectorsTest {

  private static final long MS = 1_000_000L;
  private static final int FROM_MS = 5_000;
  private static final int TO_MS = 25_000;
  private static final int INJECTORS = 3;

  @TempDir Path folder;
  @TempDir Path out;

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
   * The run of an injector of three that share one schedule of 40 requests/s for 20 s, which begins
   * after 5 s.
   *
   * @param skewMs how much later it began than the first, in milliseconds
   * @param killedAt number of records written before it was killed; null if it was not
   */
  private Path share(int index, int skewMs, @Nullable Integer killedAt) throws IOException {
    long begin = ORIGIN + skewMs * MS;
    long from = begin + FROM_MS * MS;
    long to = begin + TO_MS * MS;
    boolean isKilled = killedAt != null;
    PhaseWindow stabilize = new PhaseWindow(Phase.STABILIZE, begin, from);
    PhaseWindow measure = new PhaseWindow(Phase.MEASURE, from, isKilled ? null : (Long) to);
    PhaseWindow cooldown = new PhaseWindow(Phase.COOLDOWN, to, begin + (30_000 - index) * MS);
    List<PhaseWindow> phases =
        isKilled ? List.of(stabilize, measure) : List.of(stabilize, measure, cooldown);
    LevelInfo level = new LevelInfo("r=40", "a", null, "open loop", 40.0 / 3, "requests/s", phases);
    List<RequestRecord> records = records(index, skewMs);
    List<RequestRecord> written = isKilled ? records.subList(0, killedAt) : records;
    long planned = records.stream().filter(r -> r.identity().phase() == Phase.MEASURE).count();
    RunInfo info =
        RunInfo.started("run-" + index, "demo.Shared", "injector-" + index, begin)
            .share(new InjectorShare(index, INJECTORS))
            .planned(planned)
            .seed(7L)
            .singleStreams(Map.of("a", new SingleStream(10 * index, 1, 0)))
            .firstAnswers(Map.of("a", 2.0 * index))
            .versions(Map.of("java", "17"))
            .stages(List.of(Runs.planned(planned, level)));
    if (!isKilled) {
      info = info.ended(begin + 30_000 * MS, RunInfo.State.COMPLETE).started((long) records.size());
    }
    RunFiles files = DemoRun.write(folder.resolve(info.id()), info, written);
    if (isKilled) {
      byte[] next = RecordFile.line(records.get(killedAt));
      byte[] half = Arrays.copyOf(next, next.length / 2);
      Files.write(files.requests(), half, StandardOpenOption.APPEND);
    }
    all.addAll(written);
    for (int second = 0; second < 30; second++) {
      TableRuns.second(index, begin + second * 1_000L * MS, index, index / 10.0)
          .append(files.generator());
    }
    return files.run();
  }

  private JsonNode check(String id) throws IOException {
    return summary(out)
        .at("/checks")
        .valueStream()
        .filter(check -> check.at("/id").asText().equals(id))
        .findFirst()
        .orElseThrow();
  }

  private String message(String check) throws IOException {
    return check(check).at("/message").asText();
  }

  /** Compared with a computation over all records, within the resolution of the histograms. */
  @Test
  void figuresEqualThoseOfTheConcatenatedRecords() throws IOException {
    Called called = merge(out, share(1, 0, null), share(2, 3, null), share(3, 1, null));

    assertThat(called.error()).isEmpty();
    assertThat(called.exitCode()).isZero();
    assertThat(called.output())
        .contains("level r=40 of a: measured in the 20.0 s that the plan of all its injectors has")
        .doesNotContain("outside the common measure window", "they sent the same prompts");
    JsonNode level = summary(out).at("/stages/0");
    List<RequestRecord> measured =
        all.stream().filter(r -> r.identity().phase() == Phase.MEASURE).toList();
    List<RequestRecord> ok = measured.stream().filter(r -> r.outcome().ok()).toList();
    assertThat(level.at("/offered").asDouble()).isEqualTo(40, within(1e-9));
    assertThat(level.at("/counts/planned").asLong()).isEqualTo(800).isEqualTo(measured.size());
    assertThat(level.at("/counts/started").asLong()).isEqualTo(800);
    assertThat(level.at("/counts/ok").asLong()).isEqualTo(ok.size());
    assertThat(message("all_accounted"))
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
        .as("against the fastest of three that warmed up together")
        .isEqualTo(tokens / 20.0 / (10 * INJECTORS), within(1e-6));
    assertThat(summary(out).at("/targets/0/first_answer_s").asDouble())
        .as("that of the injector that waited longest")
        .isEqualTo(2.0 * INJECTORS);
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
    Called called = merge(out, share(3, 1, null), share(1, 0, null), share(2, 3, null));

    assertThat(called.output()).contains("---- Injectors ----", "injector-2", "own CPU");
    JsonNode second = summary(out).at("/stages/0/injectors/1");
    assertThat(second.at("/name").asText()).isEqualTo("injector-2");
    assertThat(second.at("/planned").asLong()).isEqualTo(266);
    assertThat(second.at("/started").asLong()).isEqualTo(266);
    assertThat(second.at("/loop_lag_max_ms").asDouble()).isEqualTo(2);
    assertThat(second.at("/own_cpu").asDouble()).isEqualTo(0.2);
    assertThat(second.at("/idle_cpu").asDouble()).isEqualTo(0.8);
    assertThat(second.at("/generator").asText()).isEqualTo("ok");
    assertThat(summary(out).at("/injectors").findValuesAsText("share"))
        .containsExactly("1/3", "2/3", "3/3");
    assertThat(summary(out).at("/injectors/1/missing").asLong()).isZero();
    assertThat(check("injectors").at("/level").asText()).isEqualTo("ok");
    assertThat(new RunFiles(out).page()).content(UTF_8).contains("Each injector", "injector-3");
  }

  @Test
  void killedInjectorIsNamedWithItsMissingRequests() throws IOException {
    Called called = merge(out, share(1, 0, null), share(2, 3, 150), share(3, 1, null));

    // 150 records, of which the first 67 were scheduled before the measure window.
    JsonNode summary = summary(out);
    assertThat(check("injectors").at("/level").asText()).isEqualTo("invalid");
    assertThat(message("injectors"))
        .startsWith("injector-2 (2/3) died at 0:11 of the load: 183 of the 266 planned requests");
    assertThat(check("all_accounted").at("/value").asLong()).isEqualTo(182);
    assertThat(message("all_accounted"))
        .startsWith(
            "Of 800 requests planned for measure windows 617 were sent (injector-2 did not finish:"
                + " 183, lost records: 1)");
    assertThat(summary.at("/run/state").asText()).isEqualTo("interrupted");
    assertThat(summary.at("/stages/0/duration_s").asDouble()).isEqualTo(20);
    assertThat(called.output())
        .contains("run-2: the last line is cut off", "invalid injectors: injector-2 (2/3) died");
    RunInfo info = RunInfo.read(new RunFiles(out).info()).orElseThrow();
    assertThat(info.injectors().get(1).records()).isEqualTo(150);
    assertThat(info.injectors().get(1).missing()).isEqualTo(183);
    assertThat(info.injectors().get(1).dropped()).isEqualTo(1);
    assertThat(info.outcome().dropped()).isEqualTo(1);
    assertThat(call("render", out.toString()).exitCode()).isZero();
    assertThat(summary(out)).as("rendered again").isEqualTo(summary);
  }

  @Test
  void missingInjectorsAreNamedByShare() throws IOException {
    assertThat(merge(out, share(2, 0, null)).exitCode()).isZero();
    assertThat(message("injectors"))
        .isEqualTo(
            "Of 3 injectors 2 are missing: 1/3, 3/3. Judged by the plans of the others, about 532"
                + " requests are missing.");
  }

  @Test
  void injectorWithoutRecordsIsIncluded() throws IOException {
    Path second = share(2, 0, 1);
    Files.delete(new RunFiles(second).requests());
    merge(out, share(1, 0, null), second, share(3, 1, null));
    assertThat(message("injectors"))
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
    merge(out, share(1, 0, null), second, share(3, 1, null));

    assertThat(message("injectors"))
        .isEqualTo(
            "injector-2 (2/3) never started its load: 0 requests recorded, the number planned is"
                + " unknown. It never started r=40: about 267 requests, judged by the plans of the"
                + " others.");
    assertThat(summary(out).at("/stages/0/counts/planned").asLong()).isEqualTo(534);
  }

  @Test
  void incompatibleSharesAreRefused() throws IOException {
    Path first = share(1, 0, null);
    RunInfo again =
        RunInfo.started("again", "demo.Shared", "again", ORIGIN)
            .share(new InjectorShare(1, INJECTORS));
    refused(
        folder,
        "runs run-1 and again both have share 1/3; expected each share once",
        first,
        DemoRun.write(folder.resolve("again"), again, List.of()).run());
    assertThat(call("merge", first.toString(), "--out=x", "--expect=4").error())
        .startsWith("run run-1 has share 1/3, expected one of 4; ");
  }

  /** Of the third there is nothing, then the part until it died or until it was merged too soon. */
  @Test
  void aLaterMergeReplacesAnIncompleteOneAlsoBelowTheRuns() throws IOException {
    Path out = folder.resolve("merged");
    merge(out, share(1, 0, null), share(2, 0, null));
    Path incomplete = share(3, 0, 100);
    for (int count : new int[] {100, 400}) {
      Path third = count == 100 ? incomplete : share(3, 0, null);
      assertThat(merge(out, folder).error()).isEmpty();
      assertThat(third).exists();
      RunInfo merged = RunInfo.read(new RunFiles(out).info()).orElseThrow();
      assertThat(merged.injectors()).hasSize(INJECTORS);
      assertThat(merged.injectors().get(2).records()).isEqualTo(count);
    }
    assertThat(merge(out, folder).error()).contains("is not an empty directory");
  }

  /** Of a metrics page the first complete run counts: one that died has no samples after that. */
  @Test
  void serverMetricsComeFromTheFirstCompleteInjectorThatReadThem() throws IOException {
    Path first = share(1, 0, 100);
    Path second = share(2, 0, null);
    Path third = share(3, 0, null);
    states(first, "http://a/metrics", 1);
    states(second, "http://a/metrics", 2);
    states(third, "http://a/metrics", 3);
    states(third, "http://b/metrics", 4);
    states(second, "http://a/metrics", 5);
    merge(out, first, second, third);

    List<String> found = new ArrayList<>();
    long damaged =
        ServerFile.read(
            new RunFiles(out).server(),
            sample -> found.add(sample.url() + sample.value(EngineMetric.GENERATION_TOKENS)));
    assertThat(damaged).isZero();
    assertThat(found)
        .containsExactly("http://a/metrics2.0", "http://a/metrics5.0", "http://b/metrics4.0");
  }

  private static void states(Path run, String url, double tokens) throws IOException {
    Map<EngineMetric, Double> values = Map.of(EngineMetric.GENERATION_TOKENS, tokens);
    new ServerFile(new RunFiles(run).server())
        .append(Reading.at(ORIGIN, values).of("a", url).sample());
  }
}
