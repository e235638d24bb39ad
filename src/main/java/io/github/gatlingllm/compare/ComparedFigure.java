package io.github.gatlingllm.compare;

import io.github.gatlingllm.compare.SliceSample.Amount;
import io.github.gatlingllm.compare.SliceSample.Weighted;
import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.Figure;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Metric;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A figure that two runs are compared by.
 *
 * @param figure which one
 * @param isLowerBetter whether less of it is better
 * @param scale how its change is measured
 * @param resampled its value in a resample; null where it has none
 * @param isKnown whether it rests on enough values to be judged
 */
record ComparedFigure(
    Figure figure,
    boolean isLowerBetter,
    Scale scale,
    Function<Weighted, @Nullable Double> resampled,
    Predicate<Figures> isKnown) {

  /** Fewer requests than this are no basis for a verdict. */
  static final int LEAST_VALUES = 30;

  /** How a change is measured. */
  enum Scale {
    /** In parts of the base, as its logarithm: twice and half are equally far. */
    RELATIVE,
    /** As {@link #RELATIVE}, of a time in milliseconds. */
    TIME,
    /** In percentage points. */
    POINTS
  }

  private static final List<Metric> TIMES =
      List.of(
          Metric.TTFT_MS,
          Metric.TTFT_FROM_SCHEDULE_MS,
          Metric.TTFO_MS,
          Metric.ITL_MS,
          Metric.TPOT_MS,
          Metric.E2E_MS,
          Metric.E2E_FROM_SCHEDULE_MS,
          Metric.QUEUE_WAIT_MS,
          Metric.CONNECT_MS,
          Metric.STALL_MS);

  /** All of them, in the order in which tables show them. */
  static List<ComparedFigure> all() {
    List<ComparedFigure> all = new ArrayList<>();
    for (Metric metric : TIMES) {
      all.add(time(metric, "mean", w -> w.mean(metric)));
      all.add(time(metric, "p50", w -> w.percentile(metric, 50)));
      all.add(time(metric, "p95", w -> w.percentile(metric, 95)));
      all.add(time(metric, "p99", w -> w.percentile(metric, 99)));
    }
    all.add(
        new ComparedFigure(
            Figure.parse("jitter"),
            true,
            Scale.RELATIVE,
            w -> ratio(w.percentile(Metric.ITL_MS, 99), w.percentile(Metric.ITL_MS, 50)),
            f -> isKnown(f.metric(Metric.ITL_MS), "p99")));
    all.add(rate("output_tokens_per_s", slice -> slice.tokens));
    all.add(rate("requests_per_s", slice -> slice.completed));
    all.add(rate("goodput.requests_per_s", slice -> slice.completedInSlo));
    all.add(rate("goodput.tokens_per_s", slice -> slice.sloTokens));
    all.add(share("goodput.percent", false, slice -> slice.met, slice -> slice.attempted));
    all.add(share("errors.percent", true, slice -> slice.failed, slice -> slice.ended));
    return all;
  }

  private static ComparedFigure time(
      Metric metric, String statistic, Function<Weighted, @Nullable Double> resampled) {
    return new ComparedFigure(
        Figure.parse(metric.key().replaceAll("_ms$", "") + "." + statistic),
        true,
        Scale.TIME,
        resampled,
        f -> isKnown(f.metric(metric), statistic));
  }

  private static boolean isKnown(Distribution values, String statistic) {
    return values.count() >= LEAST_VALUES && !values.isLowN(statistic);
  }

  private static ComparedFigure rate(String name, Amount amount) {
    return new ComparedFigure(
        Figure.parse(name),
        false,
        Scale.RELATIVE,
        w -> ratio(w.sum(amount), w.seconds()),
        f -> f.counts().started() >= LEAST_VALUES);
  }

  private static ComparedFigure share(
      String name, boolean isLowerBetter, Amount part, Amount whole) {
    return new ComparedFigure(
        Figure.parse(name),
        isLowerBetter,
        Scale.POINTS,
        w -> {
          Double share = ratio(w.sum(part), w.sum(whole));
          return share == null ? null : (Double) (share * 100);
        },
        f -> f.counts().started() >= LEAST_VALUES);
  }

  private static @Nullable Double ratio(@Nullable Double part, @Nullable Double whole) {
    return part == null || whole == null || whole == 0 ? null : (Double) (part / whole);
  }

  /**
   * From {@code base} to {@code run}: the logarithm of their ratio, or a difference in percentage
   * points; null where either is missing or a ratio has no logarithm.
   */
  @Nullable Double change(@Nullable Double base, @Nullable Double run) {
    return change(scale, base, run);
  }

  static @Nullable Double change(Scale scale, @Nullable Double base, @Nullable Double run) {
    if (base == null || run == null) {
      return null;
    }
    if (scale == Scale.POINTS) {
      return run - base;
    }
    return base > 0 && run > 0 ? (Double) Math.log(run / base) : null;
  }

  /** A {@link #change} in percent of the base, or in percentage points. */
  double inPercent(double change) {
    return inPercent(scale, change);
  }

  static double inPercent(Scale scale, double change) {
    return scale == Scale.POINTS ? change : Math.expm1(change) * 100;
  }
}
