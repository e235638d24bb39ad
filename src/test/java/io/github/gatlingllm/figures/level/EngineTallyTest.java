package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.record.ServerSample.EngineMetric.ENGINE_TTFT_S;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.GENERATION_TOKENS;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.GPU_CLOCK_MHZ;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.GPU_ENERGY_J;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.GPU_POWER_LIMIT_W;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.GPU_POWER_W;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.KV_CACHE_USE;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.PREFIX_CACHE_HITS;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.PREFIX_CACHE_QUERIES;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.PROMPT_TOKENS;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.REQUESTS_FINISHED;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.REQUESTS_RUNNING;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.SPEC_ACCEPTANCE_LENGTH;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.SPEC_ACCEPTANCE_RATE;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.SPEC_ACCEPTED_TOKENS;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.SPEC_DRAFTS;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.SPEC_DRAFT_TOKENS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.EngineFigures.AtLimit;
import io.github.gatlingllm.figures.metric.EngineFigures.EngineGrowth;
import io.github.gatlingllm.figures.metric.EngineFigures.EnginePage;
import io.github.gatlingllm.figures.metric.EngineFigures.EngineRun;
import io.github.gatlingllm.figures.metric.EngineFigures.EngineState;
import io.github.gatlingllm.figures.metric.EngineFigures.EngineTiming;
import io.github.gatlingllm.figures.metric.EngineFigures.Gpu;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.record.ServerSample.Histogram;
import io.github.gatlingllm.testing.Reading;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What readings of pages make of a load level that is measured from 1 s to 3 s. */
class EngineTallyTest {

  private static final long S = 1_000_000_000L;

  private final EngineTally tally = tally(level("a", S, 3 * S), level("b", 5 * S, 6 * S));

  private static EngineTally tally(LevelInfo... levels) {
    return new EngineTally(0, new Windows(List.of(levels), 0).all());
  }

  private static LevelInfo level(String target, long from, long to) {
    List<PhaseWindow> measure = List.of(new PhaseWindow(Phase.MEASURE, from, to));
    return new LevelInfo("c=1", target, null, LevelInfo.CLOSED_LOOP, null, "", measure);
  }

  private static ServerSample reading(
      double atS, @Nullable String target, Map<EngineMetric, Double> values) {
    return Reading.at((long) (atS * S), values)
        .of(target, "http://" + target + "/metrics")
        .sample();
  }

  private void read(double atS, EngineMetric metric, double value) {
    tally.add(reading(atS, "a", Map.of(metric, value)));
  }

  private static @Nullable Double joules(EngineTally tally) {
    return tally.joules(tally.levels.subList(0, 1));
  }

  private EngineFigures level() {
    EngineFigures figures = tally.of(level -> level.index == 0);
    assertThat(figures).isNotNull();
    return figures;
  }

  /**
   * 100 a second, then a restart at 3 s: half of the first second, the second, and half of the 40
   * after it.
   */
  @Test
  void counterGrowthIsSplitAtWindowEdgesAndSurvivesResets() {
    read(0.5, GENERATION_TOKENS, 100);
    read(1.5, GENERATION_TOKENS, 200);
    read(2.5, GENERATION_TOKENS, 300);
    read(3.5, GENERATION_TOKENS, 40);

    assertThat(level().counters()).containsEntry(GENERATION_TOKENS, new EngineGrowth(170, 85.0, 1));
    assertThat(tally.overTime().values().iterator().next())
        .extracting(point -> point.of(GENERATION_TOKENS))
        .containsExactly(100.0, 100.0, 40.0);
  }

  /** Within the window 100 drafts of 4 tokens each, 150 of them accepted; then without counters. */
  @Test
  void acceptedLengthCountsTheTokenAfterTheDraft() {
    for (double at = 1; at <= 3; at++) {
      double more = at;
      tally.add(
          reading(
              at,
              "a",
              Map.of(
                  SPEC_DRAFTS, 50 * more,
                  SPEC_DRAFT_TOKENS, 200 * more,
                  SPEC_ACCEPTED_TOKENS, 75 * more,
                  SPEC_ACCEPTANCE_LENGTH, 9.0)));
    }
    assertThat(level().acceptanceRate()).isEqualTo(0.375);
    assertThat(level().acceptedLength()).isEqualTo(2.5);
    tally.add(reading(5.5, "b", Map.of(SPEC_ACCEPTANCE_RATE, 0.6, SPEC_ACCEPTANCE_LENGTH, 2.8)));
    assertThat(tally.of(level -> level.index == 1))
        .extracting(EngineFigures::acceptanceRate, EngineFigures::acceptedLength)
        .containsExactly(0.6, 2.8);
  }

