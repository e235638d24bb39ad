package io.github.gatlingllm.figures.metric;

import io.github.gatlingllm.figures.metric.Distribution.Interval;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Records the values of one quantity and computes their {@link Distribution}: a histogram of 3
 * significant digits (16 KiB up to 2 ms, 8 KiB more per doubling) and {@link Moments}. Not
 * thread-safe.
 */
public final class ValueRecorder {

  public static final double MICROS = 1_000;

  public static final double WHOLE = 1;

  /** Histogram steps per token/s: thousandths of a token/s. */
  public static final double THOUSANDTHS = 1_000;

  /** Histogram steps per unit of a value reported by a server, which may be seconds. */
  public static final double MILLIONTHS = 1_000_000;

  private static final double[] UPPER = {50, 75, 90, 95, 99, 99.9};
  private static final double[] LOWER_TOO = {1, 5, 10, 50, 75, 90, 95, 99, 99.9};

  private final double resolution;
  private final boolean isRate;
  private long[] counts = new long[2 << Bins.FINE.bits];
  private final Moments moments = new Moments();

  public ValueRecorder(double resolution) {
    this(resolution, false);
  }

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
    int bin = Bins.FINE.of(Math.round(value * resolution));
    extendTo(bin);
    counts[bin] += weight;
    moments.add(value, weight);
  }

  /** Adds times by their bins in microseconds, with their moments in milliseconds. */
  public void add(int[] bins, int count, Moments millis) {
    if (count == 0) {
      return;
    }
    extendTo(Bins.FINE.of(Math.round(millis.max * MICROS)));
    for (int i = 0; i < count; i++) {
      counts[bins[i]]++;
    }
    moments.add(millis);
  }

  public void add(ValueRecorder other) {
    extendTo(other.counts.length - 1);
    for (int bin = 0; bin < other.counts.length; bin++) {
      counts[bin] += other.counts[bin];
    }
    moments.add(other.moments);
  }

  private void extendTo(int bin) {
    if (bin >= counts.length) {
      counts = Arrays.copyOf(counts, Bins.FINE.upTo(bin));
    }
  }

  public boolean isEmpty() {
    return moments.count() == 0;
  }

  public Moments moments() {
    return moments;
  }

  /** The nearest-rank percentile, percent in (0, 100]; null without values. */
  public @Nullable Double percentile(double percent) {
    return isEmpty() ? null : (Double) percentiles(percent)[0];
  }

  /** Of ascending percents, in one pass from the least value on. */
  private double[] percentiles(double... percents) {
    double[] found = new double[percents.length];
    int bin = 0;
    long counted = counts[0];
    for (int i = 0; i < percents.length; i++) {
      // one ulp less, so that rounding cannot reach the next rank
      long rank = (long) Math.ceil(Math.nextDown(percents[i]) * moments.count / 100);
      while (counted < rank) {
        counted += counts[++bin];
      }
      double highest = (Bins.FINE.lowest(bin + 1) - 1) / resolution;
      found[i] = Math.max(moments.min(), Math.min(moments.max(), highest));
    }
    return found;
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
    double[] p = percentiles(LOWER_TOO);
    return new Distribution(
        moments.count(),
        moments.mean(),
        moments.std(),
        moments.min(),
        isRate ? (Double) p[0] : null,
        isRate ? (Double) p[1] : null,
        isRate ? (Double) p[2] : null,
        p[3],
        p[4],
        p[5],
        p[6],
        p[7],
        p[8],
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
    // In binary, 99.9 % of 10,000 is slightly more than 9,990.
    long rank = (long) Math.ceil(count * percent / 100 - 1e-12 * count);
    return (percent < 50 ? rank - 1 : count - rank) < 10;
  }

  /**
   * The bins of HdrHistogram: whole numbers below 2<sup>bits + 1</sup> have one each, then there
   * are 2<sup>bits</sup> to a doubling. Numbers below 0 are in the first one.
   */
  public record Bins(int bits) {

    /** Of 3 significant digits. */
    public static final Bins FINE = new Bins(10);

    /** Of 2 significant digits. */
    public static final Bins COARSE = new Bins(7);

    public int of(long number) {
      long value = Math.max(0, number);
      int shift = Math.max(0, Long.SIZE - 1 - bits - Long.numberOfLeadingZeros(value));
      return (shift << bits) + (int) (value >>> shift);
    }

    public long lowest(int bin) {
      int shift = Math.max(0, (bin >> bits) - 1);
      return (long) (bin - (shift << bits)) << shift;
    }

    /** The number of bins up to the end of the doubling that has this one. */
    public int upTo(int bin) {
      return ((bin >> bits) + 1) << bits;
    }
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

    /** The moments of times in microseconds, in milliseconds, with few divisions. */
    public static Moments ofMicros(int[] micros, int more) {
      Moments moments = new Moments();
      if (more == 0) {
        return moments;
      }
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
      moments.add(more, theirMean / 1e3, theirSquares / 1e6, least / 1e3, most / 1e3);
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
