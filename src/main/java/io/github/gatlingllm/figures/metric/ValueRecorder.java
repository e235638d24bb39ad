package io.github.gatlingllm.figures.metric;

import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.record.TokenGaps;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import org.HdrHistogram.AbstractHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.HdrHistogram.IntCountsHistogram;
import org.jspecify.annotations.Nullable;

/**
 * Records the values of one quantity and computes their {@link Distribution}: a histogram of 3
 * significant digits (16 KiB up to 2 ms, 8 KiB more per doubling), or of 2 for parts of a run, and
 * {@link Moments}. Not thread-safe.
 */
public final class ValueRecorder {

  public static final double MICROS = 1_000;

  public static final double INTEGERS = 1;

  /** Histogram steps per token/s: thousandths of a token/s. */
  public static final double THOUSANDTHS = 1_000;

  /** Histogram steps per unit of a value reported by a server, which may be seconds. */
  public static final double MILLIONTHS = 1_000_000;

  private static final double[] UPPER = {50, 75, 90, 95, 99, 99.9};
  private static final double[] LOWER_TOO = {1, 5, 10, 50, 75, 90, 95, 99, 99.9};

  private static final AbstractHistogram COARSE = new IntCountsHistogram(2);

  /** The lowest step of every bin of a {@link #coarse} recorder. */
  private static final long[] LOWEST =
      LongStream.iterate(0, low -> low >= 0, COARSE::nextNonEquivalentValue).toArray();

  private final double resolution;
  private final boolean isRate;
  private final AbstractHistogram steps;
  private final Moments moments = new Moments();

  public ValueRecorder(double resolution) {
    this(resolution, false);
  }

  ValueRecorder(double resolution, boolean isRate) {
    this(resolution, isRate, new Histogram(3));
  }

  private ValueRecorder(double resolution, boolean isRate, AbstractHistogram steps) {
    this.resolution = resolution;
    this.isRate = isRate;
    this.steps = steps;
  }

  /** Of 2 significant digits: the middle of a bin is within 0.4 % of every value in it. */
  public static ValueRecorder coarse() {
    return new ValueRecorder(THOUSANDTHS, false, new IntCountsHistogram(2));
  }

  public void add(double value) {
    add(value, 1);
  }

  public void add(double value, long weight) {
    if (weight > 0) {
      steps.recordValueWithCount(Math.max(0, Math.round(value * resolution)), weight);
      moments.add(value, weight);
    }
  }

  /** Adds times in microseconds, with their moments in milliseconds. */
  public void add(int[] micros, int from, int to, Moments millis) {
    for (int i = from; i < to; i++) {
      steps.recordValue(Math.max(0, micros[i]));
    }
    moments.add(millis);
  }

  public void add(ValueRecorder other) {
    steps.add(other.steps);
    moments.add(other.moments);
  }

  public boolean isEmpty() {
    return moments.count() == 0;
  }

  public long count() {
    return moments.count();
  }

  public double sum() {
    return moments.mean() * moments.count();
  }

  /** The bin of a value in a {@link #coarse} recorder, whether or not it was recorded. */
  public static int coarseBin(double value) {
    return binOf(Math.max(0, Math.round(value * THOUSANDTHS)));
  }

  private static int binOf(long step) {
    int found = Arrays.binarySearch(LOWEST, step);
    return found < 0 ? -found - 2 : found;
  }

  /** The middle of a bin of a {@link #coarse} recorder. */
  public static double coarseMiddle(int bin) {
    long lowest = LOWEST[bin];
    return (lowest + (COARSE.highestEquivalentValue(lowest) - lowest) / 2.0) / THOUSANDTHS;
  }

  /** The lowest bin of a {@link #coarse} recorder with values. */
  public int first() {
    return binOf(steps.getMinValue());
  }

  /** The bin after the highest one with values. */
  public int end() {
    return isEmpty() ? 0 : binOf(steps.getMaxValue()) + 1;
  }

  /** The value at a rank of 1 to {@link #count}, or nearest to it, interpolated in its bin. */
  public double interpolatedAt(double rank) {
    double below = Math.max(1, Math.min((double) count(), rank));
    for (HistogramIterationValue bin : steps.recordedValues()) {
      long own = bin.getCountAtValueIteratedTo();
      if (own >= below) {
        long lowest = steps.lowestEquivalentValue(bin.getValueIteratedTo());
        long width = steps.highestEquivalentValue(lowest) - lowest;
        return (lowest + width * below / own) / resolution;
      }
      below -= own;
    }
    return 0;
  }