  /** Two GPUs in the window of two readings; a power limit of 700 W is reached in the second. */
  @Test
  void gpusAreCountedOneByOne() {
    for (int second = 1; second <= 2; second++) {
      Map<String, Map<EngineMetric, Double>> gpus =
          Map.of(
              "n GPU 0", Map.of(GPU_CLOCK_MHZ, 1_900.0, GPU_POWER_W, 600.0),
              "n GPU 1",
                  Map.of(
                      GPU_CLOCK_MHZ,
                      2_000.0 - 500 * (second - 1),
                      GPU_POWER_W,
                      600.0 + 95 * (second - 1),
                      GPU_POWER_LIMIT_W,
                      700.0));
      tally.add(Reading.at(second * S, Map.of(GPU_CLOCK_MHZ, 1_950.0)).gpus(gpus).sample());
    }
    assertThat(level().gpus())
        .containsOnlyKeys("n GPU 0", "n GPU 1")
        .containsEntry(
            "n GPU 1",
            new Gpu(
                Map.of(
                    GPU_CLOCK_MHZ, new EngineState(1_750, 2_000),
                    GPU_POWER_W, new EngineState(647.5, 695),
                    GPU_POWER_LIMIT_W, new EngineState(700, 700)),
                new AtLimit(1_500, "power", 695, 2)));
    assertThat(level().gpus().get("n GPU 0").atLimit()).isNull();
    assertThat(tally.overTime().values().iterator().next())
        .extracting(point -> point.gpus().get("n GPU 1").get(GPU_CLOCK_MHZ))
        .containsExactly(2_000.0, 1_500.0);
  }

  /**
   * Two servers prefill and one decodes: 2 and 3 requests there, 10 here; in 2 s 100 and 300 prompt
   * tokens, and each request once for each role.
   */
  @Test
  void rolesHaveTheirOwnFigures() {
    for (int i = 0; i < 4; i++) {
      for (double running : List.of(2.0, 3.0)) {
        tally.add(
            Reading.at(
                    i * S,
                    Map.of(
                        REQUESTS_RUNNING, running,
                        PROMPT_TOKENS, i * (running == 2 ? 50.0 : 150.0),
                        REQUESTS_FINISHED, i * 1.0))
                .of("a", "http://prefill-" + running)
                .role("prefill")
                .sample());
      }
      tally.add(
          Reading.at(i * S, Map.of(REQUESTS_RUNNING, 10.0, REQUESTS_FINISHED, i * 2.0))
              .of("a", "http://decode")
              .role("decode")
              .sample());
    }
    assertThat(level().roles()).containsOnlyKeys("prefill", "decode");
    EngineFigures prefill = level().roles().get("prefill");
    assertThat(prefill.mean(REQUESTS_RUNNING)).isEqualTo(5);
    assertThat(prefill.counters())
        .containsEntry(PROMPT_TOKENS, new EngineGrowth(400, 200.0, 1))
        .containsEntry(REQUESTS_FINISHED, new EngineGrowth(4, 2.0, 1));
    EngineFigures decode = level().roles().get("decode");
    assertThat(decode.mean(REQUESTS_RUNNING)).isEqualTo(10);
    assertThat(decode.counters())
        .containsOnlyKeys(REQUESTS_FINISHED)
        .containsEntry(REQUESTS_FINISHED, new EngineGrowth(4, 2.0, 1));
    assertThat(tally.pages()).extracting(EnginePage::role).containsOnly("prefill", "decode");
    tally.add(Recorded.at(500).unixNanos(0).target("a").tokens(10, 20).record());
    assertThat(tally.entireRun())
        .as("each request is counted by a server of both roles, and only once here")
        .extracting(EngineRun::finishedRequests)
        .containsExactly(6.0);
  }

  /** 100 and 50 tokens a second in the window, the first growth of each page included. */
  @Test
  void countersOfSeveralPagesCoverTheirTimeOnce() {
    for (int at = 1; at <= 3; at++) {
      tally.add(reading(at, "a", Map.of(GENERATION_TOKENS, 100.0 * at)));
      tally.add(
          Reading.at(at * S, Map.of(GENERATION_TOKENS, 50.0 * at)).of("a", "http://2").sample());
    }
    assertThat(level().counters())
        .containsEntry(GENERATION_TOKENS, new EngineGrowth(300, 150.0, 1));
  }

  @Test
  void failedReadingIsCountedAndGrowthSpansIt() {
    read(1, GENERATION_TOKENS, 0);
    tally.add(Reading.at(2 * S, Map.of()).failed("timed out").sample());
    read(3, GENERATION_TOKENS, 50);

    assertThat(level().counters()).containsEntry(GENERATION_TOKENS, new EngineGrowth(50, 25.0, 1));
    assertThat(level().readings()).isEqualTo(2);
    assertThat(level().failedReadings()).isEqualTo(1);
    assertThat(tally.pages())
        .containsExactly(
            new EnginePage("a", null, "http://a/metrics", "vllm", 3, 1, 0, "timed out", Map.of()));
  }

  /** Two replicas, and a reading before the window. */
  @Test
  void gaugesOfSeveralPagesAreSummedOrTheirMaximumIsTaken() {
    for (double at : new double[] {0.9, 1.1, 2.1}) {
      for (int replica = 1; replica <= 2; replica++) {
        tally.add(
            Reading.at(
                    (long) (at * S),
                    Map.of(REQUESTS_RUNNING, 4.0 * replica, KV_CACHE_USE, 0.3 * replica))
                .of("a", "http://" + replica)
                .sample());
      }
    }

    assertThat(level().states())
        .containsEntry(REQUESTS_RUNNING, new EngineState(12, 12))
        .containsEntry(KV_CACHE_USE, new EngineState(0.6, 0.6));
  }

