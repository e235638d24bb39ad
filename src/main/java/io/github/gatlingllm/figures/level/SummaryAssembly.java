package io.github.gatlingllm.figures.level;

import static java.util.stream.Collectors.toMap;

import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Series.OverTime;
import io.github.gatlingllm.figures.level.Series.Quantile;
import io.github.gatlingllm.figures.level.Series.ScenarioLoad;
import io.github.gatlingllm.figures.level.Summary.RequestGroup;
import io.github.gatlingllm.figures.level.Summary.TargetSummary;
import io.github.gatlingllm.figures.level.Summary.TierSummary;
import io.github.gatlingllm.figures.metric.Amount;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.ArrivalFigures;
import io.github.gatlingllm.figures.metric.GeneratorHealth;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.LevelFigures.LittlesLaw;
import io.github.gatlingllm.figures.metric.LevelFigures.PhaseSpan;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RunInfo;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Builds the summary from the tallies: figures of levels, curves, targets, names and the run. */
final class SummaryAssembly {

  private static final int MAX_NAMES = 100;

  private final RunInfo info;
  private final ReadReport file;
  private final RunStatistics counted;
  private final List<Summary> others;
  private final FigureGroups groups;
  private final List<LevelFigures> stages = new ArrayList<>();
  private final Map<Integer, Map<Metric, List<Quantile>>> quantiles = new TreeMap<>();
  private final List<LoadCurve> curves = new ArrayList<>();
  private final List<TargetSummary> targets = new ArrayList<>();

  /**
   * @param others the same run judged by each of the other tiers
   */
  SummaryAssembly(RunInfo info, ReadReport file, RunStatistics counted, List<Summary> others) {
    this.others = others;
    this.info = info;
    this.file = file;
    this.counted = counted;
    this.groups = new FigureGroups(counted, info.injectors());
  }

  RunFigures figures() {
    counted.levels.firstRepeats().forEach(this::addLevel);
    counted.levels.tracks().forEach(this::addCurve);
    counted.levels.targets().forEach(this::addTarget);
    Pooled all = groups.joined(level -> true, null);
    int rounds =
        counted.levels.firstRepeats().stream()
            .mapToInt(level -> level.repeats.size())
            .min()
            .orElse(1);
    Figures run =
        counted.given.size() == 1
            ? counted.given.get(0)
            : all.figures(
                groups.slo((String) null),
                false,
                planned(),
                LoadCurve.bestGoodput(curves),
                repeats(rounds, null, level -> true));
    ArrivalFigures arrivals =
        ArrivalTally.pooled(
            counted.levels.all().stream()
                .map(level -> level.arrivals)
                .filter(Objects::nonNull)
                .toList(),
            stages.stream()
                .map(LevelFigures::arrivals)
                .anyMatch(each -> each != null && each.unit().equals(LevelInfo.USERS_PER_S)));
    Summary summary =
        new Summary(
            run(),
            all(
                VerdictSentence.of(info.state() == RunInfo.State.COMPLETE, run, curves, info),
                this::findings),
            info.config(),
            counted.workload(all.cell(), info.commonTemplate()),
            counted.slo.table(),
            run,
            arrivals,
            LoadCurve.bestKnee(curves),
            curves.size() == 1 ? curves.get(0).operatingPoint() : null,
            List.of(),
            Summary.SelfTestQuote.of(
                info.selfTest(),
                run,
                curves.size() == 1 ? curves.get(0).operatingLevel() : null,
                stages),
            all(
                new AssertionJudge(groups, target -> LoadCurve.bestGoodput(curves(target)))
                    .judge(assertions()),
                Summary::assertions),
            counted.serverNames,
            stages,
            curves,
            all(tiers(), Summary::tiers),
            targets,
            groups.requests(null).stream().map(name -> group(Grouping.REQUEST, name)).toList(),
            atPoints(Grouping.REQUEST, 1),
            byGrouping(this::parts),
            byGrouping(by -> atPoints(by, 2)),
            counted.engines.pages(),
            injectors(groups.windowNanos(level -> true)),
            counted.checked.summaries(),
            List.of(),
            counted.slowRequests());
    return new RunFigures(
        summary,
        info,
        file,
        counted.answers,
        counted.levels.targets().stream()
            .map(this::models)
            .filter(models -> !models.isEmpty())
            .toList(),
        counted.engines.entireRun(),
        series(),
        slices());
  }

  /** What the run has by its own SLO, then what it has by each of the other tiers. */
  private <T> List<T> all(List<T> own, Function<Summary, List<T>> ofOther) {
    return Stream.concat(own.stream(), others.stream().map(ofOther).flatMap(List::stream)).toList();
  }

