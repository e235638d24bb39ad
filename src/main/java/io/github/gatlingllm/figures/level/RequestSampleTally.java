package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.RequestSamples.Breakdown;
import io.github.gatlingllm.figures.level.RequestSamples.Dependence;
import io.github.gatlingllm.figures.level.RequestSamples.Evenness;
import io.github.gatlingllm.figures.level.RequestSamples.EventSize;
import io.github.gatlingllm.figures.level.RequestSamples.Part;
import io.github.gatlingllm.figures.level.RequestSamples.PartMean;
import io.github.gatlingllm.figures.level.RequestSamples.Pauses;
import io.github.gatlingllm.figures.level.RequestSamples.ScenarioLoad;
import io.github.gatlingllm.figures.level.RequestSamples.ServerParts;
import io.github.gatlingllm.figures.level.Series.Shape;
import io.github.gatlingllm.figures.level.Windows.LevelWindow;
import io.github.gatlingllm.figures.metric.LogLinearHistogram;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.TokenGaps;
import java.util.ArrayList;
import java.util.Collection;
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
import org.jspecify.annotations.Nullable;

/** Collects the data of charts about single requests that were scheduled in a measure window. */
final class RequestSampleTally {

  private static final double[] PAUSES_MS = {20, 50, 100, 200, 500, 1_000, 2_000, 5_000};

  /** Load levels whose single requests are kept; about 1 MiB each. */
  static final int MAX_LEVELS = 24;

  private final Map<Integer, LevelTally> levels = new TreeMap<>();
  private final Map<Integer, BreakdownTally> breakdowns = new TreeMap<>();
  private final ScenarioTally scenarios = new ScenarioTally();
  private final ExemplarTally exemplars;

  /**
   * @param origin start of the run, epoch nanoseconds
   */
  RequestSampleTally(long origin) {
    exemplars = new ExemplarTally(origin);
  }

  /**
   * Adds a request.
   *
   * @param inSlo whether it met the SLO; null without SLO, or when it was not judged
   */
  void add(RequestRecord record, TokenStream stream, LevelWindow stage, @Nullable Boolean inSlo) {
    exemplars.add(record, stage.level());
    scenarios.add(record, stage, inSlo);
    if (record.outcome().ok()) {
      LevelTally level = level(stage.index());
      if (level != null) {
        level.dependence.add(record, stream);
        level.eventSizes.add(record);
      }
      breakdowns.computeIfAbsent(stage.index(), i -> new BreakdownTally(stage)).add(record);
    }
  }

  private @Nullable LevelTally level(int index) {
    LevelTally known = levels.get(index);
    if (known == null && levels.size() < MAX_LEVELS) {
      known = new LevelTally(new DependenceTally(), new EventSizes());
      levels.put(index, known);
    }
    return known;
  }

  /** The requests of one load level. */
  private record LevelTally(DependenceTally dependence, EventSizes eventSizes) {

    RequestSamples.LevelSamples level(Tally whole) {
      return new RequestSamples.LevelSamples(
          Shapes.of(whole), dependence.dependence(), evenness(whole, eventSizes));
    }
  }

  /**
   * The data of the charts.
   *
   * @param of returns the tally of the load level at a position
   */
  RequestSamples requestSamples(IntFunction<Tally> of, Collection<ArrivalTally> arrivals) {
    ValueRecorder lag = ArrivalTally.lagMs(arrivals);
    Map<Integer, RequestSamples.LevelSamples> drawn = new TreeMap<>();
    levels.forEach((index, level) -> drawn.put(index, level.level(of.apply(index))));
    return new RequestSamples(
        drawn, breakdowns(), exemplars.exemplars(), shape(lag), scenarios.loads());
  }

  private List<Breakdown> breakdowns() {
    return breakdowns.values().stream()
        .filter(stage -> !stage.isEmpty())
        .map(BreakdownTally::breakdown)
        .toList();
  }

  private static Evenness evenness(Tally whole, EventSizes eventSizes) {
    return new Evenness(
        shape(whole.ratio()),
        shape(whole.recorder(Metric.STALL_MS)),
        pauses(whole),
        eventSizes.sizes());
  }

  private static @Nullable Shape shape(ValueRecorder values) {
    return values.isEmpty() ? null : Shapes.of(values);
  }

