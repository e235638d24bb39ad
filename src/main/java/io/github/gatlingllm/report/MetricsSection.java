package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Grouping;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.Curve;
import io.github.gatlingllm.figures.level.Summary.RequestAtPoint;
import io.github.gatlingllm.figures.level.Summary.Target;
import io.github.gatlingllm.figures.level.Summary.Turn;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.Distribution.Spread;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Metric.Unit;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.RequestRecord.ServerReport.Timing;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.ShownLevels.When;
import io.github.gatlingllm.report.Table.Cell;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.Table.Columns;
import io.github.gatlingllm.report.Table.Group;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** All metrics as tables; the catalogue {@link Metric} gives the rows. */
record MetricsSection(Summary summary, ShownLevels levels) {

  /** The footnote of uncertain percentiles in text files. */
  static final String LOW_N = "* fewer than 10 values beyond it";

  private static final List<Metric> QUOTED =
      List.of(
          Metric.TTFT_MS,
          Metric.TTFT_FROM_SCHEDULE_MS,
          Metric.TTFO_MS,
          Metric.TTFO_FROM_SCHEDULE_MS,
          Metric.ROUND_TRIP_MS,
          Metric.ITL_MS,
          Metric.TPOT_MS,
          Metric.E2E_MS,
          Metric.E2E_FROM_SCHEDULE_MS,
          Metric.E2E_PER_TOKEN_MS,
          Metric.QUEUE_WAIT_MS,
          Metric.STALL_MS,
          Metric.READER_STALL_MS,
          Metric.SESSION_MS,
          Metric.SESSION_TOOLS_MS,
          Metric.SESSION_SERVER_MS);

  private static final List<Column<Named>> TEXT =
      statistics("count", "mean", "p50", "p90", "p95", "p99", "max");

  private static final List<Column<Named>> ALL =
      statistics(
          "count", "mean", "std", "min", "p50±", "p75", "p90", "p95", "p99±", "p99.9", "max");

  /** All statistics of a rate, whose bad tail is the low one. */
  private static final List<Column<Named>> OF_RATES =
      statistics("count", "mean", "std", "min", "p1", "p5", "p10", "p50±", "p90", "p99±", "max");

  // ---- distributions

  private static List<Column<Named>> statistics(String... names) {
    return Stream.of(names).map(MetricsSection::statistic).toList();
  }

  /** The column of a statistic; {@code ±} stands for its confidence intervals as a remark. */
  private static Column<Named> statistic(String name) {
    return switch (name) {
      case "count" -> Column.count(name, row -> row.values().count());
      case "mean" -> Column.number(name, row -> row.values().mean());
      case "std" -> Column.number(name, row -> row.values().std());
      case "min" -> Column.number(name, row -> row.values().min());
      case "max" -> Column.number(name, row -> row.values().max());
      case "p50±" -> percentile("p50", Distribution::p50Ci95);
      case "p99±" -> percentile("p99", Distribution::p99Ci95);
      default -> Column.percentile(name, name.replace(".", ""), Named::values);
    };
  }

  /** With the interval within the run, then the one between repeats. */
  private static Column<Named> percentile(
      String name, Function<Distribution, @Nullable Interval> interval) {
    return Column.of(
        name,
        row -> {
          Spread spread = row.of.spread(each -> each.metric(row.metric).percentile(name));
          return Cell.percentile(row.values(), name)
              .remarked(
                  Stream.of(
                          text("", interval.apply(row.values())),
                          text("repeats: ", spread == null ? null : spread.interval()))
                      .filter(text -> !text.isEmpty())
                      .collect(Collectors.joining("; ")));
        });
  }

  private static String text(String whose, @Nullable Interval sure) {
    return sure == null || sure.low() == sure.high()
        ? ""
        : whose + NumberText.interval(sure.low(), sure.high());
  }

  /** A metric of some requests. */
  private record Named(Cell name, Metric metric, Figures of) {
    Distribution values() {
      return of.metric(metric);
    }
  }

  private static Table distributions(
      String title, String heading, List<Column<Named>> columns, List<Named> rows) {
    return Columns.<Named>of(Column.of(heading, Named::name)).and(columns).table(title, rows);
  }

  /** A row per metric with values; equal times share a row, times that are always 0 have none. */
  private static List<Named> rows(
      Stream<Metric> metrics, String unit, List<Column<Named>> columns, Figures figures) {
    Map<Object, List<Metric>> rows = new LinkedHashMap<>();
    metrics.forEach(
        metric -> {
          Distribution values = figures.metric(metric);
          if (!values.isEmpty() && !(metric.isTime() && isZero(values))) {
            Object key =
                metric.isTime()
                    ? columns.stream()
                        .map(c -> c.cell().apply(new Named(Cell.words(""), metric, figures)))
                        .toList()
                    : metric;
            rows.computeIfAbsent(key, k -> new ArrayList<>()).add(metric);
          }
        });
    return rows.values().stream()
        .map(
            same ->
                new Named(
                    Cell.words(
                            same.stream().map(Metric::title).collect(Collectors.joining(", "))
                                + unit)
                        .remarked(same.get(0).formula()),
                    same.get(0),
                    figures))
        .toList();
  }

