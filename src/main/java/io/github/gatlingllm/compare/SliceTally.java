package io.github.gatlingllm.compare;

import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.Metric.Amount;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.stats.RunStatistics;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a run by load level and slice of time, attributed as its figures attribute them:
 * a request to the instant it was scheduled at, a token to that of its arrival. About 4 MiB per
 * level, whatever the number of requests.
 */
final class SliceTally implements RunStatistics.Listener {

  /** Slices of equal length in a measure window; divisible by every length a block may have. */
  static final int COUNT = 48;

  private final Map<Integer, List<TimeSlice>> levels = new LinkedHashMap<>();

  @Override
  public void tokens(int level, double at, double tokens, boolean inSlo) {
    TimeSlice slice = slice(level, at);
    slice.add(Amount.TOKENS, tokens);
    slice.add(Amount.TOKENS_IN_SLO, inSlo ? tokens : 0);
  }

  @Override
  public void ended(int level, double at, boolean ok, boolean inSlo) {
    TimeSlice slice = slice(level, at);
    slice.add(Amount.COMPLETED, ok ? 1 : 0);
    slice.add(Amount.COMPLETED_IN_SLO, inSlo ? 1 : 0);
  }

  @Override
  public void measured(int level, double at, RequestRecord record, @Nullable Boolean met) {
    TimeSlice slice = slice(level, at);
    boolean ok = record.outcome().ok();
    boolean ended = record.outcome().status() != RequestStatus.CANCELLED;
    slice.add(Amount.STARTED, 1);
    slice.add(Amount.ENDED, ended ? 1 : 0);
    slice.add(Amount.FAILED, ended && !ok ? 1 : 0);
    slice.add(Amount.ATTEMPTED, met == null ? 0 : 1);
    slice.add(Amount.MET, Boolean.TRUE.equals(met) ? 1 : 0);
    if (ok) {
      for (Metric metric : Metric.ofRequests()) {
        Double value = metric.of(record);
        if (value != null) {
          slice.add(metric, value, 1);
        }
      }
    }
  }

  @Override
  public void tokenGap(int level, double at, double micros, int tokens) {
    slice(level, at).add(Metric.ITL_MS, micros / 1e3, tokens);
  }

  private TimeSlice slice(int level, double at) {
    List<TimeSlice> slices =
        levels.computeIfAbsent(level, i -> Stream.generate(TimeSlice::new).limit(COUNT).toList());
    return slices.get(index(at));
  }

  /** The slice of an instant; one outside the window belongs to the slice at that end. */
  static int index(double at) {
    return (int) Math.max(0, Math.min(COUNT - 1, at * COUNT));
  }

  /** The slices of a load level in order of time; null where nothing belongs to it. */
  @Nullable List<TimeSlice> slices(int level) {
    return levels.get(level);
  }

  /** What belongs to one slice of a measure window. */
  @SuppressWarnings("EnumOrdinal") // an array, as every token is added and every draw adds them up
  static final class TimeSlice {

    private final Map<Metric, LogHistogram> values = new EnumMap<>(Metric.class);
    private final double[] amounts = new double[Amount.values().length];

    void add(Metric metric, double value, int weight) {
      if (metric.isCompared()) {
        values.computeIfAbsent(metric, m -> new LogHistogram()).add(value, weight);
      }
    }

    void add(Amount amount, double more) {
      amounts[amount.ordinal()] += more;
    }

    /** The values of a metric that runs are compared by; null where there is none. */
    @Nullable LogHistogram values(Metric metric) {
      return values.get(metric);
    }

    double of(Amount amount) {
      return amounts[amount.ordinal()];
    }
  }
}
