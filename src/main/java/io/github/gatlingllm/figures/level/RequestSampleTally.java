package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.RequestSamples.Breakdown;
import io.github.gatlingllm.figures.level.RequestSamples.LevelSamples;
import io.github.gatlingllm.figures.level.RequestSamples.Part;
import io.github.gatlingllm.figures.level.RequestSamples.PartMean;
import io.github.gatlingllm.figures.level.RequestSamples.Range;
import io.github.gatlingllm.figures.level.RequestSamples.ScenarioLoad;
import io.github.gatlingllm.figures.level.RequestSamples.ServerParts;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntFunction;
import org.HdrHistogram.IntCountsHistogram;
import org.jspecify.annotations.Nullable;

/** Collects the data of charts about single requests that were scheduled in a measure window. */
final class RequestSampleTally {

  /** Load levels with percentile curves and ranges of prompts. */
  static final int MAX_LEVELS = 24;

  private final Map<Integer, PromptRanges> levels = new TreeMap<>();
  private final Map<Integer, BreakdownTally> breakdowns = new TreeMap<>();
  private final ScenarioTally scenarios = new ScenarioTally();
  private final ExemplarTally exemplars;

  RequestSampleTally(long origin) {
    exemplars = new ExemplarTally(origin);
  }

  /**
   * Adds a request.
   *
   * @param inSlo whether it met the SLO; null without SLO, or when it was not judged
   */
  void add(RequestRecord record, LevelTally stage, @Nullable Boolean inSlo) {
    exemplars.add(record, stage.info());
    scenarios.add(record, stage, inSlo);
    if (record.outcome().ok()) {
      PromptRanges level = level(stage.index());
      if (level != null) {
        level.add(record);
      }
      breakdowns.computeIfAbsent(stage.index(), i -> new BreakdownTally(stage)).add(record);
    }
  }

  private @Nullable PromptRanges level(int index) {
    PromptRanges known = levels.get(index);
    if (known == null && levels.size() < MAX_LEVELS) {
      known = new PromptRanges();
      levels.put(index, known);
    }
    return known;
  }

  /** The data of the charts. */
  RequestSamples requestSamples(IntFunction<Tally> of) {
    Map<Integer, LevelSamples> drawn = new TreeMap<>();
    levels.forEach(
        (index, prompts) ->
            drawn.put(index, new LevelSamples(of.apply(index).quantiles(), prompts.ranges())));
    return new RequestSamples(drawn, breakdowns(), exemplars.exemplars(), scenarios.loads());
  }

  private List<Breakdown> breakdowns() {
    return breakdowns.values().stream()
        .filter(stage -> !stage.isEmpty())
        .map(BreakdownTally::breakdown)
        .toList();
  }

  /** TTFT of ok requests by range of prompt tokens; at most 124 ranges of about 15 KiB. */
  static final class PromptRanges {

    private static final int MIN_FOR_P95 = 20;

    private final TreeMap<Integer, IntCountsHistogram> ranges = new TreeMap<>();

    void add(RequestRecord record) {
      Integer prompt = record.tokens().prompt();
      Long ttft = record.timing().ttftNanos();
      if (prompt != null && prompt >= 0 && ttft != null) {
        OverTime.add(ranges.computeIfAbsent(indexOf(prompt), i -> OverTime.coarse()), ttft);
      }
    }

    /** The number of the range of x: one per value below 8, then four per doubling. */
    static int indexOf(int x) {
      if (x < 4) {
        return x;
      }
      int octave = 31 - Integer.numberOfLeadingZeros(x);
      return 4 * (octave - 1) + (x >> (octave - 2) & 3);
    }

    /** The smallest x of a range. */
    static long from(int index) {
      return index < 4 ? index : (4L + index % 4) << (index / 4 - 1);
    }

    List<Range> ranges() {
      List<Range> all = new ArrayList<>();
      ranges.forEach(
          (index, times) ->
              all.add(
                  new Range(
                      from(index),
                      from(index + 1),
                      times.getTotalCount(),
                      Objects.requireNonNull(OverTime.percentileMs(times, 50)),
                      times.getTotalCount() < MIN_FOR_P95 ? null : OverTime.percentileMs(times, 95),
                      Objects.requireNonNull(OverTime.percentileMs(times, 100)))));
      return all;
    }
  }

