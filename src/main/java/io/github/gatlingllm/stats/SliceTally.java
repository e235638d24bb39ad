package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.LogHistogram;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.Metric.Amount;
import io.github.gatlingllm.metric.TimeBuckets;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.stats.Tally.RequestValues;
import io.github.gatlingllm.stats.Windows.LevelWindow;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a run by load level and slice of time, attributed as its figures attribute them:
 * a request to the instant it was scheduled at, a token to that of its arrival. How far figures
 * would differ by chance is seen from them. About 4 MiB per level, whatever the number of requests.
 */
public final class SliceTally {

  /** Slices of equal length in a measure window; divisible by every length a block may have. */
  public static final int COUNT = 48;

  /** By the levels' indices; null where nothing belongs to one. */
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
   * A request was scheduled in the phase measure, perhaps outside the window.
   *
   * @param values its metrics
   * @param stream its tokens
   * @param met whether it met its SLO; null where it has none, or is not judged
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

  /** The slice of an instant; one outside the window belongs to the slice at that end. */
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

  /** The slices of a load level in order of time; null where nothing belongs to it. */
  public @Nullable List<TimeSlice> slices(int level) {
    TimeBuckets<TimeSlice> slices = level < levels.size() ? levels.get(level) : null;
    return slices == null ? null : slices.all();
  }

  /** What belongs to one slice of a measure window. */
  @SuppressWarnings("EnumOrdinal") // an array, as every token is added and every draw adds them up
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

    /** Adds to what is added up. */
    public void add(Amount amount, double more) {
      amounts[amount.ordinal()] += more;
    }

    /** The values of a metric, to be read. */
    public LogHistogram values(Metric metric) {
      LogHistogram made = values[metric.ordinal()];
      return made == null ? LogHistogram.EMPTY : made;
    }

    /** The sum of an amount. */
    public double of(Amount amount) {
      return amounts[amount.ordinal()];
    }
  }
}
