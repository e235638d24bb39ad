package io.github.gatlingllm.figures.compare;

import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.check.CheckCatalogue;
import io.github.gatlingllm.figures.level.Cell;
import io.github.gatlingllm.figures.level.LoadCurve;
import io.github.gatlingllm.figures.level.RunStatistics;
import io.github.gatlingllm.figures.level.RunStatistics.OtherTool;
import io.github.gatlingllm.figures.level.RunStatistics.RecordSource;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.ClassChange;
import io.github.gatlingllm.figures.level.TimeSlice;
import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.ConfigKey;
import io.github.gatlingllm.record.ConfigKey.Identifies;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RunInfo;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

public record Comparison(List<ComparedPlace> places, List<String> unmatched, List<String> notes) {

  public static final double MIN_PERCENT = 3;

  public static final double MIN_POINTS = 1;

  /** Smallest relevant change of a time, in milliseconds. */
  public static final double MIN_MS = 0.1;

  /** Without places if no level is common; the intervals of all runs hold together. */
  public static Comparison of(ComparedRun base, ComparedRun run, int runs) throws IOException {
    return new RunComparison(base, run).compare(runs);
  }

  /** What is compared of a class of traffic: few, as the intervals of all hold together. */
  private static final List<Figure> OF_CLASSES =
      Stream.of(
              "ttft.mean",
              "ttft.p50",
              "ttft.p99",
              "tpot.p50",
              "tpot.p99",
              "e2e.p50",
              "output_tokens_per_s",
              "goodput.percent")
          .map(Figure::parse)
          .toList();

  /**
   * The same run with what its classes of traffic do to each other, where each was measured alone
   * and with the others, and a sentence on the tail of the TTFT of each.
   */
  public static RunFigures interference(RunFigures figures) {
    Summary summary = figures.summary();
    if (summary.stages().stream().noneMatch(level -> LevelInfo.isAlone(level.label()))) {
      return figures;
    }
    ComparedRun run =
        new ComparedRun(
            figures.info(),
            sink -> {
              throw new IllegalStateException("all is known of the figures");
            },
            figures);
    List<ComparedPlace> places = RunComparison.ofClasses(run, OF_CLASSES);
    boolean haveOneLevel =
        places.stream().map(place -> requireNonNull(place.level()).scenario()).distinct().count()
            == places.size();
    return figures.summary(
        summary.interfering(
            places.stream().flatMap(ComparedPlace::ofClass).toList(),
            places.stream()
                .map(
                    place ->
                        place.ofTail(
                            haveOneLevel
                                ? String.valueOf(requireNonNull(place.level()).scenario())
                                : place.name().replaceFirst(LevelInfo.ALONE, "")))
                .toList()));
  }

  public enum Outcome {
    BETTER,
    WORSE,
    /** The change may be noise, or is too small to matter. */
    NO_CLEAR_CHANGE,
    TOO_FEW_VALUES,
    /** The figure gets no interval, so there is no verdict. */
    NOT_JUDGED,
    /** One of the runs is the summary of another load generator. */
    NO_VALUES_TO_JUDGE_BY;

    public String words() {
      return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    public boolean isClear() {
      return this == BETTER || this == WORSE;
    }

    boolean hasTooFewValues() {
      return this == TOO_FEW_VALUES || this == NO_VALUES_TO_JUDGE_BY;
    }
  }

