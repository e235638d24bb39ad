package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Series.Breakdown;
import io.github.gatlingllm.figures.level.Series.Part;
import io.github.gatlingllm.figures.level.Series.ScenarioLoad;
import io.github.gatlingllm.figures.level.TimeSlice.SliceValues;
import io.github.gatlingllm.figures.metric.Backlog;
import io.github.gatlingllm.figures.metric.Backlog.Queue;
import io.github.gatlingllm.figures.metric.Metric.Amount;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.ServerReport.Timing;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The counts of one load level in its measure window [{@code from}, {@code to}). */
final class LevelTally {

  /** More than the error of converting an instant to that of another repeat and back. */
  private static final long ROUNDING_NANOS = 1_000;

  /** Position of the level in the summary, the same for all its repeats. */
  final int index;

  final LevelInfo info;
  final long from;
  final long to;

  /** When arrivals in the measure window end; the window may last until the last answer. */
  final long arrivingTo;

  /** All levels of its target and scenario in order of time, itself included. */
  final List<LevelTally> track;

  /** The windows of the level in order of time, itself included: several if it is repeated. */
  final List<LevelTally> repeats;

  final Map<RequestKind, GroupTally> groups = new LinkedHashMap<>();
  private final BreakdownTally breakdown = new BreakdownTally();
  private final Map<String, ScenarioTally> scenarios = new TreeMap<>();
  private @Nullable TimeBuckets<TimeSlice> slices;

  /** What its server reported in the measure window. */
  final WindowSums engine = new WindowSums();

  /** Null in closed loops. */
  @Nullable ArrivalTally arrivals;

  @Nullable Backlog backlog;

  /** Null outside batch mode. */
  @Nullable TrialTally trials;

  LevelTally(
      int index, LevelInfo info, long runEnd, List<LevelTally> track, List<LevelTally> repeats) {
    this.index = index;
    this.info = info;
    this.track = track;
    this.repeats = repeats;
    Optional<PhaseWindow> measured = info.measured();
    Long end = measured.map(PhaseWindow::endUnixNanos).orElse(null);
    from = measured.map(PhaseWindow::startUnixNanos).orElse(0L);
    to = measured.isEmpty() ? from : Math.max(from, end == null ? runEnd : end);
    Long arriving = info.window(Phase.MEASURE).map(PhaseWindow::endUnixNanos).orElse(null);
    arrivingTo = arriving == null ? to : Math.min(arriving, to);
  }

  String target() {
    return info.target();
  }

  long nanos() {
    return to - from;
  }

  boolean contains(long unixNanos) {
    return unixNanos >= from && unixNanos < to;
  }

