package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.RequestSamples.BreakdownTally;
import io.github.gatlingllm.figures.metric.Backlog;
import io.github.gatlingllm.figures.metric.TimeBuckets;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.RequestRecord;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One load level: its measure window [{@code from}, {@code to}) in epoch nanoseconds, empty where
 * the level was never measured, and the counts of its requests.
 */
final class LevelTally {

  private final int index;
  private final LevelInfo info;
  private final long from;
  private final long to;
  private final long arrivingTo;
  private final List<LevelTally> track;
  private final Map<String, GroupTally> groups = new LinkedHashMap<>();
  private final BreakdownTally breakdown = new BreakdownTally();
  private @Nullable TimeBuckets<TimeSlice> slices;
  private @Nullable ArrivalTally arrivals;
  private @Nullable Backlog backlog;
  private @Nullable TrialTally trials;

  /**
   * @param track the levels of the same target and scenario, to which this one will be added
   */
  LevelTally(int index, LevelInfo info, long runEnd, List<LevelTally> track) {
    this.index = index;
    this.info = info;
    this.track = track;
    Optional<PhaseWindow> measured = info.measured();
    Long end = measured.map(PhaseWindow::endUnixNanos).orElse(null);
    from = measured.map(PhaseWindow::startUnixNanos).orElse(0L);
    to = measured.isEmpty() ? from : Math.max(from, end == null ? runEnd : end);
    Long arriving = info.window(Phase.MEASURE).map(PhaseWindow::endUnixNanos).orElse(null);
    arrivingTo = arriving == null ? to : Math.min(arriving, to);
  }

  int index() {
    return index;
  }

  LevelInfo info() {
    return info;
  }

  String target() {
    return info.target();
  }

  long from() {
    return from;
  }

  long to() {
    return to;
  }

  long nanos() {
    return to - from;
  }

  /** When arrivals in the measure window end; the window may last until the last answer. */
  long arrivingTo() {
    return arrivingTo;
  }

  boolean contains(long unixNanos) {
    return unixNanos >= from && unixNanos < to;
  }

  /** Nanoseconds of [{@code start}, {@code end}) that lie in the window. */
  long overlapNanos(long start, long end) {
    return Math.max(0, Math.min(end, to) - Math.max(start, from));
  }

  /** All levels of its target and scenario in order of time, itself included. */
  List<LevelTally> track() {
    return track;
  }

  /** The level of this target and scenario whose window contains an instant; null if none does. */
  @Nullable LevelTally at(long unixNanos) {
    if (contains(unixNanos)) {
      return this;
    }
    for (LevelTally level : track) {
      if (level.contains(unixNanos)) {
        return level;
      }
    }
    return null;
  }

  Map<String, GroupTally> groups() {
    return groups;
  }

  BreakdownTally breakdown() {
    return breakdown;
  }

  /** Its time slices, which exist once they are used. */
  TimeBuckets<TimeSlice> slices() {
    TimeBuckets<TimeSlice> made = slices;
    if (made == null) {
      made = TimeBuckets.within(from, nanos(), TimeSlice.COUNT, TimeSlice::new);
      slices = made;
    }
    return made;
  }

  /** Its time slices in order; null if it has no data. */
  @Nullable List<TimeSlice> usedSlices() {
    return slices == null ? null : slices.all();
  }

  /** Adds a request with a planned arrival that was scheduled in this level. */
  void addArrival(RequestRecord record) {
    if (nanos() > 0) {
      arrivals = arrivals == null ? new ArrivalTally(this) : arrivals;
      arrivals.add(record);
    }
  }

  /** Null in closed loops. */
  @Nullable ArrivalTally arrivals() {
    return arrivals;
  }

  /** Adds a request of its target and scenario to its backlog. */
  void addBacklog(RequestRecord record) {
    if (nanos() > 0) {
      backlog = backlog == null ? new Backlog(from, arrivingTo - from, 1) : backlog;
      backlog.add(record);
    }
  }

  @Nullable Backlog backlog() {
    return backlog;
  }

  void addTrial(int trial, RequestRecord record) {
    trials = trials == null ? new TrialTally() : trials;
    trials.add(trial, record);
  }

  /** Null outside batch mode. */
  @Nullable TrialTally trials() {
    return trials;
  }
}