  public record ComparedPlace(
      String name, @Nullable LevelInfo level, Figures base, Figures run, List<Change> changes) {

    public @Nullable String stage() {
      return level == null ? null : level.label();
    }

    public Optional<Change> change(String figure) {
      return Comparison.change(figure, changes);
    }

    private Stream<ClassChange> ofClass() {
      LevelInfo alone = requireNonNull(level);
      return changes.stream()
          .map(
              change ->
                  new ClassChange(
                      alone.scenario(),
                      alone.target(),
                      alone.label(),
                      change.figure().name(),
                      change.base(),
                      change.run(),
                      change.percent(),
                      change.interval(),
                      change.outcome().words()));
    }

    /** About the highest percentile of TTFT, else its mean or E2E, that has an interval. */
    private Sentence ofTail(String ofClass) {
      Change shown =
          Stream.of("ttft.p99", "ttft.p50", "ttft.mean", "e2e.p50")
              .flatMap(figure -> change(figure).stream())
              .filter(change -> change.interval() != null)
              .findFirst()
              .orElse(null);
      if (shown == null) {
        return Sentence.of("classes.change", ofClass, null, null, null, null, null, null);
      }
      Interval interval = requireNonNull(shown.interval());
      boolean isLower = shown.outcome() == Outcome.BETTER;
      return Sentence.of(
          "classes.change",
          ofClass,
          shown.figure().words(),
          shown.outcome().words(),
          shown.base(),
          shown.run(),
          tenths(isLower ? -interval.high() : interval.low()),
          tenths(isLower ? -interval.low() : interval.high()));
    }

    private static String tenths(double percent) {
      return NumberText.plain(Math.round(10 * percent) / 10.0).replace('-', '−');
    }
  }

  private List<Change> at(LevelInfo level, Summary run) {
    return places.stream()
        .filter(place -> place.level() != null)
        .filter(place -> RunComparison.isSame(place.level(), level, !run.hasSeveralTargets()))
        .findFirst()
        .map(ComparedPlace::changes)
        .orElse(List.of());
  }

  private static Optional<Change> change(String figure, List<Change> changes) {
    return changes.stream().filter(change -> change.figure().name().equals(figure)).findFirst();
  }

  /**
   * The change of one figure.
   *
   * @param percent run ÷ base − 1 in percent, or run − base in points for a share; null without
   *     both
   * @param interval confidence interval of the change, simultaneous at 95 % for all figures of all
   *     runs that are compared with the base; null with too few values
   */
  public record Change(
      Figure figure,
      @Nullable Double base,
      @Nullable Double run,
      @Nullable Double percent,
      @Nullable Interval interval,
      Outcome outcome) {

    /** What was found about a class of traffic. */
    public static Change of(ClassChange found) {
      return new Change(
          Figure.parse(found.figure()),
          found.alone(),
          found.together(),
          found.percent(),
          found.interval(),
          Stream.of(Outcome.values())
              .filter(each -> each.words().equals(found.outcome()))
              .findFirst()
              .orElseThrow());
    }

    Change unjudged() {
      return new Change(figure, base, run, percent, null, Outcome.NO_VALUES_TO_JUDGE_BY);
    }
  }

  /**
   * A bound on the change of a figure, beyond which a comparison fails, whether or not the change
   * is clear beyond noise.
   *
   * <pre>
   * ttft.p95>+10%           more than 10 % above the base at a load level, each judged by itself
   * goodput&lt;-2%             a share: more than 2 percentage points below the base
   * c=8:e2e.p99>+20%        at one load level
   * all:e2e.p99>+20%        all load levels pooled
   * </pre>
   */
  public record FailCondition(
      String text, @Nullable String stage, Figure figure, boolean above, double percent) {

    private static final String POOLED = "all";

    private static final Pattern FORM =
        Pattern.compile(
            "(?:([^:<>]+):)?\\s*([A-Za-z0-9_.]+)\\s*([<>])\\s*([+-]?\\d{1,6}(?:\\.\\d{1,6})?)\\s*%");

    public static List<FailCondition> parse(String text) {
      return Arrays.stream(text.split(",", -1)).map(part -> one(part.strip())).toList();
    }

    private static FailCondition one(String text) {
      Matcher form = FORM.matcher(text);
      if (!form.matches()) {
        throw new IllegalArgumentException(
            "'" + text + "' is not a condition; expected e.g. ttft.p95>+10% or goodput<-2%");
      }
      String stage = form.group(1);
      return new FailCondition(
          text,
          stage == null ? null : stage.strip(),
          Figure.parse(form.group(2)),
          form.group(3).equals(">"),
          Double.parseDouble(form.group(4)));
    }

    /** Judges each load level that the condition means; too few values fail unless allowed. */
    public List<Judged> judge(Comparison comparison, boolean isThinAllowed) {
      List<ComparedPlace> places =
          POOLED.equals(stage)
              ? comparison.places.subList(0, 1)
              : comparison.places.stream()
                  .filter(at -> stage == null ? at.level() != null : stage.equals(at.stage()))
                  .toList();
      if (!places.isEmpty()) {
        return places.stream().map(place -> judged(place, isThinAllowed)).toList();
      }
      List<String> levels =
          comparison.places.stream()
              .map(ComparedPlace::stage)
              .filter(Objects::nonNull)
              .distinct()
              .toList();
      String missing =
          stage == null
              ? Sentence.text("compare.no_level")
              : Sentence.text("compare.other_level", stage, levels);
      return List.of(new Judged(this, null, null, missing, true));
    }

    private Judged judged(ComparedPlace place, boolean isThinAllowed) {
      Change change =
          place
              .change(figure.name())
              .orElseGet(
                  () ->
                      RunComparison.change(
                          new ComparedFigure(figure), place.base(), place.run(), null));
      Double measured = change.percent();
      if (measured == null) {
        boolean isZero = Double.valueOf(0).equals(figure.of(place.base()));
        String missing = Sentence.text(isZero ? "compare.zero" : "compare.absent");
        return new Judged(this, place.name(), null, missing, true);
      }
      boolean hasTooFewValues = change.outcome().hasTooFewValues();
      boolean isBeyond = above ? measured > percent : measured < percent;
      return new Judged(
          this, place.name(), change, null, isBeyond || (hasTooFewValues && !isThinAllowed));
    }
  }

