package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static io.github.gatlingllm.figures.level.Runs.check;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Figures.CheckLevel;
import io.github.gatlingllm.figures.metric.LevelFigures.InjectorFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.InjectorRun;
import io.github.gatlingllm.record.InjectorRun.InjectorLevel;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunInfo.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class InjectorTallyTest {

  private static final int SECONDS = 20;

  private static final RunInfo RUN =
      Runs.run(SECONDS, Runs.planned(800, Runs.rate(40, 0, SECONDS * 1e3))).planned(800L);

  /** Two injectors, of which the second began that long after the plan. */
  static Summary starting(double lateS) {
    return figures(2, part(1, Map.of(), 0L), part(2, Map.of(), (long) (lateS * 1e9)));
  }

  @Test
  void injectorThatBeganFarFromPlanIsNamed() {
    assertThat(check(starting(-2.5), "injector_starts").message()).contains("injector-2", "r=40");
    assertThat(check(starting(-2.5), "injector_starts").level()).isEqualTo(CheckLevel.WARNING);
  }

  /** A pod that found no node in time has a run without a request and without a level. */
  @Test
  void injectorWithoutAnyLoadNeverStarted() {
    InjectorRun late =
        new InjectorRun(
            "late",
            "run-2",
            new InjectorShare(2, 3),
            State.INTERRUPTED,
            Recorded.ORIGIN,
            Recorded.ORIGIN,
            null,
            0,
            0L,
            0,
            0,
            List.of(),
            Map.of());
    String found = check(figures(2, part(1, Map.of(), 0L), late), "injectors").message();
    assertThat(found).contains("late (2/3) never started").doesNotContain("interrupted");
  }

  private static InjectorRun part(
      int index, Map<String, String> settings, @Nullable Long lateNanos) {
    return new InjectorRun(
        "injector-" + index,
        "run-" + index,
        new InjectorShare(index, 3),
        State.COMPLETE,
        Recorded.ORIGIN,
        Recorded.ORIGIN + 12_000_000_000L,
        400L,
        400,
        null,
        400,
        0,
        List.of(new InjectorLevel("r=40", "a", null, 400L, lateNanos)),
        settings);
  }

  /** Two injectors with 400 requests each, TTFT about 100 ms. */
  private static List<RequestRecord> records() {
    Random random = new Random(7);
    List<RequestRecord> all = new ArrayList<>();
    for (int i = 0; i < 800; i++) {
      double startMs = i * 25;
      double ttft = 100 * Math.exp(0.3 * random.nextGaussian());
      double lag = random.nextDouble() * 0.2;
      Recorded one =
          at(startMs + lag)
              .id("id-" + i)
              .injector(i % 2 == 1 ? "injector-2" : "injector-1")
              .stage("r=40")
              .lag(lag)
              .offset(startMs)
              .tokens(ttft, ttft + 20, ttft + 40);
      all.add((i % 50 == 3 ? one.failed(RequestStatus.TIMEOUT, "timeout") : one).record());
    }
    return all;
  }

  static Summary joined(int expected) {
    return figures(expected, part(1, Map.of(), null), part(2, Map.of(), null));
  }

  static Summary differing() {
    return figures(
        2, part(1, Map.of("maxTokens", "64"), null), part(2, Map.of("maxTokens", "128"), null));
  }

  private static Summary figures(int expected, InjectorRun... parts) {
    return Runs.summary(RUN.injectors(List.of(parts), expected), records());
  }

  @Test
  void figuresOfAnInjectorAreThoseOfItsRecords() {
    List<RequestRecord> records = records();
    Summary summary = joined(2);
    InjectorFigures second = summary.stages().get(0).injectors().get(1);
    List<RequestRecord> own =
        records.stream().filter(r -> r.identity().injector().equals("injector-2")).toList();
    double[] ttft =
        own.stream()
            .mapToDouble(r -> r.timing().ttftNanos() / 1e6) // those of timeouts, too
            .sorted()
            .toArray();
    assertThat(second.name()).isEqualTo("injector-2");
    assertThat(second.planned()).isEqualTo(400);
    assertThat(second.started()).isEqualTo(400);
    assertThat(second.ended()).isEqualTo(400);
    assertThat(second.ok()).isEqualTo(own.stream().filter(r -> r.outcome().ok()).count());
    assertThat(second.failed()).isEqualTo(400 - second.ok()).isPositive();
    assertThat(second.ttftMs().p50())
        .isEqualTo(ttft[(int) Math.ceil(0.5 * ttft.length) - 1], within(0.1));
    assertThat(second.ttftMs().p99())
        .isEqualTo(ttft[(int) Math.ceil(0.99 * ttft.length) - 1], within(0.3));
    assertThat(second.startLagMs().count()).isEqualTo(400);
    InjectorFigures first = summary.stages().get(0).injectors().get(0);
    assertThat(first.requestsPerS() + second.requestsPerS())
        .isEqualTo(summary.stages().get(0).figures().number(Metric.REQUESTS_PER_S), within(1e-9));
    assertThat(first.outputTokensPerS() + second.outputTokensPerS())
        .isEqualTo(
            summary.stages().get(0).figures().number(Metric.OUTPUT_TOKENS_PER_S), within(1e-9));
    assertThat(summary.injectors())
        .extracting(i -> i.figures().started())
        .containsExactly(400L, 400L);
  }

  @Test
  void runsOfOneGeneratorHaveNoInjectors() {
    Summary summary = Runs.summary(RUN, records());
    assertThat(summary.injectors()).isEmpty();
    assertThat(summary.stages().get(0).injectors()).isEmpty();
    assertThat(summary.checks()).noneMatch(c -> c.id().startsWith("injector"));
  }

  @Test
  void settingsThatDifferAreNamedByInjector() {
    assertThat(check(differing(), "injector_settings").message())
        .containsSubsequence("1 setting", "maxTokens is 128 at injector-2, 64 at injector-1.");
  }
}
