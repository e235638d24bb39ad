package io.github.gatlingllm.stats;

import io.github.gatlingllm.check.CheckInput.AnswerCounts;
import io.github.gatlingllm.enginestats.EngineTally;
import io.github.gatlingllm.metric.Backlog;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.ServerReport;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.stats.BoundedNames.KeyCounts;
import io.github.gatlingllm.stats.GroupTally.WindowThroughput;
import io.github.gatlingllm.stats.Tally.RequestValues;
import io.github.gatlingllm.stats.Windows.LevelWindow;
import java.io.IOException;
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
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Turns the records of a run into its figures, in one pass and bounded memory whatever the number
 * of requests: about 1 MiB per stage and request name, 4 MiB per stage for its time slices, 20 MiB
 * for charts.
 *
 * <pre>{@code
 * RunFigures figures = RunStatistics.of(info, sink -> RecordFile.read(requestsJsonl, sink));
 * }</pre>
 *
 * <p>A request belongs to the stage and phase in which it was scheduled, a token to the measure
 * window in which it arrived. Latency distributions take ok requests scheduled in measure;
 * requests/s takes ok requests that ended in the window; output tok/s takes the tokens of all
 * requests.
 */
public final class RunStatistics {

  private static final int MOST_NAMES = 100;
  private static final String OTHER_NAMES = "(other names)";

  /** Of load levels that are in no plan: they have no rates. */
  private static final int MOST_UNPLANNED = 20;

  /** Request names at load levels that have figures of their own, 1 MiB each. */
  private static final int MOST_CELLS = 500;

  /** How far a record may lie beyond the run: clocks and time zones are off by no more. */
  private static final long MARGIN_NANOS = TimeUnit.DAYS.toNanos(1);

  /** One step of an injection profile, at one rate. */
  private static final Pattern CONSTANT =
      Pattern.compile(
          "(Poisson|gamma|evenly spaced)[^,]* at [^,]* during [^,]*"
              // of runs before 0.2
              + "|(Poisson|Gamma|Constant)\\[[^\\]]*\\] during [^,]*"
              + "|ConstantRateOpenInjection\\([^)]*\\)");

  private final long runStart;
  private final long runEnd;
  private final BoundedNames levels;
  final Windows windows;
  private final TokenStream stream = new TokenStream();
  private final double readingSpeed;
  private final RequestValues values;
  final SloTally slo;
  final OverTime overTime;
  final Map<Key, GroupTally> cells = new LinkedHashMap<>();
  private final Map<String, String> names = new HashMap<>();
  final Map<Integer, ArrivalTally> arrivals = new LinkedHashMap<>();
  final Map<Integer, Backlog> backlogs = new LinkedHashMap<>();
  final Map<Integer, TrialTally> trials = new LinkedHashMap<>();
  final Map<String, Set<String>> serverNames = new TreeMap<>();
  private final KeyCounts<String> injectors = new KeyCounts<>("(others)");
  final Map<String, SilenceTally> silence = new LinkedHashMap<>();
  final Map<String, Outages> outages = new LinkedHashMap<>();
  final WorkloadTally workload = new WorkloadTally();
  final AnswerCounts answers;
  final RequestSampleTally requestSamples;
  final SliceTally slices = new SliceTally();
  final InjectorTally byInjector;
  final EngineTally engines;
  private final List<String> injections;

  final Map<String, RunInfo.TargetFacts> targets;

  // Mostly it is the one that was asked for before.
  private Key latestKey = new Key(-1, "");
  private GroupTally latestCell;

  record Key(int stage, String name) {}

