package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.LoadCurve;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.Distribution.Spread;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Metric.Unit;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.report.Page.PagePart;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.Table.Group;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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

  /** A metric of some requests, or several with the same values. */
  record Measured(String name, Metric metric, Figures of) {

    Distribution values() {
      return of.metric(metric);
    }

    String formula() {
      return metric.formula();
    }

    String around50() {
      return around("p50", values().p50Ci95());
    }

    String around99() {
      return around("p99", values().p99Ci95());
    }

    /** The interval within the run, then the one between repeats. */
    private String around(String name, @Nullable Interval interval) {
      Spread spread = of.spread(each -> each.metric(metric).percentile(name));
      return Stream.of(
              text("", interval), text("repeats: ", spread == null ? null : spread.interval()))
          .filter(text -> !text.isEmpty())
          .collect(Collectors.joining("; "));
    }

    private static String text(String whose, @Nullable Interval sure) {
      return sure == null || sure.low() == sure.high()
          ? ""
          : whose + NumberText.interval(sure.low(), sure.high());
    }
  }

  private static Row row(Summary summary, String name, Metric metric, Figures figures) {
    return Row.of(summary, name, new Measured(name, metric, figures));
  }

  /**
   * A row per metric with values; equal times share a row, times that are always 0 have none.
   *
   * @param table has the columns in which times are equal
   */
  private static List<Row> rows(
      Summary summary, Stream<Metric> metrics, String unit, String table, Figures figures) {
    Tables tables = Tables.of(summary);
    Map<Object, List<Metric>> rows = new LinkedHashMap<>();
    metrics
        .filter(metric -> !figures.metric(metric).isEmpty())
        .filter(metric -> !(metric.isTime() && isZero(figures.metric(metric))))
        .forEach(
            metric -> {
              Row alone = row(summary, "", metric, figures);
              Object key = metric.isTime() ? tables.table(table, List.of(alone)).figures() : metric;
              rows.computeIfAbsent(key, k -> new ArrayList<>()).add(metric);
            });
    return rows.values().stream()
        .map(
            same ->
                row(
                    summary,
                    same.stream().map(Metric::title).collect(Collectors.joining(", ")) + unit,
                    same.get(0),
                    figures))
        .toList();
  }

  private static boolean isZero(Distribution values) {
    Double max = values.max();
    return max != null && max == 0;
  }

  /** The latencies of text files at the operating point; none with several curves. */
  static Stream<Row> latencies(Summary summary) {
    List<LoadCurve> curves = summary.curves();
    if (curves.size() > 1) {
      return Stream.of();
    }
    Figures figures =
        curves.isEmpty() ? summary.figures() : curves.get(0).operatingLevel().figures();
    return rows(summary, QUOTED.stream(), " (ms)", "Latencies", figures).stream();
  }

  /** Where {@link #latencies} were measured; empty in a run with one level. */
  static String at(Summary summary) {
    List<LoadCurve> curves = summary.curves();
    return curves.size() == 1 && summary.hasSeveralLevels()
        ? " at " + curves.get(0).operatingPoint().stage()
        : "";
  }

  static Table times(Summary summary, Figures figures) {
    return Tables.of(summary)
        .table(
            "Times",
            Metric.distributions().stream()
                .filter(metric -> metric.isTime() && !figures.metric(metric).isEmpty())
                .map(metric -> row(summary, metric.title() + ", ms", metric, figures))
                .toList());
  }

  private AllMetrics allMetrics(String title, String id, Figures figures) {
    Tables tables = Tables.of(summary);
    Group times = group("Latency, ms", "lower is better", Unit.MILLIS, "Metrics", figures);
    Group lengths =
        group("Lengths, tokens", "neither better nor worse", Unit.TOKENS, "Metrics", figures);
    Group rates =
        group(
            "Rates of single requests, tok/s",
            "higher is better: 90 % of the requests exceed p10",
            Unit.TOKENS_PER_S,
            "Rates",
            figures);
    String missing =
        note("No value in this run: ", metric -> figures.metric(metric).isEmpty())
            + note("Always 0: ", metric -> isZero(figures.metric(metric)));
    return new AllMetrics(
        id,
        tables.table("Metrics", List.of()).grouped(title, List.of(times, lengths)),
        tables.table("Rates", List.of()).grouped(title + ": rates", List.of(rates)),
        missing.strip(),
        tables.table("Single numbers", singleNumbers(figures)));
  }

  private Group group(String heading, String remark, Unit unit, String table, Figures figures) {
    Stream<Metric> metrics = Metric.distributions().stream().filter(m -> m.unit() == unit);
    List<Row> rows = rows(summary, metrics, "", table, figures);
    return new Group(heading, remark, Tables.of(summary).table(table, rows).rows().toList());
  }

  private static String note(String what, Predicate<Metric> which) {
    String names =
        Metric.distributions().stream()
            .filter(metric -> metric.unit() != Unit.TOKENS_PER_S && which.test(metric))
            .map(Metric::title)
            .collect(Collectors.joining(", "));
    return names.isEmpty() ? "" : what + names + ". ";
  }

  /** Figures of the entire system: a row for each metric of the catalogue with a number. */
  private List<Row> singleNumbers(Figures figures) {
    List<Metric> metrics =
        Stream.of(Metric.values())
            .filter(m -> m != Metric.GOODPUT_MAX_REQUESTS_PER_S && figures.number(m) != null)
            .toList();
    return RunText.rows("numbers", Map.of("figures", figures, "metrics", metrics)).stream()
        .map(number -> Row.of(summary, "", number))
        .toList();
  }

  /** All metrics of some requests. */
  private record AllMetrics(String id, Table table, Table rates, String missing, Table system) {}

  /** Several sets of requests: a table of key figures, and all metrics of each set, folded. */
  private record KeyFigures(
      String heading, String note, Table table, List<PagePart<AllMetrics>> details) {}

  Section section() {
    String all = "All metrics";
    List<PagePart<AllMetrics>> sets =
        levels.parts(
            true,
            level -> {
              String title = level.title().isEmpty() ? all : level.title();
              return allMetrics(title, "level" + level.suffix(), level.stage().figures());
            });
    if (sets.isEmpty()) {
      sets.add(PagePart.always(all, allMetrics(all, "level", summary.figures())));
    }
    List<PagePart<AllMetrics>> pools = new ArrayList<>();
    if (summary.hasSeveralLevels()) {
      String pooled = RunText.pooled(summary).replace(".", "");
      pools.add(PagePart.always(pooled, allMetrics(pooled, "pooled", summary.figures())));
    }
    List<String> anchors =
        hasParts()
            ? List.of()
            : summary.requestsAtPoints().stream()
                .map(request -> Row.of(summary, request).anchor())
                .toList();
    return Section.of("metrics")
        .body(
            "metrics",
            Map.of("sets", sets, "pooled", pools, "parts", keyFigures(), "anchors", anchors));
  }

  /** Whether requests have several names; the figures of a single one are those of the level. */
  private boolean hasParts() {
    return summary.requestsAtPoints().size() > 1;
  }

  private List<KeyFigures> keyFigures() {
    List<KeyFigures> all = new ArrayList<>();
    for (Tables.Layout layout : Tables.layoutsAt("metrics").toList()) {
      RowKind kind = layout.rows();
      List<Row> rows =
          kind == RowKind.REQUESTS && !hasParts() ? List.of() : layout.all(summary, "metrics");
      Table table = layout.table(Tables.of(summary), rows);
      if (!table.isEmpty()) {
        boolean isDetailed = kind == RowKind.TARGETS || kind == RowKind.REQUESTS;
        List<PagePart<AllMetrics>> details =
            isDetailed ? rows.stream().map(this::detail).toList() : List.of();
        all.add(new KeyFigures(layout.key(), note(kind), table, details));
      }
    }
    return all;
  }

  /** What the figures of such rows pool. */
  private String note(RowKind rows) {
    boolean isPooled = summary.stages().size() > summary.targets().size();
    return rows == RowKind.TURNS
        ? RunText.pooled(summary)
        : rows == RowKind.TARGETS && isPooled ? "All load levels of a target pooled." : "";
  }

  private PagePart<AllMetrics> detail(Row row) {
    String at = row.point();
    String title = "All metrics of " + row.name() + (at.isEmpty() ? "" : " (" + at + ")");
    return PagePart.always(
        title, allMetrics(title, row.anchor(), Objects.requireNonNull(row.figures())));
  }
}