  /** Nanoseconds of [{@code start}, {@code end}) that lie in the window. */
  long overlapNanos(long start, long end) {
    return Math.max(0, Math.min(end, to) - Math.max(start, from));
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

  private LevelTally first() {
    return repeats.get(0);
  }

  /**
   * The time slice of an instant. Repeats share their slices: the first has the first part of each
   * window, so that slices differ by the time within a window and not by the repeat.
   */
  TimeSlice slice(long unixNanos) {
    return slices().at(inFirst(unixNanos));
  }

  /** An instant after the given one, up to which window and slice are the same. */
  long endOfSlice(long unixNanos) {
    long end = slices().endOf(inFirst(unixNanos));
    if (equals(first())) {
      return Math.min(end, to);
    }
    double share = (double) (end - first().from) / first().nanos();
    return Math.max(unixNanos + 1, Math.min(to, from + (long) (share * nanos()) - ROUNDING_NANOS));
  }

  private TimeBuckets<TimeSlice> slices() {
    LevelTally first = first();
    TimeBuckets<TimeSlice> made = first.slices;
    if (made == null) {
      made = TimeBuckets.within(first.from, first.nanos(), TimeSlice.COUNT, TimeSlice::new);
      first.slices = made;
    }
    return made;
  }

  private long inFirst(long unixNanos) {
    LevelTally first = first();
    return equals(first) || nanos() == 0
        ? unixNanos
        : first.from + Math.round((double) (unixNanos - from) / nanos() * first.nanos());
  }

  /** The time slices of all repeats in order; null if they have no data. */
  @Nullable List<TimeSlice> usedSlices() {
    TimeBuckets<TimeSlice> used = first().slices;
    return used == null ? null : used.all();
  }

  void addBreakdown(RequestRecord record) {
    first().breakdown.add(record);
  }

  /** The parts of the time of all repeats; null without a request. */
  @Nullable Breakdown breakdown() {
    return first().breakdown.of(whole());
  }

  /** The level with all its repeats. */
  LevelInfo whole() {
    return LevelInfo.ofRepeats(repeats.stream().map(each -> each.info).toList());
  }

  void addArrival(RequestRecord record) {
    if (nanos() > 0) {
      arrivals().add(record);
    }
  }

  /** An arrival of the plan, whether or not it was sent. */
  void addPlanned(long unixNanos) {
    if (unixNanos >= from && unixNanos < arrivingTo) {
      arrivals().planned(unixNanos);
    }
  }

  private ArrivalTally arrivals() {
    arrivals = arrivals == null ? new ArrivalTally(this) : arrivals;
    return arrivals;
  }

  void addBacklog(RequestRecord record) {
    if (nanos() > 0) {
      backlog = backlog == null ? new Backlog(from, arrivingTo - from, 1) : backlog;
      backlog.add(record);
    }
  }

  /** The queue of the median repeat, those whose queue grew last: half of them decide. */
  @Nullable Queue queue() {
    List<Queue> all =
        repeats.stream()
            .flatMap(each -> Stream.ofNullable(each.backlog))
            .flatMap(each -> Stream.ofNullable(each.queue()))
            .sorted(Comparator.comparing(Queue::grows).thenComparing(Queue::end))
            .toList();
    return all.isEmpty() ? null : all.get(all.size() / 2);
  }

  void addTrial(int trial, RequestRecord record) {
    trials = trials == null ? new TrialTally() : trials;
    trials.add(trial, record);
  }

  /** Adds a request; {@code inSlo} is null without SLO, or when it was not judged. */
  void addScenario(RequestRecord record, @Nullable Boolean inSlo) {
    first()
        .scenarios
        .computeIfAbsent(record.identity().scenario(), s -> new ScenarioTally())
        .add(record, inSlo);
  }

  /** The scenarios of all repeats in order of their names. */
  Stream<ScenarioLoad> scenarios() {
    return first().scenarios.entrySet().stream().map(e -> e.getValue().load(e.getKey(), whole()));
  }

  /**
   * The time of the ok requests by part, as sums, so that means add up exactly.
   *
   * <pre>
   * scheduled ─ start lag ─ gate wait ─ connect ─┬ server queue ┬ server prefill ┬ rest ┬ server decode ┬ rest ┐
   *                                              └──────── TTFT − connect ──────────────┴──── to last token ───┘
   * </pre>
   *
   * A time that the server reported and that does not fit into the measured ones measures something
   * else, and is 0 here.
   */
  @SuppressWarnings("EnumOrdinal") // an array: every part of every request is added
  static final class BreakdownTally {

    /** The server stamps the ends of decode elsewhere: up to 10 % more than measured is cut off. */
    private static final double DECODE_TOLERANCE = 1.1;

    private final long[] nanos = new long[Part.values().length];
    private long count;
    private long reporting;

    void add(RequestRecord record) {
      RequestRecord.Timing t = record.timing();
      Long gate = t.gateWaitNanos();
      Long end = t.latencyNanos();
      if (!record.outcome().ok() || gate == null || end == null) {
        return;
      }
      count++;
      part(Part.START_LAG, t.startLagNanos());
      part(Part.GATE_WAIT, gate);
      Long ttft = t.ttftNanos();
      long connect = Objects.requireNonNullElse(t.connectNanos(), 0L);
      part(Part.CONNECT, connect);
      if (ttft == null) {
        part(Part.ANSWER, end - connect);
        return;
      }
      long queue = record.server().nanos(Timing.QUEUE);
      long prefill = record.server().nanos(Timing.PREFILL);
      long decode = record.server().nanos(Timing.DECODE);
      if (queue + prefill > ttft - connect) {
        queue = 0;
        prefill = 0;
      }
      decode = decode <= DECODE_TOLERANCE * (end - ttft) ? Math.min(decode, end - ttft) : 0;
      reporting += queue + prefill + decode == 0 ? 0 : 1;
      part(Part.SERVER_QUEUE, queue);
      part(Part.SERVER_PREFILL, prefill);
      part(Part.FIRST_TOKEN, ttft - connect - queue - prefill);
      part(Part.SERVER_DECODE, decode);
      part(Part.DECODE, end - ttft - decode);
    }

    private void part(Part part, long more) {
      nanos[part.ordinal()] += Math.max(0, more);
    }

    @Nullable Breakdown of(LevelInfo level) {
      Map<Part, Double> means = new EnumMap<>(Part.class);
      for (Part part : Part.values()) {
        long sum = nanos[part.ordinal()];
        if (sum > 0) {
          means.put(part, sum / 1e6 / count);
        }
      }
      return count == 0 ? null : new Breakdown(level, count, reporting, means);
    }
  }

  /** Key figures of the requests of one scenario. */
  static final class ScenarioTally extends Amounts {

    private final SliceValues ttft = new SliceValues();
    private final SliceValues e2e = new SliceValues();

    private void add(RequestRecord record, @Nullable Boolean inSlo) {
      started(record, inSlo);
      Long first = record.timing().ttftNanos();
      if (first != null && record.outcome().hasFirstToken()) {
        ttft.count(first / 1_000, 1);
      }
      Long last = record.timing().latencyNanos();
      if (last != null && record.outcome().ok()) {
        e2e.count(last / 1_000, 1);
      }
    }

    private ScenarioLoad load(String scenario, LevelInfo level) {
      return new ScenarioLoad(
          scenario,
          level,
          count(Amount.STARTED),
          ttft.percentile(95),
          e2e.percentile(95),
          of(Amount.ATTEMPTED) == 0 ? null : (Double) (of(Amount.MET) / of(Amount.ATTEMPTED)));
    }
  }
}