  /** How another tier is met, unless a search has stated it. */
  private List<Sentence> findings(Summary other) {
    return other.tiers().stream()
        .filter(
            tier ->
                info.outcome().conclusions().stream()
                    .noneMatch(found -> tier.tier().equals(found.tier())))
        .map(TierSummary::finding)
        .toList();
  }

  /** Those by the SLO of the run; the assertions on other tiers are theirs. */
  private List<Assertion> assertions() {
    String tier = info.objectives().tier();
    return info.assertionsToJudge().stream()
        .filter(
            one ->
                one.tier() == null
                    || one.tier().equals(tier)
                    || !info.objectives().sloTiers().containsKey(one.tier()))
        .toList();
  }

  /** The tier that the run is judged by, of each curve; empty without tiers. */
  private List<TierSummary> tiers() {
    String tier = info.objectives().tier();
    return tier == null
        ? List.of()
        : curves.stream()
            .map(
                curve ->
                    curve.ofTier(
                        Objects.requireNonNull(counted.slo.table()),
                        VerdictSentence.place(curve, curves)))
            .toList();
  }

  private void addLevel(LevelWindow level) {
    List<LevelWindow> repeats = level.repeats;
    Pooled group = groups.joined(repeats::contains, null);
    List<ArrivalTally> arrivals =
        repeats.stream().map(each -> each.arrivals).filter(Objects::nonNull).toList();
    boolean hasSeveralEach = hasSeveralEach(level.joined(), group, arrivals);
    LevelInfo info = hasSeveralEach ? level.joined().ofUsers() : level.joined();
    boolean isGiven = !counted.given.isEmpty();
    Figures figures =
        isGiven
            ? counted.given.get(level.index)
            : group.figures(
                groups.slo(level),
                true,
                hasSeveralEach ? null : info.planned(),
                null,
                repeats(repeats.size(), level.target(), repeats::contains));
    if (figures.counts().ok() > 0 && quantiles.size() < Series.MAX_LEVELS) {
      quantiles.put(
          level.index,
          isGiven
              ? Quantile.curves(metric -> Quantile.curve(figures.metric(metric)))
              : group.quantiles());
    }
    List<Cell> slices = groups.steadySlices(level);
    long nanos = repeats.stream().mapToLong(LevelWindow::nanos).sum();
    boolean isTimed = nanos > 0;
    List<GeneratorHealth> generators = counted.overTime.generators(repeats);
    boolean hasChangingLoad = info.kind().equals(LevelInfo.INJECTION) && info.offered() == null;
    StallDetector stalls = counted.stalls.get(info.target());
    stages.add(
        new LevelFigures(
            info,
            counted.levels.describe(info),
            isTimed ? (Double) sinceStart(level.from) : null,
            phases(info),
            isTimed
                ? (Double)
                    (group.of(Amount.ARRIVED)
                        * 1e9
                        / repeats.stream().mapToLong(each -> each.arrivingTo - each.from).sum())
                : null,
            arrivals.isEmpty() || hasChangingLoad ? null : level.queue(),
            counted.slo.level(level.index),
            ArrivalTally.pooled(
                arrivals, hasSeveralEach || info.kind().equals(LevelInfo.INJECTION)),
            counted.engines.of(each -> each.index == level.index),
            groups.injectors(level, figures, generators),
            figures,
            isCutShort(level),
            missing(info, figures.counts().started(), arrivals),
            isTimed ? littlesLaw(group, repeats) : null,
            stalls == null ? null : stalls.over(repeats),
            slices == null ? null : SteadyState.of(level.nanos(), slices),
            generators));
  }

  /** The figures of this number of repeats of these levels; empty for one. */
  private List<Figures> repeats(int count, @Nullable String target, Predicate<LevelWindow> levels) {
    return IntStream.range(0, count == 1 ? 0 : count)
        .mapToObj(
            k ->
                groups.joined(
                    level -> levels.test(level) && level.equals(level.repeats.get(k)), null))
        .map(group -> group.figures(groups.slo(target)))
        .toList();
  }

  /** Users of a closed loop may send more requests than planned. */
  private static long missing(LevelInfo level, long started, List<ArrivalTally> arrivals) {
    Long planned = level.planned();
    if (planned == null) {
      return 0;
    }
    return level.isOpen() || !arrivals.isEmpty()
        ? planned - arrivals.stream().mapToLong(each -> each.sent).sum()
        : Math.max(0, planned - started);
  }