  private RunStatistics(RunInfo info) {
    Long end = info.endUnixNanos();
    windows = new Windows(info.stages(), end == null ? info.startUnixNanos() : end);
    levels = new BoundedNames(info.stages(), MOST_UNPLANNED);
    readingSpeed = info.reportOptions().readingSpeed();
    values = new RequestValues(readingSpeed);
    latestCell = emptyCell();
    slo = new SloTally(info);
    injections =
        info.config().entrySet().stream()
            .filter(entry -> entry.getKey().startsWith("arrivals "))
            .map(Map.Entry::getValue)
            .toList();
    overTime = new OverTime(info.startUnixNanos());
    runStart = info.startUnixNanos();
    runEnd = end == null ? info.startUnixNanos() : end;
    answers = new AnswerCounts(info::isOutputPinned);
    targets = info.targets();
    requestSamples = new RequestSampleTally(info.startUnixNanos());
    byInjector = new InjectorTally(info.injectors());
    engines =
        new EngineTally(
            info.startUnixNanos(),
            windows.stages().stream()
                .map(w -> new EngineTally.Window(w.level().target(), w.from(), w.to()))
                .toList(),
            Series.MAX_BUCKETS);
  }

  /**
   * The figures of a run, judged by its own SLO.
   *
   * @param info null when {@code run.json} is missing: stages and windows are then inferred from
   *     the records, which takes a second pass
   */
  public static RunFigures of(@Nullable RunInfo info, RecordSource source) throws IOException {
    return of(completed(info, source), hasNoStages(info), source);
  }

  /**
   * The figures of some load levels pooled.
   *
   * @param info with all its stages
   * @param which by their positions
   */
  public static RunFigures ofLevels(RunInfo info, Set<Integer> which, RecordSource source)
      throws IOException {
    List<LevelInfo> kept = which.stream().sorted().map(info.stages()::get).toList();
    Windows all = new Windows(info.stages(), 0);
    return of(
        info.stages(kept),
        sink ->
            source.replay(
                record -> {
                  if (which.contains(all.of(record.identity()).index())) {
                    sink.accept(record);
                  }
                }));
  }

  /**
   * The figures of a run.
   *
   * @param slo gives the run another SLO than its own
   */
  public static RunFigures of(
      @Nullable RunInfo info, UnaryOperator<RunInfo> slo, RecordSource source) throws IOException {
    return of(slo.apply(completed(info, source)), hasNoStages(info), source);
  }

  private static RunFigures of(RunInfo info, boolean inferred, RecordSource source)
      throws IOException {
    RunStatistics statistics = new RunStatistics(info);
    ReadReport file = source.replay(statistics::add);
    source.generator(statistics.overTime::add);
    source.server(sample -> statistics.engines.add(sample));
    return new SummaryAssembly(source.ended(info), inferred, file, statistics).figures();
  }

  /** The run with the stages and ends filled in that {@code run.json} does not have. */
  public static RunInfo completed(@Nullable RunInfo info, RecordSource source) throws IOException {
    if (info != null && !RunBounds.areNeededBy(info)) {
      return info;
    }
    RunBounds bounds = new RunBounds();
    source.replay(bounds::add);
    return bounds.complete(info);
  }

  private static boolean hasNoStages(@Nullable RunInfo info) {
    return info == null || info.stages().isEmpty();
  }

  private void add(RequestRecord given) {
    RunBounds.refuseBeyond(runStart - MARGIN_NANOS, runEnd + MARGIN_NANOS, given.timing());
    RequestRecord record = levels.of(given);
    RequestRecord.Identity id = record.identity();
    LevelWindow stage = windows.of(id);
    String name = nameOf(id.name());
    SloTally.Objectives objectives = slo.of(id.target(), id.name());
    Slo.Judgement judgement = objectives.slo().judge(record);
    Boolean met = judgement.met();
    boolean inSlo = Boolean.TRUE.equals(met) && record.outcome().ok();
    stream.read(record);
    tokens(stage, name, inSlo, id.injector());
    passage(record, stage, name, inSlo);
    silence.computeIfAbsent(id.target(), t -> new SilenceTally(runStart, runEnd)).add(record);
    outages.computeIfAbsent(id.target(), t -> new Outages(runStart, runEnd)).add(record);
    injectors.add(id.injector());
    byInjector.add(record, stage);
    engines.add(record);
    if (record.timing().scheduledOffsetNanos() != null && stage.nanos() > 0) {
      arrivals.computeIfAbsent(stage.index(), i -> new ArrivalTally(stage)).add(record);
      overTime.arrival(record.timing());
    }
    if (id.phase() == Phase.MEASURE) {
      if (record.outcome().ok()) {
        values.read(record);
      }
      cell(stage, name)
          .tally()
          .add(record, values, stream, stage.index(), objectives.owner(), judgement);
      workload.add(record);
      if (id.trial() != null) {
        trials.computeIfAbsent(stage.index(), i -> new TrialTally()).add(record);
      }
      answers.add(record, stream.times());
      slices.measured(stage, record, values, stream, met);
      requestSamples.add(record, stream, stage, met);
      objectives.add(stage.index(), record, judgement);
      record.server().names().forEach(this::named);
    }
  }