  /** Number of values in {@code bin} and below. */
  public long upTo(int bin) {
    return bin < 0 ? 0 : steps.getCountBetweenValues(0, LOWEST[bin]);
  }

  public long count(int bin) {
    return LOWEST[bin] <= steps.getMaxValue() ? steps.getCountAtValue(LOWEST[bin]) : 0;
  }

  public Moments moments() {
    return moments;
  }

  /** The nearest-rank percentile, percent in (0, 100]; null without values. */
  public @Nullable Double percentile(double percent) {
    if (isEmpty()) {
      return null;
    }
    double highest = steps.getValueAtPercentile(percent) / resolution;
    return Math.max(moments.min(), Math.min(moments.max(), highest));
  }

  public Distribution distribution() {
    return distribution(null, null, null);
  }

  /** The value of that rank, from 1, in ascending order. */
  public double atRank(long rank) {
    // half a rank lower, so that rounding cannot reach the next rank
    return Objects.requireNonNull(percentile((rank - 0.5) * 100 / moments.count()));
  }

  public Distribution distribution(
      @Nullable Interval meanCi95, @Nullable Interval p50Ci95, @Nullable Interval p99Ci95) {
    if (isEmpty()) {
      return Distribution.EMPTY;
    }
    return new Distribution(
        moments.count(),
        moments.mean(),
        moments.std(),
        moments.min(),
        isRate ? percentile(1) : null,
        isRate ? percentile(5) : null,
        isRate ? percentile(10) : null,
        percentile(50),
        percentile(75),
        percentile(90),
        percentile(95),
        percentile(99),
        percentile(99.9),
        moments.max(),
        meanCi95,
        p50Ci95,
        p99Ci95,
        lowN(moments.count(), isRate));
  }

  /** The percentiles with fewer than 10 of {@code count} values beyond them. */
  static List<String> lowN(long count, boolean isRate) {
    List<String> low = new ArrayList<>(0);
    for (double percent : isRate ? LOWER_TOO : UPPER) {
      if (isLowN(count, percent)) {
        low.add(percent == 99.9 ? "p999" : "p" + (int) percent);
      }
    }
    return low;
  }

  /** Whether fewer than 10 of {@code count} values are beyond it: below it for those under p50. */
  static boolean isLowN(long count, double percent) {
    long rank = TokenGaps.rank(percent, count);
    return (percent < 50 ? rank - 1 : count - rank) < 10;
  }

  /**
   * Moments of a stream of values by Welford's update and Chan's merge, without cancellation
   * (relative error 1e-9 after 20 million values).
   */
  public static final class Moments {

    private long count;
    private double mean;
    private double squares;
    private double min = Double.POSITIVE_INFINITY;
    private double max = Double.NEGATIVE_INFINITY;

    public void add(double value, long weight) {
      if (weight <= 0) {
        return;
      }
      count += weight;
      double delta = value - mean;
      mean += delta * weight / count;
      squares += delta * (value - mean) * weight;
      min = Math.min(min, value);
      max = Math.max(max, value);
    }

    public void add(Moments other) {
      add(other.count, other.mean, other.squares, other.min, other.max);
    }

    private void add(
        long more, double theirMean, double theirSquares, double theirMin, double theirMax) {
      if (more == 0) {
        return;
      }
      long total = count + more;
      double delta = theirMean - mean;
      squares += theirSquares + delta * delta * ((double) count * more / total);
      mean += delta * more / total;
      count = total;
      min = Math.min(min, theirMin);
      max = Math.max(max, theirMax);
    }

    /** The moments of times in microseconds, in milliseconds, with few divisions. */
    public static Moments ofMicros(int[] micros, int from, int to) {
      Moments moments = new Moments();
      int more = to - from;
      if (more == 0) {
        return moments;
      }
      long sum = 0;
      int min = Integer.MAX_VALUE;
      int max = Integer.MIN_VALUE;
      for (int i = from; i < to; i++) {
        sum += micros[i];
        min = Math.min(min, micros[i]);
        max = Math.max(max, micros[i]);
      }
      double theirMean = (double) sum / more;
      double theirSquares = 0;
      for (int i = from; i < to; i++) {
        double delta = micros[i] - theirMean;
        theirSquares += delta * delta;
      }
      moments.add(more, theirMean / 1e3, theirSquares / 1e6, min / 1e3, max / 1e3);
      return moments;
    }

    public long count() {
      return count;
    }

    public double mean() {
      return mean;
    }

    public double std() {
      return count == 0 ? 0 : Math.sqrt(Math.max(0, squares / count));
    }

    public double min() {
      return min;
    }

    public double max() {
      return max;
    }
  }
}