  /**
   * The time of the ok requests of one load level by part, as sums, so that means add up exactly.
   *
   * <pre>
   * scheduled ─ start lag ─ gate wait ─ connect ─┬ server queue ┬ server prefill ┬ rest ┬ server decode ┬ rest ┐
   *                                              └──────── TTFT − connect ──────────────┴──── to last token ───┘
   * </pre>
   */
  static final class BreakdownTally {

    private final LevelTally stage;
    private final Map<Part, long[]> nanos = new EnumMap<>(Part.class);
    private long count;
    private long reporting;

    BreakdownTally(LevelTally stage) {
      this.stage = stage;
    }

    void add(RequestRecord record) {
      RequestRecord.Timing t = record.timing();
      Long gate = t.gateWaitNanos();
      Long end = t.latencyNanos();
      if (gate == null || end == null) {
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
      ServerParts server = ServerParts.of(record);
      reporting += server.isEmpty() ? 0 : 1;
      part(Part.SERVER_QUEUE, server.queueNanos());
      part(Part.SERVER_PREFILL, server.prefillNanos());
      part(Part.FIRST_TOKEN, ttft - connect - server.queueNanos() - server.prefillNanos());
      part(Part.SERVER_DECODE, server.decodeNanos());
      part(Part.DECODE, end - ttft - server.decodeNanos());
    }

    private void part(Part part, long more) {
      if (more > 0) {
        nanos.computeIfAbsent(part, p -> new long[1])[0] += more;
      }
    }

    boolean isEmpty() {
      return count == 0;
    }

    Breakdown breakdown() {
      List<PartMean> means = new ArrayList<>();
      nanos.forEach((part, sum) -> means.add(new PartMean(part, sum[0] / 1e6 / count)));
      LevelInfo info = stage.info();
      return new Breakdown(info.label(), info.target(), info.scenario(), count, reporting, means);
    }
  }

  /** Key figures by scenario and load level; none for a run with one scenario. */
  static final class ScenarioTally {

    private static final int MOST = 20;
    private static final String OTHER = "(other scenarios)";

    private final Set<String> names = new HashSet<>();
    private final Map<Key, Cell> cells = new HashMap<>();

    private record Key(String scenario, int stage) {}

    private static final class Cell {
      private final LevelTally stage;
      private final IntCountsHistogram ttft = OverTime.coarse();
      private final IntCountsHistogram e2e = OverTime.coarse();
      private long count;
      private long attempted;
      private long met;

      private Cell(LevelTally stage) {
        this.stage = stage;
      }
    }

    /**
     * Adds a request.
     *
     * @param inSlo whether it met the SLO; null without SLO, or when it was not judged
     */
    void add(RequestRecord record, LevelTally stage, @Nullable Boolean inSlo) {
      String name = record.identity().scenario();
      if (names.size() >= MOST && !names.contains(name)) {
        name = OTHER;
      }
      names.add(name);
      Cell cell = cells.computeIfAbsent(new Key(name, stage.index()), k -> new Cell(stage));
      cell.count++;
      if (inSlo != null) {
        cell.attempted++;
        cell.met += inSlo ? 1 : 0;
      }
      if (record.outcome().ok()) {
        OverTime.add(cell.ttft, record.timing().ttftNanos());
        OverTime.add(cell.e2e, record.timing().latencyNanos());
      }
    }

    /** In order of load levels, then of names; empty for fewer than two scenarios. */
    List<ScenarioLoad> loads() {
      List<ScenarioLoad> loads = new ArrayList<>();
      if (names.size() < 2) {
        return loads;
      }
      TreeMap<Key, Cell> sorted =
          new TreeMap<>(Comparator.comparingInt(Key::stage).thenComparing(Key::scenario));
      sorted.putAll(cells);
      sorted.forEach(
          (key, cell) ->
              loads.add(
                  new ScenarioLoad(
                      key.scenario(),
                      cell.stage.info().label(),
                      cell.stage.info().target(),
                      cell.count,
                      OverTime.percentileMs(cell.ttft, 95),
                      OverTime.percentileMs(cell.e2e, 95),
                      cell.attempted == 0 ? null : (Double) ((double) cell.met / cell.attempted))));
      return loads;
    }
  }
}
