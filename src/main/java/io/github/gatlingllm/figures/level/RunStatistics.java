package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Series.OverTime;
import io.github.gatlingllm.figures.level.WorkloadTally.KeyCounts;
import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.Metric.Amount;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.InjectorRun;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PlannedArrival;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.ServerReport;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunInfo.RunEnvironment;
import io.github.gatlingllm.record.RunOutcome.SingleStream;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.Slo;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Turns the records of a run into its figures, in one pass. Memory does not grow with the number of
 * requests: about 1 MiB per kind of request and load level or its repeat, 4 MiB per load level for
 * its time slices, 20 MiB for charts.
 *
 * <pre>{@code
 * RunFigures figures = RunStatistics.of(info, sink -> RecordFile.read(requestsJsonl, sink));
 * }</pre>
 *
 * <p>A request belongs to the load level and phase in which it was scheduled, a token to the
 * measure window in which it arrived. Latency distributions count ok requests scheduled in the
 * phase measure; requests/s counts ok requests that ended in the window; output tok/s counts the
 * tokens of all requests.
 */
public final class RunStatistics {

  private static final int MAX_NAMES = 100;

  /** Load levels and kinds of request with figures of their own, 1 MiB each. */
  private static final int MAX_GROUPS = 500;

  /** Combinations of labels that are looked up once; a server may name a replica per answer. */
  private static final int MAX_PLACES = 10_000;

  /** How far outside the run a record may start: wrong clocks and time zones differ by less. */
  private static final long MARGIN_NANOS = TimeUnit.DAYS.toNanos(1);

  private final long runStart;
  private final long loadStart;
  private final long runEnd;
  final Windows levels;
  private final TokenStream stream = new TokenStream();
  final double readingSpeed;
  private final RequestValues values;
  final SloTally slo;
  final OverTime overTime;

  private final Map<RequestKind.Labels, Place> places = new HashMap<>();

  /** In the order of their first request. */
  final List<GroupTally> groups = new ArrayList<>();

  private final RequestKind.Names names = new RequestKind.Names();
  final Map<String, Set<String>> serverNames = new TreeMap<>();
  private final KeyCounts<String> injectors = new KeyCounts<>("(others)");
  final Map<String, StallDetector> stalls = new LinkedHashMap<>();
  final Map<String, Outages> outages = new LinkedHashMap<>();
  final WorkloadTally workload = new WorkloadTally();
  final AnswerCounts answers;
  final InjectorTally byInjector;
  final EngineTally engines;
  final Map<String, RunEnvironment.TargetFacts> targets;
  final Map<String, SingleStream> alone;

  private RunStatistics(RunInfo info) {
    Long end = info.endUnixNanos();
    readingSpeed = info.report().readingSpeed();
    values = new RequestValues(readingSpeed);
    slo = new SloTally(info);
    overTime = new OverTime(info.loadStartUnixNanos());
    runStart = info.startUnixNanos();
    loadStart = info.loadStartUnixNanos();
    runEnd = end == null ? info.startUnixNanos() : end;
    levels = new Windows(info.stages(), runEnd);
    answers = new AnswerCounts(info::isOutputPinned);
    targets = info.targets();
    alone = info.outcome().singleStreams();
    byInjector = new InjectorTally(info.injectors());
    engines = new EngineTally(info.loadStartUnixNanos(), levels.all());
  }

  /** The figures of a run, judged by its own SLO. */
  public static RunFigures of(RunInfo info, RecordSource source) throws IOException {
    return of(info, UnaryOperator.identity(), source);
  }

  /**
   * The figures of some load levels pooled.
   *
   * @param info with all its levels
   */
  public static RunFigures ofLevels(RunInfo info, Set<Integer> which, RecordSource source)
      throws IOException {
    Windows all = new Windows(info.stages(), 0);
    List<LevelInfo> kept =
        all.all().stream()
            .filter(level -> which.contains(level.index))
            .map(level -> level.info)
            .toList();
    return of(
        info.stages(kept),
        sink ->
            source.replay(
                record -> {
                  if (which.contains(all.of(record.identity()).index)) {
                    sink.accept(record);
                  }
                }));
  }

  public static RunFigures of(RunInfo given, UnaryOperator<RunInfo> slo, RecordSource source)
      throws IOException {
    RunInfo run = slo.apply(completed(given, source));
    RunInfo info = SelfTest.isLoadOf(run) ? run.slo(Slo.NONE) : run;
    RunStatistics statistics = new RunStatistics(info);
    ReadReport file = source.replay(statistics::add);
    // a load generator that died left no plan of its last level, so the whole plan is unknown
    if (info.injectors().stream().noneMatch(InjectorRun::isDead)) {
      source.arrivals(statistics::add);
    }
    source.generator(statistics.overTime::add);
    source.server(sample -> statistics.engines.add(sample));
    return new SummaryAssembly(source.ended(info), file, statistics).figures();
  }

