package io.github.gatlingllm.compare;

import io.github.gatlingllm.compare.SliceSample.Weighted;
import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.Figure;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.Metric.Amount;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
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

  /** Those of the metrics that runs are compared by, in the order in which tables show them. */
  static List<ComparedFigure> all() {
    return Arrays.stream(Metric.values())
        .filter(Metric::isCompared)
        .flatMap(ComparedFigure::of)
        .toList();
  }

  private static Stream<ComparedFigure> of(Metric metric) {
    if (metric.isDistribution()) {
      return Stream.of("mean", "p50", "p95", "p99").map(statistic -> time(metric, statistic));
    }
    Metric.Terms terms = metric.terms();
    return Stream.of(
        terms != null ? ofTerms(metric, terms) : metric == Metric.JITTER ? jitter() : cost(metric));
  }

  private static ComparedFigure time(Metric metric, String statistic) {
    Figure figure = Figure.parse(metric.figure() + "." + statistic);
    Double percent = figure.percent();
    return of(
        figure,
        Scale.TIME,
        w -> percent == null ? w.mean(metric) : w.percentile(metric, percent),
        f -> isKnown(f.metric(metric), statistic));
  }

  private static ComparedFigure jitter() {
    return of(
        Figure.parse(Metric.JITTER.figure()),
        Scale.RELATIVE,
        w -> ratio(w.percentile(Metric.ITL_MS, 99), w.percentile(Metric.ITL_MS, 50)),
        f -> isKnown(f.metric(Metric.ITL_MS), "p99"));
  }

  /** What tokens cost changes as the time that they take. */
  private static ComparedFigure cost(Metric metric) {
    Amount tokens =
        metric == Metric.COST_PER_MILLION_OUTPUT_TOKENS ? Amount.TOKENS : Amount.TOKENS_IN_SLO;
    return of(
        Figure.parse(metric.figure()),
        Scale.RELATIVE,
        w -> ratio(w.seconds(), w.sum(tokens)),
        f -> metric.number(f) != null && f.counts().started() >= LEAST_VALUES);
  }

  /** A rate per second of the window, or a share in percent. */
  private static ComparedFigure ofTerms(Metric metric, Metric.Terms terms) {
    Amount whole = terms.whole();
    Figure figure = Figure.parse(metric.figure());
    return of(
        figure,
        whole == null ? Scale.RELATIVE : Scale.POINTS,
        w ->
            whole == null
                ? ratio(w.sum(terms.part()), w.seconds())
                : ratio(100 * w.sum(terms.part()), w.sum(whole)),
        f -> f.counts().started() >= LEAST_VALUES);
  }

  private static ComparedFigure of(
      Figure figure,
      Scale scale,
      Function<Weighted, @Nullable Double> resampled,
      Predicate<Figures> isKnown) {
    boolean isLowerBetter = figure.metric().better() == Metric.Better.LOWER;
    return new ComparedFigure(figure, isLowerBetter, scale, resampled, isKnown);
  }

  private static boolean isKnown(Distribution values, String statistic) {
    return values.count() >= LEAST_VALUES && !values.isLowN(statistic);
  }

  private static @Nullable Double ratio(@Nullable Double part, @Nullable Double whole) {
    return part == null || whole == null || whole == 0 ? null : (Double) (part / whole);
  }

  /** The metric by whose slices its noise is judged. */
  Metric noiseOf() {
    return switch (figure.metric()) {
      case JITTER -> Metric.ITL_MS;
      case COST_PER_MILLION_OUTPUT_TOKENS -> Metric.OUTPUT_TOKENS_PER_S;
      case COST_PER_MILLION_SLO_TOKENS -> Metric.GOODPUT_TOKENS_PER_S;
      default -> figure.metric();
    };
  }

  /** Which percentile it rests on; null for another figure. */
  @Nullable Double percent() {
    return figure.metric() == Metric.JITTER ? (Double) 99.0 : figure.percent();
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
