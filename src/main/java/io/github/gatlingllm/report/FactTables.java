package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.Distribution.Interval;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Figures.ArrivalFigures;
import io.github.gatlingllm.metric.Figures.ErrorCount;
import io.github.gatlingllm.metric.Figures.Trial;
import io.github.gatlingllm.metric.Figures.Trials;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.Metric.Unit;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.report.Table.Cell;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.Table.Group;
import io.github.gatlingllm.report.Table.Heading;
import io.github.gatlingllm.stats.Summary;
import io.github.gatlingllm.stats.Summary.AssertionResult;
import io.github.gatlingllm.stats.Summary.Curve;
import io.github.gatlingllm.stats.Summary.ObjectiveRow;
import io.github.gatlingllm.stats.Summary.Queue;
import io.github.gatlingllm.stats.Summary.RequestGroup;
import io.github.gatlingllm.stats.Summary.SloTable;
import io.github.gatlingllm.stats.Summary.Stage;
import io.github.gatlingllm.stats.Summary.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Map.Entry;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The tables of facts about a run: what the page, Gatling's pages, {@code summary.md} and the
 * console show of the same figures is built here, from the same columns.
 */
final class FactTables {

  /** What the mark of an uncertain percentile in text files means. */
  static final String LOW_N = "* fewer than 10 values beyond it";

  /** What the table of each target's and scenario's operating point is called. */
  static final String CURVES = "Operating points";

  /** Latencies that text files quote. */
  private static final List<Metric> QUOTED =
      List.of(
          Metric.TTFT_MS,
          Metric.TTFT_FROM_SCHEDULE_MS,
          Metric.TTFO_MS,
          Metric.TTFO_FROM_SCHEDULE_MS,
          Metric.ITL_MS,
          Metric.TPOT_MS,
          Metric.E2E_MS,
          Metric.E2E_FROM_SCHEDULE_MS,
          Metric.QUEUE_WAIT_MS,
          Metric.STALL_MS);

  private static final Column<Figures> COUNT = Column.count("count", f -> f.counts().started());
  private static final Column<Figures> FAILED = Column.count("failed", f -> f.counts().failed());
  private static final Column<Figures> REQUESTS =
      Column.number("completed/s", f -> f.throughput().requestsPerS());
  private static final Column<Figures> OUTPUT =
      Column.number("output tok/s", f -> f.throughput().outputTokensPerS());
  private static final Column<Figures> IN_SLO =
      Column.percent("in SLO", f -> f.goodput() == null ? null : f.goodput().share());

  private static final Column<Distribution> VALUES = Column.count("count", Distribution::count);
  private static final Column<Distribution> MEAN = Column.number("mean", Distribution::mean);
  private static final Column<Distribution> MAX = Column.number("max", Distribution::max);

  private FactTables() {}

  private static Column<Figures> percentile(Metric metric, String name) {
    return Column.percentile(metric.title() + " " + name, name, f -> f.metric(metric));
  }

  /** A time by the clock of headlines: the one that the SLO beside it judges. */
  private static Column<Figures> headline(Summary summary, Metric metric, String name) {
    return percentile(summary.clock().metric(metric), name);
  }

  private static Column<Distribution> percentile(String name) {
    return Column.percentile(name, name, values -> values);
  }

  /** A percentile with its confidence interval below it. */
  private static Column<Distribution> percentile(
      String name, Function<Distribution, @Nullable Interval> interval) {
    return Column.of(
        name,
        values -> {
          Interval sure = interval.apply(values);
          Cell cell = Cell.percentile(values, name);
          return sure == null || sure.low() == sure.high()
              ? cell
              : cell.remarked(NumberText.interval(sure.low(), sure.high()));
        });
  }

  /** Every statistic of a distribution. */
  private static List<Column<Distribution>> statistics() {
    return List.of(
        VALUES,
        MEAN,
        Column.number("std", Distribution::std),
        Column.number("min", Distribution::min),
        percentile("p50", Distribution::p50Ci95),
        percentile("p75"),
        percentile("p90"),
        percentile("p95"),
        percentile("p99", Distribution::p99Ci95),
        Column.percentile("p99.9", "p999", values -> values),
        MAX);
  }