  /** The run with its end, which takes a pass over the records where {@code run.json} has none. */
  public static RunInfo completed(RunInfo info, RecordSource source) throws IOException {
    return info.endUnixNanos() != null
        ? info
        : info.ended(RunBounds.end(info, source), info.state());
  }

  private void add(RequestRecord record) {
    RunBounds.refuseBeyond(runStart - MARGIN_NANOS, runEnd + MARGIN_NANOS, record.timing());
    Place place = place(record);
    RequestRecord.Identity id = record.identity();
    LevelTally level = place.level;
    Slo.Judgement judgement = place.objectives.slo.judge(record);
    Boolean met = judgement.met();
    boolean inSlo = Boolean.TRUE.equals(met) && record.outcome().ok();
    stream.read(record);
    addTokens(place, inSlo, id.injector());
    addTimes(record, place, inSlo);
    place.stalls.add(record);
    place.outages.add(record);
    injectors.add(id.injector());
    byInjector.add(record, level);
    engines.add(record);
    if (record.timing().scheduledOffsetNanos() != null) {
      level.addArrival(record);
    }
    if (id.phase() == Phase.MEASURE) {
      if (record.outcome().hasFirstToken()) {
        values.read(record);
      }
      place.in(level).measured(record, values, stream, place.objectives.owner, judgement);
      workload.add(record);
      if (id.trial() != null) {
        level.addTrial(id.trial(), record);
      }
      answers.add(record, stream.isShared);
      level.slice(record.timing().scheduledUnixNanos()).measured(record, values, stream, met);
      level.addBreakdown(record);
      level.addScenario(record, met);
      place.objectives.add(level.index, record, judgement);
      record.server().names().forEach(this::addServerName);
    }
  }

  private Place place(RequestRecord record) {
    RequestKind.Labels labels = RequestKind.Labels.of(record);
    Place known = places.get(labels);
    if (known != null) {
      return known;
    }
    Place made = new Place(record);
    if (places.size() < MAX_PLACES) {
      places.put(labels, made);
    }
    return made;
  }

  /** Where the requests with the same labels are counted, looked up once. */
  private final class Place {
    private final LevelTally level;
    private final RequestKind kind;
    private final SloTally.Objectives objectives;
    private final StallDetector stalls;
    private final Outages outages;
    private @Nullable GroupTally own;

    private Place(RequestRecord record) {
      RequestRecord.Identity id = record.identity();
      level = levels.of(id);
      kind = names.kindOf(record);
      objectives = slo.of(id.target(), id.name());
      stalls =
          RunStatistics.this.stalls.computeIfAbsent(
              id.target(), t -> new StallDetector(loadStart, runEnd));
      outages =
          RunStatistics.this.outages.computeIfAbsent(
              id.target(), t -> new Outages(loadStart, runEnd));
    }

    /** The tally of these requests for what happened in the window of a level. */
    private GroupTally in(LevelTally window) {
      if (!window.equals(level)) {
        return group(window, kind);
      }
      if (own == null) {
        own = group(level, kind);
      }
      return own;
    }
  }

  /** An interrupted run did not live to see all arrivals. */
  private void add(PlannedArrival arrival) {
    long at = arrival.scheduledUnixNs();
    if (at >= loadStart && at <= runEnd) {
      overTime.planned(at);
      LevelTally level = levels.of(arrival.level());
      if (level != null) {
        level.addPlanned(at);
      }
    }
  }

  /** Adds tokens, all at once that arrived in the same window, slice, bucket and second. */
  private void addTokens(Place place, boolean inSlo, String injector) {
    LevelTally latest = place.level;
    int next;
    for (int i = 0; i < stream.arrivals; i = next) {
      long at = stream.unixNanos[i];
      LevelTally window = latest.at(at);
      long until = at + 1;
      if (window != null) {
        latest = window;
        until =
            Math.min(overTime.endOf(at), Math.min(Peaks.endOfSecond(at), window.endOfSlice(at)));
      }
      next = stream.before(until, i);
      double tokens = stream.tokens(i, next);
      overTime.tokens(at, tokens, inSlo);
      if (window != null) {
        place.in(window).tokens(at, tokens, inSlo);
        byInjector.inWindow(injector, window, tokens, 0);
        window.slice(at).tokens(tokens, inSlo);
      }
    }
    overTime.gaps(stream);
  }

