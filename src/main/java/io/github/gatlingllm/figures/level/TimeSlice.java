package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Metric.Amount;
import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.RequestRecord;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.HdrHistogram.HistogramIterationValue;
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
    if (record.outcome().hasFirstToken()) {
      values.forEach((metric, value) -> add(metric, value, 1));
    }
    if (record.outcome().ok()) {
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
      made(Metric.ITL_MS).add(stream.chunkMicros, stream.gaps, stream.sumMicros);
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
   * The values of a metric in one slice: a histogram of 2 significant digits that counts
   * thousandths. The middle of a bin is within 0.4 % of every value in it. A count that is full
   * stays so.
   */
  public static final class SliceValues {

    public static final SliceValues EMPTY = new SliceValues();

    private static final double STEPS = 1_000;

    /** The lowest value of every bin. */
    private static final long[] LOWEST =
        LongStream.iterate(0, low -> low >= 0, EMPTY.steps::nextNonEquivalentValue).toArray();

    private final IntCountsHistogram steps = new IntCountsHistogram(2);
    private double sum;

    void add(double value, int weight) {
      if (weight > 0) {
        count(Math.round(value * STEPS), weight);
        sum += value * weight;
      }
    }

    /** Adds times in microseconds, and their sum. */
    void add(int[] micros, int count, long sumMicros) {
      for (int i = 0; i < count; i++) {
        count(micros[i], 1);
      }
      sum += sumMicros / STEPS;
    }

    void add(SliceValues other) {
      for (HistogramIterationValue bin : other.steps.recordedValues()) {
        count(bin.getValueIteratedTo(), (int) bin.getCountAtValueIteratedTo());
      }
      sum += other.sum;
    }

    /** Counts a value in thousandths, without adding it to {@link #sum}. */
    void count(long step, int weight) {
      long value = Math.max(0, step);
      long room = Integer.MAX_VALUE - steps.getTotalCount();
      if (weight > room) {
        room = Integer.MAX_VALUE - steps.getCountAtValue(value);
      }
      steps.recordValueWithCount(value, Math.min(weight, room));
    }

    public static int bin(double value) {
      return binOf(Math.max(0, Math.round(value * STEPS)));
    }

    private static int binOf(long step) {
      int found = Arrays.binarySearch(LOWEST, step);
      return found < 0 ? -found - 2 : found;
    }

    public static double middle(int bin) {
      long lowest = LOWEST[bin];
      return (lowest + (EMPTY.steps.highestEquivalentValue(lowest) - lowest) / 2.0) / STEPS;
    }

    public long total() {
      return steps.getTotalCount();
    }

    public double sum() {
      return sum;
    }

    /** The lowest bin with values. */
    public int first() {
      return binOf(steps.getMinValue());
    }

    /** The bin after the highest one with values. */
    public int end() {
      return total() == 0 ? 0 : binOf(steps.getMaxValue()) + 1;
    }

    /** Number of values in {@code bin} and below. */
    public long upTo(int bin) {
      return bin < 0 ? 0 : steps.getCountBetweenValues(0, LOWEST[bin]);
    }

    public long count(int bin) {
      return LOWEST[bin] <= steps.getMaxValue() ? steps.getCountAtValue(LOWEST[bin]) : 0;
    }

    /** The highest value of the bin with the nearest rank, percent in (0, 100]; null if empty. */
    @Nullable Double percentile(double percent) {
      return total() == 0 ? null : (Double) (steps.getValueAtPercentile(percent) / STEPS);
    }
  }

  /**
   * The correlation of a time slice with the next one. As a first-order autoregression with
   * coefficient φ, n slices are worth n × (1 − φ) ÷ (1 + φ) independent ones.
   */
  public static final class Autocorrelation {

    /** The largest φ that so few slices can show. */
    private static final double MOST = 0.9;

    private static final double MAX_UPPER = 0.95;

    private static final double ROUNDING = 1e-9;

    /** The longest batch of slices, of which 12 are left. */
    static final int LONGEST = 4;

    private Autocorrelation() {}

    /** The variance of a sum over all slices. */
    record Spread(double variance, int freedom) {}

    /**
     * The largest φ of output tokens, mean TTFT and mean ITL by slice, each the mean of two runs, 0
     * to {@value #MOST}. The estimate from n slices is too low by (1 + 3φ) ÷ n, which is corrected.
     *
     * @see <a href="https://doi.org/10.1093/biomet/41.3-4.403">Kendall 1954, the bias</a>
     */
    public static double of(List<TimeSlice> first, List<TimeSlice> second) {
      double phi = (coefficient(tokens(first)) + coefficient(tokens(second))) / 2;
      for (Metric metric : List.of(Metric.TTFT_MS, Metric.ITL_MS)) {
        double both = coefficient(means(first, metric)) + coefficient(means(second, metric));
        phi = Math.max(phi, both / 2);
      }
      return phi;
    }

    private static double[] tokens(List<TimeSlice> slices) {
      return slices.stream().mapToDouble(slice -> slice.of(Amount.TOKENS)).toArray();
    }

    /** The mean of a metric by slice; a slice without values has the mean of the one before. */
    private static double[] means(List<TimeSlice> slices, Metric metric) {
      double[] means = new double[slices.size()];
      int filled = 0;
      Double last = null;
      for (TimeSlice slice : slices) {
        SliceValues values = slice.values(metric);
        last = values.total() == 0 ? last : (Double) (values.sum() / values.total());
        if (last != null) {
          means[filled++] = last;
        }
      }
      return Arrays.copyOf(means, filled);
    }

    /** φ of a series, from its lag-1 autocorrelation, 0 to {@value #MOST}; 0 for fewer than 8. */
    static double coefficient(double[] series) {
      return Math.max(0, Math.min(MOST, estimate(series, 1)));
    }

    /**
     * φ for uses where too small a value does harm: half a standard error, √((1 − φ²) ÷ n), above
     * the estimate, 0 to {@value #MAX_UPPER}.
     */
    static double upper(double[] residuals, int fitted) {
      double phi = estimate(residuals, fitted);
      double error = Math.sqrt(Math.max(0, 1 - phi * phi) / residuals.length);
      return Math.max(0, Math.min(MAX_UPPER, phi + error / 2));
    }

    private static double estimate(double[] series, int fitted) {
      int n = series.length;
      Moments moments = new Moments();
      for (double value : series) {
        moments.add(value, 1);
      }
      if (n < 8 || moments.std() == 0) {
        return 0;
      }
      double product = 0;
      for (int i = 1; i < n; i++) {
        product += (series[i] - moments.mean()) * (series[i - 1] - moments.mean());
      }
      double raw = product / (moments.std() * moments.std() * n);
      return raw + (fitted + (fitted + 2) * raw) / n;
    }

    /** Number of slices that are worth one independent slice: (1 + φ) ÷ (1 − φ). */
    static double slices(double phi) {
      return (1 + phi) / (1 - phi);
    }

    /** The part of that factor that a block of slices shows: 1 + 2 Σ (1 − k ÷ length) φᵏ. */
    static double within(int length, double phi) {
      double seen = 1;
      for (int k = 1; k < length; k++) {
        seen += 2 * (1 - (double) k / length) * Math.pow(phi, k);
      }
      return seen;
    }

    /**
     * Variance of a mean ÷ variance that blocks of {@code length} slices show, as these cut the
     * correlation between blocks: (1 + φ) ÷ (1 − φ) ÷ (1 + 2 Σ (1 − k ÷ length) φᵏ).
     */
    public static double missedBy(int length, double phi) {
      return slices(phi) / within(length, phi);
    }

    /**
     * Variance of a ratio, part ÷ whole, ÷ variance that blocks of {@code length} slices, drawn in
     * a circle, show; 1 where all slices are equal.
     */
    public static double missedBy(int length, double[] parts, double[] wholes) {
      double[] residuals = residuals(parts, wholes);
      double shown = 0;
      for (int i = 0; i < residuals.length; i++) {
        double block = 0;
        for (int k = 0; k < length; k++) {
          block += residuals[(i + k) % residuals.length];
        }
        shown += block * block / length;
      }
      return shown == 0 ? 1 : spread(residuals, LONGEST).variance() / shown;
    }

    /** Each part − (sum of parts ÷ sum of wholes) × its whole. */
    static double[] residuals(double[] parts, double[] wholes) {
      double whole = Arrays.stream(wholes).sum();
      double ratio = whole == 0 ? 0 : Arrays.stream(parts).sum() / whole;
      double[] residuals = new double[parts.length];
      for (int i = 0; i < parts.length; i++) {
        double residual = parts[i] - ratio * wholes[i];
        residuals[i] = Math.abs(residual) > ROUNDING * Math.abs(parts[i]) ? residual : 0;
      }
      return residuals;
    }

    /**
     * The variance of the sum of the residuals of all slices: the largest of those from batches of
     * 1 to {@code longest} slices, each raised by (1 + φ) ÷ (1 − φ), with φ by {@link #upper}.
     */
    static Spread spread(double[] residuals, int longest) {
      Spread most = new Spread(0, residuals.length - 1);
      for (int length = 1; length <= longest; length++) {
        double[] batches = new double[residuals.length / length];
        for (int i = 0; i < batches.length * length; i++) {
          batches[i / length] += residuals[i];
        }
        double squares = 0;
        for (double residual : batches) {
          squares += residual * residual;
        }
        int freedom = batches.length - 1;
        double variance = squares * batches.length / freedom * slices(upper(batches, 1));
        if (variance > most.variance()) {
          most = new Spread(variance, freedom);
        }
      }
      return most;
    }
  }
}