  /** Every statistic of a rate, whose bad tail is the low one. */
  private static List<Column<Distribution>> rateStatistics() {
    return List.of(
        VALUES,
        MEAN,
        Column.number("std", Distribution::std),
        Column.number("min", Distribution::min),
        percentile("p1"),
        percentile("p5"),
        percentile("p10"),
        percentile("p50", Distribution::p50Ci95),
        percentile("p90"),
        percentile("p99", Distribution::p99Ci95),
        MAX);
  }

  /** A distribution with its name. */
  private record Named(Cell name, Distribution values) {}

  private static Table distributions(
      String title, String heading, List<Column<Distribution>> columns, List<Named> rows) {
    List<Column<Named>> all = new ArrayList<>(List.of(Column.of(heading, Named::name)));
    columns.forEach(column -> all.add(column.in(Named::values)));
    return Table.of(title, rows, all);
  }

  private static List<Named> times(Figures figures, List<Metric> metrics, String name) {
    return metrics.stream()
        .filter(metric -> metric.isTime() && !figures.metric(metric).isEmpty())
        .map(m -> new Named(Cell.words(name.formatted(m.title())), figures.metric(m)))
        .toList();
  }

  /**
   * The latencies that text files quote, a row per metric that has values, at the operating point;
   * none where each curve has its own.
   */
  static Table latencies(Summary summary) {
    List<Curve> curves = summary.curves();
    if (curves.size() > 1) {
      return Table.of(List.of("latency"), List.of());
    }
    boolean named = summary.hasSeveralLevels();
    Figures figures =
        curves.isEmpty() ? summary.figures() : summary.operatingLevel(curves.get(0)).figures();
    return distributions(
        "Latencies",
        named ? "latency at " + curves.get(0).operatingPoint().stage() : "latency",
        List.of(VALUES, MEAN, percentile("p50"), percentile("p95"), percentile("p99"), MAX),
        times(figures, QUOTED, "%s (ms)"));
  }

  /** All times of requests, for Gatling's page of them. */
  static Table times(Figures figures) {
    return distributions(
        "Times", "Lower is better", statistics(), times(figures, Metric.distributions(), "%s, ms"));
  }

  /**
   * Every distribution of one set of requests.
   *
   * @param rates those of which more is better
   * @param missing the metrics without a value, in words; may be empty
   * @param hasLowN whether any percentile is uncertain
   */
  record Metrics(Table table, Table rates, String missing, boolean hasLowN) {}

  static Metrics metrics(String title, Figures figures) {
    List<Group> groups =
        List.of(
            group("Latency, ms", "lower is better", Unit.MILLIS, statistics(), figures),
            group(
                "Lengths, tokens", "neither better nor worse", Unit.TOKENS, statistics(), figures));
    Group rates =
        group(
            "Rates of single requests, tok/s",
            "higher is better: p10 is what 90 % of them exceed",
            Unit.TOKENS_PER_S,
            rateStatistics(),
            figures);
    List<String> missing =
        Metric.distributions().stream()
            .filter(metric -> metric.unit() != Unit.TOKENS_PER_S)
            .filter(metric -> figures.metric(metric).isEmpty())
            .map(Metric::title)
            .toList();
    boolean hasLowN =
        Metric.distributions().stream().anyMatch(m -> !figures.metric(m).lowN().isEmpty());
    return new Metrics(
        new Table(title, "", headings(statistics()), groups),
        new Table(title + ": rates", "", headings(rateStatistics()), List.of(rates)),
        String.join(", ", missing),
        hasLowN);
  }

  private static List<Heading> headings(List<Column<Distribution>> columns) {
    return distributions("", "Metric", columns, List.of()).headings();
  }

  private static Group group(
      String heading,
      String remark,
      Unit unit,
      List<Column<Distribution>> columns,
      Figures figures) {
    List<Named> known =
        Metric.distributions().stream()
            .filter(metric -> metric.unit() == unit && !figures.metric(metric).isEmpty())
            .map(m -> named(m.title(), m.formula(), figures.metric(m)))
            .toList();
    Table table = distributions("", "Metric", columns, known);
    return new Group(
        heading, remark, table.groups().stream().flatMap(g -> g.rows().stream()).toList());
  }

  private static Named named(String name, String remark, Distribution values) {
    return new Named(Cell.words(name).remarked(remark), values);
  }

