package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Series.Breakdown;
import io.github.gatlingllm.figures.level.Series.Part;
import io.github.gatlingllm.figures.metric.Backlog;
import io.github.gatlingllm.figures.metric.Backlog.Queue;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.Objectives.Decision;
import io.github.gatlingllm.record.Objectives.SloCounts;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.TimingKey;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A repeat of a load level with its measure window [{@code from}, {@code to}). */
final class LevelWindow {

  /** Position of the level in the summary, the same for all its repeats. */
  final int index;

  final LevelInfo info;
  final long from;
  final long to;

  /** When arrivals in the measure window end; the window may last until the last answer. */
  final long arrivingTo;

  /** All levels of its target and scenario in order of time, itself included. */
  final List<LevelWindow> track;

  /** The windows of the level in order of time, itself included: several if it is repeated. */
  final List<LevelWindow> repeats;

  private final BreakdownTally breakdown = new BreakdownTally();
  private final StartTally start;

  /** Of all repeats: the k-th cell has the k-th part of each window. */
  private @Nullable List<Cell> slices;

  /** What its server reported in the measure window. */
  final WindowSums engine = new WindowSums();

  /** Null in closed loops. */
  @Nullable ArrivalTally arrivals;

  @Nullable Backlog backlog;

  LevelWindow(
      int index, LevelInfo info, long runEnd, List<LevelWindow> track, List<LevelWindow> repeats) {
    this.index = index;
    this.info = info;
    this.track = track;
    this.repeats = repeats;
    Optional<PhaseWindow> measured = info.measured();
    Long end = measured.map(PhaseWindow::endUnixNanos).orElse(null);
    from = measured.map(PhaseWindow::startUnixNanos).orElse(0L);
    to = measured.isEmpty() ? from : Math.max(from, end == null ? runEnd : end);
    start = new StartTally(info.phases().isEmpty() ? from : info.phases().get(0).startUnixNanos());
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

  long overlapNanos(long start, long end) {
    return Math.max(0, Math.min(end, to) - Math.max(start, from));
  }

  /** Whether something between two instants happened in the window. */
  boolean overlaps(long first, long last) {
    return last >= from && first < to;
  }

  LevelWindow first() {
    return repeats.get(0);
  }

  /**
   * Adds what of a request happened in the window to its time slices. Slices differ by the time
   * within a window and not by the repeat.
   *
   * @param isMeasured whether its values count, in the slice in which it was scheduled
   */
  void slice(RequestParts parts, boolean isMeasured) {
    List<Cell> all = slices();
    long width = Math.max(1, (nanos() + TimeSlice.COUNT - 1) / TimeSlice.COUNT);
    int own = isMeasured ? sliceOf(parts.scheduled, width) : -1;
    int last = sliceOf(parts.end(), width);
    for (int i = sliceOf(parts.begin(), width); i <= last; i++) {
      long start = from + i * width;
      all.get(i).add(parts.in(start, Math.min(to, start + width), i == own));
    }
    if (isMeasured) {
      all.get(own).measured(parts);
    }
  }

  /** The first or the last slice if the instant is before or after all. */
  private int sliceOf(long unixNanos, long width) {
    return (int) Math.max(0, Math.min(TimeSlice.COUNT - 1, (unixNanos - from) / width));
  }

  private List<Cell> slices() {
    LevelWindow first = first();
    List<Cell> made = first.slices;
    if (made == null) {
      made = Stream.generate(Cell::ofSlice).limit(TimeSlice.COUNT).toList();
      first.slices = made;
    }
    return made;
  }

  /** The time slices of all repeats in order; null if they have no data. */
  @Nullable List<Cell> usedSlices() {
    return first().slices;
  }

  void addBreakdown(RequestRecord record) {
    first().breakdown.add(record);
  }

  /** The parts of the time of all repeats; null without a request. */
  @Nullable Breakdown breakdown() {
    return first().breakdown.of(joined());
  }

  LevelInfo joined() {
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

  /** Adds one of its requests, of whatever phase, to what is known of its start. */
  void addStart(RequestParts parts) {
    start.add(parts);
  }

  /** Seconds from its first planned instant to the first answer of a server that had to start. */
  @Nullable Double coldStartS() {
    return start.coldStartS();
  }

  /** Seconds from its first planned instant until it holds the SLO to its end; null for never. */
  @Nullable Double heldAfterS() {
    return start.heldAfterS();
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
  private static final class BreakdownTally {

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
      long queue = record.server().nanos(TimingKey.QUEUE);
      long prefill = record.server().nanos(TimingKey.PREFILL);
      long decode = record.server().nanos(TimingKey.DECODE);
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

  /** How a level begins: the requests of all its phases, by their planned instants. */
  private static final class StartTally {

    private static final int MAX_SLICES = 64;
    private static final double ROUNDING = 1e-9;
    private static final long COLD_NANOS = 1_000_000_000;
    private static final long COLD = 10;

    private final long origin;
    private final TimeBuckets<SloCounts> slices;
    private long scheduled = Long.MAX_VALUE;
    private long answered = Long.MAX_VALUE;
    private int answeredLength;

    /** The shortest TTFT by length of prompt, in powers of two. */
    private final long[] fastest = new long[Integer.SIZE + 1];

    StartTally(long origin) {
      this.origin = origin;
      slices =
          new TimeBuckets<>(origin, 1_000_000_000L, MAX_SLICES, SloCounts::new, SloCounts::add);
      Arrays.fill(fastest, Long.MAX_VALUE / COLD);
    }

    void add(RequestParts parts) {
      RequestRecord record = parts.record();
      scheduled = Math.min(scheduled, parts.scheduled);
      slices.at(parts.scheduled).add(parts.owner, parts.judgement());
      Long ttft =
          record.tokens().inputs() == null
              ? record.timing().ttftNanos()
              : record.timing().latencyNanos();
      if (ttft != null) {
        Integer prompt = record.tokens().prompt();
        int length = prompt == null ? 0 : Integer.SIZE - Integer.numberOfLeadingZeros(prompt);
        fastest[length] = Math.min(fastest[length], ttft);
        if (parts.answered() < answered) {
          answered = parts.answered();
          answeredLength = length;
        }
      }
    }

    /**
     * From the first planned instant to the first token; 0 if no request whose prompt is as long
     * was ten times as fast, and below a second. Null where nothing was answered, and of texts in
     * one body, which take longer the longer they are.
     */
    @Nullable Double coldStartS() {
      if (answered == Long.MAX_VALUE) {
        return null;
      }
      long after = answered - scheduled;
      long warm = Arrays.stream(fastest, answeredLength, fastest.length).min().orElseThrow();
      return after < COLD_NANOS || after < COLD * warm ? 0 : after / 1e9;
    }

    /**
     * The start of the first slice from which every slice holds the SLO. A slice is joined to those
     * after it until it has so many requests that one which misses does not decide.
     */
    @Nullable Double heldAfterS() {
      List<SloCounts> all = slices.all();
      Double held = null;
      SloCounts next = new SloCounts();
      SloCounts later = new SloCounts();
      for (int i = all.size() - 1; i >= 0; i--) {
        next.add(all.get(i));
        if (i == 0 && !isEnough(next)) {
          next.add(later);
        }
        Decision decision = next.decide();
        if (decision != null && (i == 0 || isEnough(next))) {
          if (!Boolean.TRUE.equals(decision.holds())) {
            return held;
          }
          held = Math.max(0, origin + i * slices.width() - scheduled) / 1e9;
          later = next;
          next = new SloCounts();
        }
      }
      return held;
    }

    private static boolean isEnough(SloCounts slice) {
      Decision decision = slice.decide();
      double mayMiss = decision == null ? 1 : 1 - decision.percent() / 100;
      return decision != null
          && decision.holds() != null
          && (mayMiss <= 0 || decision.count().judged() * mayMiss >= 1 - ROUNDING);
    }
  }
}
