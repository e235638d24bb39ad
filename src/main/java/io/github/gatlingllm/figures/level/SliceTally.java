package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Tally.RequestValues;
import io.github.gatlingllm.figures.level.Windows.LevelWindow;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Metric.Amount;
import io.github.gatlingllm.figures.metric.TimeBuckets;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Counts requests and tokens by load level and time slice. A request belongs to the slice in which
 * it was scheduled, a token to the slice in which it arrived, as in the figures. Confidence
 * intervals and comparisons of runs are computed from the slices. About 4 MiB per level, whatever
 * the number of requests.
 */
public final class SliceTally {

  /** Number of slices of equal length in a measure window; every block length divides it. */
  public static final int COUNT = 48;

  /** By position of the level; null for levels without data. */
  private final List<@Nullable TimeBuckets<TimeSlice>> levels = new ArrayList<>();

  /** When the slice of an instant in a level ends, epoch nanoseconds. */
  long endOf(LevelWindow level, long unixNanos) {
    return slices(level).endOf(unixNanos);
  }

  /** Tokens arrived in the measure window of a level. */
  void tokens(LevelWindow level, long unixNanos, double tokens, boolean inSlo) {
    TimeSlice slice = slice(level, unixNanos);
    slice.add(Amount.TOKENS, tokens);
    slice.add(Amount.TOKENS_IN_SLO, inSlo ? tokens : 0);
  }

  /** A request ended in the measure window of a level. */
  void ended(LevelWindow level, long unixNanos, boolean ok, boolean inSlo) {
    TimeSlice slice = slice(level, unixNanos);
    slice.add(Amount.COMPLETED, ok ? 1 : 0);
    slice.add(Amount.COMPLETED_IN_SLO, inSlo ? 1 : 0);
  }

  /**
   * A request was scheduled in the phase measure, which may lie outside the window.
   *
   * @param values its metrics
   * @param stream its tokens
   * @param met whether it met its SLO; null where it has none, or was not judged
   */
  void measured(
      LevelWindow level,
      RequestRecord record,
      RequestValues values,
      TokenStream stream,
      @Nullable Boolean met) {
    TimeSlice slice = slice(level, record.timing().scheduledUnixNanos());
    boolean ok = record.outcome().ok();
    boolean ended = record.outcome().status() != RequestStatus.CANCELLED;
    slice.add(Amount.STARTED, 1);
    slice.add(Amount.ENDED, ended ? 1 : 0);
    slice.add(Amount.FAILED, record.outcome().hasFailed() ? 1 : 0);
    slice.add(Amount.RATE_LIMITED, record.outcome().status() == RequestStatus.RATE_LIMITED ? 1 : 0);
    slice.add(Amount.ATTEMPTED, met == null ? 0 : 1);
    slice.add(Amount.MET, Boolean.TRUE.equals(met) ? 1 : 0);
    if (ok) {
      values.forEach((metric, value) -> slice.add(metric, value, 1));
      slice.addGaps(stream);
      slice.add(Amount.READERS, values.hasReader() ? 1 : 0);
      slice.add(Amount.READERS_STALLED, values.readerStalls() ? 1 : 0);
    }
  }

  /** The slice of an instant; the first or the last slice for one outside the window. */
  private TimeSlice slice(LevelWindow level, long unixNanos) {
    return slices(level).at(unixNanos);
  }

  private TimeBuckets<TimeSlice> slices(LevelWindow level) {
    while (levels.size() <= level.index()) {
      levels.add(null);
    }
    TimeBuckets<TimeSlice> made = levels.get(level.index());
    if (made == null) {
      made = TimeBuckets.within(level.from(), level.nanos(), COUNT, TimeSlice::new);
      levels.set(level.index(), made);
    }
    return made;
  }

  /**
   * The slices of a load level in order of time; null for a level without data.
   *
   * @param level its position
   */
  public @Nullable List<TimeSlice> slices(int level) {
    TimeBuckets<TimeSlice> slices = level < levels.size() ? levels.get(level) : null;
    return slices == null ? null : slices.all();
  }

  /** The values and amounts of one slice of a measure window. */
  @SuppressWarnings("EnumOrdinal") // an array: every token is added, every resampling sums them up
  public static final class TimeSlice {

    private final @Nullable LogHistogram[] values =
        new @Nullable LogHistogram[Metric.values().length];
    private final double[] amounts = new double[Amount.values().length];

    /** Adds {@code weight} values of a metric. */
    public void add(Metric metric, double value, int weight) {
      histogram(metric).add(value, weight);
    }