  private static boolean hasSeveralEach(
      LevelInfo level, Pooled group, List<ArrivalTally> arrivals) {
    Long planned = level.planned();
    long started = group.cell().count(Amount.STARTED);
    return arrivals.isEmpty()
        ? planned != null && started > planned
        : started > arrivals.stream().mapToLong(each -> each.measured).sum();
  }

  /** Whether a stop rule ended a level early: the last level of a plan that was stopped. */
  private boolean isCutShort(LevelWindow level) {
    LevelInfo of = level.info;
    List<LevelWindow> all = counted.levels.all();
    int last = all.indexOf(level.repeats.get(level.repeats.size() - 1));
    return info.outcome().conclusions().stream()
            .anyMatch(
                found ->
                    found.topic().equals("stopped early")
                        && !found.sound()
                        && found.target().equals(of.target())
                        && Objects.equals(found.scenario(), of.scenario()))
        && level.track.stream().noneMatch(later -> all.indexOf(later) > last);
  }

  /** Requests that the plan requires; null where users send several requests each. */
  private @Nullable Long planned() {
    return stages.stream()
            .anyMatch(
                s -> s.figures().counts().planned() == null && info.outcome().planned() != null)
        ? null
        : info.outcome().planned();
  }

  private static @Nullable LittlesLaw littlesLaw(Pooled group, List<LevelWindow> repeats) {
    double mean = 0;
    double nanos = repeats.stream().mapToLong(LevelWindow::nanos).sum();
    for (LevelWindow each : repeats) {
      LevelInfo.InFlightCount counted = each.info.inFlight();
      mean += counted == null ? Double.NaN : counted.mean() * each.nanos() / nanos;
    }
    return Double.isNaN(mean)
        ? null
        : new LittlesLaw(
            mean,
            group.of(Amount.IN_FLIGHT_NANOS) / nanos,
            group.of(Amount.CLOSED) == 0
                ? 0
                : group.of(Amount.STAY_NANOS) / 1e6 / group.of(Amount.CLOSED));
  }

  private List<PhaseSpan> phases(LevelInfo level) {
    List<PhaseSpan> spans = new ArrayList<>();
    for (PhaseWindow phase : level.phases()) {
      Long end = phase.endUnixNanos();
      long until = end == null ? Objects.requireNonNull(info.endUnixNanos()) : end;
      spans.add(
          new PhaseSpan(
              phase.phase().key(),
              sinceStart(phase.startUnixNanos()),
              Math.max(0, until - phase.startUnixNanos()) / 1e9));
    }
    return spans;
  }

  private double sinceStart(long unixNanos) {
    return (unixNanos - info.loadStartUnixNanos()) / 1e9;
  }

  private void addCurve(LevelInfo.Key track) {
    List<LevelFigures> levels =
        stages.stream().filter(s -> Windows.track(s.info()).equals(track)).toList();
    boolean isJudged = levels.stream().anyMatch(level -> level.figures().goodput() != null);
    LoadCurve curve =
        new LoadCurve(
            info.objectives().tier(),
            isJudged ? counted.slo.of(track.target()) : List.of(),
            counted.alone.get(track.target()),
            levels);
    curves.add(curve);
    int quoted = stages.indexOf(curve.operatingLevel());
    List<LevelWindow> repeats = counted.levels.firstRepeats().get(quoted).repeats;
    quantiles.put(quoted, groups.joined(repeats::contains, null).quantiles());
    quantiles.values().removeIf(Map::isEmpty);
  }

  private void addTarget(String target) {
    List<LoadCurve> own = curves(target);
    Pooled group = groups.joined(FigureGroups.of(target), null);
    Outages outages = counted.outages.get(target);
    targets.add(
        new TargetSummary(
            target,
            models(target).stream().filter(name -> !name.isEmpty()).toList(),
            LoadCurve.bestKnee(own),
            outages == null ? null : outages.failures(),
            counted.engines.of(FigureGroups.of(target)),
            counted.alone.get(target),
            counted.firstAnswers.get(target),
            counted.overTime.replicas(
                target, counted.engines.overTime().getOrDefault(target, List.of())),
            group.figures(groups.slo(target), false, null, LoadCurve.bestGoodput(own), List.of())));
  }

  private List<LoadCurve> curves(@Nullable String target) {
    return curves.stream().filter(c -> target == null || c.target().equals(target)).toList();
  }

  private RequestGroup group(Grouping by, String name) {
    Pooled joined = groups.joined(FigureGroups.of(null), part -> part.key(by).equals(name));
    return new RequestGroup(name, null, joined.figures(groups.slo((String) null)));
  }