  /**
   * The key figures on the page; a column for the SLO where there is one.
   *
   * @param isShort whether they leave room for the rates of open load
   */
  private static List<Column<Figures>> keyFigures(Summary summary, boolean isShort) {
    List<Column<Figures>> columns = new ArrayList<>(List.of(COUNT, FAILED));
    for (String name : List.of("p50", "p95", "p99")) {
      columns.add(headline(summary, Metric.TTFT_MS, name));
    }
    if (!isShort) {
      columns.add(percentile(Metric.ITL_MS, "p50"));
    }
    columns.add(percentile(Metric.ITL_MS, "p99"));
    if (!isShort) {
      columns.add(percentile(Metric.TPOT_MS, "p50"));
    }
    columns.add(headline(summary, Metric.E2E_MS, "p50"));
    if (!isShort) {
      columns.add(headline(summary, Metric.E2E_MS, "p95"));
      columns.add(REQUESTS);
    }
    columns.add(OUTPUT);
    if (summary.slo() != null) {
      columns.add(IN_SLO);
    }
    return columns;
  }

  private static <T> Table keyFigures(
      String what, List<T> rows, Column<T> name, Function<T, Figures> figures, Summary summary) {
    List<Column<T>> columns = new ArrayList<>(List.of(name));
    keyFigures(summary, false).forEach(column -> columns.add(column.in(figures)));
    return Table.of("Key figures by " + what + ", times in ms", rows, columns);
  }

  /** Load levels on the page. */
  static Table byLevel(Summary summary) {
    boolean several = summary.hasSeveralScenarios();
    Column<Stage> name =
        Column.of(
            "Load level, times in ms",
            stage ->
                Cell.words(
                        several && stage.scenario() != null
                            ? stage.label() + " of " + stage.scenario()
                            : stage.label())
                    .remarked(summary.hasSeveralTargets() ? stage.target() : ""));
    List<Column<Stage>> columns = new ArrayList<>(List.of(name));
    columns.addAll(rates(summary));
    keyFigures(summary, isOpen(summary)).forEach(c -> columns.add(c.in(Stage::figures)));
    return Table.of("Key figures by load level, times in ms", summary.stages(), columns);
  }

  /** Each target and scenario at its operating point on the page. */
  static Table byCurve(Summary summary) {
    Column<Curve> name =
        Column.of(
            "Operating point, times in ms",
            curve -> Cell.words(summary.name(curve)).remarked(curve.quoted()));
    return keyFigures(
        "target and scenario",
        summary.curves(),
        name,
        curve -> summary.operatingLevel(curve).figures(),
        summary);
  }

  /** Targets on the page. */
  static Table byTarget(Summary summary) {
    Column<Target> name = Column.name("Target, times in ms", Target::label);
    return keyFigures("target", summary.targets(), name, Target::figures, summary);
  }

  /** Request names on the page. */
  static Table byName(Summary summary) {
    Column<RequestGroup> name =
        Column.of(
            "Request, times in ms",
            request -> Cell.words(request.name()).linked("#" + anchor(request.name())));
    return keyFigures("request", summary.requests(), name, RequestGroup::figures, summary);
  }

  /** The anchor of a request's metrics: the same in Gatling's pages and in {@code llm.html}. */
  static String anchor(String requestName) {
    return "request-" + String.format(Locale.ROOT, "%08x", requestName.hashCode());
  }

  /** All three rates of open load, and how many waited at the end; none without open load. */
  private static List<Column<Stage>> rates(Summary summary) {
    return isOpen(summary)
        ? List.of(
            Column.figure("offered/s", FactTables::offeredRate),
            Column.number("arrived/s", Stage::arrivedPerS),
            REQUESTS.in(Stage::figures),
            Column.figure("queue", FactTables::queue))
        : List.of();
  }

  private static boolean isOpen(Summary summary) {
    return summary.stages().stream().anyMatch(stage -> stage.queue() != null);
  }

  private static String offeredRate(Stage stage) {
    Double offered = stage.queue() == null ? null : stage.offered();
    return offered == null ? NumberText.ABSENT : NumberText.plain(offered);
  }

  /** How long it was at the end, and whether it grew. */
  private static String queue(Stage stage) {
    Queue queue = stage.queue();
    return queue == null
        ? NumberText.ABSENT
        : NumberText.count(queue.end()) + (queue.grows() ? " ↑" : "");
  }

