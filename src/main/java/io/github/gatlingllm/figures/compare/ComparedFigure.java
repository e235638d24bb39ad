package io.github.gatlingllm.figures.compare;

import io.github.gatlingllm.figures.metric.Distribution.Spread;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Metric.Unit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

record ComparedFigure(Figure figure) {

  private static final int MIN_VALUES = 30;

  private static final Figure ITL_P99 = Figure.parse(Metric.ITL_MS.figure() + ".p99");

  /** Whether its changes are differences in percentage points. */
  boolean isShare() {
    return figure.unit() == Unit.PERCENT;
  }

  /**
   * The change on the scale of the figure: the difference of shares, else the logarithm of run ÷
   * base, so that twice and half are equally far from no change; null where a value is missing or
   * the ratio has no logarithm.
   */
  @Nullable Double change(@Nullable Double base, @Nullable Double run) {
    Double before = onScale(base);
    Double after = onScale(run);
    return before == null || after == null ? null : (Double) (after - before);
  }

  private @Nullable Double onScale(@Nullable Double value) {
    return value == null || isShare() ? value : value > 0 ? (Double) Math.log(value) : null;
  }

  /** A {@link #change} in percent of the base, or in percentage points. */
  double inPercent(double change) {
    return isShare() ? change : Math.expm1(change) * 100;
  }

  /** Whether a change, and the difference of the values, are large enough to matter. */
  boolean isRelevant(double change, double difference) {
    double min = isShare() ? Comparison.MIN_POINTS : Comparison.MIN_PERCENT;
    boolean isSmallTime = figure.unit() == Unit.MILLIS && Math.abs(difference) < Comparison.MIN_MS;
    return Math.abs(inPercent(change)) >= min && !isSmallTime;
  }

  /** The figure whose slices show the noise: itself, or p99 of ITL for jitter. */
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

  /** Null unless both runs have repeats. */
  @Nullable Spread between(Figures base, Figures run) {
    Spread ours = base.spread(each -> onScale(figure.of(each)));
    Spread theirs = run.spread(each -> onScale(figure.of(each)));
    return ours == null || theirs == null ? null : ours.difference(theirs);
  }

  /**
   * By the differences of the repeats: each repeat has the same arrivals in both, and is measured
   * soon after the other. Null unless both have the same number of repeats, with values.
   */
  @Nullable Spread paired(Figures base, Figures run) {
    Double all = change(figure.of(base), figure.of(run));
    int repeats = base.repeats().size();
    if (all == null || repeats != run.repeats().size()) {
      return null;
    }
    List<Double> each = new ArrayList<>();
    for (int i = 0; i < repeats; i++) {
      Double own = change(figure.of(base.repeats().get(i)), figure.of(run.repeats().get(i)));
      if (own == null) {
        return null;
      }
      each.add(own);
    }
    return Spread.of(all, each);
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
