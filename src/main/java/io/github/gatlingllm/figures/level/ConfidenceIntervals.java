package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.TimeSlice.SliceValues;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Metric.Amount;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.apache.commons.statistics.distribution.TDistribution;
import org.jspecify.annotations.Nullable;

/**
 * 95 % confidence intervals of the figures of one load level.
 *
 * <p>Requests that share a queue are correlated. A mean, a share and the share of values up to a
 * percentile are all ratios part ÷ whole. For each of the {@value TimeSlice#COUNT} time slices the
 * residual is its part − ratio × its whole. The variance of the sum of the residuals is computed
 * from batches of 1, 2, 3 and 4 slices, each raised by (1 + φ) ÷ (1 − φ), with φ the {@linkplain
 * Autocorrelation#upper correlation of a batch with the next}; the largest counts. Divided by the
 * variance of independent requests it is the design effect: n requests are worth n ÷ effect
 * independent ones. The intervals are then:
 *
 * <ul>
 *   <li>mean: Student's t with a degree of freedom for each batch but one, on a logarithmic scale,
 *       because means of waiting times are skewed;
 *   <li>share: Wilson's interval of so many fewer requests;
 *   <li>percentile: the values between whose ranks it lies (Woodruff 1952); none where a rank is
 *       outside the sample.
 * </ul>
 *
 * <p>Rare events show too little of their correlation: where one side of a share is below {@value
 * #RARE}, or occurs in fewer than {@value #FILLED} slices, the design effect is at least that of
 * the share of values in the upper fifth, of the same metric or of those that the SLO limits.
 *
 * <p>A window must be long compared with the waves of a queue, which it cannot show itself: means
 * and percentiles of open loads have an interval where the window is at least {@value #LONG_WINDOW}
 * times the mean E2E, or where TTFT hardly varies (coefficient of variation below {@value
 * #NO_QUEUE}), so that there is no queue. A mean that lies above, or below, all but {@value #RARE}
 * of the values depends on few of them, and has none either. Measured coverage is in {@code
 * docs/metrics.md}.
 *
 * @see <a href="https://doi.org/10.1080/01621459.1952.10483443">Woodruff 1952</a>
 */
final class ConfidenceIntervals {

  private static final int MIN_VALUES = 30;
  private static final int FILLED = 10;
  private static final double RARE = 0.05;
  private static final double OUTSIDE = 0.05;
  private static final double LONG_WINDOW = 200;
  private static final double NO_QUEUE = 0.3;

  /** The percentile above which the upper fifth of the values lies. */
  private static final double COMMON = 80;

  private final List<TimeSlice> slices;
  private final List<Metric> judged;
  private final boolean isLong;

  /** The noise of a ratio, compared with independent requests. */
  private record Noise(double effect, double freedom) {

    private static final Noise INDEPENDENT = new Noise(1, TimeSlice.COUNT - 1);

    Noise orMore(Noise other) {
      return new Noise(Math.max(effect, other.effect), Math.min(freedom, other.freedom));
    }

    double quantile() {
      return TDistribution.of(freedom).inverseSurvivalProbability(OUTSIDE / 2);
    }
  }

  /**
   * The intervals of a load level of constant load.
   *
   * @param openMs its measure window; infinite for closed loops, whose queues are bounded
   * @param judged what its SLO limits
   */
  ConfidenceIntervals(List<TimeSlice> slices, double openMs, List<Metric> judged) {
    this.slices = slices;
    this.judged = judged;
    Moments ttft = pooled(Metric.TTFT_FROM_SCHEDULE_MS).moments();
    isLong =
        openMs >= LONG_WINDOW * pooled(Metric.E2E_FROM_SCHEDULE_MS).moments().mean()
            || (ttft.count() > 0 && ttft.std() < NO_QUEUE * ttft.mean());
  }

  /** The distribution of a metric with its intervals, where these can be computed. */
  Distribution distribution(Metric metric, ValueRecorder values) {
    long n = values.moments().count();
    if (n < MIN_VALUES || !isLong || metric.isPooled()) {
      return values.distribution();
    }
    double[] counts = each(slice -> slice.values(metric).total());
    Noise ofMean = ofMean(metric, values.moments().std(), counts);
    return values.distribution(
        isRare(above(metric, values.moments().mean()), counts) ? null : mean(values, ofMean),
        percentile(metric, values, 0.5, counts),
        percentile(metric, values, 0.99, counts));
  }

