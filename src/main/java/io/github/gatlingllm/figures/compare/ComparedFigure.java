package io.github.gatlingllm.figures.compare;

import io.github.gatlingllm.figures.metric.Distribution.Difference;
import io.github.gatlingllm.figures.metric.Distribution.Spread;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Metric;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

record ComparedFigure(Figure figure) {

  private static final int MIN_VALUES = 30;

  private static final Figure ITL_P99 = Figure.parse(Metric.ITL_MS.figure() + ".p99");

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
      Double before = of(base);
      Double after = of(run);
      return before == null || after == null ? null : (Double) (after - before);
    }

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

  /** The figure whose slices tell the noise: itself, or p99 of ITL for jitter. */
  Figure noise() {
    return isJitter() ? ITL_P99 : figure;
  }

  boolean isJitter() {
    return figure.metric() == Metric.JITTER;
  }

  boolean isKnown(Figures base, Figures run) {
    return isKnown(noise(), base) && isKnown(noise(), run);
  }

  static boolean isKnown(Figure figure, Figures in) {
    return figure.metric().isDistribution()
        ? in.metric(figure.metric()).count() >= MIN_VALUES && figure.lowN(in) == null
        : figure.of(in) != null && in.counts().started() >= MIN_VALUES;
  }

  Scale scale() {
    return Scale.of(figure);
  }

  /** Null unless both runs have repeats. */
  @Nullable Difference between(Figures base, Figures run) {
    Spread ours = base.spread(each -> scale().of(figure.of(each)));
    Spread theirs = run.spread(each -> scale().of(figure.of(each)));
    return ours == null || theirs == null ? null : ours.difference(theirs);
  }

  /**
   * By the differences of the repeats: each repeat has the same arrivals in both, and is measured
   * soon after the other. Null unless both have the same number of repeats, with values.
   */
  @Nullable Difference paired(Figures base, Figures run) {
    Double whole = scale().change(figure.of(base), figure.of(run));
    int repeats = base.repeats().size();
    if (whole == null || repeats != run.repeats().size()) {
      return null;
    }
    List<Double> each = new ArrayList<>();
    for (int i = 0; i < repeats; i++) {
      Double own =
          scale().change(figure.of(base.repeats().get(i)), figure.of(run.repeats().get(i)));
      if (own == null) {
        return null;
      }
      each.add(own);
    }
    Spread spread = Spread.of(whole, each);
    return spread == null ? null : new Difference(spread.error(), spread.freedom());
  }

  /** Whether the figure equals TTFT or E2E: no queue wait in the client, no reasoning. */
  boolean repeatsAnother(Figures base, Figures run) {
    Metric other =
        switch (figure.metric()) {
          case TTFO_MS, TTFT_FROM_SCHEDULE_MS -> Metric.TTFT_MS;
          case E2E_FROM_SCHEDULE_MS -> Metric.E2E_MS;
          default -> null;
        };
    return other != null && isSame(other, base) && isSame(other, run);
  }

  private boolean isSame(Metric other, Figures figures) {
    Double own = figures.metric(figure.metric()).mean();
    Double its = figures.metric(other).mean();
    return own == null || its == null || Math.abs(own - its) < Comparison.MIN_MS;
  }
}