  /** 10 values up to 0.1 s and 10 up to 0.5 s before; then 50, 45 and 5 beyond: p50 at 0.1 s. */
  @Test
  void percentilesAreInterpolatedWithinDifferencesOfBuckets() {
    List<Double> bounds = List.of(0.1, 0.5);
    histogram(1, new Histogram(20, 3, bounds, List.of(10L, 20L)));
    histogram(3, new Histogram(120, 33, bounds, List.of(60L, 115L)));

    EngineTiming timing = level().timings().get(ENGINE_TTFT_S);
    assertThat(timing.count()).isEqualTo(100);
    assertThat(timing.mean()).isCloseTo(0.3, within(1e-9));
    assertThat(timing.p50()).isCloseTo(0.1, within(1e-9));
    assertThat(timing.p90())
        .as("the 40th of 45 in 0.1 to 0.5")
        .isCloseTo(0.1 + 0.4 * 40 / 45, within(1e-9));
    assertThat(timing.p99()).as("beyond the last bound").isEqualTo(0.5);
  }

  private void histogram(double atS, Histogram values) {
    tally.add(
        Reading.at((long) (atS * S), Map.of()).histograms(Map.of(ENGINE_TTFT_S, values)).sample());
  }

  /** 300 W for 2 s; where the page also counts energy, what it counted. */
  @Test
  void energyCoversTheWindow() {
    for (double at = 0.5; at < 4; at++) {
      tally.add(reading(at, null, Map.of(GPU_POWER_W, 300.0)));
    }
    assertThat(joules(tally)).isEqualTo(600);
    assertThat(tally.joules(tally.levels)).as("nothing is known of the second").isNull();

    for (double at = 0.5; at < 4; at++) {
      tally.add(reading(at, "a", Map.of(GPU_ENERGY_J, 250 * at)));
    }
    assertThat(joules(tally)).isCloseTo(500, within(1e-9));
  }

  /** 500 J a second; the page fails for the last 14 of the 30 s of the window. */
  @Test
  void rateOfACounterIsUnknownWhereReadingsDoNotCoverTheWindow() {
    EngineTally gap = tally(level("a", 10 * S, 40 * S));
    for (int at = 5; at <= 26; at++) {
      gap.add(reading(at, "a", Map.of(GPU_ENERGY_J, 500.0 * at)));
    }
    EngineFigures figures = gap.of(level -> level.index == 0);
    assertThat(figures).isNotNull();
    assertThat(figures.counters())
        .containsEntry(GPU_ENERGY_J, new EngineGrowth(8_000, null, 16 / 30.0));
    assertThat(joules(gap)).isNull();

    gap.add(reading(39, "a", Map.of(GPU_ENERGY_J, 500.0 * 39)));
    assertThat(gap.of(level -> level.index == 0).perS(GPU_ENERGY_J))
        .as("29 of 30 s")
        .isCloseTo(500, within(1e-9));
    assertThat(joules(gap)).isCloseTo(15_000, within(1e-9));
  }

  /** The server restarts at 2 s; one of its counters grows beyond its value before. */
  @Test
  void counterOfARestartedServerLosesNothingThatWasRead() {
    read(1, GPU_ENERGY_J, 300);
    tally.add(Reading.at(3 * S, Map.of(GPU_ENERGY_J, 600.0)).reset(true).sample());
    assertThat(level().total(GPU_ENERGY_J)).isEqualTo(600);
  }

  /** A page about all targets does not state whose power it was. */
  @Test
  void sharedPowerOfConcurrentTargetsIsNotAssigned() {
    EngineTally both = tally(level("a", S, 3 * S), level("b", S, 3 * S));
    both.add(reading(2, null, Map.of(GPU_POWER_W, 300.0)));
    assertThat(joules(both)).isNull();

    EngineTally own = tally(level("a", S, 3 * S), level("b", S, 3 * S));
    own.add(reading(2, "a", Map.of(GPU_POWER_W, 300.0)));
    assertThat(joules(own)).isEqualTo(600);
  }

  @Test
  void hitRateCoversTheTokensInTheWindow() {
    for (double at = 1; at <= 3; at++) {
      tally.add(
          reading(at, "a", Map.of(PREFIX_CACHE_QUERIES, 100 * at, PREFIX_CACHE_HITS, 25 * at)));
    }
    assertThat(level().prefixCacheHitRate()).isEqualTo(0.25);
  }

  @Test
  void withoutReadingsThereAreNoFigures() {
    assertThat(tally.of(level -> level.index == 0)).isNull();
    assertThat(tally.of(FigureGroups.of("a"))).isNull();
    assertThat(tally.of(level -> level.index == 7)).as("a level that no plan names").isNull();
    assertThat(joules(tally)).isNull();
    assertThat(tally.pages()).isEmpty();
    assertThat(tally.overTime()).isEmpty();
  }
}