  /**
   * Puts every token into the window, the slice and the second in which it arrived. Those that
   * follow each other in all of them are added up first.
   */
  private void tokens(LevelWindow stage, String name, boolean inSlo, String injector) {
    LevelWindow window = stage;
    WindowThroughput flow = null;
    int next = 0;
    while (next < stream.arrivals()) {
      long at = stream.unixNanos(next);
      LevelWindow now = windows.at(at, window);
      long until = Math.min(overTime.endOf(at), Peaks.endOfSecond(at));
      until =
          Math.min(
              until,
              now == null
                  ? windows.nextFrom(at, stage)
                  : Math.min(now.to(), slices.endOf(now, at)));
      double tokens = 0;
      do {
        tokens += stream.tokens(next++);
      } while (next < stream.arrivals()
          && stream.unixNanos(next) >= at
          && stream.unixNanos(next) < until);
      overTime.tokens(at, tokens, inSlo);
      if (now != null) {
        if (flow == null || now.index() != window.index()) {
          flow = cell(now, name).flow();
          window = now;
        }
        flow.tokens(at, tokens, inSlo);
        byInjector.tokens(injector, now, tokens);
        slices.tokens(now, at, tokens, inSlo);
      }
    }
    if (stream.arrivals() > 0) {
      overTime.gaps(stream);
    }
  }

  private static Backlog backlog(LevelWindow window) {
    return new Backlog(window.from(), window.nanos(), 1);
  }

  /** A request's way through the system: start, first token, end. */
  private void passage(RequestRecord record, LevelWindow stage, String name, boolean inSlo) {
    RequestRecord.Timing t = record.timing();
    overTime.passage(
        record, stream, windows.targets().size() > 1 ? record.identity().target() + ": " : "");
    LevelWindow came = windows.at(t.scheduledUnixNanos(), stage);
    if (came != null) {
      cell(came, name).flow().arrival();
    }
    for (LevelWindow window : windows.besides(stage)) {
      if (window.nanos() > 0) {
        backlogs.computeIfAbsent(window.index(), i -> backlog(window.arriving())).add(record);
      }
    }
    Long admitted = t.admittedUnixNanos();
    if (admitted == null) {
      return;
    }
    Long ttft = t.ttftNanos();
    Long answered = ttft != null ? ttft : t.latencyNanos();
    Integer prompt = record.tokens().prompt();
    if (answered != null && prompt != null) {
      LevelWindow window = windows.at(admitted + answered, stage);
      if (window != null) {
        cell(window, name).flow().promptTokens(prompt);
      }
    }
    Long closed = t.closedUnixNanos();
    if (closed != null) {
      billed(record, stage, name, answered == null ? closed : admitted + answered);
      for (LevelWindow window : windows.besides(stage)) {
        long overlap = window.overlapNanos(admitted, closed);
        if (overlap > 0) {
          WindowThroughput flow = cell(window, name).flow();
          flow.inFlight(admitted, closed, overlap);
          if (ttft != null && t.latencyNanos() != null) {
            flow.receiving(window.overlapNanos(admitted + ttft, admitted + t.latencyNanos()));
          }
        }
      }
      ended(record, stage, name, closed, (closed - admitted) / 1e6, inSlo);
    }
  }

