package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.GroupTally.WindowThroughput;
import io.github.gatlingllm.figures.level.RunStatistics.RunFacts;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.SliceTally.TimeSlice;
import io.github.gatlingllm.figures.level.Summary.Knee;
import io.github.gatlingllm.figures.level.Summary.RequestAtPoint;
import io.github.gatlingllm.figures.level.Summary.RequestGroup;
import io.github.gatlingllm.figures.level.Summary.Target;
import io.github.gatlingllm.figures.level.Windows.LevelWindow;
import io.github.gatlingllm.figures.metric.Backlog;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.ArrivalFigures;
import io.github.gatlingllm.figures.metric.Figures.MaxGoodput;
import io.github.gatlingllm.figures.metric.GeneratorHealth;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.LevelFigures.LittlesLaw;
import io.github.gatlingllm.figures.metric.LevelFigures.PhaseSpan;
import io.github.gatlingllm.figures.metric.LevelFigures.Silence;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RunInfo;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Builds the summary from the tallies: figures of levels, curves, targets, names and the run. */
final class SummaryAssembly {

  private static final int MAX_NAMES = 100;

  private final RunInfo info;
  private final boolean inferred;
  private final ReadReport file;
  private final RunStatistics counted;
  private final FigureGroups groups;
  private final List<LevelFigures> stages = new ArrayList<>();
  private final List<LoadCurve> curves = new ArrayList<>();
  private final List<Target> targets = new ArrayList<>();

  SummaryAssembly(RunInfo info, boolean inferred, ReadReport file, RunStatistics counted) {
    this.info = info;
    this.inferred = inferred;
    this.file = file;
    this.counted = counted;
    this.groups = new FigureGroups(info, counted);
  }

  RunFigures figures() {
    counted.windows.levels().forEach(this::addLevel);
    counted.windows.tracks().forEach(this::addCurve);
    counted.windows.targets().forEach(this::addTarget);
    GroupTally whole = groups.joined(key -> true);
    Figures run =
        whole.figures(
            groups.windowNanos(w -> true),
            groups.judge(null),
            planned(),
            bestGoodput(curves),
            groups.trials(w -> true));
    ArrivalFigures arrivals = ArrivalTally.pooled(List.copyOf(counted.arrivals.values()));
    Summary summary =
        new Summary(
            run(),
            VerdictSentence.of(
                info.state() == RunInfo.State.COMPLETE, run, curves, info.conclusions()),
            info.config(),
            counted.workload.workload(),
            counted.slo.table(),
            run,
            arrivals,
            bestKnee(curves),
            curves.size() == 1 ? curves.get(0).operatingPoint() : null,
            List.of(),
            SelfTestQuote.of(
                info.selfTest(),
                run,
                curves.size() == 1 ? curves.get(0).chosen().level() : null,
                stages),
            new AssertionJudge(groups, this::maxGoodput).judge(info.assertionsToJudge()),
            counted.serverNames,
            stages,
            curves.stream().map(SummaryAssembly::curve).toList(),
            targets,
            requests(),
            requestsAtPoints(),
            counted.engines.pages(),
            injectors());
    return new RunFigures(summary, facts(), series(whole.tally()), counted.slices);
  }

  private static double orZero(@Nullable Double value) {
    return value == null ? 0 : value;
  }

  private void addLevel(LevelWindow window) {
    GroupTally group = groups.joined(key -> key.level() == window.index());
    ArrivalTally arrivals = counted.arrivals.get(window.index());
    Figures figures =
        group.figures(
            window.nanos(),
            groups.levelJudge(window),
            hasSeveralEach(window, group, arrivals) ? null : window.level().planned(),
            null,
            groups.trials(w -> w.index() == window.index()));
    Backlog backlog = counted.backlogs.get(window.index());
    Backlog.Queue queue =
        arrivals == null || backlog == null || isChangingInjection(window.level())
            ? null
            : backlog.queue();
    stages.add(level(window, figures, group.throughput(), queue));
  }

