package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.CacheUse;
import io.github.gatlingllm.figures.level.Summary.Curve;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Metric.Unit;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.ServerReport.Timing;
import io.github.gatlingllm.report.Table.Cell;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.Table.Columns;
import io.github.gatlingllm.report.Table.Group;
import io.github.gatlingllm.report.Table.Heading;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Tables with a distribution and its statistics in each row: latencies, lengths and rates. */
final class DistributionTables {

  /** The footnote of uncertain percentiles in text files. */
  static final String LOW_N = "* fewer than 10 values beyond it";

  /** Latencies in text files. */
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
          Metric.E2E_PER_TOKEN_MS,
          Metric.QUEUE_WAIT_MS,
          Metric.STALL_MS,
          Metric.READER_STALL_MS);

  private static final Column<Distribution> VALUES = Column.count("count", Distribution::count);
  private static final Column<Distribution> MEAN = Column.number("mean", Distribution::mean);
  private static final Column<Distribution> MAX = Column.number("max", Distribution::max);

  /** Statistics in text files. */
  private static final List<Column<Distribution>> TEXT =
      List.of(
          VALUES,
          MEAN,
          percentile("p50"),
          percentile("p90"),
          percentile("p95"),
          percentile("p99"),
          MAX);

  private DistributionTables() {}

  private static Column<Distribution> percentile(String name) {
    return Column.percentile(name, name, values -> values);
  }

  /** A percentile with its confidence interval as remark. */
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

  /** All statistics of a latency or length. */
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

  /** All statistics of a rate, whose bad tail is the low one. */
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
    return Columns.<Named>of(Column.of(heading, Named::name))
        .of(Named::values, columns)
        .table(title, rows);
  }

  private static List<Named> times(Figures figures, List<Metric> metrics, String name) {
    return metrics.stream()
        .filter(metric -> metric.isTime() && !figures.metric(metric).isEmpty())
        .map(m -> new Named(Cell.words(name.formatted(m.title())), figures.metric(m)))
        .toList();
  }

  /**
   * The latencies of text files at the operating point, a row per metric that has values; empty
   * with several curves, as each has its own operating point.
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
        TEXT,
        quoted(figures));
  }

  /** The latencies; metrics with equal statistics share a row under all their names. */
  private static List<Named> quoted(Figures figures) {
    Map<List<Cell>, List<Metric>> groups = new LinkedHashMap<>();
    for (Metric metric : QUOTED) {
      Distribution values = figures.metric(metric);
      if (!values.isEmpty() && !isZero(values)) {
        List<Cell> cells = TEXT.stream().map(column -> column.cell().apply(values)).toList();
        groups.computeIfAbsent(cells, c -> new ArrayList<>()).add(metric);
      }
    }
    return groups.values().stream()
        .map(
            same ->
                new Named(
                    Cell.words(
                        same.stream().map(Metric::title).collect(Collectors.joining(", "))
                            + " (ms)"),
                    figures.metric(same.get(0))))
        .toList();
  }

  /** All times of a request, for its page in Gatling's report. */
  static Table times(Figures figures) {
    return distributions(
        "Times", "Lower is better", statistics(), times(figures, Metric.distributions(), "%s, ms"));
  }

  /** All distributions of one set of requests. */
  record Metrics(Table table, Table rates, String missing) {}

  static Metrics metrics(String title, Figures figures) {
    List<Group> groups =
        List.of(
            group("Latency, ms", "lower is better", Unit.MILLIS, statistics(), figures),
            group(
                "Lengths, tokens", "neither better nor worse", Unit.TOKENS, statistics(), figures));
    Group rates =
        group(
            "Rates of single requests, tok/s",
            "higher is better: 90 % of the requests exceed p10",
            Unit.TOKENS_PER_S,
            rateStatistics(),
            figures);
    List<String> notes = new ArrayList<>();
    note("No value in this run: ", metric -> figures.metric(metric).isEmpty(), notes);
    note("Always 0: ", metric -> isZero(figures.metric(metric)), notes);
    return new Metrics(
        new Table(title, "", headings(statistics()), groups),
        new Table(title + ": rates", "", headings(rateStatistics()), List.of(rates)),
        String.join(" ", notes));
  }

  private static void note(String what, Predicate<Metric> which, List<String> notes) {
    List<String> names =
        Metric.distributions().stream()
            .filter(metric -> metric.unit() != Unit.TOKENS_PER_S && which.test(metric))
            .map(Metric::title)
            .toList();
    if (!names.isEmpty()) {
      notes.add(what + String.join(", ", names) + ".");
    }
  }

  private static boolean isZero(Distribution values) {
    Double max = values.max();
    return max != null && max == 0;
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
    List<Named> known = folded(unit, columns, figures);
    Table table = distributions("", "Metric", columns, known);
    return new Group(
        heading, remark, table.groups().stream().flatMap(g -> g.rows().stream()).toList());
  }

  /** Rows of a group; latencies with equal statistics share a row under all their names. */
  private static List<Named> folded(
      Unit unit, List<Column<Distribution>> columns, Figures figures) {
    List<Named> rows = new ArrayList<>();
    List<List<Cell>> shown = new ArrayList<>();
    for (Metric metric : Metric.distributions()) {
      Distribution values = figures.metric(metric);
      if (metric.unit() != unit || values.isEmpty() || (isZero(values) && unit == Unit.MILLIS)) {
        continue;
      }
      List<Cell> cells = columns.stream().map(column -> column.cell().apply(values)).toList();
      int same = unit == Unit.MILLIS ? shown.indexOf(cells) : -1;
      if (same >= 0) {
        Cell name = rows.get(same).name();
        Cell both = Cell.words(name.text() + ", " + metric.title()).remarked(name.remark());
        rows.set(same, new Named(both, rows.get(same).values()));
      } else {
        rows.add(named(metric.title(), metric.formula(), values));
        shown.add(cells);
      }
    }
    return rows;
  }

  private static Named named(String name, String remark, Distribution values) {
    return new Named(Cell.words(name).remarked(remark), values);
  }

  /** TTFT of prompts that the prefix cache mostly held, and of the others. */
  static Table byCache(CacheUse cache) {
    return distributions(
        "TTFT with and without the prefix cache, ms",
        "Prompt, TTFT in ms",
        List.of(VALUES, percentile("p50"), percentile("p95"), percentile("p99")),
        List.of(
            named("Warm", "half or more of the prompt cached", cache.warmTtftMs()),
            named("Cold", "the others", cache.coldTtftMs())));
  }

  /** One timing of a server at one load level. */
  private record ServerRow(LevelFigures level, String key, Distribution values) {

    private @Nullable Double shown(@Nullable Double value) {
      return value == null || !Timing.isTime(key) ? value : (Double) (value * 1e3);
    }
  }

  /** The timings that the server reported, by load level. */
  static Table server(Summary summary) {
    List<ServerRow> rows = new ArrayList<>();
    for (LevelFigures level : summary.stages()) {
      level
          .figures()
          .server()
          .forEach((key, values) -> rows.add(new ServerRow(level, key, values)));
    }
    rows.sort(Comparator.comparing(ServerRow::key));
    return Table.of(
            "Timings that the server reported",
            rows,
            Column.of(
                "Timing",
                row ->
                    Cell.words(Timing.title(row.key) + (Timing.isTime(row.key) ? ", ms" : ""))
                        .remarked(
                            String.join(
                                ", ", summary.serverNames().getOrDefault(row.key, Set.of())))),
            Column.words("at", row -> KeyFigureTables.place(summary, row.level)),
            Column.count("count", row -> row.values.count()),
            Column.number("mean", row -> row.shown(row.values.mean())),
            Column.number("p50", row -> row.shown(row.values.p50())),
            Column.number("p99", row -> row.shown(row.values.p99())),
            Column.number("max", row -> row.shown(row.values.max())))
        .styled("notes");
  }
}