  /** Reasoning that never came over the wire is counted with what came after it. */
  private void billed(RequestRecord record, LevelWindow stage, String name, long unixNanos) {
    if (record.tokens().source() == RequestRecord.TokenSource.USAGE) {
      LevelWindow window = windows.at(unixNanos, stage);
      if (window != null) {
        cell(window, name).flow().hiddenTokens(record.tokens().hidden());
      }
    }
  }

  private void ended(
      RequestRecord record,
      LevelWindow stage,
      String name,
      long closed,
      double stayMs,
      boolean inSlo) {
    boolean ok = record.outcome().ok();
    LevelWindow window = windows.at(closed, stage);
    if (window != null) {
      WindowThroughput flow = cell(window, name).flow();
      flow.ended(stayMs, ok, inSlo);
      Integer inputs = record.tokens().inputs();
      if (inputs != null) {
        flow.inputs(ok ? inputs : 0);
      }
      slices.ended(window, closed, ok, inSlo);
      if (ok) {
        byInjector.completed(record.identity().injector(), window);
      }
    }
  }

  /** What a server calls a timing. */
  private void named(String name) {
    String key = ServerReport.Timing.keyOf(name);
    if (serverNames.size() < MOST_NAMES || serverNames.containsKey(key)) {
      Set<String> names = serverNames.computeIfAbsent(key, k -> new TreeSet<>());
      if (names.size() < MOST_NAMES) {
        names.add(name);
      }
    }
  }

  private GroupTally cell(LevelWindow stage, String name) {
    if (latestKey.stage() != stage.index() || !latestKey.name().equals(name)) {
      latestKey = new Key(stage.index(), name);
      latestCell = cell(latestKey);
    }
    return latestCell;
  }

  private GroupTally cell(Key key) {
    GroupTally known = cells.get(key);
    return known != null
        ? known
        : cells.computeIfAbsent(
            cells.size() < MOST_CELLS ? key : new Key(key.stage(), OTHER_NAMES),
            k -> GroupTally.of(windows.stages().get(k.stage()), readingSpeed));
  }

  /** Of no request yet. */
  GroupTally emptyCell() {
    return GroupTally.empty(readingSpeed);
  }

  private String nameOf(String name) {
    String known = names.get(name);
    if (known != null) {
      return known;
    }
    if (names.size() >= MOST_NAMES) {
      return OTHER_NAMES;
    }
    names.put(name, name);
    return name;
  }

  /**
   * Whether the load of a level stays the same while it measures. In older files the steps of
   * Gatling's own injection are known by their names, where it is open.
   */
  boolean hasConstantLoad(LevelInfo level) {
    if (level.kind().equals(LevelInfo.INJECTION)) {
      return level.offered() != null;
    }
    return level.isSteadyByPlan()
        && !level.kind().equals(LevelInfo.BATCH)
        && (!level.label().equals(LevelInfo.WHOLE_RUN)
            || injections.stream().allMatch(steps -> CONSTANT.matcher(steps).matches()));
  }

  List<String> injectors() {
    return List.copyOf(injectors.byCount().keySet());
  }

  /**
   * Replays the records of a run, the same ones each time, e.g. {@code sink ->
   * RecordFile.read(requestsJsonl, sink)}.
   */
  @FunctionalInterface
  public interface RecordSource {

    /** Hands every record to {@code sink}, and says what else there was. */
    ReadReport replay(Consumer<RequestRecord> sink) throws IOException;

    /** Hands over how the load generators fared, second by second, where that is known. */
    default void generator(Consumer<GeneratorSecond> sink) throws IOException {}

    /** Hands over what the server's own pages of metrics said, where they were read. */
    default void server(Consumer<ServerSample> sink) throws IOException {}

    /** The run with what is known only when all was read; same times, levels and objectives. */
    default RunInfo ended(RunInfo info) throws IOException {
      return info;
    }
  }

  /**
   * All that one pass over the records of a run yields.
   *
   * @param summary the numbers
   * @param series what charts draw
   * @param slices what two runs are compared by
   */
  public record RunFigures(Summary summary, Series series, SliceTally slices) {}
}
