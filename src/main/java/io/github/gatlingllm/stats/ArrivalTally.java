package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.Figures.ArrivalFigures;
import io.github.gatlingllm.metric.ValueRecorder;
import io.github.gatlingllm.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.stats.Windows.LevelWindow;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Planned and realised arrivals of one open-loop stage, inside its measure window. */
final class ArrivalTally {

  private static final long SECOND = 1_000_000_000L;
  private static final int MOST_BINS = 4_096;

  private final LevelWindow window;
  private final long binNanos;
  private final int[] planned;
  private final int[] realised;
  private final ValueRecorder lagMs = new ValueRecorder(ValueRecorder.MICROS);
  private long plannedCount;
  private long realisedCount;

  ArrivalTally(LevelWindow window) {
    this.window = window;
    long seconds = (window.nanos() / SECOND + MOST_BINS - 1) / MOST_BINS;
    binNanos = Math.max(1, seconds) * SECOND;
    int whole = (int) (window.nanos() / binNanos);
    planned = new int[whole];
    realised = new int[whole];
  }

  /** Adds a request that has a planned arrival. */
  void add(RequestRecord record) {
    long schedule = record.timing().scheduledUnixNanos();
    if (window.contains(schedule)) {
      plannedCount++;
      lagMs.add(record.timing().startLagNanos() / 1e6);
      count(planned, schedule);
    }
    long start = record.timing().startUnixNanos();
    if (window.contains(start)) {
      realisedCount++;
      count(realised, start);
    }
  }

  private void count(int[] bins, long unixNanos) {
    int bin = (int) ((unixNanos - window.from()) / binNanos);
    if (bin < bins.length) {
      bins[bin]++;
    }
  }

  @Nullable ArrivalFigures arrivals() {
    return pooled(List.of(this));
  }

  /** start − scheduled of all of them together, in ms. */
  static ValueRecorder lagMs(Collection<ArrivalTally> stages) {
    ValueRecorder lag = new ValueRecorder(ValueRecorder.MICROS);
    stages.forEach(stage -> lag.add(stage.lagMs));
    return lag;
  }

  /** All of them together; dispersion is the mean over stages, as each has its own rate. */
  static @Nullable ArrivalFigures pooled(List<ArrivalTally> stages) {
    ValueRecorder lag = lagMs(stages);
    Moments plannedDispersion = new Moments();
    Moments realisedDispersion = new Moments();
    long planned = 0;
    long realised = 0;
    double seconds = 0;
    for (ArrivalTally stage : stages) {
      planned += stage.plannedCount;
      realised += stage.realisedCount;
      seconds += stage.window.nanos() / 1e9;
      addDispersion(stage.planned, plannedDispersion);
      addDispersion(stage.realised, realisedDispersion);
    }
    if (lag.isEmpty() || seconds == 0) {
      return null;
    }
    return new ArrivalFigures(
        planned,
        planned / seconds,
        realised / seconds,
        plannedDispersion.count() == 0 ? null : (Double) plannedDispersion.mean(),
        realisedDispersion.count() == 0 ? null : (Double) realisedDispersion.mean(),
        lag.percentile(50),
        lag.percentile(99),
        lag.moments().max());
  }

  /** Index of dispersion: variance ÷ mean of arrivals per bin. */
  private static void addDispersion(int[] bins, Moments into) {
    Moments perBin = new Moments();
    for (int count : bins) {
      perBin.add(count, 1);
    }
    if (bins.length >= 2 && perBin.mean() > 0) {
      into.add(perBin.std() * perBin.std() / perBin.mean(), 1);
    }
  }
}
