package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.check.ChecksTest.STEADY;
import static io.github.gatlingllm.figures.level.Recorded.ORIGIN;
import static io.github.gatlingllm.figures.level.Recorded.at;
import static io.github.gatlingllm.figures.level.Runs.check;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.figures.level.Runs.Source;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.Check;
import io.github.gatlingllm.figures.metric.Figures.CheckLevel;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunInfo.TargetFacts;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.record.ServerSample.Histogram;
import io.github.gatlingllm.record.ServerSample.SampleKind;
import io.github.gatlingllm.testing.Reading;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** 100 requests of 10 tokens in 10 s, TTFT 100 ms, and what the engine states of them. */
class EngineChecksTest {

  private static final List<String> CHECKS =
      List.of(
          "engine_tokens_agree",
          "other_traffic",
          "engine_ttft",
          "engine_queue",
          "preemptions",
          "kv_cache_full");

  private static final RunInfo RUN =
      ChecksTest.RUN.targets(Map.of("a", new TargetFacts(false, "chars4", 2.0, 3.6, null)));

  /** What the engine states in the run: states, and how much counters grow. */
  private static Map<EngineMetric, Double> healthy() {
    Map<EngineMetric, Double> reported = new EnumMap<>(EngineMetric.class);
    reported.put(EngineMetric.REQUESTS_RUNNING, 3.0);
    reported.put(EngineMetric.KV_CACHE_USE, 0.4);
    reported.put(EngineMetric.GENERATION_TOKENS, 1_000.0);
    reported.put(EngineMetric.REQUESTS_FINISHED, 100.0);
    reported.put(EngineMetric.PREEMPTIONS, 0.0);
    reported.put(EngineMetric.ENGINE_TTFT_S, 0.09);
    reported.put(EngineMetric.ENGINE_QUEUE_S, 0.01);
    reported.put(EngineMetric.GPU_POWER_W, 400.0);
    return reported;
  }

  static Summary healthyRun() {
    return run(healthy());
  }

  static Summary runWith(EngineMetric metric, double value) {
    return run(healthyBut(metric, value));
  }

  private static Map<EngineMetric, Double> healthyBut(EngineMetric metric, double value) {
    Map<EngineMetric, Double> reported = healthy();
    reported.put(metric, value);
    return reported;
  }

  /** A run whose engine is healthy, but not read after a second of the run. */
  static Summary readUntil(double second) {
    return summary(
        readings(healthy()).stream()
            .filter(reading -> reading.unixNanos() <= ORIGIN + Math.round(second * 1e9))
            .toList());
  }

  /**
   * A run in which 10 of 100 users leave with 4 of 10 tokens, after 160 ms, and what the engine has
   * generated then: 940 tokens were received.
   */
  static Summary left(double generated) {
    return left(generated, 1);
  }