  /** Load levels in text files. */
  static Table levels(Summary summary) {
    List<Column<Stage>> columns =
        new ArrayList<>(List.of(Column.name("level", stage -> place(summary, stage))));
    boolean isOpen = isOpen(summary);
    columns.addAll(
        isOpen ? rates(summary) : List.of(Column.number("in flight", Stage::meanInFlight)));
    List<Column<Figures>> figures = new ArrayList<>();
    if (!isOpen) {
      figures.add(REQUESTS);
    }
    figures.add(OUTPUT);
    figures.add(headline(summary, Metric.TTFT_MS, "p50"));
    figures.add(headline(summary, Metric.TTFT_MS, "p99"));
    if (!isOpen) {
      figures.add(percentile(Metric.ITL_MS, "p50"));
    }
    figures.add(percentile(Metric.ITL_MS, "p99"));
    if (!isOpen) {
      figures.add(headline(summary, Metric.E2E_MS, "p50"));
    }
    figures.addAll(outcome(summary));
    figures.forEach(column -> columns.add(column.in(Stage::figures)));
    return Table.of("Load levels", summary.stages(), columns);
  }

  private static List<Column<Figures>> outcome(Summary summary) {
    return summary.slo() == null ? List.of(FAILED) : List.of(IN_SLO, FAILED);
  }

  /** Each target's and scenario's operating point in text files; empty where there is only one. */
  static Table curves(Summary summary) {
    List<Column<Curve>> columns =
        new ArrayList<>(
            List.of(
                Column.name(summary.hasSeveralTargets() ? "target" : "scenario", summary::name),
                Column.words("at", curve -> curve.operatingPoint().stage())));
    List<Column<Figures>> figures =
        new ArrayList<>(
            List.of(
                REQUESTS,
                OUTPUT,
                headline(summary, Metric.TTFT_MS, "p50"),
                headline(summary, Metric.TTFT_MS, "p99"),
                percentile(Metric.ITL_MS, "p99"),
                headline(summary, Metric.E2E_MS, "p50")));
    figures.addAll(outcome(summary));
    figures.forEach(
        column -> columns.add(column.in(curve -> summary.operatingLevel(curve).figures())));
    columns.add(
        Column.figure(
            "knee",
            c -> c.knee() == null || !c.knee().reached() ? NumberText.ABSENT : c.knee().stage()));
    return Table.of(
        CURVES, summary.curves().size() > 1 ? summary.curves() : List.<Curve>of(), columns);
  }

  /** The level that headlines about a curve quote, e.g. {@code At c=16, the knee}. */
  static String operatingPoint(Summary summary, Curve curve) {
    String text = curve.quoted();
    return summary.curves().size() == 1 ? "At " + text : summary.name(curve) + ": " + text;
  }

  /** Request names on Gatling's index page. */
  static Table requests(Summary summary) {
    List<Column<Figures>> figures =
        new ArrayList<>(
            List.of(
                COUNT,
                headline(summary, Metric.TTFT_MS, "p50"),
                headline(summary, Metric.TTFT_MS, "p95"),
                headline(summary, Metric.TTFT_MS, "p99"),
                percentile(Metric.ITL_MS, "p50"),
                percentile(Metric.ITL_MS, "p99"),
                percentile(Metric.TPOT_MS, "p50"),
                OUTPUT));
    if (summary.slo() != null) {
      figures.add(IN_SLO);
    }
    List<Column<RequestGroup>> columns =
        new ArrayList<>(
            List.of(
                Column.of(
                    "Request, times in ms",
                    request ->
                        Cell.words(request.name()).linked("llm.html#" + anchor(request.name())))));
    figures.forEach(column -> columns.add(column.in(RequestGroup::figures)));
    return Table.of("Key figures by request", summary.requests(), columns);
  }

  private static final List<Column<Trial>> TRIAL =
      List.of(
          Column.count("Trial", Trial::trial),
          Column.count("requests", Trial::requests),
          Column.count("ok", Trial::ok),
          Column.count("output tokens", Trial::outputTokens),
          Column.number("wall, s", Trial::wallS),
          Column.number("output tok/s", Trial::outputTokensPerS));

  /** Batch trials of one stage on the page. */
  static Table trials(String place, Trials trials) {
    return Table.of("Trials of " + place, trials.rows(), TRIAL);
  }