  /** Adds arrival, prompt, time in flight and end to the window in which each happened. */
  private void addTimes(RequestRecord record, Place place, boolean inSlo) {
    LevelTally level = place.level;
    RequestRecord.Timing t = record.timing();
    overTime.times(record, levels.targets().size() > 1 ? record.identity().target() + ": " : "");
    addAt(t.scheduledUnixNanos(), place, Amount.ARRIVED, 1);
    for (LevelTally other : level.track) {
      other.addBacklog(record);
    }
    Long admitted = t.admittedUnixNanos();
    if (admitted == null) {
      return;
    }
    Long ttft = t.ttftNanos();
    Long answered = ttft != null ? ttft : t.latencyNanos();
    Integer prompt = record.tokens().prompt();
    if (answered != null && prompt != null) {
      addAt(admitted + answered, place, Amount.PROMPTS, 1);
      addAt(admitted + answered, place, Amount.PROMPT_TOKENS, prompt);
    }
    Long closed = t.closedUnixNanos();
    if (closed != null) {
      if (record.tokens().source() == RequestRecord.TokenSource.USAGE) {
        // Reasoning that was billed but not sent counts at the first token that was sent.
        long at = answered == null ? closed : admitted + answered;
        addAt(at, place, Amount.BILLED, 1);
        addAt(at, place, Amount.HIDDEN_TOKENS, record.tokens().hidden());
      }
      for (LevelTally window : level.track) {
        long overlap = window.overlapNanos(admitted, closed);
        if (overlap > 0) {
          GroupTally group = place.in(window);
          group.inFlight(admitted, closed, overlap);
          if (ttft != null && t.latencyNanos() != null) {
            group.add(
                Amount.RECEIVING_NANOS,
                (double) window.overlapNanos(admitted + ttft, admitted + t.latencyNanos()));
          }
        }
      }
      addEnd(record, place, closed, (closed - admitted) / 1e6, inSlo);
    }
  }

  private void addEnd(
      RequestRecord record, Place place, long closed, double durationMs, boolean inSlo) {
    boolean ok = record.outcome().ok();
    LevelTally window = place.level.at(closed);
    if (window != null) {
      GroupTally group = place.in(window);
      group.ended(durationMs, ok, inSlo);
      Integer inputs = record.tokens().inputs();
      if (inputs != null) {
        group.add(Amount.EMBEDDINGS, 1);
        group.add(Amount.INPUTS, ok ? inputs : 0);
      }
      window.slice(closed).ended(ok, inSlo);
      if (ok) {
        byInjector.inWindow(record.identity().injector(), window, 0, 1);
      }
    }
  }

  /** Adds to the window that contains an instant, if one does. */
  private static void addAt(long unixNanos, Place place, Amount amount, double more) {
    LevelTally window = place.level.at(unixNanos);
    if (window != null) {
      place.in(window).add(amount, more);
    }
  }

  private void addServerName(String name) {
    String key = ServerReport.Timing.keyOf(name);
    if (serverNames.size() < MAX_NAMES || serverNames.containsKey(key)) {
      Set<String> names = serverNames.computeIfAbsent(key, k -> new TreeSet<>());
      if (names.size() < MAX_NAMES) {
        names.add(name);
      }
    }
  }

  private GroupTally group(LevelTally level, RequestKind kind) {
    GroupTally known = level.groups.get(kind);
    if (known != null) {
      return known;
    }
    RequestKind kept = groups.size() < MAX_GROUPS ? kind : RequestKind.OTHER;
    return level.groups.computeIfAbsent(
        kept,
        k -> {
          GroupTally made = new GroupTally(level, kept, readingSpeed);
          groups.add(made);
          return made;
        });
  }

  List<String> injectors() {
    return List.copyOf(injectors.byCount().keySet());
  }

  /** Reads the records of a run, the same ones each time it is called. */
  @FunctionalInterface
  public interface RecordSource {

    /** Passes every record to {@code sink} and returns what else the file held. */
    ReadReport replay(Consumer<RequestRecord> sink) throws IOException;

    default void arrivals(Consumer<PlannedArrival> sink) throws IOException {}

    /** Passes on the health of the load generators, second by second, where it was recorded. */
    default void generator(Consumer<GeneratorSecond> sink) throws IOException {}

    /** Passes on the servers' own metrics, where they were read. */
    default void server(Consumer<ServerSample> sink) throws IOException {}

    /** The run with the facts that are known only after reading; same times, levels, objectives. */
    default RunInfo ended(RunInfo info) throws IOException {
      return info;
    }
  }

  /**
   * The result of one pass over the records of a run.
   *
   * @param slices the data that two runs are compared by, by position of the level
   */
  public record RunFigures(
      Summary summary, RunFacts facts, Series series, Map<Integer, List<TimeSlice>> slices) {

    public RunFigures summary(Summary other) {
      return new RunFigures(other, facts, series, slices);
    }
  }

  /**
   * What checks need of a run besides its summary.
   *
   * @param file what else was found in the record file, such as damaged lines
   */
  public record RunFacts(
      RunInfo info,
      ReadReport file,
      AnswerCounts answers,
      List<Set<String>> models,
      List<EngineFigures.WholeRun> engines) {}
}