  /** The same with a tokenizer of ours that counts this multiple of the tokens, or is not used. */
  private static Summary left(double generated, int tooMany) {
    List<RequestRecord> records = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      Recorded user = at(i * 97).tokens(i % 10 == 0 ? Arrays.copyOf(STEADY, 4) : STEADY);
      user = tooMany == 1 ? user : user.ourOutput((i % 10 == 0 ? 4 : 10) * tooMany);
      if (i % 10 == 0 && tooMany > 1) {
        user = user.output(4 * tooMany).estimated();
      }
      records.add((i % 10 == 0 ? user.failed(RequestStatus.ABANDONED, "left") : user).record());
    }
    return summary(RUN, records, readings(healthyBut(EngineMetric.GENERATION_TOKENS, generated)));
  }

  /** In the engine 3 requests for 10 s, awaited 90 × 280 ms and 10 × 160 ms: 3.2 s more of 10. */
  @Test
  void tokensForUsersWhoLeftAndTheTimeAfterAreNamed() {
    Check check = check(left(1_175), "abandoned_stop");
    assertThat(check.level()).isEqualTo(CheckLevel.WARNING);
    assertThat(check.message())
        .contains("10 users left", " 235 tokens", "23.5 per user", "another 320 ms");
    assertThat(check(left(1_175, 3), "abandoned_stop").message())
        .as("cut answers have no usage, and our tokenizer counts three times the tokens")
        .isEqualTo(check.message());
    assertThat(applying(left(1_175)))
        .as("they would not agree")
        .doesNotContain("engine_tokens_agree");
  }

  /** The engine made the 940 tokens that were received; with such a tokenizer we say 1,020. */
  @Test
  void tokensOfCutAnswersThatOnlyAWrongTokenizerCountedAreNamed() {
    assertThat(check(left(940, 3), "engine_tokens_agree").level()).isEqualTo(CheckLevel.WARNING);
    assertThat(check(left(940, 3), "engine_tokens_agree").message()).contains(" 940 ", "1,020");
    assertThat(check(left(940), "engine_tokens_agree").level()).isEqualTo(CheckLevel.OK);
    assertThat(applying(left(970)))
        .as("tokens on their way when users leave")
        .doesNotContain("engine_tokens_agree");
  }

  /**
   * A run on two GPUs of 1,980 MHz: from 5 s on the second has another clock and temperature, and
   * all the time another utilisation.
   */
  static Summary onGpus(double mhz, double celsius, double utilisation) {
    return summary(
        readings(healthy()).stream()
            .map(
                reading -> {
                  boolean isLate = reading.unixNanos() >= ORIGIN + 5_000_000_000L;
                  return Reading.at(reading.unixNanos(), reading.values())
                      .histograms(reading.histograms())
                      .gpus(
                          Map.of(
                              "GPU 0", gpu(1_980, 60, 0.9),
                              "GPU 1",
                                  gpu(isLate ? mhz : 1_980, isLate ? celsius : 60, utilisation),
                              "GPU 2, of another server",
                                  Map.of(
                                      EngineMetric.GPU_UTILIZATION, 0.0,
                                      EngineMetric.GPU_MEMORY_USED_BYTES, 1e9,
                                      EngineMetric.GPU_MEMORY_TOTAL_BYTES, 80e9)))
                      .sample();
                })
            .toList());
  }

  private static Map<EngineMetric, Double> gpu(double mhz, double celsius, double utilisation) {
    return Map.of(
        EngineMetric.GPU_CLOCK_MHZ, mhz,
        EngineMetric.GPU_TEMPERATURE_C, celsius,
        EngineMetric.GPU_UTILIZATION, utilisation);
  }

  /** From 1,980 to 1,188 MHz at 5.5 s, hot; an idle GPU of others is not compared. */
  @Test
  void gpuThatIsThrottledIsNamedWithItsLevelAndTime() {
    Summary summary = onGpus(1_188, 87, 0.9);
    assertThat(check(summary, "gpu_throttling").message())
        .contains("c=1", "GPU 1 was 1,188 MHz", "0:06", "40.0 %", "temperature", "87 °C");
    assertThat(check(onGpus(1_188, 60, 0.9), "gpu_throttling").level())
        .as("cool: its load may be less")
        .isEqualTo(CheckLevel.OK);
    assertThat(check(onGpus(1_980, 60, 0.45), "gpu_imbalance").message())
        .contains("GPU 1 was 45.0 %", "66.7 %", "2 GPUs", "67.5 %");
    assertThat(summary.stages().get(0).serverMetrics().gpus()).hasSize(3);
  }

  private static Summary run(Map<EngineMetric, Double> reported) {
    return summary(readings(reported));
  }

  private static List<ServerSample> readings(Map<EngineMetric, Double> reported) {
    List<ServerSample> readings = new ArrayList<>();
    for (int second = -1; second <= 10; second++) {
      readings.add(reading(second + 0.5, (second + 1) / 11.0, reported));
    }
    return readings;
  }

  private static Summary summary(List<ServerSample> readings) {
    return summary(RUN, Recorded.requests(100, i -> at(i * 97).tokens(STEADY)), readings);
  }

  private static Summary summary(
      RunInfo run, List<RequestRecord> records, List<ServerSample> readings) {
    return Runs.figures(run, new Source(records, List.of(), List.of(), readings)).summary();
  }

  /** A reading when a part of the run is over; times are those of 200 values. */
  private static ServerSample reading(double atS, double part, Map<EngineMetric, Double> reported) {
    Map<EngineMetric, Double> values = new EnumMap<>(EngineMetric.class);
    Map<EngineMetric, Histogram> histograms = new EnumMap<>(EngineMetric.class);
    reported.forEach(
        (metric, value) -> {
          if (metric.kind() == SampleKind.HISTOGRAM) {
            long count = Math.round(200 * part);
            histograms.put(metric, new Histogram(count, value * count, List.of(), List.of()));
          } else {
            values.put(metric, metric.kind() == SampleKind.COUNTER ? 5_000 + value * part : value);
          }
        });
    long at = ORIGIN + Math.round(atS * 1e9);
    return Reading.at(at, values).histograms(histograms).sample();
  }

  private static List<String> applying(Summary summary) {
    return summary.checks().stream().map(Check::id).filter(CHECKS::contains).toList();
  }

  @Test
  void healthyEngineFiresNoCheck() {
    assertThat(applying(healthyRun())).containsExactlyInAnyOrderElementsOf(CHECKS);
    assertThat(healthyRun().checks())
        .filteredOn(check -> CHECKS.contains(check.id()))
        .extracting(Check::level)
        .containsOnly(CheckLevel.OK);
  }

  /** 100 tok/s at 400 W. */
  @Test
  void powerGivesTokensPerJoule() {
    Figures figures = healthyRun().stages().get(0).figures();
    assertThat(figures.number(Metric.POWER_W)).isEqualTo(400);
    assertThat(figures.number(Metric.OUTPUT_TOKENS_PER_JOULE)).isEqualTo(0.25);
    assertThat(figures.number(Metric.COST_PER_MILLION_OUTPUT_TOKENS)).isEqualTo(20);
  }

  /** The engine's counts began anew, or were not read to the end: they say nothing of the run. */
  @Test
  void metricsThatMissAPartOfTheRunAreNotJudged() {
    Map<EngineMetric, Double> reported = healthy();
    ServerSample first = reading(-0.5, 0, reported);
    ServerSample last = reading(10.5, 0.5, reported);
    ServerSample reset =
        Reading.at(last.unixNanos(), last.values())
            .histograms(last.histograms())
            .reset(true)
            .sample();
    for (List<ServerSample> readings :
        List.of(
            List.of(first, reset),
            List.of(first, reading(5, 0.5, reported)),
            List.of(reading(1, 0, reported), last))) {
      Summary summary = summary(readings);
      assertThat(applying(summary)).doesNotContain("engine_tokens_agree", "other_traffic");
    }
    assertThat(check(summary(List.of(first, last)), "engine_tokens_agree"))
        .extracting(Check::level)
        .isEqualTo(CheckLevel.WARNING);
  }

  /** What others had generated is no mistake of counting. */
  @Test
  void tokensOfOtherClientsAreNotCompared() {
    Map<EngineMetric, Double> reported = healthyBut(EngineMetric.GENERATION_TOKENS, 2_000);
    reported.put(EngineMetric.REQUESTS_FINISHED, 200.0);
    assertThat(applying(run(reported))).doesNotContain("engine_tokens_agree");
  }

  @Test
  void timeOutsideTheEngineIsNamedWithItsLevel() {
    Check check = check(runWith(EngineMetric.ENGINE_TTFT_S, 0.017), "engine_ttft");
    assertThat(check.level()).isEqualTo(CheckLevel.NOTE);
    assertThat(check.message()).contains("c=1", "100 ms", "17 ms", "83 ms");
  }

  /**
   * Ten requests/s against a server that answers one each 500 ms, and an engine that states 90 ms:
   * its means are of those whose first token came in the window, ours wait ever longer.
   */
  @Test
  void requestsThatPileUpAreNotComparedWithThoseThatTheEngineAnswered() {
    List<RequestRecord> records =
        Recorded.requests(
            100, n -> at(n * 100).lag(0).stage("r=10").tokens(n * 400 + 100, n * 400 + 500));
    LevelInfo level = Runs.rate(10, 0, 10_000);
    Map<EngineMetric, Double> reported = healthyBut(EngineMetric.ENGINE_QUEUE_S, 20);
    Summary summary = summary(Runs.run(60, level), records, readings(reported));
    assertThat(summary.verdict()).startsWith("Does not keep up with 10 requests/s");
    assertThat(applying(summary)).doesNotContain("engine_ttft");
    assertThat(check(summary, "engine_queue")).extracting(Check::level).isEqualTo(CheckLevel.NOTE);
  }

  /** 100 requests at one target and 50 at another, whose pages count this number each. */
  private static Summary twoTargets(double finishedAtOne, double finishedAtTwo) {
    List<RequestRecord> records =
        Recorded.requests(
            150, i -> at(i * 60).target(i % 3 == 2 ? "b" : "a").tokens(STEADY).tools());
    List<ServerSample> readings = new ArrayList<>();
    for (int second = -1; second <= 10; second++) {
      for (String target : finishedAtTwo > 0 ? List.of("a", "b") : List.of("a")) {
        double finished = target.equals("a") ? finishedAtOne : finishedAtTwo;
        Map<EngineMetric, Double> reported = healthyBut(EngineMetric.REQUESTS_FINISHED, finished);
        reported.put(EngineMetric.GENERATION_TOKENS, 10 * finished);
        reported.put(EngineMetric.ENGINE_TTFT_S, 0.02);
        readings.add(reading(second + 0.5, (second + 1) / 11.0, reported).asFirst(target));
      }
    }
    return summary(ChecksTest.TWO_TARGETS, records, readings);
  }

  /** A gateway and the server behind it are one engine, which finishes what both were sent. */
  @ParameterizedTest
  @CsvSource({
    "150, 150, a and b, OK", // one engine
    "170, 170, a and b, WARNING", // one engine, and others use it
    "100, 50, a, OK", // two engines
    "150, 0, a and b, OK", // the engine, and a gateway without separate metrics
    "170, 0, a, WARNING", // the engine, others who use it, and a target without metrics
    "100, 100, b, WARNING", // two engines, and others use the second
  })
  void targetsWithTheSameCountsAreOneEngine(
      double one, double two, String targets, CheckLevel level) {
    Summary summary = twoTargets(one, two);
    Check traffic = check(summary, "other_traffic");
    assertThat(traffic.level()).isEqualTo(level);
    assertThat(traffic.message()).contains(" at " + targets + " finished");
    boolean isOne = targets.contains("and");
    assertThat(check(summary, "engine_ttft").message().contains("a and b")).isEqualTo(isOne);
    if (level == CheckLevel.OK) {
      assertThat(check(summary, "engine_tokens_agree").level()).isEqualTo(CheckLevel.OK);
    }
  }

  /** vLLM counts each text to embed as a request. */
  @ParameterizedTest
  @CsvSource({"400, OK", "500, WARNING"})
  void textsToEmbedAreRequestsOfTheEngine(double finished, CheckLevel level) {
    List<RequestRecord> records = Recorded.requests(100, i -> at(i * 97).inputs(4));
    Map<EngineMetric, Double> reported = healthyBut(EngineMetric.REQUESTS_FINISHED, finished);
    assertThat(check(summary(RUN, records, readings(reported)), "other_traffic").level())
        .isEqualTo(level);
  }

  /** The engine has its first token long before a parser has the complete tool call. */
  @ParameterizedTest
  @CsvSource({"true, NOTE", "false, WARNING"})
  void toolCallsHeldByAParserDoNotAccuseTheNetwork(boolean hasTools, CheckLevel level) {
    List<RequestRecord> records =
        Recorded.requests(
            100,
            i -> {
              Recorded buffered =
                  at(i * 97).tokens(500, 500, 500, 500, 500, 500, 500, 500, 501, 501);
              return hasTools ? buffered.tools() : buffered;
            });
    assertThat(check(summary(RUN, records, readings(healthy())), "engine_ttft").level())
        .isEqualTo(level);
  }

  @Test
  void withoutAMetricItsCheckDoesNotApply() {
    assertThat(applying(run(Map.of(EngineMetric.REQUESTS_RUNNING, 1.0)))).isEmpty();
  }
}