  /** Without the groupings in which requests do not differ. */
  private static <T> Map<Grouping, List<T>> byGrouping(Function<Grouping, List<T>> parts) {
    Map<Grouping, List<T>> all = new EnumMap<>(Grouping.class);
    Grouping.PARTS.forEach(by -> all.put(by, parts.apply(by)));
    all.values().removeIf(List::isEmpty);
    return all;
  }

  /** The requests by a grouping, if those of some load level differ in it. */
  private List<RequestGroup> parts(Grouping by) {
    return counted.levels.all().stream()
        .map(level -> names(level, by))
        .filter(names -> names.size() > 1)
        .flatMap(List::stream)
        .distinct()
        .map(name -> group(by, name))
        .toList();
  }

  private List<String> names(LevelWindow level, Grouping by) {
    return counted.fold.keys(by, part -> level.repeats.contains(part.level()));
  }

  /** The models of the requests to a target; an empty name stands for requests without one. */
  private Set<String> models(String target) {
    return counted
        .fold
        .counts(Grouping.MODEL, part -> part.level().target().equals(target))
        .keySet();
  }

  /**
   * The requests at the operating point of each curve, where they have at least this number of
   * names.
   */
  private List<RequestGroup> atPoints(Grouping by, int min) {
    List<RequestGroup> all = new ArrayList<>();
    for (LoadCurve curve : curves) {
      LevelWindow level = counted.levels.firstRepeats().get(stages.indexOf(curve.operatingLevel()));
      List<String> names = names(level, by);
      for (String name : names.size() < min ? List.<String>of() : names) {
        Figures figures =
            groups
                .joined(level.repeats::contains, part -> part.key(by).equals(name))
                .figures(groups.slo(curve.target()));
        if (figures.counts().started() > 0 && all.size() < MAX_NAMES) {
          all.add(new RequestGroup(name, curve, figures));
        }
      }
    }
    return all;
  }

  private Map<Integer, List<Cell>> slices() {
    return counted.levels.firstRepeats().stream()
        .filter(level -> level.usedSlices() != null)
        .collect(toMap(level -> level.index, LevelWindow::usedSlices));
  }

  private List<Summary.InjectorSummary> injectors(long windowNanos) {
    return info.injectors().stream()
        .map(
            injector ->
                new Summary.InjectorSummary(
                    injector, groups.injector(injector, windowNanos, stages)))
        .toList();
  }

  private Summary.RunSummary run() {
    List<String> injectors = counted.injectors();
    Long end = info.endUnixNanos();
    return new Summary.RunSummary(
        info.id(),
        info.simulation(),
        info.startUnixNanos(),
        info.loadStartUnixNanos(),
        end == null ? info.startUnixNanos() : end,
        info.state() == RunInfo.State.COMPLETE ? "complete" : "interrupted",
        info.seed(),
        injectors.isEmpty() ? List.of(info.injector()) : injectors,
        info.versions());
  }

  private Series series() {
    OverTime time = counted.overTime;
    counted.sessions.addTo(time);
    return new Series(
        time.bucketS(),
        time.buckets(groups.hasSlo()),
        quantiles,
        counted.levels.firstRepeats().stream()
            .map(LevelWindow::breakdown)
            .filter(Objects::nonNull)
            .toList(),
        scenarios(),
        time.generatorBuckets(),
        counted.engines.overTime(),
        counted.sessions.size(),
        counted.sessions.lanes());
  }

  /** In order of load levels, then of names; empty for fewer than two scenarios. */
  private List<ScenarioLoad> scenarios() {
    List<ScenarioLoad> all = new ArrayList<>();
    for (LevelWindow level : counted.levels.firstRepeats()) {
      counted
          .fold
          .byKey(
              Grouping.SCENARIO,
              part -> level.equals(part.window()) && part.cell().of(Amount.STARTED) > 0)
          .forEach((scenario, cell) -> all.add(load(scenario, level.joined(), cell)));
    }
    return all.stream().map(ScenarioLoad::scenario).distinct().count() < 2 ? List.of() : all;
  }

  private static ScenarioLoad load(String scenario, LevelInfo level, Cell cell) {
    return new ScenarioLoad(
        scenario,
        level,
        cell.count(Amount.STARTED),
        cell.values(Metric.TTFT_MS).percentile(95),
        cell.values(Metric.E2E_MS).percentile(95),
        cell.share(Amount.MET, Amount.ATTEMPTED));
  }
}