  /**
   * A condition at a place of the comparison.
   *
   * @param place null if the condition names a load level that the runs do not have
   * @param change null if there is none; {@code missing} then states why
   */
  public record Judged(
      FailCondition condition,
      @Nullable String place,
      @Nullable Change change,
      @Nullable String missing,
      boolean hasFailed) {

    /** Whether there are too few values for a verdict. */
    public boolean hasTooFewValues() {
      return change != null && change.outcome().hasTooFewValues();
    }
  }

  public record ComparedRun(RunInfo info, RecordSource source, RunFigures figures) {

    /** Reads a run; goodput is judged by the SLO of {@code judge}, else by its own. */
    public static ComparedRun read(RunInfo info, @Nullable RunInfo judge, RecordSource source)
        throws IOException {
      RunInfo known = RunStatistics.completed(info, source);
      RunInfo complete = judge == null ? known : judgedAs(judge, known);
      RunFigures figures = RunStatistics.of(complete, source);
      boolean isOurs = source.tool() == null; // our checks do not apply to another tool
      return new ComparedRun(complete, source, isOurs ? CheckCatalogue.judged(figures) : figures);
    }

    public @Nullable OtherTool tool() {
      return source.tool();
    }

    /** Whether there are values of requests; a summary of another tool has none. */
    boolean hasValues() {
      OtherTool tool = tool();
      return tool == null || tool.given().isEmpty();
    }

    /** With the SLO and the reading speed of the base, whose only target stands for all. */
    private static RunInfo judgedAs(RunInfo judge, RunInfo given) {
      RunInfo run = given.report(given.report().readAt(judge.report().readingSpeed()));
      List<String> targets = judge.stages().stream().map(LevelInfo::target).distinct().toList();
      return targets.size() == 1
          ? run.slo(judge.objectives().of(targets.get(0)), Map.of())
          : run.slo(judge.objectives().common(), judge.objectives().sloByTarget());
    }

    boolean hasOneTarget() {
      return info.stages().stream().map(LevelInfo::target).distinct().count() == 1;
    }

    /** The load levels, all repeats of one together, by position in the summary. */
    List<LevelInfo> levels() {
      return figures.summary().stages().stream()
          .filter(LevelFigures::isPlanned)
          .map(LevelFigures::info)
          .toList();
    }

    Figures figuresOf(int stage) {
      return figures.summary().stages().get(stage).figures();
    }

    @Nullable SliceSample sampleOf(int stage) {
      if (!hasValues()) {
        return new SliceSample(List.of(), Double.POSITIVE_INFINITY);
      }
      List<Cell> parts = figures.slices().get(stage);
      Double seconds = figures.summary().stages().get(stage).durationS();
      return parts == null || seconds == null
          ? null
          : new SliceSample(parts, seconds / TimeSlice.COUNT);
    }