  private static boolean isZero(Distribution values) {
    Double max = values.max();
    return max != null && max == 0;
  }

  /** The latencies of text files at the operating point; empty with several curves. */
  static Table latencies(Summary summary) {
    List<Curve> curves = summary.curves();
    if (curves.size() > 1) {
      return distributions("Latencies", "latency", TEXT, List.of());
    }
    Figures figures =
        curves.isEmpty() ? summary.figures() : summary.operatingLevel(curves.get(0)).figures();
    return distributions(
        "Latencies",
        summary.hasSeveralLevels()
            ? "latency at " + curves.get(0).operatingPoint().stage()
            : "latency",
        TEXT,
        rows(QUOTED.stream(), " (ms)", TEXT, figures));
  }

  static Table times(Figures figures) {
    return distributions(
        "Times",
        "Lower is better",
        ALL,
        Metric.distributions().stream()
            .filter(metric -> metric.isTime() && !figures.metric(metric).isEmpty())
            .map(m -> new Named(Cell.words(m.title() + ", ms"), m, figures))
            .toList());
  }

  private static Whole whole(String title, String id, When when, Figures figures) {
    Group times = group("Latency, ms", "lower is better", Unit.MILLIS, ALL, figures);
    Group lengths = group("Lengths, tokens", "neither better nor worse", Unit.TOKENS, ALL, figures);
    Group rates =
        group(
            "Rates of single requests, tok/s",
            "higher is better: 90 % of the requests exceed p10",
            Unit.TOKENS_PER_S,
            OF_RATES,
            figures);
    String missing =
        note("No value in this run: ", metric -> figures.metric(metric).isEmpty())
            + note("Always 0: ", metric -> isZero(figures.metric(metric)));
    return new Whole(
        title,
        id,
        when,
        distributions(title, "Metric", ALL, List.of()).grouped(List.of(times, lengths)),
        distributions(title + ": rates", "Metric", OF_RATES, List.of()).grouped(List.of(rates)),
        missing.strip(),
        system(figures));
  }

  private static Group group(
      String heading, String remark, Unit unit, List<Column<Named>> columns, Figures figures) {
    Stream<Metric> metrics = Metric.distributions().stream().filter(m -> m.unit() == unit);
    Table table = distributions("", "", columns, rows(metrics, "", columns, figures));
    return new Group(heading, remark, table.rows().toList());
  }

  private static String note(String what, Predicate<Metric> which) {
    String names =
        Metric.distributions().stream()
            .filter(metric -> metric.unit() != Unit.TOKENS_PER_S && which.test(metric))
            .map(Metric::title)
            .collect(Collectors.joining(", "));
    return names.isEmpty() ? "" : what + names + ". ";
  }

  private record ServerRow(LevelFigures level, String key, Distribution values) {

    private @Nullable Double shown(@Nullable Double value) {
      return value == null || !Timing.isTime(key) ? value : (Double) (value * 1e3);
    }

    private String name() {
      return Timing.title(key) + (Timing.isTime(key) ? ", ms" : "");
    }
  }

  /** The timings that the server reported, by load level. */
  static Table server(Summary summary) {
    List<ServerRow> rows = new ArrayList<>();
    for (LevelFigures level : summary.stages()) {
      level.figures().server().forEach((key, of) -> rows.add(new ServerRow(level, key, of)));
    }
    rows.sort(Comparator.comparing(ServerRow::key));
    Map<String, Set<String>> names = summary.serverNames();
    return Table.of(
            "Timings that the server reported",
            rows,
            Column.of(
                "Timing",
                row ->
                    Cell.words(row.name())
                        .remarked(String.join(", ", names.getOrDefault(row.key, Set.of())))),
            Column.words("at", row -> summary.place(row.level.info())),
            Column.count("count", row -> row.values.count()),
            Column.number("mean", row -> row.shown(row.values.mean())),
            Column.number("p50", row -> row.shown(row.values.p50())),
            Column.number("p99", row -> row.shown(row.values.p99())),
            Column.number("max", row -> row.shown(row.values.max())))
        .styled("notes");
  }

  // ---- single numbers

