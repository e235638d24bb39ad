package io.github.gatlingllm.figures.level;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The figures of 2,000 random records against a reference that keeps every value in a list, sorts
 * it, and knows nothing of histograms, cells or streams.
 */
class ReferenceFiguresTest {

  private static final String[] NAMES = {"ask", "chat", "sum"};
  private static final double TTFT_LIMIT_MS = 300;

  static RunInfo info() {
    List<LevelInfo> stages = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      double from = 500 + i * 5_000;
      stages.add(
          Recorded.stage(
              "c=" + (1 << i), "a", "closed loop", (double) (1 << i), "users", from, from + 4_000));
    }
    stages.add(Recorded.stage("c=1", "b", "closed loop", 1.0, "users", 21_000, 29_000));
    return Recorded.run(30, stages.toArray(LevelInfo[]::new))
        .slo(Slo.parse("ttft<300ms", 90, Slo.Rule.PERCENTILES));
  }

  static RequestRecord random(Random random) {
    Recorded r = Recorded.at(random.nextDouble() * 29_000).name(NAMES[random.nextInt(3)]);
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
      default -> {}
    }
    return r.record();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void streamedFiguresEqualTheReference(long seed) {
    Random random = new Random(seed);
    List<RequestRecord> records = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      records.add(random(random));
    }
    RunInfo info = info();
    Summary summary = Recorded.figures(info, records).summary();
    compare("run", summary.figures(), new Reference(info, records, s -> true, r -> true));
    for (LevelFigures stage : summary.stages()) {
      Predicate<LevelInfo> own =
          s -> s.label().equals(stage.label()) && s.target().equals(stage.target());
      compare(stage.label(), stage.figures(), new Reference(info, records, own, r -> true));
    }
    for (Summary.Target target : summary.targets()) {
      Predicate<LevelInfo> own = s -> s.target().equals(target.label());
      compare(target.label(), target.figures(), new Reference(info, records, own, r -> true));
    }
    for (Summary.RequestGroup group : summary.requests()) {
      Predicate<RequestRecord> own = r -> r.identity().name().equals(group.name());
      compare(group.name(), group.figures(), new Reference(info, records, s -> true, own));
    }
    assertThat(summary.requests()).hasSize(NAMES.length);
  }

  private static void compare(String what, Figures actual, Reference expected) {
    for (Metric metric : expected.metrics.keySet()) {
      compare(what + " " + metric, actual.metric(metric), expected.metrics.get(metric));
    }
    assertThat(actual.number(Metric.OUTPUT_TOKENS_PER_S))
        .as(what)
        .isEqualTo(expected.tokens / expected.windowS, within(1e-9 * expected.tokens));
    assertThat(actual.number(Metric.TOTAL_TOKENS_PER_S))
        .as(what)
        .isEqualTo(
            (expected.tokens + expected.promptTokens) / expected.windowS,
            within(1e-9 * (expected.tokens + expected.promptTokens)));
    assertThat(actual.number(Metric.REQUESTS_PER_S))
        .as(what)
        .isEqualTo(expected.ended / expected.windowS, within(1e-12));
    Figures.Goodput goodput = actual.goodput();
    assertThat(goodput).isNotNull();
    assertThat(goodput.attempted()).as(what).isEqualTo(expected.attempted);
    assertThat(goodput.met()).as(what).isEqualTo(expected.met);
    assertThat(goodput.requestsPerS())
        .isEqualTo(expected.endedInSlo / expected.windowS, within(1e-12));
    assertThat(goodput.tokensPerS())
        .isEqualTo(expected.sloTokens / expected.windowS, within(1e-9 * expected.tokens));
    assertThat(actual.number(Metric.BATCH_RATIO))
        .isEqualTo((double) expected.streamedTokens / expected.events, within(1e-12));
  }

  private static void compare(String what, Distribution actual, List<Double> values) {
    assertThat(actual.count()).as(what).isEqualTo(values.size());
    if (values.isEmpty()) {
      return;
    }
    Collections.sort(values);
    double mean = values.stream().mapToDouble(v -> v).sum() / values.size();
    double squares = values.stream().mapToDouble(v -> (v - mean) * (v - mean)).sum();
    assertThat(actual.mean()).as(what).isEqualTo(mean, within(1e-9 * mean));
    assertThat(actual.std())
        .as(what)
        .isEqualTo(Math.sqrt(squares / values.size()), within(1e-9 * mean));
    assertThat(actual.min()).as(what).isEqualTo(values.get(0), within(1e-12));
    assertThat(actual.max()).as(what).isEqualTo(values.get(values.size() - 1), within(1e-12));
    near(what, actual.p50(), values, 50);
    near(what, actual.p75(), values, 75);
    near(what, actual.p90(), values, 90);
    near(what, actual.p95(), values, 95);
    near(what, actual.p99(), values, 99);
    near(what, actual.p999(), values, 99.9);
  }

  private static void near(
      String what, @Nullable Double actual, List<Double> sorted, double percent) {
    int rank = (int) Math.ceil(percent / 100 * sorted.size() - 1e-9);
    double expected = sorted.get(Math.max(1, rank) - 1);
    assertThat(actual)
        .as("%s p%s", what, percent)
        .isEqualTo(expected, offset(expected * 0.001 + 0.0006));
  }

  /** Every definition of docs/metrics.md once more, the slow way. */
  private static final class Reference {

    final Map<Metric, List<Double>> metrics = new EnumMap<>(Metric.class);
    double windowS;
    double tokens;
    double sloTokens;
    long promptTokens;
    long ended;
    long endedInSlo;
    long attempted;
    long met;
    long streamedTokens;
    long events;

    Reference(
        RunInfo info,
        List<RequestRecord> records,
        Predicate<LevelInfo> stages,
        Predicate<RequestRecord> which) {
      for (Metric metric :
          List.of(
              Metric.TTFT_MS,
              Metric.TTFT_FROM_SCHEDULE_MS,
              Metric.ITL_MS,
              Metric.ICL_MS,
              Metric.TPOT_MS,
              Metric.E2E_MS,
              Metric.QUEUE_WAIT_MS,
              Metric.OUTPUT_TOKENS,
              Metric.PROMPT_TOKENS)) {
        metrics.put(metric, new ArrayList<>());
      }
      List<LevelInfo> own = info.stages().stream().filter(stages).toList();
      own.forEach(s -> windowS += (to(s) - from(s)) / 1e9);
      for (RequestRecord r : records) {
        if (which.test(r)) {
          byInstant(r, own);
          boolean belongs =
              own.stream()
                  .anyMatch(
                      s ->
                          s.label().equals(r.identity().stage())
                              && s.target().equals(r.identity().target()));
          if (belongs && r.identity().phase() == Phase.MEASURE) {
            bySchedule(r);
          }
        }
      }
    }

    private static long from(LevelInfo s) {
      return s.phases().get(0).startUnixNanos();
    }

    private static long to(LevelInfo s) {
      Long end = s.phases().get(0).endUnixNanos();
      return end == null ? 0 : end;
    }

    private static boolean inside(RequestRecord r, List<LevelInfo> stages, long unixNanos) {
      return stages.stream()
          .filter(s -> s.target().equals(r.identity().target()))
          .anyMatch(s -> unixNanos >= from(s) && unixNanos < to(s));
    }

    private static boolean inSlo(RequestRecord r) {
      Long ttft = r.timing().ttftFromScheduleNanos();
      boolean met = ttft == null ? !r.identity().streamed() : ttft < TTFT_LIMIT_MS * 1e6;
      return r.outcome().ok() && met;
    }

    private void byInstant(RequestRecord r, List<LevelInfo> stages) {
      long admitted = r.timing().startUnixNanos() + r.timing().gateWaitNanos();
      int[] offsets = r.events().offsetsMicros();
      double n = r.tokens().outputTokens();
      for (int i = 0; i < offsets.length; i++) {
        double here = r.events().tokens().length > 0 ? r.events().tokens()[i] : n / offsets.length;
        arrived(r, stages, admitted + offsets[i] * 1_000L, here);
      }
      if (offsets.length == 0 && r.identity().streamed()) {
        double first = r.timing().ttftNanos();
        double step = n < 2 ? 0 : (r.timing().latencyNanos() - first) / (n - 1);
        for (int i = 0; i < n; i++) {
          arrived(r, stages, admitted + Math.round(first + i * step), 1);
        }
      }
      if (!r.identity().streamed()) {
        arrived(r, stages, admitted + r.timing().latencyNanos(), n);
      }
      long answered = r.identity().streamed() ? r.timing().ttftNanos() : r.timing().latencyNanos();
      if (r.tokens().promptTokens() != null && inside(r, stages, admitted + answered)) {
        promptTokens += r.tokens().promptTokens();
      }
      if (r.outcome().ok() && inside(r, stages, admitted + r.timing().closedNanos())) {
        ended++;
        endedInSlo += inSlo(r) ? 1 : 0;
      }
    }

    private void arrived(RequestRecord r, List<LevelInfo> stages, long at, double count) {
      if (inside(r, stages, at)) {
        tokens += count;
        sloTokens += inSlo(r) ? count : 0;
      }
    }

    private void bySchedule(RequestRecord r) {
      boolean cancelled = r.outcome().status() == RequestStatus.CANCELLED;
      Long ttft = r.timing().ttftFromScheduleNanos();
      if (!cancelled || ttft != null) {
        attempted++;
        met += inSlo(r) || (cancelled && ttft < TTFT_LIMIT_MS * 1e6) ? 1 : 0;
      }
      if (!r.outcome().ok()) {
        return;
      }
      ms(Metric.TTFT_MS, r.timing().ttftNanos());
      ms(Metric.TTFT_FROM_SCHEDULE_MS, ttft);
      ms(Metric.E2E_MS, r.timing().latencyNanos());
      ms(Metric.QUEUE_WAIT_MS, r.timing().startLagNanos() + r.timing().gateWaitNanos());
      metrics.get(Metric.OUTPUT_TOKENS).add((double) r.tokens().outputTokens());
      if (r.tokens().promptTokens() != null) {
        metrics.get(Metric.PROMPT_TOKENS).add((double) r.tokens().promptTokens());
      }
      if (r.timing().tpotNanos() != null) {
        metrics.get(Metric.TPOT_MS).add(r.timing().tpotNanos() / 1e6);
      }
      if (r.identity().streamed()) {
        streamedTokens += r.tokens().outputTokens();
        events += r.events().count();
        gaps(r);
      }
    }

    private void gaps(RequestRecord r) {
      int[] at = r.events().offsetsMicros();
      int[] choices = r.events().choices();
      int n = r.tokens().outputTokens();
      for (int i = 1; i < at.length; i++) {
        int before = i - 1;
        while (choices.length > 0 && before >= 0 && choices[before] != choices[i]) {
          before--;
        }
        if (before >= 0) {
          double gap = (at[i] - at[before]) / 1e3;
          metrics.get(Metric.ICL_MS).add(gap);
          boolean known = r.events().tokens().length > 0;
          // Even shares in whole tokens: what has been handed out by now less what was before.
          long count =
              known
                  ? r.events().tokens()[i]
                  : (long) (i + 1) * n / at.length - (long) i * n / at.length;
          double per = known ? count : (double) n / at.length;
          for (int k = 0; k < count; k++) {
            metrics.get(Metric.ITL_MS).add(gap / per);
          }
        }
      }
    }

    private void ms(Metric metric, @Nullable Long nanos) {
      if (nanos != null) {
        metrics.get(metric).add(nanos / 1e6);
      }
    }
  }
}