    /** The figures of these load levels pooled; reads the records again unless these are all. */
    Figures pooled(Set<Integer> which) throws IOException {
      if (!hasValues() && which.size() == 1) {
        return figuresOf(which.iterator().next());
      }
      return which.size() == figures.summary().stages().size()
          ? figures.summary().figures()
          : RunStatistics.ofLevels(info, which, source).summary().figures();
    }

    /**
     * The p90 of E2E in a load level, in seconds of a slice, which has those of all repeats; 0
     * where no request succeeded.
     */
    double requestSeconds(int stage) {
      Figures of = figuresOf(stage);
      Double p90 = of.metric(Metric.E2E_MS).p90();
      return Objects.requireNonNullElse(p90, 0.0) / 1e3 * Math.max(1, of.repeats().size());
    }
  }

  /**
   * Figures at the operating point over many runs, given in order of time. Runs of the same model,
   * workload and settings are a series; each is compared with the last run of its series that was
   * beyond chance, else with the first, so that a slow drift is found too.
   */
  public static final class Trend {

    /** The name in {@link RunInfo#config} of what a series may change. */
    private static final String ENGINE_VERSION = "engineVersion";

    private record Base(String name, ComparedRun run) {}

    private final Map<TrendSeries, List<Step>> series = new LinkedHashMap<>();
    private final Map<TrendSeries, Base> bases = new HashMap<>();
    private int runs;

    public void add(String name, ComparedRun run) throws IOException {
      Summary summary = run.figures().summary();
      Map<Base, Comparison> known = new HashMap<>();
      for (LoadCurve curve : summary.curves()) {
        TrendSeries of = TrendSeries.of(summary, curve);
        Base base = bases.get(of);
        if (base != null && !known.containsKey(base)) {
          known.put(base, Comparison.of(base.run, run, 1));
        }
        LevelFigures level = curve.operatingLevel();
        Step step =
            new Step(
                runs,
                name,
                summary,
                level.label(),
                level.figures(),
                base == null ? null : base.name,
                base == null ? List.of() : known.get(base).at(level.info(), summary));
        series.computeIfAbsent(of, key -> new ArrayList<>()).add(step);
        if (base == null || !step.clear().isEmpty()) {
          bases.put(of, new Base(name, run));
        }
      }
      runs++;
    }

    /** The runs by series, in the order of their first runs. */
    public Map<TrendSeries, List<Step>> series() {
      return series;
    }
  }

  /**
   * A run in a row of runs.
   *
   * @param position of the run among all, from 0
   * @param level the name of the load level that the figures are of
   * @param base the run that it is compared with; null for the first
   * @param changes of all figures that are compared; empty for the first
   */
  public record Step(
      int position,
      String run,
      Summary summary,
      String level,
      Figures figures,
      @Nullable String base,
      List<Change> changes) {

    public @Nullable String engineVersion() {
      return summary.config().get(Trend.ENGINE_VERSION);
    }

    public List<Change> clear() {
      return changes.stream().filter(change -> change.outcome().isClear()).toList();
    }

    public @Nullable Change change(Figure figure) {
      return Comparison.change(figure.name(), changes).orElse(null);
    }

    public @Nullable Change clear(Figure figure) {
      return Comparison.change(figure.name(), clear()).orElse(null);
    }
  }

  /**
   * What the runs of a series have in common.
   *
   * @param curve its target, its scenario or both, where a run has several
   */
  public record TrendSeries(String model, String curve, String load, Map<String, String> settings) {

    private static TrendSeries of(Summary summary, LoadCurve curve) {
      Map<String, String> settings = new TreeMap<>(summary.config());
      settings
          .keySet()
          .removeIf(name -> name.contains(" ") || ConfigKey.isOfEach(Identifies.RUN, name));
      if (summary.workload().models().size() < 2) { // else it has their weights
        settings.remove("model");
      }
      return new TrendSeries(
          String.join(", ", new TreeSet<>(summary.workload().models().keySet())),
          summary.curves().size() == 1 ? "" : summary.name(curve),
          String.join(" ", curve.stages()),
          settings);
    }
  }
}