  /**
   * Batch trials of all stages in text files; empty outside batch mode.
   *
   * @param most rows of each stage at most
   */
  static Table trials(Summary summary, int most) {
    List<List<Cell>> rows = new ArrayList<>();
    for (Stage stage : summary.stages()) {
      Trials trials = stage.figures().throughput().trials();
      if (trials == null) {
        continue;
      }
      Cell place = Cell.words(place(summary, stage));
      for (Trial trial : trials.rows().subList(0, Math.min(most, trials.rows().size()))) {
        List<Cell> row = new ArrayList<>(List.of(place));
        TRIAL.forEach(column -> row.add(column.cell().apply(trial)));
        rows.add(row);
      }
      long left = trials.rowsLeftOut() + Math.max(0, trials.rows().size() - most);
      if (left > 0) {
        Cell none = Cell.figure("");
        Cell more = Cell.figure(NumberText.count(left) + " more");
        rows.add(List.of(place, more, none, none, none, none, none));
      }
    }
    return Table.of(
        List.of("level", "trial", "requests", "ok", "output tokens", "wall, s", "output tok/s"),
        rows);
  }

  /**
   * How each objective of the SLO was met at the operating points; pooled where there is none.
   *
   * @param isText whether reasons stand in the cell, not below it
   */
  static Table objectives(Summary summary, SloTable slo, boolean isText) {
    List<Entry<String, ObjectiveRow>> rows = new ArrayList<>();
    for (Curve curve : summary.curves()) {
      Stage level = summary.operatingLevel(curve);
      level.objectives().forEach(row -> rows.add(Map.entry(place(summary, level), row)));
    }
    if (rows.isEmpty()) {
      slo.objectives().forEach(row -> rows.add(Map.entry(NumberText.ABSENT, row)));
    }
    List<Column<Entry<String, ObjectiveRow>>> columns =
        new ArrayList<>(
            List.of(
                Column.of(
                    "Objective",
                    row -> Cell.words(row.getValue().measure()).remarked("lower is better"))));
    if (summary.hasSeveralLevels()) {
      columns.add(Column.words("at", Entry::getKey));
    }
    Stream.<Column<ObjectiveRow>>of(
            Column.figure("limit", row -> "< " + NumberText.plainMs(row.limitMs())),
            Column.of("actual p" + NumberText.plain(slo.percentile()), row -> actual(row, isText)),
            Column.figure("margin", row -> NumberText.with(row.marginMs(), "ms")),
            Column.percent("requests within", ObjectiveRow::metShare),
            Column.of("outcome", row -> Cell.passed(row.ok())))
        .forEach(column -> columns.add(column.in(Entry::getValue)));
    return Table.of("Service level objectives", rows, columns);
  }

  private static Cell actual(ObjectiveRow row, boolean isText) {
    String reason = row.noValue();
    return reason == null
        ? Cell.figure(NumberText.with(row.actualMs(), "ms"))
        : isText ? Cell.words("none: " + reason) : Cell.words("none").remarked(reason);
  }

  /** What the build demands on pages, a note below each name. */
  static Table assertions(List<AssertionResult> results) {
    return assertions(results, false);
  }

  /**
   * What the build demands.
   *
   * @param isText whether the note has a column of its own
   */
  static Table assertions(List<AssertionResult> results, boolean isText) {
    List<Column<AssertionResult>> columns =
        new ArrayList<>(
            List.of(
                Column.of(
                    isText ? "assertion" : "Assertion",
                    result -> Cell.words(result.subject()).remarked(note(result))),
                Column.figure("expected", AssertionResult::expected),
                Column.figure("actual", result -> NumberText.orAbsent(result.actual())),
                Column.of("outcome", result -> Cell.passed(result.ok()))));
    if (isText) {
      columns.add(Column.words("note", FactTables::note));
    }
    return Table.of("Assertions", results, columns).styled("notes");
  }

  private static String note(AssertionResult result) {
    return result.note() == null ? "" : result.note();
  }

  /** Why requests failed, at most so many rows. */
  static Table errors(Figures figures, int most) {
    List<ErrorCount> errors = figures.errors();
    long started = figures.counts().started();
    return Table.of(
        "Errors",
        errors.subList(0, Math.min(most, errors.size())),
        Column.name("Status", ErrorCount::verdict),
        Column.words("message", ErrorCount::message),
        Column.count("count", ErrorCount::count),
        Column.percent("share of requests", error -> share(error.count(), started)));
  }

