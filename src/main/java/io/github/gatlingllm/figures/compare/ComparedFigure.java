package io.github.gatlingllm.figures.compare;

import io.github.gatlingllm.figures.compare.SliceSample.Weighted;
import io.github.gatlingllm.figures.metric.Distribution.Spread;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Metric.Amount;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A figure that two runs are compared by; the slices of a metric tell its noise. */
record ComparedFigure(
    Figure figure,
    Metric noiseOf,
    @Nullable Double percent,
    Function<Weighted, @Nullable Double> resampled,
    Predicate<Figures> isKnown) {

  private static final int MIN_VALUES = 30;

  /** How a change is measured, and from which size it is relevant. */
  enum Scale {
    /** Logarithm of run ÷ base, so that twice and half are equally far from no change. */
    RELATIVE,
    /** As {@link #RELATIVE}, for a time in milliseconds. */
    TIME,
    /** Difference in percentage points, for shares. */
    POINTS;

    static Scale of(Figure figure) {
      return switch (figure.unit()) {
        case PERCENT -> POINTS;
        case MILLIS -> TIME;
        default -> RELATIVE;
      };
    }

    /** The change on this scale; null where a value is missing or the ratio has no logarithm. */
    @Nullable Double change(@Nullable Double base, @Nullable Double run) {
      if (base == null || run == null) {
        return null;
      }
      if (this == POINTS) {
        return run - base;
      }
      return base > 0 && run > 0 ? (Double) Math.log(run / base) : null;
    }

    /** A value on this scale; null where there is none. */
    @Nullable Double of(@Nullable Double value) {
      return value == null || this == POINTS ? value : value > 0 ? (Double) Math.log(value) : null;
    }

    /** A {@link #change} in percent of the base, or in percentage points. */
    double inPercent(double change) {
      return this == POINTS ? change : Math.expm1(change) * 100;
    }

    boolean isRelevant(double change, double difference) {
      double percent = Math.abs(inPercent(change));
      return switch (this) {
        case POINTS -> percent >= Comparison.MIN_POINTS;
        case RELATIVE -> percent >= Comparison.MIN_PERCENT;
        case TIME -> percent >= Comparison.MIN_PERCENT && Math.abs(difference) >= Comparison.MIN_MS;
      };
    }
  }

  static List<ComparedFigure> all() {
    return Figure.compared().stream().map(ComparedFigure::of).toList();
  }

  private static ComparedFigure of(Figure figure) {
    Metric.Terms terms = figure.metric().terms();
    return figure.metric().isDistribution()
        ? time(figure)
        : terms == null ? jitter() : ofTerms(figure, terms);
  }

  private static ComparedFigure time(Figure figure) {
    Metric metric = figure.metric();
    Double percent = figure.percent();
    return new ComparedFigure(
        figure,
        metric,
        percent,
        w -> percent == null ? w.mean(metric) : w.percentile(metric, percent),
        f -> isKnown(figure, f));
  }

  private static ComparedFigure jitter() {
    return new ComparedFigure(
        Figure.parse(Metric.JITTER.figure()),
        Metric.ITL_MS,
        99.0,
        w -> ratio(w.percentile(Metric.ITL_MS, 99), w.percentile(Metric.ITL_MS, 50)),
        f -> isKnown(Figure.parse(Metric.ITL_MS.figure() + ".p99"), f));
  }

  private static ComparedFigure ofTerms(Figure figure, Metric.Terms terms) {
    int factor = Scale.of(figure) == Scale.POINTS ? 100 : 1;
    return new ComparedFigure(
        figure,
        figure.metric(),
        null,
        w -> ratio(factor * sum(w, terms.part()), sum(w, terms.whole())),
        f -> isKnown(figure, f));
  }

  private static double sum(Weighted slices, @Nullable Amount amount) {
    return amount == null ? slices.seconds() : slices.sum(slice -> slice.of(amount));
  }

  /** Whether a figure has enough values for a verdict. */
  static boolean isKnown(Figure figure, Figures in) {
    return figure.metric().isDistribution()
        ? in.metric(figure.metric()).count() >= MIN_VALUES && figure.lowN(in) == null
        : figure.of(in) != null && in.counts().started() >= MIN_VALUES;
  }

  private static @Nullable Double ratio(@Nullable Double part, @Nullable Double whole) {
    return part == null || whole == null || whole == 0 ? null : (Double) (part / whole);
  }

  Scale scale() {
    return Scale.of(figure);
  }

  /** Null unless both runs have repeats. */
  Spread.@Nullable Difference between(Figures base, Figures run) {
    Spread ours = base.spread(each -> scale().of(figure.of(each)));
    Spread theirs = run.spread(each -> scale().of(figure.of(each)));
    return ours == null || theirs == null ? null : ours.difference(theirs);
  }

  @Nullable Double change(Weighted base, Weighted run) {
    return scale().change(resampled.apply(base), resampled.apply(run));
  }

  /** Whether the figure equals TTFT or E2E: no queue wait in the client, no reasoning. */
  boolean repeatsAnother(Figures base, Figures run) {
    Metric other =
        switch (noiseOf) {
          case TTFO_MS, TTFT_FROM_SCHEDULE_MS -> Metric.TTFT_MS;
          case E2E_FROM_SCHEDULE_MS -> Metric.E2E_MS;
          default -> null;
        };
    return other != null && isSame(other, base) && isSame(other, run);
  }

  private boolean isSame(Metric other, Figures figures) {
    Double own = figures.metric(noiseOf).mean();
    Double its = figures.metric(other).mean();
    return own == null || its == null || Math.abs(own - its) < Comparison.MIN_MS;
  }
}
