package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.record.ServerSample.EngineMetric.GPU_ENERGY_J;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.GPU_POWER_W;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.record.ServerSample.ServerFile;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.report.RunReport;
import io.github.gatlingllm.testing.JavaCommand;
import io.github.gatlingllm.testing.Reading;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Records written to a file, and judged by a script in another language. */
class ReferenceScriptIT {

  private static final Path SCRIPT = Path.of("src/test/resources/reference/summary.py");

  @TempDir private Path folder;

  private Path run;

  /** Runs of random records, under another SLO each. */
  @ParameterizedTest
  @CsvSource({
    "12, 'ttft<250ms,e2e<1500ms,itl<150ms', 95, REQUESTS",
    "13, 'ttft<400ms,tpot<45ms,stall<200ms', 80, PERCENTILES"
  })
  void agrees(long seed, String slo, double percentile, Slo.Rule rule) throws Exception {
    write(info().slo(Slo.parse(slo, percentile, rule)), random(seed));
    assertThat(script()).isEqualTo("500 records, 5 stages: all figures agree");
  }

  /** What figures went wrong with before. */
  static Stream<Arguments> adversarial() {
    List<RequestRecord> misses = new ArrayList<>();
    List<RequestRecord> plateau = new ArrayList<>();
    int[] missed = {0, 3, 6, 7, 7, 3, 9};
    int[] completed = {20, 38, 70, 118, 120, 109, 121};
    for (int level = 0; level < 7; level++) {
      for (int i = 0; i < 400; i++) {
        misses.add(inLevel(level, i * 2.4).tokens(i < missed[level] ? 1_000 : 100).record());
      }
      for (int i = 0; i < completed[level]; i++) {
        plateau.add(inLevel(level, i * 7).tokens(60, 100).record());
      }
    }
    List<RequestRecord> waiting = new ArrayList<>(misses.subList(2_000, 2_400));
    waiting.addAll(
        Recorded.requests(64, i -> inLevel(6, -500).phase(Phase.STABILIZE).tokens(1_400)));
    List<RequestRecord> few =
        Recorded.requests(16, i -> inLevel(0, i * 50).tokens(i * 100 / 16.0 + 1, 200));
    few.addAll(
        Recorded.requests(
            16,
            i ->
                inLevel(1, i * 50)
                    .tokens()
                    .ours(500)
                    .failed(
                        i % 2 == 0 ? RequestStatus.RATE_LIMITED : RequestStatus.TRUNCATED,
                        "refused")));
    return Stream.of(
        Arguments.of("misses of 400 requests", misses),
        Arguments.of("a plateau with a last step of 11 %", plateau),
        Arguments.of("a level in which no request was scheduled", waiting),
        Arguments.of("16 requests, one level refused", few),
        Arguments.of(
            "exactly at the limit",
            List.of(inLevel(0, 0).tokens(200).record(), inLevel(0, 10).tokens(199.999).record())));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("adversarial")
  void agreesOnWhatWentWrong(String what, List<RequestRecord> records) throws Exception {
    LevelInfo[] levels = new LevelInfo[7];
    Arrays.setAll(levels, i -> Runs.stage(1 << i, i * 1_000, (i + 1) * 1_000));
    write(Runs.run(7, levels).slo(Slo.parse("ttft<200ms")), records);
    assertThat(script()).as(what).endsWith("7 stages: all figures agree");
  }

  /**
   * 500 J a second. Of target a readings fail from 26 s on, 14 s before its window ends. The
   * counter of b restarts at 50 s and at 51 s, then beyond its value before.
   */
  @Test
  void agreesOnPowerWithGapsAndRestarts() throws Exception {
    List<RequestRecord> records = new ArrayList<>();
    LevelInfo[] levels = new LevelInfo[2];
    ServerFile file = new ServerFile(files().server());
    for (int level = 0; level < 2; level++) {
      String target = level == 0 ? "a" : "b";
      double from = 10_000 + level * 30_000;
      levels[level] = Runs.stage("c=1", target, "closed loop", 1.0, "users", from, from + 30_000);
      records.addAll(
          Recorded.requests(
              30, i -> Recorded.at(from + i * 1_000).target(target).stage("c=1").tokens(50, 100)));
      for (int at = 5; at <= 75; at++) {
        double joules = level == 0 || at < 50 ? 500 * at : at == 50 ? 300 : 500 * (at - 50);
        boolean isRestarted = level == 1 && (at == 50 || at == 51);
        boolean isFailed = level == 0 && at > 26;
        file.append(reading(at, target, "", isFailed, isRestarted, GPU_ENERGY_J, joules));
      }
    }
    write(Runs.run(75, levels), records);
    assertThat(script()).isEqualTo("60 records, 2 stages: all figures agree");
    JsonNode stages =
        new ObjectMapper().readTree(run.resolve("summary.json").toFile()).at("/stages");
    assertThat(stages.at("/0/efficiency/power_w").isNumber()).isFalse();
    assertThat(stages.at("/1/efficiency/power_w").asDouble())
        .isCloseTo((9 * 500 + 300 + 20 * 500) / 30.0, within(1e-6));
  }

  /** One of two pages fails from 15 to 34 s, so that its last reading is too old from 25 s on. */
  @Test
  void agreesOnPowerOfGauges() throws Exception {
    ServerFile file = new ServerFile(files().server());
    for (int at = 5; at <= 45; at++) {
      file.append(reading(at, "a", "/0", false, false, GPU_POWER_W, 300 + 10.0 * (at % 7)));
      file.append(reading(at, "a", "/1", at >= 15 && at < 35, false, GPU_POWER_W, 100.0 + at));
    }
    write(
        Runs.run(45, Runs.stage(1, 10_000, 40_000)),
        List.of(Recorded.at(12_000).tokens(50, 100).record()));
    assertThat(script()).isEqualTo("1 records, 1 stages: all figures agree");
    JsonNode figures = new ObjectMapper().readTree(run.resolve("summary.json").toFile());
    assertThat(figures.at("/stages/0/efficiency/power_w").asDouble()).isBetween(330.0, 460.0);
  }

  private static ServerSample reading(
      int at,
      String target,
      String page,
      boolean isFailed,
      boolean isRestarted,
      EngineMetric metric,
      double value) {
    return Reading.at(
            Recorded.ORIGIN + at * 1_000_000_000L, isFailed ? Map.of() : Map.of(metric, value))
        .of(target, "http://" + target + "/metrics" + page)
        .failed(isFailed ? "timed out" : null)
        .reset(isRestarted)
        .sample();
  }

  private static Recorded inLevel(int level, double ms) {
    return Recorded.at(level * 1_000 + ms).stage("c=" + (1 << level));
  }

  @Test
  void noticesAWrongFigure() throws Exception {
    write(info().slo(Slo.parse("ttft<300ms", 90, Slo.Rule.PERCENTILES)), random(11));
    Path summary = run.resolve("summary.json");
    String right = Files.readString(summary);
    String wrong =
        right.replaceFirst("\"output_tokens_per_s\" : [0-9.]+", "\"output_tokens_per_s\" : 1");
    Files.writeString(summary, wrong);
    assertThat(script()).startsWith("/throughput/output_tokens_per_s: expected ");
  }

  private void write(RunInfo info, List<RequestRecord> records) throws IOException {
    RunFiles files = files();
    run = files.folder();
    info.write(files.info());
    ByteArrayOutputStream lines = new ByteArrayOutputStream();
    records.forEach(each -> lines.writeBytes(RecordFile.line(each)));
    Files.write(files.requests(), lines.toByteArray());
    RunReport.of(files).write();
  }

  private RunFiles files() throws IOException {
    RunFiles files = new RunFiles(folder);
    Files.createDirectories(files.folder());
    return files;
  }

  private static List<RequestRecord> random(long seed) {
    Random random = new Random(seed);
    return Stream.generate(() -> random(random)).limit(500).toList();
  }

  private static RunInfo info() {
    List<LevelInfo> stages = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      double from = 500 + i * 5_000;
      stages.add(
          Runs.stage(
              "c=" + (1 << i), "a", "closed loop", (double) (1 << i), "users", from, from + 4_000));
    }
    stages.add(Runs.stage("b", 1, 21_000, 29_000));
    return Runs.run(30, stages.toArray(LevelInfo[]::new));
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
      case 2 -> r.failed(RequestStatus.ABANDONED, "left");
      case 3 -> r.failed(RequestStatus.TIMEOUT, "late");
      default -> {}
    }
    return r.record();
  }

  private String script() throws IOException, InterruptedException {
    List<String> command = List.of("python3", SCRIPT.toString(), run.toString(), "--compare");
    JavaCommand.Ended python = JavaCommand.run(new ProcessBuilder(command));
    JavaCommand.require(python.code() != 127, "python3 is not installed");
    return python.output().trim();
  }
}