  /** Figures of the system as a whole: a row for each metric of the catalogue with a number. */
  private static Table system(Figures figures) {
    List<Metric> metrics =
        Stream.of(Metric.values())
            .filter(m -> m != Metric.GOODPUT_MAX_REQUESTS_PER_S && figures.number(m) != null)
            .toList();
    return Table.of(
            "Jitter, throughput and goodput",
            Templates.rows("numbers", 4, Map.of("figures", figures, "metrics", metrics)),
            Column.of("Figure", row -> Cell.words(row.get(0)).remarked(row.get(3))),
            Column.figure("value", row -> row.get(1)),
            Column.figure("better", row -> row.get(2)))
        .styled("compact");
  }

  // ---- the section

  /** All metrics of some requests, below the table of key figures of {@link Part}. */
  private record Whole(
      String title, String id, When when, Table table, Table rates, String missing, Table system) {}

  /** Several sets of requests: a table of key figures, and all metrics of each set, folded. */
  private record Part(String heading, String note, Table table, List<Whole> details) {}

  Section section() {
    List<Whole> wholes = new ArrayList<>();
    List<Whole> pools = new ArrayList<>();
    for (ShownLevels.Level level : levels.all()) {
      String title = level.title().isEmpty() ? "All metrics" : level.title();
      Figures figures = level.stage().figures();
      wholes.add(whole(title, "level" + level.suffix(), levels.when(level), figures));
    }
    if (wholes.isEmpty()) {
      wholes.add(whole("All metrics", "level", When.ALWAYS, summary.figures()));
    }
    if (summary.hasSeveralLevels()) {
      String all = RunText.pooled(summary).replace(".", "");
      pools.add(whole(all, "pooled", When.ALWAYS, summary.figures()));
    }
    List<Part> parts = parts().filter(part -> !part.table.isEmpty()).toList();
    List<String> anchors =
        hasParts()
            ? List.of()
            : summary.requestsAtPoints().stream()
                .map(request -> KeyFigureTables.anchor(summary, request))
                .toList();
    return Section.of("metrics")
        .body(
            "metrics",
            Map.of("wholes", wholes, "pooled", pools, "parts", parts, "anchors", anchors));
  }

  /** Whether requests have several names; the figures of a single one are those of the level. */
  private boolean hasParts() {
    return summary.requestsAtPoints().size() > 1;
  }

  private Stream<Part> parts() {
    boolean isPooled = summary.stages().size() > summary.targets().size();
    List<Target> targets = summary.hasSeveralTargets() ? summary.targets() : List.of();
    List<RequestAtPoint> requests = hasParts() ? summary.requestsAtPoints() : List.of();
    List<Turn> turns = summary.workload().byTurn();
    Stream<Part> dimensions =
        Grouping.parts().stream()
            .map(by -> new Part("By " + by.key(), "", KeyFigureTables.by(summary, by), List.of()));
    Stream<Part> others =
        Stream.of(
            new Part("Trials", "", KeyFigureTables.trials(summary, Integer.MAX_VALUE), List.of()),
            new Part(
                "By target",
                isPooled ? "All load levels of a target pooled." : "",
                KeyFigureTables.byTarget(summary, targets),
                targets.stream().map(t -> detail(t.label(), "", t.figures())).toList()),
            new Part(
                "By request name",
                "",
                KeyFigureTables.byName(summary, "", requests),
                requests.stream().map(this::detail).toList()),
            new Part(
                "By turn of the conversation",
                RunText.pooled(summary),
                byTurn(turns.size() > 1 ? turns : List.of()),
                List.of()));
    return Stream.concat(others, dimensions);
  }

  private Whole detail(RequestAtPoint request) {
    String at = KeyFigureTables.at(summary, request);
    return detail(
        request.name() + (at.isEmpty() ? "" : " (" + at + ")"),
        KeyFigureTables.anchor(summary, request),
        request.figures());
  }

  private static Whole detail(String name, String id, Figures figures) {
    return whole("All metrics of " + name, id, When.ALWAYS, figures);
  }

  private static Table byTurn(List<Turn> turns) {
    return Table.of(
        "Key figures by turn of the conversation",
        turns,
        Column.name("Turn", turn -> Integer.toString(turn.turn())),
        Column.count("requests", Turn::requests),
        Column.number("prompt tokens, mean", Turn::meanPromptTokens),
        Column.percent("from prefix cache", Turn::cachedShare),
        Column.percentile("TTFT p50, ms", "p50", Turn::ttftMs),
        Column.percentile("TTFT p95", "p95", Turn::ttftMs),
        Column.percentile("TTFT p99", "p99", Turn::ttftMs),
        Column.percentile("E2E p50, ms", "p50", Turn::e2eMs),
        Column.percentile("E2E p95", "p95", Turn::e2eMs));
  }
}