  private LevelFigures level(
      LevelWindow window,
      Figures figures,
      WindowThroughput throughput,
      Backlog.@Nullable Queue queue) {
    LevelInfo info = window.level();
    ArrivalTally arrivals = counted.arrivals.get(window.index());
    List<TimeSlice> slices = groups.steadySlices(window);
    Double inFlight = meanInFlight(window, throughput);
    boolean timed = window.nanos() > 0;
    List<GeneratorHealth> generators = counted.overTime.generator.in(window);
    return new LevelFigures(
        info,
        placeInWords(info),
        timed ? (Double) sinceStart(window.from()) : null,
        timed ? (Double) (window.nanos() / 1e9) : null,
        phases(window),
        inFlight,
        timed ? (Double) (throughput.arrived() * 1e9 / window.arriving().nanos()) : null,
        queue,
        counted.slo.level(window.index()),
        arrivals == null ? null : arrivals.arrivals(),
        counted.engines.of(window.index()),
        counted.byInjector.at(window, generators),
        figures,
        !info.kind().equals(Windows.UNPLANNED),
        isCutShort(window),
        arrivals != null || info.isOpen(),
        arrivals == null ? info.isOpen() ? 0 : figures.counts().started() : arrivals.sent(),
        inFlight == null ? null : littlesLaw(throughput, info.inFlight(), inFlight),
        silence(window),
        slices == null ? null : SteadyState.of(window, slices),
        generators);
  }

  private static @Nullable Double meanInFlight(LevelWindow window, WindowThroughput throughput) {
    return window.nanos() > 0
        ? (Double) ((double) throughput.inFlightNanos() / window.nanos())
        : null;
  }

  /** The name of a level in sentences: {@code c=8}, or the whole run. */
  private String placeInWords(LevelInfo level) {
    String place = groups.place(level);
    return level.label().equals(LevelInfo.WHOLE_RUN)
        ? "the whole run" + place.substring(LevelInfo.WHOLE_RUN.length())
        : place;
  }

  /** Whether the level is an injection profile whose load changes, so that its queue may grow. */
  private static boolean isChangingInjection(LevelInfo level) {
    return level.kind().equals(LevelInfo.INJECTION) && level.offered() == null;
  }

  /** Whether users of a level send more requests than one each, which is what the plan counts. */
  private static boolean hasSeveralEach(
      LevelWindow window, GroupTally group, @Nullable ArrivalTally arrivals) {
    Long planned = window.level().planned();
    long started = group.tally().counts(null).started();
    return arrivals != null ? started > arrivals.measured() : planned != null && started > planned;
  }

  /** Whether a stop rule ended a level early: the last level of a plan that was stopped. */
  private boolean isCutShort(LevelWindow window) {
    Windows.Track track = Windows.Track.of(window.level());
    return info.conclusions().stream()
            .anyMatch(
                found ->
                    found.topic().equals("stopped early")
                        && !found.sound()
                        && found.target().equals(track.target())
                        && Objects.equals(found.scenario(), track.scenario()))
        && counted.windows.levels().stream()
            .skip(window.index() + 1L)
            .noneMatch(later -> Windows.Track.of(later.level()).equals(track));
  }

  /** Requests that the plan asks for; null where users send several requests each. */
  private @Nullable Long planned() {
    return stages.stream()
            .anyMatch(s -> s.figures().counts().planned() == null && info.planned() != null)
        ? null
        : info.planned();
  }

  private @Nullable Silence silence(LevelWindow window) {
    StallDetector silence = counted.silence.get(window.level().target());
    return silence == null ? null : silence.over(window);
  }

  private static @Nullable LittlesLaw littlesLaw(
      WindowThroughput throughput, LevelInfo.@Nullable InFlight counted, double byRecords) {
    return counted == null
        ? null
        : new LittlesLaw(
            counted.mean(),
            byRecords,
            throughput.durationsMs().count() == 0 ? 0 : throughput.durationsMs().mean());
  }

