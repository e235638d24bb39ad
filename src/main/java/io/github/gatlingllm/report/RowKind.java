package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.compare.Comparison.Change;
import io.github.gatlingllm.figures.level.Grouping;
import io.github.gatlingllm.figures.level.LoadCurve;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.AnswerSummary;
import io.github.gatlingllm.figures.level.Summary.ClassChange;
import io.github.gatlingllm.figures.level.Summary.SloTable;
import io.github.gatlingllm.figures.level.Summary.TierSummary;
import io.github.gatlingllm.figures.level.Summary.TurnSummary;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.EngineFigures.EnginePage;
import io.github.gatlingllm.figures.metric.EngineFigures.Gpu;
import io.github.gatlingllm.figures.metric.Figure.AssertionResult;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.ArrivalFigures;
import io.github.gatlingllm.figures.metric.Figures.ErrorCount;
import io.github.gatlingllm.figures.metric.Figures.Goodput;
import io.github.gatlingllm.figures.metric.Figures.Trial;
import io.github.gatlingllm.figures.metric.Figures.Trials;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.LevelFigures.InjectorFigures;
import io.github.gatlingllm.figures.metric.LevelFigures.ObjectiveRow;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.InjectorRun;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.TimingKey;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.report.MetricsSection.Measured;
import io.github.gatlingllm.report.RunText.NamedText;
import io.github.gatlingllm.report.Table.TableCell;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Map.Entry;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What the rows of a table can be about; {@code own} is the type of {@link Row#own}. */
@SuppressWarnings("UnusedMethod") // columns of tables.txt name them
enum RowKind {
  LEVELS(LevelFigures.class, (s, of) -> levels(s)),
  /** For tables that compare levels: several, or one with repeats. */
  SEVERAL_LEVELS(
      LevelFigures.class,
      (s, of) -> levels(s).filter(row -> s.hasSeveralLevels() || Tables.repeats(s) > 0)),
  /** Several levels, below the name of their curve if there are several. */
  LEVELS_OF_CURVES(LevelFigures.class, (s, of) -> levelsOfCurves(s)),
  LEVELS_AND_ALL(Figures.class, (s, of) -> levelsAndAll(of, LevelFigures::figures, s.figures())),
  /** Levels with answers that make a reader wait. */
  READERS(
      Figures.class,
      (s, of) ->
          levelsAndAll(of, LevelFigures::figures, s.figures()).filter(row -> readersHaveWaited(s))),
  ARRIVALS(ArrivalFigures.class, (s, of) -> levelsAndAll(of, LevelFigures::arrivals, s.arrivals())),
  /** The operating points of targets and scenarios. */
  CURVES(Figures.class, (s, of) -> curves(s).filter(row -> s.grid().isEmpty())),
  /** Those of a grid of lengths. */
  PAIRS(Figures.class, (s, of) -> curves(s).filter(row -> !s.grid().isEmpty())),
  /** How figures of a class of traffic change under load of the other classes. */
  CLASSES(
      ChangeOfClass.class,
      (s, of) -> s.interference().stream().map(each -> ChangeOfClass.row(s, each))),
  TARGETS(Figures.class, (s, of) -> targets(s)),
  REQUESTS(Figures.class, (s, of) -> requests(s)),
  /** Requests with several names. */
  MIX(
      Figures.class,
      (s, of) -> requests(s).filter(row -> requests(s).map(Row::name).distinct().count() > 1)),
  MODELS(Figures.class, (s, of) -> by(s, Grouping.MODEL)),
  REPLICAS(Figures.class, (s, of) -> by(s, Grouping.REPLICA)),
  TURNS(TurnSummary.class, (s, of) -> turns(s)),
  TRIALS(TrialRow.class, (s, of) -> trials(of)),
  LATENCIES(Measured.class, (s, of) -> MetricsSection.latencies(s)),
  MEASURED(Measured.class, (s, of) -> Stream.of()),
  NUMBERS(NamedText.class, (s, of) -> Stream.of()),
  GPUS(Gpu.class, (s, of) -> of.each(RowKind::gpus, Entry::getKey, Entry::getValue)),
  ROLES(EngineFigures.class, (s, of) -> roles(s)),
  SERVER_PAGES(EnginePage.class, (s, of) -> each(s, s.serverPages())),
  SERVER_TIMINGS(ServerTiming.class, (s, of) -> serverTimings(s)),
  INJECTORS(
      InjectorFigures.class,
      (s, of) -> of.each(LevelFigures::injectors, InjectorFigures::name, each -> each)),
  INJECTOR_RUNS(
      OneRun.class,
      (s, of) -> each(s, s.injectors().stream().map(each -> new OneRun(each.run())).toList())),
  SELF_TEST_LEVELS(Tested.class, (s, of) -> each(s, tested(RunText.ownSelfTest(s)))),
  /** The tiers of the SLO, below the name of their curve if there are several. */
  TIERS(TierSummary.class, (s, of) -> tiers(s)),
  OBJECTIVES(Objective.class, (s, of) -> objectives(of)),
  ASSERTIONS(AssertionResult.class, (s, of) -> each(s, s.assertions())),
  ERRORS(Share.class, (s, of) -> each(s, errors(s.figures(), of.max))),
  FINISH_REASONS(
      Share.class,
      (s, of) -> each(s, shares(s.figures().finishReasons(), s.figures().counts().ok()))),
  MISSED_OBJECTIVES(Share.class, (s, of) -> each(s, missed(s.figures().goodput()))),
  ANSWERS(Answers.class, (s, of) -> answers(s)),
  SLOWEST(Slow.class, (s, of) -> each(s, Slow.all(s))),
  FACTS(NamedText.class, (s, of) -> each(s, RunText.facts(s)));

  /** What the rows are taken from, as in {@link #of}. */
  private record From(
      Summary summary, @Nullable LevelFigures chosen, int max, Predicate<Row> only) {

    /** A row for each of the things that the chosen level, or the operating points have. */
    private <T> Stream<Row> each(
        Function<LevelFigures, ? extends Collection<T>> all,
        Function<T, String> name,
        Function<T, Object> own) {
      Stream<LevelFigures> levels =
          chosen != null
              ? Stream.of(chosen)
              : summary.curves().stream().map(LoadCurve::operatingLevel);
      return levels.flatMap(
          level ->
              all.apply(level).stream()
                  .map(of -> Row.at(summary, level, name.apply(of), own.apply(of))));
    }
  }

  private final Class<?> own;

  @SuppressWarnings("ImmutableEnumChecker") // it has no state
  private final BiFunction<Summary, From, Stream<Row>> rows;

  RowKind(Class<?> own, BiFunction<Summary, From, Stream<Row>> rows) {
    this.own = own;
    this.rows = rows;
  }

  /** The constant as {@code tables.txt} writes it, e.g. {@code levels of curves}. */
  static RowKind named(String name) {
    return Stream.of(values())
        .filter(each -> each.name().equals(name.toUpperCase(Locale.ROOT).replaceAll("[ -]", "_")))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no rows are called '" + name + "'"));
  }

  Class<?> own() {
    return own;
  }

  /**
   * The rows of a table.
   *
   * @param chosen the level that readers chose; null for the operating points
   * @param max of errors, and of the trials of each level
   * @param only those that the table has
   */
  List<Row> of(Summary summary, @Nullable LevelFigures chosen, int max, Predicate<Row> only) {
    return rows.apply(summary, new From(summary, chosen, max, only)).filter(only).toList();
  }

  private static Stream<Row> each(Summary summary, List<?> all) {
    return all.stream().map(own -> Row.of(summary, "", own));
  }

  /** Whether a token of the run came later than a reader needed it. */
  static boolean readersHaveWaited(Summary summary) {
    Double max = summary.figures().metric(Metric.READER_STALL_MS).max();
    return max != null && max > 0;
  }

  private static Stream<Row> levels(Summary summary) {
    return summary.byLoad().stream().map(level -> Row.of(summary, level));
  }

  private static Stream<Row> levelsOfCurves(Summary summary) {
    return new ShownLevels(summary)
        .all().stream()
            .filter(level -> summary.hasSeveralLevels())
            .map(level -> Row.of(summary, level));
  }

  /** What load levels have, and their total if several have it. */
  private static Stream<Row> levelsAndAll(
      From from, Function<LevelFigures, @Nullable Object> own, @Nullable Object all) {
    Summary summary = from.summary;
    List<Row> rows = new ArrayList<>();
    for (LevelFigures level : summary.stages()) {
      Object of = own.apply(level);
      if (of != null) {
        rows.add(Row.at(summary, level, summary.place(level.info()), of));
      }
    }
    rows.removeIf(from.only.negate());
    if (all != null && rows.size() > 1) {
      rows.add(new Row(summary, "all", "", "", null, null, summary.figures(), all));
    }
    return rows.stream();
  }

  private static Stream<Row> curves(Summary summary) {
    return summary.curves().stream()
        .filter(curve -> summary.curves().size() > 1)
        .map(curve -> Row.of(summary, curve));
  }

  private static Stream<Row> targets(Summary summary) {
    return summary.targets().stream()
        .filter(target -> summary.hasSeveralTargets())
        .map(target -> Row.of(summary, target.label(), target.figures()));
  }

  private record ChangeOfClass(Change of) {

    private static Row row(Summary summary, ClassChange change) {
      LevelFigures alone =
          summary.stages().stream()
              .filter(each -> each.info().key().equals(change.key()))
              .findFirst()
              .orElseThrow();
      String name = summary.place(alone.info()).replaceFirst(LevelInfo.ALONE, "");
      return Row.at(summary, alone, name, new ChangeOfClass(Change.of(change)));
    }

    String figure() {
      Metric metric = of.figure().metric();
      String statistic = of.figure().name().substring(metric.figure().length());
      return metric.title() + statistic.replace('.', ' ').replace("percent", "").stripTrailing();
    }

    String alone() {
      return ChangeText.value(of, of.base());
    }

    String together() {
      return ChangeText.value(of, of.run());
    }

    String change() {
      return ChangeText.by(of);
    }

    String interval() {
      return ChangeText.interval(of);
    }

    TableCell outcome() {
      return ChangeText.verdict(of);
    }
  }

  private static Stream<Row> requests(Summary summary) {
    return summary.requestsAtPoints().stream().map(request -> Row.of(summary, request));
  }

  private static Stream<Row> by(Summary summary, Grouping dimension) {
    return summary.byAtPoints().getOrDefault(dimension, List.of()).stream()
        .map(part -> Row.of(summary, part, ""));
  }

  private static Stream<Row> tiers(Summary summary) {
    return summary.curves().stream()
        .flatMap(
            curve -> {
              String group = summary.curves().size() > 1 ? summary.name(curve) : "";
              return summary.tiers().stream()
                  .filter(tier -> tier.isOf(curve))
                  .map(tier -> new Row(summary, tier.tier(), group, "", null, null, null, tier));
            });
  }

  private static Stream<Row> turns(Summary summary) {
    List<TurnSummary> turns = summary.workload().byTurn();
    return each(summary, turns.size() > 1 ? turns : List.of());
  }

  /** A trial, or the number of those that are not shown. */
  private record TrialRow(@Nullable Trial trial, TableCell number) {}

  private static Stream<Row> trials(From from) {
    List<Row> rows = new ArrayList<>();
    for (LevelFigures level : from.summary.stages()) {
      Trials trials = level.figures().trials();
      if (trials != null) {
        List<TrialRow> shown = new ArrayList<>();
        trials.rows().stream()
            .limit(from.max)
            .forEach(trial -> shown.add(new TrialRow(trial, TableCell.count(trial.trial()))));
        long hidden = trials.rowsLeftOut() + trials.rows().size() - shown.size();
        if (hidden > 0) {
          shown.add(new TrialRow(null, TableCell.words(NumberText.count(hidden) + " more")));
        }
        String place = from.summary.place(level.info());
        shown.forEach(own -> rows.add(Row.at(from.summary, level, place, own)));
      }
    }
    return rows.stream();
  }

  private static Set<Entry<String, Gpu>> gpus(LevelFigures level) {
    EngineFigures engine = level.serverMetrics();
    return engine == null ? Set.of() : engine.gpus().entrySet();
  }

  /** The servers that prefill and those that decode, level by level. */
  private static Stream<Row> roles(Summary summary) {
    List<Row> rows = new ArrayList<>();
    for (LevelFigures level : summary.stages()) {
      EngineFigures engine = level.serverMetrics();
      if (engine != null) {
        engine.roles().forEach((role, own) -> rows.add(Row.at(summary, level, role, own)));
      }
    }
    return rows.stream();
  }

  private record ServerTiming(String key, String names, Distribution values) {

    String name() {
      return TimingKey.title(key) + (TimingKey.isTime(key) ? ", ms" : "");
    }

    /** What values are multiplied by: times are shown in ms. */
    double unit() {
      return TimingKey.isTime(key) ? 1e3 : 1;
    }
  }

  private static Stream<Row> serverTimings(Summary summary) {
    List<Row> rows = new ArrayList<>();
    for (LevelFigures level : summary.stages()) {
      level
          .figures()
          .server()
          .forEach(
              (key, values) -> {
                Set<String> names = summary.serverNames().getOrDefault(key, Set.of());
                ServerTiming own = new ServerTiming(key, String.join(", ", names), values);
                rows.add(Row.at(summary, level, key, own));
              });
    }
    rows.sort(Comparator.comparing(Row::name));
    return rows.stream();
  }

  private record OneRun(InjectorRun run) {

    String state() {
      return run.isDead() ? "died" : run.state().key();
    }
  }

  private record Tested(SelfTest.TestedLoad level, boolean isWithin) {}

  private static List<Tested> tested(@Nullable SelfTest test) {
    return test == null
        ? List.of()
        : test.levels().stream()
            .map(level -> new Tested(level, level.isWithin(test.boundMs())))
            .toList();
  }

  private record Objective(ObjectiveRow row, boolean hasOnePercentile) {

    String limit() {
      return "< " + NumberText.plainMs(row.limitMs());
    }

    TableCell actual() {
      String percentile = hasOnePercentile ? "" : "p" + NumberText.plain(row.percentile()) + " ";
      return row.noValue() == null
          ? TableCell.figure(percentile + NumberText.with(row.actualMs(), "ms"))
          : TableCell.words("none: " + row.noValue());
    }

    String margin() {
      return NumberText.with(row.marginMs(), "ms");
    }
  }

  /** The objectives of the SLO at the operating points, or pooled if there are none. */
  private static Stream<Row> objectives(From from) {
    Summary summary = from.summary;
    SloTable slo = summary.slo();
    if (slo == null) {
      return Stream.of();
    }
    boolean hasOne = slo.hasOnePercentile();
    return from.chosen == null && summary.curves().isEmpty()
        ? slo.objectives().stream()
            .map(of -> Row.of(summary, NumberText.ABSENT, new Objective(of, hasOne)))
        : from.each(
            LevelFigures::objectives, ObjectiveRow::measure, of -> new Objective(of, hasOne));
  }

  /** Requests that have something in common; {@code share} is of a larger set. */
  private record Share(String name, String message, long count, double share) {

    static Share of(String name, String message, long count, long all) {
      return new Share(name, message, count, all == 0 ? 0 : (double) count / all);
    }
  }

  /** The most frequent errors; a rate-limited request has not failed. */
  static Stream<ErrorCount> failures(Figures figures) {
    String limited = RequestStatus.RATE_LIMITED.key();
    return figures.errors().stream().filter(error -> !error.verdict().equals(limited));
  }

  private record Answers(AnswerSummary own) {

    @Nullable Double changedShare() {
      return share(own.changed(), own.compared());
    }

    @Nullable String interval() {
      Distribution.Interval of = own.interval(AnswerSummary.CHANGED);
      return of == null
          ? null
          : NumberText.percent(of.low()).replace(" %", "–") + NumberText.percent(of.high());
    }

    @Nullable Double rightShare() {
      return share(own.judged() - own.wrong(), own.judged());
    }

    private static @Nullable Double share(long part, long all) {
      return all == 0 ? null : (Double) ((double) part / all);
    }
  }

  /** The passes of answers in time, those beside a load level with its figures. */
  private static Stream<Row> answers(Summary summary) {
    return summary.answers().stream()
        .map(
            of -> {
              String name =
                  switch (of.pass()) {
                    case FIRST -> "before the load";
                    case AGAIN -> "before the load, again";
                    case LOAD -> String.valueOf(of.stage());
                    case AFTER -> "after the load";
                  };
              String where = summary.hasSeveralTargets() ? name + " of " + of.target() : name;
              return summary.stages().stream()
                  .filter(level -> level.label().equals(of.stage()))
                  .filter(level -> level.info().target().equals(of.target()))
                  .findFirst()
                  .map(level -> Row.at(summary, level, where, new Answers(of)))
                  .orElse(Row.of(summary, where, new Answers(of)));
            });
  }

  private record Slow(String by, RequestRecord request) {

    static List<Slow> all(Summary summary) {
      List<Slow> all = new ArrayList<>();
      summary
          .slowest()
          .forEach((by, slow) -> slow.forEach(each -> all.add(new Slow(by.title(), each))));
      return all;
    }

    @Nullable Double ms(Metric metric) {
      double ms = metric.of(request, 0);
      return Double.isNaN(ms) ? null : (Double) ms;
    }

    @Nullable Double ttft() {
      return ms(Metric.TTFT_MS);
    }

    @Nullable Double stall() {
      return ms(Metric.STALL_MS);
    }

    @Nullable Double queueWait() {
      return ms(Metric.QUEUE_WAIT_MS);
    }

    @Nullable Double e2e() {
      return ms(Metric.E2E_MS);
    }
  }

  private static List<Share> errors(Figures figures, int max) {
    long started = figures.counts().started();
    return failures(figures)
        .limit(max)
        .map(error -> Share.of(error.verdict(), error.message(), error.count(), started))
        .toList();
  }

  private static List<Share> shares(Map<String, Long> counts, long all) {
    return counts.entrySet().stream()
        .map(of -> Share.of(of.getKey(), "", of.getValue(), all))
        .toList();
  }

  private static List<Share> missed(@Nullable Goodput goodput) {
    boolean isMissed =
        goodput != null && goodput.missed().values().stream().anyMatch(count -> count > 0);
    return isMissed ? shares(goodput.missed(), goodput.attempted()) : List.of();
  }
}