    private LogHistogram histogram(Metric metric) {
      LogHistogram made = values[metric.ordinal()];
      if (made == null) {
        made = new LogHistogram();
        values[metric.ordinal()] = made;
      }
      return made;
    }

    private void addGaps(TokenStream stream) {
      if (stream.gaps() > 0 && stream.isOneEach()) {
        histogram(Metric.ITL_MS).addMicros(stream.chunkMicros(), stream.gaps());
        return;
      }
      for (int g = 0; g < stream.gaps(); g++) {
        add(Metric.ITL_MS, stream.tokenMicros(g) / 1e3, stream.gapTokens(g));
      }
    }

    /** Adds to the sum of an amount. */
    public void add(Amount amount, double more) {
      amounts[amount.ordinal()] += more;
    }

    /** The values of a metric; not to be changed. */
    public LogHistogram values(Metric metric) {
      LogHistogram made = values[metric.ordinal()];
      return made == null ? LogHistogram.EMPTY : made;
    }

    /** The sum of an amount. */
    public double of(Amount amount) {
      return amounts[amount.ordinal()];
    }
  }

  /**
   * A histogram with bins of equal ratio, {@value #PER_OCTAVE} to a doubling: the middle of a bin
   * is within 0.25 % of every value in it. Its array reaches from the lowest bin used to the
   * highest, so that a hundred histograms, one per time slice, stay small.
   */
  public static final class LogHistogram {

    /** The histogram without values; not to be changed. */
    public static final LogHistogram EMPTY = new LogHistogram();

    private static final int PER_OCTAVE = 140;
    private static final double LEAST = 1e-3;
    private static final double SCALE = PER_OCTAVE / Math.log(2);

    private int[] counts = {};
    private int first;
    private long total;
    private double sum;

    /** Adds {@code weight} times the same value. */
    void add(double value, int weight) {
      if (weight > 0) {
        add(bin(value), weight);
        sum += value * weight;
      }
    }

    /** Adds the first {@code count} times, given in microseconds, as milliseconds. */
    void addMicros(int[] micros, int count) {
      int[] bins = OfMicros.BINS;
      long all = 0;
      for (int i = 0; i < count; i++) {
        int value = micros[i];
        add(value >= 0 && value < bins.length ? bins[value] : bin(value / 1e3), 1);
        all += value;
      }
      sum += all / 1e3;
    }

    private void add(int bin, int weight) {
      int at = bin - first;
      if (at < 0 || at >= counts.length) {
        reach(bin);
        at = bin - first;
      }
      counts[at] = (int) Math.min(Integer.MAX_VALUE, (long) counts[at] + weight);
      total += weight;
    }

    /** A table of the bins of short times: a logarithm costs as much as all the rest of a gap. */
    private static final class OfMicros {
      private static final int[] BINS =
          IntStream.range(0, 1 << 15).map(i -> bin(i / 1e3)).toArray();
    }

    private void reach(int bin) {
      if (counts.length == 0) {
        counts = new int[8];
        first = bin;
      }
      if (bin < first) {
        int more = Math.min(first, Math.max(first - bin, counts.length / 2));
        int[] wider = new int[counts.length + more];
        System.arraycopy(counts, 0, wider, more, counts.length);
        counts = wider;
        first -= more;
      } else if (bin - first >= counts.length) {
        counts = Arrays.copyOf(counts, Math.max(bin - first + 1, counts.length * 3 / 2));
      }
    }

    /** The bin of a value; bin 0 holds all values up to {@value #LEAST}. */
    public static int bin(double value) {
      return value <= LEAST ? 0 : 1 + (int) (Math.log(value / LEAST) * SCALE);
    }

    /** The middle of a bin. */
    public static double middle(int bin) {
      return bin <= 0 ? 0 : LEAST * Math.exp((bin - 0.5) / SCALE);
    }

    /** Number of values. */
    public long total() {
      return total;
    }

    /** Σ of the values. */
    public double sum() {
      return sum;
    }

    /** The lowest bin that may hold values. */
    public int first() {
      return first;
    }

    /** The bin after the highest one that may hold values. */
    public int end() {
      return first + counts.length;
    }

    /** Number of values in {@code bin} and below. */
    public long upTo(int bin) {
      long sum = 0;
      for (int at = 0; at < counts.length && first + at <= bin; at++) {
        sum += counts[at];
      }
      return sum;
    }

    /** Number of values in a bin. */
    public int count(int bin) {
      int at = bin - first;
      return at < 0 || at >= counts.length ? 0 : counts[at];
    }
  }
}
