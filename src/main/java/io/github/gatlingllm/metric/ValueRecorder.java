package io.github.gatlingllm.metric;

import io.github.gatlingllm.metric.Distribution.Interval;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Takes the values of one quantity and yields their {@link Distribution}. Bounded memory: a
 * histogram of 3 significant digits that spans the smallest value to the largest (about 16 KiB
 * below 2 ms, 8 KiB more per doubling), and {@link Moments}.
 */
public final class ValueRecorder {

  /** Histogram steps per millisecond: the histogram counts microseconds. */
  public static final double MICROS = 1_000;

  /** Histogram steps per token: whole tokens. */
  public static final double WHOLE = 1;

  /** Histogram steps per token/s: thousandths. */
  public static final double THOUSANDTHS = 1_000;

  /** Histogram steps per unit that a server chose, perhaps seconds. */
  public static final double MILLIONTHS = 1_000_000;

  private static final double[] UPPER = {50, 75, 90, 95, 99, 99.9};
  private static final double[] LOWER_TOO = {1, 5, 10, 50, 75, 90, 95, 99, 99.9};

  private final double resolution;
  private final boolean isRate;
  private final LogLinearHistogram histogram = new LogLinearHistogram(3);
  private final Moments moments = new Moments();

  public ValueRecorder(double resolution) {
    this(resolution, false);
  }

  /**
   * @param isRate whether low values are the bad ones, so that low percentiles are wanted too
   */
  ValueRecorder(double resolution, boolean isRate) {
    this.resolution = resolution;
    this.isRate = isRate;
  }

  public void add(double value) {
    add(value, 1);
  }

  public void add(double value, long weight) {
    if (weight <= 0) {
      return;
    }
    histogram.add(Math.round(value * resolution), weight);
    moments.add(value, weight);
  }

  /** Adds the first {@code count} of these times in microseconds, as milliseconds. */
  public void addMicros(int[] micros, int count) {
    histogram.addAll(micros, count);
    moments.addMicros(micros, count);
  }

  public void add(ValueRecorder other) {
    histogram.add(other.histogram);
    moments.add(other.moments);
  }

  public boolean isEmpty() {
    return moments.count() == 0;
  }

  public Moments moments() {
    return moments;
  }

  /**
   * The nearest-rank percentile, the ⌈p ÷ 100 × n⌉-th smallest value; null when there is none.
   *
   * @param percent in (0, 100]
   */
  public @Nullable Double percentile(double percent) {
    if (isEmpty()) {
      return null;
    }
    double value = histogram.percentile(percent) / resolution;
    return Math.max(moments.min(), Math.min(moments.max(), value));
  }

  /** Receives recorded values, ascending, to the histogram's precision. */
  @FunctionalInterface
  public interface ValueVisitor {
    void value(double value, long count);
  }

  public void forEach(ValueVisitor visitor) {
    histogram.forEach(
        (low, high, count) -> visitor.value((low + (high - low + 1) / 2) / resolution, count));
  }

  /** Without intervals of confidence. */
  public Distribution distribution() {
    return distribution(null, null, null);
  }

  /**
   * The value of that rank among all, ascending.
   *
   * @param rank 1 to the number of values
   */
  public double atRank(long rank) {
    // half a rank below, so that rounding cannot reach the next one
    return Objects.requireNonNull(percentile((rank - 0.5) * 100 / moments.count()));
  }

  /** With intervals of confidence; null where there is none. */
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

  /** The percentiles that have fewer than 10 of {@code count} values beyond them. */
  static List<String> lowN(long count, boolean isRate) {
    List<String> low = new ArrayList<>(0);
    for (double percent : isRate ? LOWER_TOO : UPPER) {
      if (isLowN(count, percent)) {
        low.add(percent == 99.9 ? "p999" : "p" + (int) percent);
      }
    }
    return low;
  }

  /**
   * Whether fewer than 10 of {@code count} values lie beyond that percentile: above it, and below
   * one that is under p50.
   */
  static boolean isLowN(long count, double percent) {
    // 99.9 % of 10,000 are a hair more than 9,990 in binary.
    long rank = (long) Math.ceil(count * percent / 100 - 1e-12 * count);
    return (percent < 50 ? rank - 1 : count - rank) < 10;
  }

  /**
   * Count, mean, population standard deviation, minimum and maximum of a stream of values, exact to
   * rounding (1e-9 relative after 20 million values).
   *
   * <p>Welford's update, and Chan's to join two: no sum of squares, so nothing cancels when the
   * spread is small beside the mean.
   */
  public static final class Moments {

    private long count;
    private double mean;
    private double squares;
    private double min = Double.POSITIVE_INFINITY;
    private double max = Double.NEGATIVE_INFINITY;

    /** Adds {@code weight} values; nothing when it is 0. */
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

    private void add(long more, double theirMean, double theirSquares, double least, double most) {
      if (more == 0) {
        return;
      }
      long total = count + more;
      double delta = theirMean - mean;
      squares += theirSquares + delta * delta * ((double) count * more / total);
      mean += delta * more / total;
      count = total;
      min = Math.min(min, least);
      max = Math.max(max, most);
    }

    /** Many at once, in milliseconds: without a division for each. */
    private void addMicros(int[] micros, int more) {
      long sum = 0;
      int least = Integer.MAX_VALUE;
      int most = Integer.MIN_VALUE;
      for (int i = 0; i < more; i++) {
        sum += micros[i];
        least = Math.min(least, micros[i]);
        most = Math.max(most, micros[i]);
      }
      double theirMean = (double) sum / more;
      double theirSquares = 0;
      for (int i = 0; i < more; i++) {
        double delta = micros[i] - theirMean;
        theirSquares += delta * delta;
      }
      add(more, theirMean / 1e3, theirSquares / 1e6, least / 1e3, most / 1e3);
    }

    public long count() {
      return count;
    }

    /** Σ of the values. */
    public double sum() {
      return mean * count;
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
