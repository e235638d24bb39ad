package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Amount;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.Distribution.Spread;
import io.github.gatlingllm.figures.metric.Figures.Goodput;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * 95 % confidence intervals of the figures of one load level.
 *
 * <p>Requests that share a queue are correlated. A mean, a share and the share of values up to a
 * percentile are all ratios part ÷ total. For each of the {@value TimeSlice#COUNT} time slices the
 * residual is its part − ratio × its total. The {@linkplain TimeSlice#spread variance} of the sum
 * of the residuals, divided by that of independent requests, is the design effect: n requests are
 * worth n ÷ effect independent ones. The intervals are then:
 *
 * <ul>
 *   <li>mean: Student's t with a degree of freedom for each batch but one, on a logarithmic scale,
 *       because means of waiting times are skewed;
 *   <li>share: Wilson's interval of that many fewer requests;
 *   <li>percentile: the values between whose ranks it lies (Woodruff 1952); none where a rank is
 *       outside the sample.
 * </ul>
 *
 * <p>The queue of an open load has waves, which last longer than a slice. The largest variance from
 * batches of 1 to {@value TimeSlice#LONGEST} slices counts there, means and percentiles have an
 * interval where the window is at least {@value #LONG_WINDOW} times the mean E2E, and the p99 has
 * none, as it depends on the few highest waves. Closed loops, whose queues are bounded, and loads
 * of which TTFT hardly varies (coefficient of variation below {@value #NO_QUEUE}) have no waves.
 *
 * <p>Rare events show too little of their correlation: where one side of a share is below {@value
 * #RARE}, or occurs in fewer than {@value #FILLED} slices, the design effect is at least that of
 * the share of values in the upper fifth, of the same metric or of those that the SLO limits;
 * without waves its own × (that ÷ its own)^¼. A mean that lies above, or below, all but {@value
 * #RARE} of the values depends on few of them, and has no interval.
 *
 * <p>Where it is shown, the interval of a mean or percentile holds the true value in 90 to 98 % of
 * simulated runs ({@code docs/metrics.md}). That of a share does so in {@value #MIN_COVERAGE} % or
 * more, and is too wide under an open load: only sentences that call a share undecided quote it.
 *
 * @see <a href="https://doi.org/10.1080/01621459.1952.10483443">Woodruff 1952</a>
 */
final class ConfidenceIntervals {

  /** In percent of simulated runs. */
  static final int MIN_COVERAGE = 90;

  private static final int MIN_VALUES = 30;
  private static final int FILLED = 10;
  private static final double RARE = 0.05;
  private static final double LONG_WINDOW = 200;
  private static final double NO_QUEUE = 0.3;
  private static final double QUARTER = 0.25;

  /** The percentile above which the upper fifth of the values lies. */
  private static final double COMMON = 80;

  private final List<Cell> slices;
  private final List<Metric> judged;
  private final boolean hasWaves;
  private final boolean isLong;

  /** The noise of a ratio, compared with independent requests. */
  private record Noise(double effect, double freedom) {

    private static final Noise INDEPENDENT = new Noise(1, TimeSlice.COUNT - 1);

    Noise orMore(Noise other) {
      return new Noise(Math.max(effect, other.effect), Math.min(freedom, other.freedom));
    }
  }

  /**
   * The intervals of a load level of constant load.
   *
   * @param openMs its measure window; infinite for closed loops, whose queues are bounded
   * @param judged what its SLO limits
   */
  ConfidenceIntervals(List<Cell> slices, double openMs, List<Metric> judged) {
    this.slices = slices;
    this.judged = Stream.concat(judged.stream(), Stream.of(Metric.E2E_FROM_SCHEDULE_MS)).toList();
    Moments ttft = pooled(Metric.TTFT_FROM_SCHEDULE_MS).moments();
    hasWaves =
        openMs < Double.POSITIVE_INFINITY
            && (ttft.count() == 0 || ttft.std() >= NO_QUEUE * ttft.mean());
    isLong =
        !hasWaves
            || openMs * sum(Metric.E2E_FROM_SCHEDULE_MS, ValueRecorder::count)
                >= LONG_WINDOW * sum(Metric.E2E_FROM_SCHEDULE_MS, ValueRecorder::sum);
  }

  /** The distribution of a metric with its intervals, where these can be computed. */
  Distribution distribution(Metric metric, ValueRecorder values) {
    long n = values.moments().count();
    if (n < MIN_VALUES || !isLong || metric.isPooled()) {
      return values.distribution();
    }
    double[] counts = each(slice -> slice.values(metric).count());
    return values.distribution(
        isRare(above(metric, values.moments().mean()), counts)
            ? null
            : mean(metric, values, counts),
        percentile(metric, values, 0.5, counts),
        hasWaves ? null : percentile(metric, values, 0.99, counts));
  }

  /** How certain the share of requests that met the SLO is: {@link Goodput#worth}. */
  @Nullable Double share(long met, long attempted) {
    if (attempted < MIN_VALUES) {
      return null;
    }
    double share = (double) met / attempted;
    double[] in = each(slice -> slice.of(Amount.MET));
    Noise noise = noise(in, each(slice -> slice.of(Amount.ATTEMPTED)), share * (1 - share), judged);
    return attempted / noise.effect() / Math.pow(Interval.t(noise.freedom()), 2);
  }

  private @Nullable Interval mean(Metric metric, ValueRecorder values, double[] counts) {
    double mean = values.moments().mean();
    double[] sums = each(slice -> slice.values(metric).sum());
    Noise noise = noise(sums, counts, Math.pow(values.moments().std(), 2));
    double error =
        values.moments().std() * Math.sqrt(noise.effect() / (values.moments().count() - 1));
    if (error == 0 || mean <= 0) {
      return error == 0 ? new Interval(mean, mean) : null;
    }
    double factor = Math.exp(Interval.t(noise.freedom()) * error / mean);
    return new Interval(mean / factor, mean * factor);
  }

  private @Nullable Interval percentile(
      Metric metric, ValueRecorder values, double share, double[] counts) {
    long n = values.moments().count();
    Double value = values.percentile(share * 100);
    int bin = value == null ? 0 : ValueRecorder.coarseBin(value);
    double[] below = each(slice -> slice.values(metric).upTo(bin));
    Noise noise = noise(below, counts, share * (1 - share), List.of(metric));
    double half = Interval.t(noise.freedom()) * Math.sqrt(share * (1 - share) * noise.effect() / n);
    long low = (long) Math.ceil((share - half) * n);
    long high = (long) Math.floor((share + half) * n) + 1;
    return low < 1 || share + half >= 1 - noise.effect() / n || high > n
        ? null
        : new Interval(values.atRank(low), values.atRank(high));
  }

  private Noise ofUpperFifth(Metric metric) {
    Double from = pooled(metric).percentile(COMMON);
    double[] counts = each(slice -> slice.values(metric).count());
    double[] above = above(metric, from == null ? 0 : from);
    double share = Arrays.stream(above).sum() / Arrays.stream(counts).sum();
    return noise(above, counts, share * (1 - share));
  }

  private double[] above(Metric metric, double value) {
    int bin = ValueRecorder.coarseBin(value);
    return each(slice -> slice.values(metric).count() - slice.values(metric).upTo(bin));
  }

  private ValueRecorder pooled(Metric metric) {
    ValueRecorder all = ValueRecorder.coarse();
    slices.forEach(slice -> all.add(slice.values(metric)));
    ValueRecorder pooled = metric.recorder();
    for (int bin = all.first(); bin < all.end(); bin++) {
      pooled.add(ValueRecorder.coarseMiddle(bin), all.count(bin));
    }
    return pooled;
  }

  /** That of a share, which may be rare, of values of some metrics. */
  private Noise noise(double[] parts, double[] totals, double variance, List<Metric> metrics) {
    Noise own = noise(parts, totals, variance);
    if (!isRare(parts, totals)) {
      return own;
    }
    Noise common = metrics.stream().map(this::ofUpperFifth).reduce(own, Noise::orMore);
    return hasWaves
        ? common
        : new Noise(own.effect * Math.pow(common.effect / own.effect, QUARTER), common.freedom);
  }

  private Noise noise(double[] parts, double[] totals, double variance) {
    double total = Arrays.stream(totals).sum();
    if (variance <= 0 || total == 0) {
      return Noise.INDEPENDENT;
    }
    Spread spread =
        TimeSlice.spread(TimeSlice.residuals(parts, totals), hasWaves ? TimeSlice.LONGEST : 1);
    double effect = spread.error() * spread.error() / (total * variance);
    return effect > 1 ? new Noise(effect, spread.freedom()) : Noise.INDEPENDENT;
  }

  /** Whether one side of a share is too rare to show its correlation. */
  private static boolean isRare(double[] parts, double[] totals) {
    double share = Arrays.stream(parts).sum() / Arrays.stream(totals).sum();
    int with = 0;
    int without = 0;
    for (int i = 0; i < parts.length; i++) {
      with += parts[i] > 0 ? 1 : 0;
      without += parts[i] < totals[i] ? 1 : 0;
    }
    return Math.min(share, 1 - share) < RARE || Math.min(with, without) < FILLED;
  }

  private double sum(Metric metric, ToDoubleFunction<ValueRecorder> value) {
    return slices.stream().mapToDouble(slice -> value.applyAsDouble(slice.values(metric))).sum();
  }

  private double[] each(ToDoubleFunction<Cell> value) {
    return slices.stream().mapToDouble(value).toArray();
  }
}
