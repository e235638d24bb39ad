package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Figures.ArrivalFigures;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Planned and realised arrivals of one open-loop stage, inside its measure window. */
final class ArrivalTally {

  private static final long SECOND = 1_000_000_000L;
  private static final int MAX_BINS = 4_096;

  private final LevelWindow level;
  private final long scheduleStart;
  private final TimeSlots bins;
  private final int[] planned;
  private final int[] realised;
  private final ValueRecorder lagMs = new ValueRecorder(ValueRecorder.MICROS);

  /** Arrivals planned for the window whose request was sent, maybe some time later. */
  long sent;

  /** Requests in measure that are the first request of an arrived user. */
  long measured;

  private long realisedCount;
  private long plannedCount;

  ArrivalTally(LevelWindow level) {
    this.level = level;
    long arriving = level.arrivingTo - level.from;
    scheduleStart = level.info.phases().get(0).startUnixNanos();
    long seconds = (arriving / SECOND + MAX_BINS - 1) / MAX_BINS;
    long width = Math.max(1, seconds) * SECOND;
    bins = new TimeSlots(level.from, width, (int) (arriving / width));
    planned = new int[bins.count()];
    realised = new int[bins.count()];
  }

  void add(RequestRecord record) {
    long schedule = record.timing().scheduledUnixNanos();
    Long offset = record.timing().scheduledOffsetNanos();
    boolean isOfPlan =
        level.info.isOpen()
            ? offset != null && level.contains(scheduleStart + offset)
            : record.identity().phase() == Phase.MEASURE;
    sent += isOfPlan ? 1 : 0;
    measured += record.identity().phase() == Phase.MEASURE ? 1 : 0;
    if (level.contains(schedule)) {
      lagMs.add(record.timing().startLagNanos() / 1e6);
    }
    long start = record.timing().startUnixNanos();
    if (level.contains(start)) {
      realisedCount++;
      count(realised, start);
    }
  }

  /** Adds an arrival of the plan, which is due in the window. */
  void planned(long unixNanos) {
    plannedCount++;
    count(planned, unixNanos);
  }

  private void count(int[] arrivals, long unixNanos) {
    if (!bins.areBefore(unixNanos)) {
      arrivals[bins.at(unixNanos)]++;
    }
  }

  /** Dispersion is the mean over levels, as each has its own rate. */
  static @Nullable ArrivalFigures pooled(List<ArrivalTally> stages, boolean areUsers) {
    ValueRecorder lag = new ValueRecorder(ValueRecorder.MICROS);
    stages.forEach(stage -> lag.add(stage.lagMs));
    Moments plannedDispersion = new Moments();
    Moments realisedDispersion = new Moments();
    boolean isPlanKnown = stages.stream().anyMatch(s -> s.plannedCount > 0);
    long planned = 0;
    long sent = 0;
    long realised = 0;
    List<long[]> spans = new ArrayList<>();
    for (ArrivalTally stage : stages) {
      planned += stage.plannedCount;
      sent += stage.sent;
      realised += stage.realisedCount;
      spans.add(new long[] {stage.level.from, stage.level.arrivingTo});
      addDispersion(stage.planned, plannedDispersion);
      addDispersion(stage.realised, realisedDispersion);
    }
    double seconds = Windows.unionNanos(spans) / 1e9;
    if (lag.isEmpty() || seconds == 0) {
      return null;
    }
    return new ArrivalFigures(
        isPlanKnown ? planned : sent,
        areUsers ? LevelInfo.USERS_PER_S : LevelInfo.REQUESTS_PER_S,
        isPlanKnown ? (Double) (planned / seconds) : null,
        realised / seconds,
        plannedDispersion.count() == 0 ? null : (Double) plannedDispersion.mean(),
        realisedDispersion.count() == 0 ? null : (Double) realisedDispersion.mean(),
        lag.percentile(50),
        lag.percentile(99),
        lag.moments().max());
  }

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