  /** The interval of the share of requests that met the SLO; null for too few requests. */
  @Nullable Interval share(long met, long attempted) {
    if (attempted < MIN_VALUES) {
      return null;
    }
    double share = (double) met / attempted;
    double[] in = each(slice -> slice.of(Amount.MET));
    double[] all = each(slice -> slice.of(Amount.ATTEMPTED));
    Noise noise = noise(in, all, share * (1 - share));
    if (isRare(in, all)) {
      for (Metric metric : judged) {
        noise = noise.orMore(ofUpperFifth(metric));
      }
      noise = noise.orMore(ofUpperFifth(Metric.E2E_FROM_SCHEDULE_MS));
    }
    return Interval.ofShare(share, attempted / noise.effect(), noise.quantile());
  }

  private static @Nullable Interval mean(ValueRecorder values, Noise noise) {
    double mean = values.moments().mean();
    double error =
        values.moments().std() * Math.sqrt(noise.effect() / (values.moments().count() - 1));
    if (error == 0 || mean <= 0) {
      return error == 0 ? new Interval(mean, mean) : null;
    }
    double factor = Math.exp(noise.quantile() * error / mean);
    return new Interval(mean / factor, mean * factor);
  }

  private @Nullable Interval percentile(
      Metric metric, ValueRecorder values, double share, double[] counts) {
    long n = values.moments().count();
    Double value = values.percentile(share * 100);
    int bin = value == null ? 0 : SliceValues.bin(value);
    double[] below = each(slice -> slice.values(metric).upTo(bin));
    Noise own = noise(below, counts, share * (1 - share));
    Noise noise = isRare(below, counts) ? own.orMore(ofUpperFifth(metric)) : own;
    double half = noise.quantile() * Math.sqrt(share * (1 - share) * noise.effect() / n);
    long low = (long) Math.floor((share - half) * n);
    long high = (long) Math.ceil((share + half) * n) + 1;
    return low < 1 || share + half >= 1 - noise.effect() / n || high > n
        ? null
        : new Interval(values.atRank(low), values.atRank(high));
  }

  private Noise ofUpperFifth(Metric metric) {
    Double from = pooled(metric).percentile(COMMON);
    double[] counts = each(slice -> slice.values(metric).total());
    double[] above = above(metric, from == null ? 0 : from);
    double share = Arrays.stream(above).sum() / Arrays.stream(counts).sum();
    return noise(above, counts, share * (1 - share));
  }

  private double[] above(Metric metric, double value) {
    int bin = SliceValues.bin(value);
    return each(slice -> slice.values(metric).total() - slice.values(metric).upTo(bin));
  }

  private ValueRecorder pooled(Metric metric) {
    ValueRecorder pooled = metric.recorder();
    for (TimeSlice slice : slices) {
      SliceValues values = slice.values(metric);
      for (int bin = values.first(); bin < values.end(); bin++) {
        pooled.add(SliceValues.middle(bin), values.count(bin));
      }
    }
    return pooled;
  }

  private Noise ofMean(Metric metric, double std, double[] counts) {
    return noise(each(slice -> slice.values(metric).sum()), counts, std * std);
  }

  private static Noise noise(double[] parts, double[] wholes, double variance) {
    double whole = Arrays.stream(wholes).sum();
    if (variance <= 0 || whole == 0) {
      return Noise.INDEPENDENT;
    }
    Autocorrelation.Spread spread =
        Autocorrelation.spread(Autocorrelation.residuals(parts, wholes));
    double effect = spread.variance() / (whole * variance);
    return effect > 1 ? new Noise(effect, spread.freedom()) : Noise.INDEPENDENT;
  }

  /** Whether one side of a share is too rare to show its correlation. */
  private static boolean isRare(double[] parts, double[] wholes) {
    double share = Arrays.stream(parts).sum() / Arrays.stream(wholes).sum();
    int with = 0;
    int without = 0;
    for (int i = 0; i < parts.length; i++) {
      with += parts[i] > 0 ? 1 : 0;
      without += parts[i] < wholes[i] ? 1 : 0;
    }
    return Math.min(share, 1 - share) < RARE || Math.min(with, without) < FILLED;
  }

  private double[] each(ToDoubleFunction<TimeSlice> value) {
    return slices.stream().mapToDouble(value).toArray();
  }
}
