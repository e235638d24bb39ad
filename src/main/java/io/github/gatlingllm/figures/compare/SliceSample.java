package io.github.gatlingllm.figures.compare;

import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.level.Cell;
import io.github.gatlingllm.figures.level.TimeSlice;
import io.github.gatlingllm.figures.metric.Amount;
import io.github.gatlingllm.figures.metric.Distribution.Spread;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleBiFunction;
import org.jspecify.annotations.Nullable;

/**
 * A load level of a run in time slices, each of which pulls figures of one or more load levels.
 *
 * <p>A rate, a share and a mean are ratios, part ÷ total: a slice pulls by its part − ratio × its
 * total, ÷ the sum of totals. A percentile is pulled by how few of the slice's values are below it,
 * × the slope of values by rank from {@value #ERRORS} standard errors below it to the same number
 * above.
 *
 * @param seconds of a slice
 */
record SliceSample(List<Cell> slices, double seconds) {

  /** Fewer detect the same changes, and call more figures changed that are not. */
  private static final int ERRORS = 2;

  /**
   * The pulls by load level and slice, and how far their sum varies by chance.
   *
   * <p>Requests in flight together share a queue, so that neighbouring slices are correlated.
   */
  record Pulls(List<double[]> byLevel, Spread noise) {

    /** Of pulls on a figure that is computed from values in this number of slices. */
    private static Pulls of(double[] pulls, double slices) {
      List<double[]> byLevel = new ArrayList<>();
      double variance = 0;
      double ratio = 0;
      for (int from = 0; from < pulls.length; from += TimeSlice.COUNT) {
        double[] own = Arrays.copyOfRange(pulls, from, from + TimeSlice.COUNT);
        double mean = Arrays.stream(own).sum() / own.length;
        Arrays.setAll(own, i -> own[i] - mean);
        Spread spread = TimeSlice.spread(own, TimeSlice.LONGEST);
        double ofLevel = spread.error() * spread.error();
        variance += ofLevel;
        ratio += ofLevel * ofLevel / spread.freedom();
        byLevel.add(own);
      }
      double freedom = ratio == 0 ? TimeSlice.COUNT - 1 : variance * variance / ratio;
      double used = Math.max(1, Math.min(slices - 1, freedom));
      return new Pulls(byLevel, new Spread(0, Math.sqrt(variance), used));
    }
  }

  /** Null where the figure has no value on its scale. */
  static @Nullable Pulls pulls(List<SliceSample> levels, ComparedFigure figure) {
    Metric metric = figure.noise().metric();
    Double percent = figure.noise().percent();
    if (percent != null) {
      ValueRecorder all = ValueRecorder.coarse();
      levels.forEach(level -> level.slices.forEach(slice -> all.add(slice.values(metric))));
      double[] pulls = percentile(levels, metric, all, percent);
      if (figure.isJitter()) {
        pulls = difference(pulls, percentile(levels, metric, all, 50));
      }
      return pulls == null ? null : Pulls.of(pulls, slicesFrom(levels, metric, all, percent));
    }
    double[] parts =
        metric.isRatio()
            ? each(levels, (level, slice) -> amount(level, slice, metric.part()))
            : each(levels, (level, slice) -> slice.values(metric).sum());
    double[] totals =
        metric.isRatio()
            ? each(levels, (level, slice) -> amount(level, slice, metric.whole()))
            : each(levels, (level, slice) -> slice.values(metric).count());
    boolean arePoints = figure.isShare();
    double sum = Arrays.stream(arePoints ? totals : parts).sum();
    double factor = (arePoints ? 100 : 1) / sum;
    double[] pulls = TimeSlice.residuals(parts, totals);
    Arrays.setAll(pulls, i -> pulls[i] * factor);
    return sum == 0 ? null : Pulls.of(pulls, Double.POSITIVE_INFINITY);
  }

  private static double @Nullable [] difference(
      double @Nullable [] one, double @Nullable [] other) {
    if (one == null || other == null) {
      return null;
    }
    double[] difference = one.clone();
    Arrays.setAll(difference, i -> one[i] - other[i]);
    return difference;
  }

  private static double amount(SliceSample level, Cell slice, @Nullable Amount amount) {
    return amount == null ? level.seconds : slice.of(amount);
  }

  private static double[] each(
      List<SliceSample> levels, ToDoubleBiFunction<SliceSample, Cell> value) {
    return levels.stream()
        .flatMapToDouble(
            level -> level.slices.stream().mapToDouble(s -> value.applyAsDouble(level, s)))
        .toArray();
  }

  /** On the logarithm of the percentile, as of all figures but shares. */
  private static double @Nullable [] percentile(
      List<SliceSample> levels, Metric metric, ValueRecorder all, double percent) {
    Double value = all.percentile(percent);
    if (value == null) {
      return null;
    }
    int bin = ValueRecorder.coarseBin(value);
    double[] below =
        TimeSlice.residuals(
            each(levels, (level, slice) -> slice.values(metric).upTo(bin)),
            each(levels, (level, slice) -> slice.values(metric).count()));
    double half = ERRORS * Pulls.of(below, Double.POSITIVE_INFINITY).noise.error();
    double rank = percent / 100 * all.count();
    double low = all.interpolatedAt(rank - half);
    double slope = half == 0 ? 0 : Math.log(all.interpolatedAt(rank + half) / low) / 2 / half;
    return low == 0 ? null : Arrays.stream(below).map(residual -> -residual * slope).toArray();
  }

  /**
   * Effective number of slices that the values at and above a percentile come from: (Σ n)² ÷ Σ n²
   * with n values in a slice. Near saturation these are few slices.
   */
  private static double slicesFrom(
      List<SliceSample> levels, Metric metric, ValueRecorder all, double percent) {
    int bin = ValueRecorder.coarseBin(requireNonNull(all.percentile(percent)));
    double[] above =
        each(
            levels,
            (level, slice) -> slice.values(metric).count() - slice.values(metric).upTo(bin - 1));
    double sum = Arrays.stream(above).sum();
    return sum * sum / Arrays.stream(above).map(n -> n * n).sum();
  }
}