  private List<PhaseSpan> phases(LevelWindow window) {
    List<PhaseSpan> spans = new ArrayList<>();
    for (PhaseWindow phase : window.level().phases()) {
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
    return (unixNanos - info.startUnixNanos()) / 1e9;
  }

  private void addCurve(Windows.Track track) {
    curves.add(
        new LoadCurve(
            counted.slo.of(track.target()),
            stages.stream()
                .filter(
                    s ->
                        s.target().equals(track.target())
                            && Objects.equals(s.scenario(), track.scenario()))
                .toList()));
  }

  private static Summary.Curve curve(LoadCurve curve) {
    return new Summary.Curve(
        curve.target(),
        curve.scenario(),
        curve.levels().stream().map(LevelFigures::label).toList(),
        curve.knee(),
        curve.maxGoodput(),
        curve.operatingPoint());
  }

  private void addTarget(String target) {
    List<LoadCurve> own = curves.stream().filter(c -> c.target().equals(target)).toList();
    List<LevelWindow> all = counted.windows.levels();
    GroupTally group = groups.joined(key -> all.get(key.level()).level().target().equals(target));
    Outages outages = counted.outages.get(target);
    targets.add(
        new Target(
            target,
            counted.workload.models(target),
            bestKnee(own),
            outages == null ? null : outages.failures(),
            counted.engines.of(target),
            group.figures(
                groups.windowNanos(w -> w.level().target().equals(target)),
                groups.judge(target),
                null,
                bestGoodput(own),
                groups.trials(w -> w.level().target().equals(target)))));
  }

  private @Nullable MaxGoodput maxGoodput(@Nullable String target) {
    return bestGoodput(
        curves.stream().filter(c -> target == null || c.target().equals(target)).toList());
  }

  /** The highest load that meets the SLO, of the curve with most requests/s within the SLO. */
  private static @Nullable MaxGoodput bestGoodput(List<LoadCurve> curves) {
    return curves.stream()
        .map(LoadCurve::maxGoodput)
        .filter(Objects::nonNull)
        .max(Comparator.comparingDouble(m -> orZero(m.requestsPerS())))
        .orElse(null);
  }

  /** The knee of the curve that delivers most tokens at its knee. */
  private static @Nullable Knee bestKnee(List<LoadCurve> curves) {
    return curves.stream()
        .map(LoadCurve::knee)
        .filter(Objects::nonNull)
        .max(Comparator.comparingDouble(Knee::outputTokensPerS))
        .orElse(null);
  }

  private List<RequestGroup> requests() {
    long window = groups.windowNanos(w -> true);
    List<RequestGroup> all = new ArrayList<>();
    for (String name : groups.requests(null)) {
      GroupTally group = groups.joined(key -> key.name().equals(name));
      all.add(new RequestGroup(name, group.figures(window, groups.judge(null), null, null, null)));
    }
    return all;
  }

  private List<RequestAtPoint> requestsAtPoints() {
    List<RequestAtPoint> all = new ArrayList<>();
    for (LoadCurve curve : curves) {
      LevelWindow window = counted.windows.levels().get(stages.indexOf(curve.chosen().level()));
      for (String name : groups.requests(curve.target())) {
        Figures figures = groups.part(curve.target(), window.level(), name, null).figures();
        if (figures.counts().started() > 0 && all.size() < MAX_NAMES) {
          all.add(new RequestAtPoint(name, curve(curve), figures));
        }
      }
    }
    return all;
  }

  private RunFacts facts() {
    return new RunFacts(
        info,
        file,
        inferred,
        counted.answers,
        counted.workload.modelsOfTargets(),
        counted.engines.wholeRun(),
        counted.byInjector.outlier(levelsByName()));
  }

  private Map<String, LevelWindow> levelsByName() {
    Map<String, LevelWindow> byName = new LinkedHashMap<>();
    counted.windows.levels().forEach(window -> byName.put(placeInWords(window.level()), window));
    return byName;
  }

  private List<Summary.Injector> injectors() {
    List<Summary.Injector> all = new ArrayList<>();
    for (RunInfo.InjectorRun injector : info.injectors()) {
      all.add(
          new Summary.Injector(
              injector.run(),
              injector.share(),
              injector.state(),
              injector.records(),
              injector.dropped(),
              injector.missing(),
              injector.settings(),
              counted.byInjector.pooled(
                  injector,
                  groups.windowNanos(w -> true),
                  stages.stream().flatMap(level -> level.generators().stream()).toList())));
    }
    return all;
  }

  private Summary.Run run() {
    List<String> injectors = counted.injectors();
    Long end = info.endUnixNanos();
    return new Summary.Run(
        info.id(),
        info.simulation(),
        info.startUnixNanos(),
        end == null ? info.startUnixNanos() : end,
        info.state() == RunInfo.State.COMPLETE ? "complete" : "interrupted",
        info.seed(),
        injectors.isEmpty() ? List.of(info.injector()) : injectors,
        info.versions());
  }

  private Series series(Tally whole) {
    OverTime time = counted.overTime;
    return new Series(
        time.bucketS(),
        time.buckets(groups.hasSlo()),
        Shapes.quantiles(whole),
        counted.requestSamples.requestSamples(
            level -> groups.joined(key -> key.level() == level).tally()),
        time.generator.buckets(),
        counted.engines.overTime());
  }
}
