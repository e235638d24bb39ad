package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.Dimension;
import io.github.gatlingllm.figures.level.Summary.RequestAtPoint;
import io.github.gatlingllm.figures.level.Summary.SloTable;
import io.github.gatlingllm.figures.level.Summary.Turn;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.EngineFigures.Gpu;
import io.github.gatlingllm.figures.metric.EngineFigures.Page;
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
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.InjectorRun;
import io.github.gatlingllm.record.RequestRecord.ServerReport.Timing;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.report.MetricsSection.Measured;
import io.github.gatlingllm.report.MetricsSection.SingleNumber;
import io.github.gatlingllm.report.RunText.Fact;
import io.github.gatlingllm.report.Table.Cell;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What the rows of a table can be about; {@code own} is the type of {@link Row#own}. */
enum Rows {
  LEVELS(LevelFigures.class, from -> levels(from.summary)),
  /** For tables that compare levels: several, or one with repeats. */
  SEVERAL_LEVELS(
      LevelFigures.class,
      from ->
          from.summary.hasSeveralLevels() || Tables.repeats(from.summary) > 0
              ? levels(from.summary)
              : Stream.of()),
  /** Several levels, below the name of their curve if there are several. */
  LEVELS_OF_CURVES(
      LevelFigures.class,
      from ->
          from.summary.hasSeveralLevels()
              ? new ShownLevels(from.summary).all().stream().map(of -> Row.of(from.summary, of))
              : Stream.of()),
  LEVELS_AND_ALL(Figures.class, Rows::levelsAndAll),
  READERS(
      Figures.class,
      from -> from.summary.figures().reader().stalled() > 0 ? levelsAndAll(from) : Stream.of()),
  ARRIVALS(
      ArrivalFigures.class,
      from -> levelsAndAll(from, LevelFigures::arrivals, from.summary.arrivals())),
  /** The operating points of targets and scenarios. */
  CURVES(Figures.class, from -> curves(from.summary, from.summary.grid().isEmpty())),
  /** Those of a grid of lengths. */
  PAIRS(Figures.class, from -> curves(from.summary, !from.summary.grid().isEmpty())),
  TARGETS(
      Figures.class,
      from ->
          !from.summary.hasSeveralTargets()
              ? Stream.of()
              : from.summary.targets().stream()
                  .map(of -> Row.of(from.summary, of.label(), of.figures()))),
  REQUESTS(Figures.class, from -> requests(from.summary)),
  /** Requests with several names. */
  MIX(
      Figures.class,
      from ->
          from.summary.requestsAtPoints().stream().map(RequestAtPoint::name).distinct().count() > 1
              ? requests(from.summary)
              : Stream.of()),
  MODELS(Figures.class, from -> by(from.summary, Dimension.MODEL)),
  REPLICAS(Figures.class, from -> by(from.summary, Dimension.REPLICA)),
  TURNS(
      Turn.class,
      from ->
          from.summary.workload().byTurn().size() < 2
              ? Stream.of()
              : from.each(from.summary.workload().byTurn())),
  TRIALS(TrialRow.class, Rows::trials),
  LATENCIES(Measured.class, from -> MetricsSection.latencies(from.summary)),
  MEASURED(Measured.class, from -> Stream.of()),
  NUMBERS(SingleNumber.class, from -> Stream.of()),
  /** GPUs at the operating points. */
  GPUS(
      Gpu.class,
      from ->
          from.points(
              level ->
                  level.serverMetrics() == null
                      ? Stream.of()
                      : level.serverMetrics().gpus().entrySet().stream()
                          .map(of -> Row.at(from.summary, level, of.getKey(), of.getValue())))),
  SERVER_PAGES(Page.class, from -> from.each(from.summary.serverPages())),
  SERVER_TIMINGS(ServerTiming.class, from -> serverTimings(from.summary)),
  INJECTORS(
      InjectorFigures.class,
      from ->
          from.points(
              level ->
                  level.injectors().stream()
                      .map(of -> Row.at(from.summary, level, of.name(), of)))),
  INJECTOR_RUNS(
      OneRun.class,
      from ->
          from.each(from.summary.injectors().stream().map(of -> new OneRun(of.run())).toList())),
  SELF_TEST_LEVELS(Tested.class, from -> from.each(tested(RunText.ownSelfTest(from.summary)))),
  OBJECTIVES(Objective.class, Rows::objectives),
  ASSERTIONS(AssertionResult.class, from -> from.each(from.summary.assertions())),
  ERRORS(Share.class, from -> from.each(errors(from))),
  FINISH_REASONS(
      Share.class,
      from ->
          from.each(
              shares(
                  from.summary.figures().finishReasons(), from.summary.figures().counts().ok()))),
  MISSED_OBJECTIVES(Share.class, from -> from.each(missed(from.summary.figures().goodput()))),
  FACTS(Fact.class, from -> from.each(RunText.facts(from.summary)));

  /**
   * What a table is drawn of.
   *
   * @param chosen the level that readers chose; null for the operating points
   * @param max rows, or rows of each level
   * @param only rows that the table has
   */
  record From(Summary summary, @Nullable LevelFigures chosen, int max, Predicate<Row> only) {

    private Stream<Row> each(List<?> all) {
      return all.stream().map(own -> Row.of(summary, "", own));
    }

    private Stream<Row> points(Function<LevelFigures, Stream<Row>> rows) {
      return chosen != null
          ? rows.apply(chosen)
          : summary.curves().stream().map(summary::operatingLevel).flatMap(rows);
    }
  }

  private final Class<?> own;

  @SuppressWarnings("ImmutableEnumChecker") // it has no state
  private final Function<From, Stream<Row>> rows;

  Rows(Class<?> own, Function<From, Stream<Row>> rows) {
    this.own = own;
    this.rows = rows;
  }

  /** The constant as {@code tables.txt} writes it, e.g. {@code levels of curves}. */
  static Rows named(String name) {
    for (Rows each : values()) {
      if (each.name().toLowerCase(Locale.ROOT).replace('_', ' ').equals(name.replace('-', ' '))) {
        return each;
      }
    }
    throw new IllegalArgumentException("no rows are called '" + name + "'");
  }

  Class<?> own() {
    return own;
  }

  List<Row> of(From from) {
    return rows.apply(from).filter(from.only).toList();
  }

  // ---- sets of requests

  private static Stream<Row> levels(Summary summary) {
    return summary.stages().stream().map(level -> Row.of(summary, level));
  }

  private static Stream<Row> levelsAndAll(From from) {
    return levelsAndAll(from, LevelFigures::figures, from.summary.figures());
  }

  /** What load levels have, and all together if several have it. */
  private static Stream<Row> levelsAndAll(
      From from, Function<LevelFigures, @Nullable Object> own, @Nullable Object all) {
    List<Row> rows = new ArrayList<>();
    for (LevelFigures level : from.summary.stages()) {
      Object of = own.apply(level);
      if (of != null) {
        rows.add(Row.at(from.summary, level, from.summary.place(level.info()), of));
      }
    }
    rows.removeIf(from.only.negate());
    if (all != null && rows.size() > 1) {
      rows.add(new Row(from.summary, "all", "", "", null, null, from.summary.figures(), all));
    }
    return rows.stream();
  }

  private static Stream<Row> curves(Summary summary, boolean isShown) {
    return isShown && summary.curves().size() > 1
        ? summary.curves().stream().map(curve -> Row.of(summary, curve))
        : Stream.of();
  }

  private static Stream<Row> requests(Summary summary) {
    return summary.requestsAtPoints().stream().map(request -> Row.of(summary, request));
  }

  private static Stream<Row> by(Summary summary, Dimension dimension) {
    return summary.byAtPoints().getOrDefault(dimension, List.of()).stream()
        .map(part -> Row.of(summary, part, ""));
  }

  // ---- trials

  /** A trial, or the number of those that are not shown. */
  private record TrialRow(@Nullable Trial trial, Cell number) {}

  private static Stream<Row> trials(From from) {
    List<Row> rows = new ArrayList<>();
    for (LevelFigures level : from.summary.stages()) {
      Trials trials = level.figures().trials();
      if (trials != null) {
        String place = from.summary.place(level.info());
        List<Trial> shown = trials.rows().stream().limit(from.max).toList();
        shown.forEach(
            trial ->
                rows.add(
                    Row.at(
                        from.summary,
                        level,
                        place,
                        new TrialRow(trial, Cell.count(trial.trial())))));
        long hidden = trials.rowsLeftOut() + trials.rows().size() - shown.size();
        if (hidden > 0) {
          Cell more = Cell.words(NumberText.count(hidden) + " more");
          rows.add(Row.at(from.summary, level, place, new TrialRow(null, more)));
        }
      }
    }
    return rows.stream();
  }

  // ---- servers and injectors

  /** A timing that the server reported; times in ms. */
  private record ServerTiming(String key, String names, Distribution values) {

    String name() {
      return Timing.title(key) + (Timing.isTime(key) ? ", ms" : "");
    }

    long count() {
      return values.count();
    }

    @Nullable Double mean() {
      return shown(values.mean());
    }

    @Nullable Double p50() {
      return shown(values.p50());
    }

    @Nullable Double p99() {
      return shown(values.p99());
    }

    @Nullable Double max() {
      return shown(values.max());
    }

    private @Nullable Double shown(@Nullable Double value) {
      return value == null || !Timing.isTime(key) ? value : (Double) (value * 1e3);
    }
  }

  private static Stream<Row> serverTimings(Summary summary) {
    return summary.stages().stream()
        .flatMap(
            level ->
                level.figures().server().entrySet().stream()
                    .map(
                        of -> {
                          String names =
                              String.join(
                                  ", ", summary.serverNames().getOrDefault(of.getKey(), Set.of()));
                          return Row.at(
                              summary,
                              level,
                              "",
                              new ServerTiming(of.getKey(), names, of.getValue()));
                        }))
        .sorted(Comparator.comparing(row -> ((ServerTiming) row.own()).key));
  }

  private record OneRun(InjectorRun run) {

    String state() {
      return run.isDead() ? "died" : run.state().key();
    }
  }

  private record Tested(SelfTest.Level level, boolean isWithin) {}

  private static List<Tested> tested(@Nullable SelfTest test) {
    return test == null
        ? List.of()
        : test.levels().stream()
            .map(level -> new Tested(level, level.isWithin(test.boundMs())))
            .toList();
  }

  // ---- results

  private record Objective(ObjectiveRow row, boolean hasOnePercentile) {

    String limit() {
      return "< " + NumberText.plainMs(row.limitMs());
    }

    Cell actual() {
      String percentile = hasOnePercentile ? "" : "p" + NumberText.plain(row.percentile()) + " ";
      return row.noValue() == null
          ? Cell.figure(percentile + NumberText.with(row.actualMs(), "ms"))
          : Cell.words("none: " + row.noValue());
    }

    String margin() {
      return NumberText.with(row.marginMs(), "ms");
    }
  }

  /** The objectives of the SLO at the operating points, or pooled if there are none. */
  private static Stream<Row> objectives(From from) {
    SloTable slo = from.summary.slo();
    if (slo == null) {
      return Stream.of();
    }
    boolean hasOne = slo.hasOnePercentile();
    return from.chosen == null && from.summary.curves().isEmpty()
        ? slo.objectives().stream()
            .map(of -> Row.of(from.summary, NumberText.ABSENT, new Objective(of, hasOne)))
        : from.points(
            level ->
                level.objectives().stream()
                    .map(
                        of ->
                            Row.at(
                                from.summary,
                                level,
                                from.summary.place(level.info()),
                                new Objective(of, hasOne))));
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

  private static List<Share> errors(From from) {
    long started = from.summary.figures().counts().started();
    return failures(from.summary.figures())
        .limit(from.max)
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
