package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.RequestRecord;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.IntCountsHistogram;
import org.jspecify.annotations.Nullable;

/**
 * The values and amounts of one of {@value #COUNT} time slices of a measure window. A request
 * belongs to the slice in which it was scheduled, a token to the slice in which it arrived.
 * Confidence intervals and comparisons of runs are computed from the slices.
 */
@SuppressWarnings("EnumOrdinal") // an array: every value of every request is added
public final class TimeSlice extends Amounts {

  /** Number of slices of equal length in a measure window; every block length divides it. */
  public static final int COUNT = 48;

  private final @Nullable SliceValues[] values = new @Nullable SliceValues[Metric.values().length];

  /** Adds a request that was scheduled in the phase measure. */
  void measured(
      RequestRecord record, RequestValues values, TokenStream stream, @Nullable Boolean met) {
    started(record, met);
    if (record.outcome().ok()) {
      values.forEach((metric, value) -> add(metric, value, 1));
      addGaps(stream);
      reader(values);
    }
  }

  public void add(Metric metric, double value, int weight) {
    made(metric).add(value, weight);
  }

  private SliceValues made(Metric metric) {
    SliceValues made = values[metric.ordinal()];
    if (made == null) {
      made = new SliceValues();
      values[metric.ordinal()] = made;
    }
    return made;
  }

  private void addGaps(TokenStream stream) {
    if (stream.gaps > 0 && stream.isOneEach) {
      made(Metric.ITL_MS).addMicros(stream.chunkMicros, stream.gaps);
      return;
    }
    for (int g = 0; g < stream.gaps; g++) {
      add(Metric.ITL_MS, stream.tokenMicros[g] / 1e3, stream.gapTokens[g]);
    }
  }

  public SliceValues values(Metric metric) {
    SliceValues made = values[metric.ordinal()];
    return made == null ? SliceValues.EMPTY : made;
  }

  /**
   * The values of a metric in one slice, in the bins of a histogram of 2 significant digits that
   * counts thousandths: the middle of a bin is within 0.4 % of every value in it.
   */
  public static final class SliceValues {

    public static final SliceValues EMPTY = new SliceValues();

    private static final int DIGITS = 2;
    private static final double STEPS = 1_000;

    /** The lowest value of each bin, of which there are 128 to a doubling. */
    private static final long[] LOWEST = lowest();

    private final IntCountsHistogram counts = new IntCountsHistogram(DIGITS);
    private double sum;

    private static long[] lowest() {
      Histogram bins = new Histogram(DIGITS);
      return LongStream.iterate(
              0, low -> low < Long.MAX_VALUE / 4, low -> bins.nextNonEquivalentValue(low))
          .toArray();
    }

    void add(double value, int weight) {
      if (weight > 0) {
        counts.recordValueWithCount(Math.max(0, Math.round(value * STEPS)), weight);
        sum += value * weight;
      }
    }

    /** Adds the first {@code count} times, given in microseconds, as milliseconds. */
    void addMicros(int[] micros, int count) {
      long all = 0;
      for (int i = 0; i < count; i++) {
        counts.recordValue(Math.max(0, micros[i]));
        all += micros[i];
      }
      sum += all / STEPS;
    }

    public static int bin(double value) {
      return bin(Math.round(value * STEPS));
    }

    private static int bin(long steps) {
      int at = Arrays.binarySearch(LOWEST, steps);
      return Math.max(0, at < 0 ? -at - 2 : at);
    }

    public static double middle(int bin) {
      return (LOWEST[bin] + (LOWEST[bin + 1] - LOWEST[bin] - 1) / 2.0) / STEPS;
    }

    public long total() {
      return counts.getTotalCount();
    }

    public double sum() {
      return sum;
    }

    /** The lowest bin with values. */
    public int first() {
      return bin(counts.getMinValue());
    }

    /** The bin after the highest one with values. */
    public int end() {
      return bin(counts.getMaxValue()) + 1;
    }

    /** Number of values in {@code bin} and below. */
    public long upTo(int bin) {
      long least = counts.getMinValue(); // HdrHistogram visits every bin in between
      return bin < 0 || LOWEST[bin] < least ? 0 : counts.getCountBetweenValues(least, LOWEST[bin]);
    }

    public long count(int bin) {
      // beyond its largest value HdrHistogram returns the count of its last bin
      return LOWEST[bin] > counts.getMaxValue() ? 0 : counts.getCountAtValue(LOWEST[bin]);
    }
  }
}