  /** By threshold, up to the first one that no gap exceeds. */
  private static List<Pauses> pauses(Tally whole) {
    List<Pauses> pauses = new ArrayList<>();
    ValueRecorder gaps = whole.recorder(Metric.ICL_MS);
    if (gaps.isEmpty() || whole.streamedTokens() == 0) {
      return pauses;
    }
    for (double above : PAUSES_MS) {
      long[] longer = {0};
      gaps.forEach((value, count) -> longer[0] += value > above ? count : 0);
      pauses.add(new Pauses(above, longer[0] * 1e3 / whole.streamedTokens()));
      if (longer[0] == 0) {
        break;
      }
    }
    return pauses;
  }

  /**
   * Number of token events of ok streams by their number of tokens: the server's count of each
   * event, else N shared evenly over the events of the request, rounded down.
   */
  static final class EventSizes {

    private static final int[] FROM = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 50, 100};

    private final long[] events = new long[FROM.length];

    void add(RequestRecord record) {
      RequestRecord.Events e = record.events();
      if (e.count() == 0) {
        return;
      }
      if (e.tokens().length == e.count()) {
        for (int tokens : e.tokens()) {
          events[indexOf(tokens)]++;
        }
      } else {
        events[indexOf((int) TokenGaps.share(e.count(), record.tokens().streamedTokens()))] +=
            e.count();
      }
    }

    private static int indexOf(int tokens) {
      int index = Math.min(Math.max(0, tokens), 10);
      while (index + 1 < FROM.length && tokens >= FROM[index + 1]) {
        index++;
      }
      return index;
    }

    /** The sizes that occur. */
    List<EventSize> sizes() {
      List<EventSize> sizes = new ArrayList<>();
      for (int i = 0; i < FROM.length; i++) {
        if (events[i] > 0) {
          Integer to = i + 1 < FROM.length ? (Integer) FROM[i + 1] : null;
          sizes.add(new EventSize(FROM[i], to, events[i]));
        }
      }
      return sizes;
    }
  }

  /** Times of ok requests against lengths and against the position in the answer. */
  static final class DependenceTally {

    private final ScatterSample ttftByPrompt = new ScatterSample();
    private final ScatterSample e2eByOutput = new ScatterSample();
    private final ScatterSample itlByPosition = new ScatterSample();

    void add(RequestRecord record, TokenStream stream) {
      String id = record.identity().requestId();
      long hash = hash(id);
      RequestRecord.Timing t = record.timing();
      Integer prompt = record.tokens().prompt();
      Integer output = record.tokens().n();
      Long ttft = t.ttftNanos();
      Long e2e = t.latencyNanos();
      if (prompt != null && ttft != null) {
        ttftByPrompt.add(prompt, ttft / 1e3, 1, hash, id);
      }
      if (output != null && e2e != null) {
        e2eByOutput.add(output, e2e / 1e3, 1, hash, id);
      }
      itlByPosition.addGaps(stream, hash, id);
    }

    /** A hash of a request id, the same on every machine: FNV-1a, then mixed. */
    static long hash(String id) {
      long hash = 0xcbf29ce484222325L;
      for (int i = 0; i < id.length(); i++) {
        hash = (hash ^ id.charAt(i)) * 0x100000001b3L;
      }
      return ScatterSample.spread(hash);
    }

    Dependence dependence() {
      return new Dependence(ttftByPrompt.cloud(), e2eByOutput.cloud(), itlByPosition.cloud());
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

    private final LevelWindow stage;
    private final Map<Part, long[]> nanos = new EnumMap<>(Part.class);
    private long count;
    private long reporting;

    BreakdownTally(LevelWindow stage) {
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
      LevelInfo info = stage.level();
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
      private final LevelWindow stage;
      private final LogLinearHistogram ttft = Shapes.coarse();
      private final LogLinearHistogram e2e = Shapes.coarse();
      private long count;
      private long attempted;
      private long met;

      private Cell(LevelWindow stage) {
        this.stage = stage;
      }
    }

    /**
     * Adds a request.
     *
     * @param inSlo whether it met the SLO; null without SLO, or when it was not judged
     */
    void add(RequestRecord record, LevelWindow stage, @Nullable Boolean inSlo) {
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
        Shapes.add(cell.ttft, record.timing().ttftNanos());
        Shapes.add(cell.e2e, record.timing().latencyNanos());
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
                      cell.stage.level().label(),
                      cell.stage.level().target(),
                      cell.count,
                      Shapes.percentileMs(cell.ttft, 95),
                      Shapes.percentileMs(cell.e2e, 95),
                      cell.attempted == 0 ? null : (Double) ((double) cell.met / cell.attempted))));
      return loads;
    }
  }
}