  /** Counts by name, and what share of all they are. */
  static Table shares(String what, Map<String, Long> counts, long all, String base) {
    return Table.of(
        what,
        counts.entrySet(),
        Column.name(what, Entry::getKey),
        Column.count("count", Entry::getValue),
        Column.percent(base, entry -> share(entry.getValue(), all)));
  }

  private static double share(long part, long all) {
    return all == 0 ? 0 : (double) part / all;
  }

  /** TTFT of prompts that the prefix cache held, and of the others. */
  static Table byCache(Summary.CacheUse cache) {
    return distributions(
        "TTFT with and without the prefix cache, ms",
        "Prompt, TTFT in ms",
        List.of(VALUES, percentile("p50"), percentile("p95"), percentile("p99")),
        List.of(
            named("Warm", "half or more of it cached", cache.warmTtftMs()),
            named("Cold", "the others", cache.coldTtftMs())));
  }

  /** What the server said of itself. */
  static Table server(Map<String, Distribution> timings) {
    return distributions(
        "What the server said of itself",
        "Timing",
        List.of(VALUES, MEAN, percentile("p50"), percentile("p99"), MAX),
        timings.entrySet().stream()
            .map(entry -> new Named(Cell.words(entry.getKey()), entry.getValue()))
            .toList());
  }

  /** Planned against realised arrivals, a row per open load level and one for all. */
  static Table arrivals(Summary summary, ArrivalFigures all) {
    List<Entry<String, ArrivalFigures>> rows = new ArrayList<>();
    for (Stage stage : summary.stages()) {
      if (stage.arrivals() != null) {
        rows.add(Map.entry(place(summary, stage), stage.arrivals()));
      }
    }
    rows.add(Map.entry("all", all));
    return Table.of(
        "Planned against realised arrivals",
        rows,
        Column.name("Load level", Entry::getKey),
        Column.<ArrivalFigures>count("arrivals", ArrivalFigures::count).in(Entry::getValue),
        arrivals("planned, req/s", ArrivalFigures::plannedPerS),
        arrivals("realised, req/s", ArrivalFigures::realisedPerS),
        arrivals("dispersion planned", ArrivalFigures::plannedDispersion),
        arrivals("realised", ArrivalFigures::realisedDispersion),
        arrivals("late p50, ms", ArrivalFigures::lagP50Ms),
        arrivals("late p99, ms", ArrivalFigures::lagP99Ms),
        arrivals("late max, ms", ArrivalFigures::lagMaxMs));
  }

  private static Column<Entry<String, ArrivalFigures>> arrivals(
      String heading, Function<ArrivalFigures, @Nullable Double> figure) {
    return Column.number(heading, figure).in(Entry::getValue);
  }

  /** How even streams were at each load level, and at all of them where there are several. */
  static Table jitter(Summary summary) {
    List<Entry<String, Figures>> rows = new ArrayList<>();
    for (Stage stage : summary.stages()) {
      if (!stage.figures().metric(Metric.STALL_MS).isEmpty()) {
        rows.add(Map.entry(place(summary, stage), stage.figures()));
      }
    }
    if (summary.stages().size() > 1) {
      rows.add(Map.entry("all", summary.figures()));
    }
    List<Column<Figures>> figures =
        List.of(
            Column.number("ITL p99 ÷ p50, pooled", f -> f.jitter().itlP99OverP50()),
            Column.number("of the median request", f -> f.jitter().perRequestP50()),
            Column.number("ITL std, ms", f -> f.jitter().itlStdMs()),
            Column.percentile("longest stall p50, ms", "p50", f -> f.metric(Metric.STALL_MS)),
            Column.percentile("p99", "p99", f -> f.metric(Metric.STALL_MS)),
            Column.number("gaps over 100 ms per 1,000 tokens", f -> f.jitter().stallsPer1kTokens()),
            Column.number("tokens per event", f -> f.jitter().batchRatio()));
    List<Column<Entry<String, Figures>>> columns =
        new ArrayList<>(List.of(Column.name("Load level", Entry::getKey)));
    figures.forEach(column -> columns.add(column.in(Entry::getValue)));
    return Table.of("Jitter by load level", rows, columns);
  }

  /** The name of a load level. */
  static String place(Summary summary, Stage stage) {
    return summary.place(stage.label(), stage.target(), stage.scenario());
  }
}
