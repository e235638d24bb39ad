package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.AnswerCounts.TextCounts;
import io.github.gatlingllm.figures.level.Cell.KeyCounts;
import io.github.gatlingllm.figures.level.Series.OverTime;
import io.github.gatlingllm.figures.level.Summary.TurnSummary;
import io.github.gatlingllm.figures.level.Summary.WorkloadSummary;
import io.github.gatlingllm.figures.metric.Amount;
import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.record.Components;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.InjectorRun;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PlannedArrival;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.TimingKey;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunInfo.TargetFacts;
import io.github.gatlingllm.record.RunOutcome.SingleStream;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.Slo;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Turns the records of a run into its figures, in one pass. Memory does not grow with the number of
 * requests: about 1 MiB per kind of request and load level or its repeat, 4 MiB per load level for
 * its time slices, 20 MiB for charts; and that for each tier of the SLO, by which it counts again.
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

  /** How far outside the run a record may start: wrong clocks and time zones differ by less. */
  private static final long MARGIN_NANOS = TimeUnit.DAYS.toNanos(1);

  /** No run of an injector that died is longer. */
  private static final long MAX_RUN_NANOS = TimeUnit.DAYS.toNanos(31);

  private final long runStart;
  private final long loadStart;
  private final long runEnd;
  final Windows levels;
  final double readingSpeed;
  private final RequestParts parts;
  final Fold fold = new Fold();
  final SloTally slo;
  final OverTime overTime;

  final Map<String, Set<String>> serverNames = new TreeMap<>();
  private final KeyCounts<String> injectors = new KeyCounts<>("(others)");
  final Map<String, StallDetector> stalls = new LinkedHashMap<>();
  final Map<String, Outages> outages = new LinkedHashMap<>();
  private final WorkloadTally workload = new WorkloadTally();
  final AnswerCounts answers;
  final SessionTally sessions;
  private final SlowRequests slow = new SlowRequests();
  final AnswerTally checked = new AnswerTally();
  final EngineTally engines;
  final Map<String, TargetFacts> targets;
  final Map<String, SingleStream> alone;
  final Map<String, Double> firstAnswers;

  /** The figures of the load levels, by position, where there are no requests; else empty. */
  List<Figures> given = List.of();

  private RunStatistics(RunInfo info) {
    Long end = info.endUnixNanos();
    readingSpeed = info.report().readingSpeed();
    parts = new RequestParts(Cell.Detail.FIGURES.ofRequests(), readingSpeed);
    slo = new SloTally(info);
    overTime = new OverTime(info.loadStartUnixNanos());
    runStart = info.startUnixNanos();
    loadStart = info.loadStartUnixNanos();
    runEnd = end == null ? info.startUnixNanos() : end;
    levels = new Windows(info.stages(), runEnd);
    sessions = new SessionTally(loadStart, runEnd);
    answers = new AnswerCounts(info::isOutputPinned);
    targets = info.targets();
    alone = info.outcome().singleStreams();
    firstAnswers = info.outcome().firstAnswers();
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
    List<LevelInfo> some =
        all.all().stream()
            .filter(level -> which.contains(level.index))
            .map(level -> level.info)
            .toList();
    return of(
        info.stages(some),
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
    Map<String, RunStatistics> byTier = new LinkedHashMap<>();
    for (String tier : info.objectives().sloTiers().keySet()) {
      byTier.put(
          tier,
          tier.equals(info.objectives().tier())
              ? statistics
              : new RunStatistics(info.ofTier(tier)));
    }
    List<RunStatistics> all = byTier.isEmpty() ? List.of(statistics) : List.copyOf(byTier.values());
    OtherTool tool = source.tool();
    statistics.given = tool == null ? List.of() : tool.given();
    ReadReport file = source.replay(record -> all.forEach(each -> each.add(record)));
    // a load generator that died wrote no plan of its last level, so the complete plan is unknown
    if (info.injectors().stream().noneMatch(InjectorRun::isDead)) {
      source.arrivals(arrival -> all.forEach(each -> each.add(arrival)));
    }
    source.generator(statistics.overTime::add);
    source.server(sample -> statistics.engines.add(sample));
    RunInfo ended = source.ended(info);
    List<Summary> others = new ArrayList<>();
    byTier.forEach(
        (tier, of) -> {
          if (of != statistics) {
            others.add(
                new SummaryAssembly(ended.ofTier(tier), file, of, List.of()).figures().summary());
          }
        });
    return new SummaryAssembly(ended, file, statistics, others).figures();
  }

  /** The run with its end, which takes a pass over the records where {@code run.json} has none. */
  public static RunInfo completed(RunInfo info, RecordSource source) throws IOException {
    return info.endUnixNanos() != null ? info : info.ended(end(info, source), info.state());
  }

  /** The end of the last request of a run whose process died before it could write its end. */
  private static long end(RunInfo info, RecordSource source) throws IOException {
    long start = info.startUnixNanos();
    AtomicLong end = new AtomicLong(start);
    var unused =
        source.replay(
            record -> {
              RequestRecord.Timing timing = record.timing();
              refuseBeyond(start - MAX_RUN_NANOS, start + MAX_RUN_NANOS, timing);
              Long closed = timing.closedUnixNanos();
              long last = closed == null ? timing.scheduledUnixNanos() : closed;
              end.accumulateAndGet(Math.max(timing.startUnixNanos(), last), Math::max);
            });
    return end.get();
  }

  /** Throws an {@link IllegalArgumentException} for a record of another time than the run. */
  private static void refuseBeyond(long from, long to, RequestRecord.Timing timing) {
    long start = timing.startUnixNanos();
    if (start < from || start > to) {
      throw new IllegalArgumentException(
          "start_unix_ns is %s, far from the run".formatted(Instant.ofEpochSecond(0, start)));
    }
    for (Long nanos :
        Arrays.asList(
            timing.startLagNanos(),
            timing.gateWaitNanos(),
            timing.closedNanos(),
            timing.latencyNanos(),
            timing.ttftNanos(),
            timing.connectNanos())) {
      if (nanos != null && nanos > to - from) {
        throw new IllegalArgumentException(
            String.format(Locale.ROOT, "a time of %.0f s is longer than the run", nanos / 1e9));
      }
    }
  }

  private void add(RequestRecord record) {
    refuseBeyond(runStart - MARGIN_NANOS, runEnd + MARGIN_NANOS, record.timing());
    RequestRecord.Identity id = record.identity();
    if (record.checked() != null) {
      checked.add(record, record.checked());
      if (record.timing().startUnixNanos() >= loadStart) {
        engines.add(record); // what the server counts since then has them too
      }
      return;
    }
    LevelWindow level = levels.of(id);
    SloTally.OwnedSlo objectives = slo.of(id.target(), id.name());
    Slo.Judgement judgement = objectives.slo.judge(record);
    parts.read(record, judgement, objectives.owner);
    boolean isMeasured = id.phase() == Phase.MEASURE;
    fold.add(parts, level, isMeasured);
    overTime.add(parts, levels.targets().size() > 1 ? id.target() + ": " : "");
    level.addStart(parts);
    level.track.forEach(each -> each.addBacklog(record));
    stalls.computeIfAbsent(id.target(), t -> new StallDetector(loadStart, runEnd)).add(record);
    outages.computeIfAbsent(id.target(), t -> new Outages(loadStart, runEnd)).add(record);
    injectors.add(id.injector());
    engines.add(record);
    sessions.add(record);
    if (record.timing().scheduledOffsetNanos() != null) {
      level.addArrival(record);
    }
    if (isMeasured) {
      workload.add(record);
      answers.add(record, parts.stream.isShared);
      level.addBreakdown(record);
      slow.add(record);
      objectives.add(level.index, record, judgement);
      record.server().names().forEach(this::addServerName);
    }
  }

  /** An interrupted run did not live to see all arrivals. */
  private void add(PlannedArrival arrival) {
    long at = arrival.scheduledUnixNs();
    if (at >= loadStart && at <= runEnd) {
      overTime.planned(at);
      LevelWindow level = levels.of(arrival.level());
      if (level != null) {
        level.addPlanned(at);
      }
    }
  }

  private void addServerName(String name) {
    String key = TimingKey.keyOf(name);
    if (serverNames.size() < MAX_NAMES || serverNames.containsKey(key)) {
      Set<String> names = serverNames.computeIfAbsent(key, k -> new TreeSet<>());
      if (names.size() < MAX_NAMES) {
        names.add(name);
      }
    }
  }

  /**
   * The workload of the run.
   *
   * @param all its requests
   * @param statedTemplate the tokens that the server has stated its template adds; null if it has
   *     not
   */
  WorkloadSummary workload(Cell all, @Nullable Integer statedTemplate) {
    return workload.summary(fold, all, statedTemplate);
  }

  /** By each metric, the slowest first. */
  Map<Metric, List<RequestRecord>> slowRequests() {
    return slow.all();
  }

  List<String> injectors() {
    return List.copyOf(injectors.byCount().keySet());
  }

  /** Reads the records of a run, the same ones each time it is called. */
  @FunctionalInterface
  public interface RecordSource {

    /** Passes every record to {@code sink} and returns what else the file contained. */
    ReadReport replay(Consumer<RequestRecord> sink) throws IOException;

    default void arrivals(Consumer<PlannedArrival> sink) throws IOException {}

    /** Passes on the health of the load generators, second by second, where it was recorded. */
    default void generator(Consumer<GeneratorSecond> sink) throws IOException {}

    /** Passes on the servers' own metrics, where they were read. */
    default void server(Consumer<ServerSample> sink) throws IOException {}

    /** The load generator that measured the run, if that was not ours. */
    default @Nullable OtherTool tool() {
      return null;
    }

    /** The run with the facts that are known only after reading; same times, levels, objectives. */
    default RunInfo ended(RunInfo info) throws IOException {
      return info;
    }
  }

  /**
   * A load generator whose results are read.
   *
   * @param definitions what it counts otherwise than we do
   * @param given the figures of each load level where its files have no values of requests; else
   *     empty
   */
  public record OtherTool(String name, Map<Metric, String> definitions, List<Figures> given) {

    /** Whether it knows nothing of a figure: when a request was planned, and how it waited. */
    public static boolean lacks(Metric metric) {
      return metric == Metric.QUEUE_WAIT_MS
          || Metric.distributions().stream()
              .anyMatch(each -> each != metric && each.fromSchedule() == metric);
    }
  }

  /**
   * The result of one pass over the records of a run.
   *
   * @param file what else was found in the record file, such as damaged lines
   * @param models of each target
   * @param slices the data that two runs are compared by, by position of the level
   */
  public record RunFigures(
      Summary summary,
      RunInfo info,
      ReadReport file,
      AnswerCounts answers,
      List<Set<String>> models,
      List<EngineFigures.EngineRun> engines,
      Series series,
      Map<Integer, List<Cell>> slices) {

    public RunFigures summary(Summary other) {
      return Components.with(this, "summary", other);
    }
  }

  /**
   * The lengths of the prompts of requests scheduled in measure, and what the server adds to them.
   */
  private static final class WorkloadTally {

    private final ValueRecorder prompts = new ValueRecorder(ValueRecorder.INTEGERS);
    private final ValueRecorder promptsByUs = new ValueRecorder(ValueRecorder.INTEGERS);
    private final TextCounts texts = new TextCounts();
    private long streamed;

    void add(RequestRecord record) {
      RequestRecord.Tokens tokens = record.tokens();
      Integer prompt = tokens.prompt();
      if (prompt != null) {
        (tokens.promptTokens() == null ? promptsByUs : prompts).add(prompt);
      }
      if (tokens.promptTokens() != null && tokens.promptTokensLocal() != null) {
        texts.add(tokens.promptTokens(), tokens.promptTokensLocal());
      }
      streamed += record.identity().streamed() ? 1 : 0;
    }

    WorkloadSummary summary(Fold fold, Cell all, @Nullable Integer statedTemplate) {
      Map<Integer, Cell> turns = new TreeMap<>();
      fold.byKey(Grouping.TURN, part -> part.cell().of(Amount.STARTED) > 0)
          .forEach((turn, cell) -> turns.put(Integer.valueOf(turn), cell));
      Map<Integer, Long> requests = new TreeMap<>();
      turns.forEach((turn, cell) -> requests.put(turn, cell.count(Amount.STARTED)));
      boolean isReported = !prompts.isEmpty();
      return new WorkloadSummary(
          (isReported ? prompts : promptsByUs).distribution(),
          isReported ? promptsByUs.count() : 0,
          all.values(Metric.OUTPUT_TOKENS).distribution(),
          statedTemplate == null ? template() : statedTemplate,
          all.share(Amount.CACHED_TOKENS, Amount.LOOKED_UP_TOKENS),
          requests,
          turns.entrySet().stream().map(e -> turn(e.getKey(), e.getValue())).toList(),
          counts(fold, Grouping.SCENARIO),
          counts(fold, Grouping.MODEL),
          counts(fold, Grouping.API),
          counts(fold, Grouping.ENDPOINT),
          streamed);
    }

    /** Requests that have no model are not counted by model. */
    private static Map<String, Long> counts(Fold fold, Grouping by) {
      return fold.counts(by, part -> !part.key(by).isEmpty());
    }

    private static TurnSummary turn(int number, Cell turn) {
      return new TurnSummary(
          number,
          turn.count(Amount.STARTED),
          turn.share(Amount.KNOWN_PROMPT_TOKENS, Amount.KNOWN_PROMPTS),
          turn.share(Amount.CACHED_TOKENS, Amount.LOOKED_UP_TOKENS),
          turn.share(Amount.IDEAL_CACHED_TOKENS, Amount.COMPARED_TOKENS),
          turn.values(Metric.TTFT_MS).distribution(),
          turn.values(Metric.E2E_MS).distribution());
    }

    /** What the server counts beyond the texts of prompts, where it is the same for all. */
    private @Nullable Integer template() {
      Integer constant = texts.constant();
      return constant == null || constant < 0 || constant > TextCounts.MAX_TEMPLATE
          ? null
          : constant;
    }
  }

  /** The slowest requests of the measure windows that have an id to look for elsewhere. */
  private static final class SlowRequests {

    private static final List<Metric> BY = List.of(Metric.TTFT_MS, Metric.STALL_MS);

    private static final int MAX = 10;

    private record SlowRequest(double ms, RequestRecord record) {}

    /** Of equally slow requests the one that came first is the slower. */
    private static final Comparator<SlowRequest> ORDER =
        Comparator.comparing(SlowRequest::ms)
            .thenComparing(each -> -each.record().identity().requestIndex());

    private final Map<Metric, PriorityQueue<SlowRequest>> slowest = new LinkedHashMap<>();

    SlowRequests() {
      BY.forEach(metric -> slowest.put(metric, new PriorityQueue<>(ORDER)));
    }

    void add(RequestRecord record) {
      if (record.identity().traceId() == null && record.server().answerId() == null) {
        return;
      }
      slowest.forEach(
          (metric, queue) -> {
            double ms = metric.of(record, 0);
            if (ms >= 0 && (queue.size() < MAX || queue.element().ms() < ms)) {
              queue.add(new SlowRequest(ms, record));
              if (queue.size() > MAX) {
                queue.remove();
              }
            }
          });
    }

    Map<Metric, List<RequestRecord>> all() {
      Map<Metric, List<RequestRecord>> all = new LinkedHashMap<>();
      slowest.forEach(
          (metric, queue) ->
              all.put(
                  metric,
                  queue.stream().sorted(ORDER.reversed()).map(SlowRequest::record).toList()));
      return all;
    }
  }
}
