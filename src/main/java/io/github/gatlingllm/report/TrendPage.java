package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.compare.Comparison.Change;
import io.github.gatlingllm.figures.compare.Comparison.Outcome;
import io.github.gatlingllm.figures.compare.Comparison.Trend;
import io.github.gatlingllm.figures.compare.Comparison.Trend.Series;
import io.github.gatlingllm.figures.compare.Comparison.Trend.Step;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Pin;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.RunText.Fact;
import io.github.gatlingllm.report.Table.Cell;
import io.github.gatlingllm.report.Table.CellKind;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.Table.Columns;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Many runs over time as {@code trend.html} and {@code trend.json}. */
record TrendPage(Trend trend) {

  /** The figures of the page; the JSON has all that are compared. */
  private static final List<Figure> SHOWN =
      Figure.compared().stream()
          .filter(figure -> ComparePage.KEY_FIGURES.contains(figure.name()))
          .toList();

  private static final int MAX_NAMED = 3;

  // ---- page

  void write(Path file) throws IOException {
    long runs = steps().stream().map(Step::run).distinct().count();
    List<Fact> facts =
        List.of(
            new Fact("Runs", NumberText.count(runs)),
            new Fact("Series", NumberText.count(trend.series().size())));
    new Page(
            "trend",
            "LLM trend",
            "LLM trend",
            Map.of("facts", facts),
            List.of(
                Section.of("trend")
                    .body("trend-series", Map.of("tables", tables()))
                    .charts(SHOWN.stream().map(this::chart).toList())))
        .write(file);
  }

  private List<Step> steps() {
    return trend.series().values().stream().flatMap(List::stream).toList();
  }

  private List<Table> tables() {
    List<Table> tables = new ArrayList<>();
    trend
        .series()
        .forEach(
            (series, steps) -> {
              Columns<Step> columns =
                  Columns.of(
                      Column.name("Run", Step::run),
                      Column.figure("Start, UTC", step -> start(step)),
                      Column.<Step>words(
                              "Engine", step -> NumberText.orAbsent(step.engineVersion()))
                          .ifKnown(),
                      Column.words("At", Step::level));
              SHOWN.forEach(
                  figure ->
                      columns.and(Column.<Step>of(figure.name(), s -> cell(s, figure)).ifKnown()));
              tables.add(columns.table(name(series), steps, step -> name(series)));
            });
    return tables;
  }

  private static Cell cell(Step step, Figure figure) {
    String value = NumberText.with(figure.of(step.figures()), figure.unit().sign());
    Change change = step.change(figure).orElse(null);
    if (change == null || !change.outcome().isClear()) {
      return Cell.figure(value);
    }
    boolean isWorse = change.outcome() == Outcome.WORSE;
    return new Cell(
        value,
        isWorse ? CellKind.WORSE : CellKind.BETTER,
        ChangeText.outcome(change.outcome()) + " " + ChangeText.by(change),
        "");
  }

  private static String start(Step step) {
    String instant = Instant.ofEpochSecond(step.startUnixNs() / 1_000_000_000).toString();
    return instant.substring(0, "2026-11-26T22:45".length()).replace('T', ' ');
  }

  /** The series by what tells it from the others: model, curve, and settings that differ. */
  private String name(Series series) {
    List<String> words = new ArrayList<>();
    words.add(series.model().isEmpty() ? "no model" : series.model());
    words.add(series.name());
    words.add(differs(Series::load) ? series.load() : "");
    TreeSet<String> names = new TreeSet<>();
    trend.series().keySet().forEach(each -> names.addAll(each.settings().keySet()));
    for (String setting : names) {
      if (differs(each -> each.settings().get(setting))) {
        words.add(setting + "=" + NumberText.orAbsent(series.settings().get(setting)));
      }
    }
    return words.stream().filter(word -> !word.isEmpty()).collect(Collectors.joining(", "));
  }

  private boolean differs(Function<Series, @Nullable String> part) {
    return trend.series().keySet().stream()
            .map(series -> String.valueOf(part.apply(series)))
            .distinct()
            .count()
        > 1;
  }

  /** A line per series over all runs in order of time; rings mark what differs beyond chance. */
  private Chart chart(Figure figure) {
    Map<Long, String> places = new TreeMap<>();
    steps().forEach(step -> places.put(step.startUnixNs(), start(step)));
    List<Long> starts = List.copyOf(places.keySet());
    List<Line> lines = new ArrayList<>();
    trend
        .series()
        .forEach(
            (series, steps) -> {
              int n = lines.size();
              List<Pin> pins = new ArrayList<>();
              List<Point> points = new ArrayList<>();
              for (Step step : steps) {
                int x = starts.indexOf(step.startUnixNs());
                Double y = figure.of(step.figures());
                points.add(new Point(x, y));
                Change change = step.change(figure).orElse(null);
                if (y != null && change != null && change.outcome().isClear()) {
                  pins.add(new Pin(x, y, mark(step) + change(change)));
                }
              }
              lines.add(Line.of(name(series), n, n, points).pinned(pins));
            });
    Axis x = Axis.places("Start of the run, UTC", "", List.copyOf(places.values()));
    String unit = figure.unit().sign();
    boolean isLower = figure.metric().better() == Metric.Better.LOWER;
    String better = isLower ? "↓ lower is better" : "↑ higher is better";
    return Chart.of("trend", x, lines, figure.name(), unit, better)
        .id("trend-" + figure.name().replaceAll("[^a-z0-9]+", "-"));
  }

  List<String> marks() {
    return steps().stream()
        .filter(Step::isMarked)
        .map(
            step ->
                step.changes().stream()
                    .filter(change -> change.outcome().isClear())
                    .limit(MAX_NAMED)
                    .map(TrendPage::change)
                    .collect(Collectors.joining("; ", mark(step), "")))
        .toList();
  }

  private static String mark(Step step) {
    String engine = step.engineVersion() == null ? "" : " (" + step.engineVersion() + ")";
    return "%s%s, since %s: ".formatted(step.run(), engine, step.base());
  }

  private static String change(Change change) {
    return "%s %s %s"
        .formatted(
            change.figure().name(), ChangeText.outcome(change.outcome()), ChangeText.by(change));
  }

  // ---- JSON

  String json() {
    List<Map<String, Object>> all = new ArrayList<>();
    trend
        .series()
        .forEach(
            (series, steps) -> {
              Map<String, Object> one = new LinkedHashMap<>();
              one.put("model", series.model());
              one.put("curve", series.name());
              one.put("load", series.load());
              one.put("settings", new TreeMap<>(series.settings()));
              one.put("runs", steps.stream().map(TrendPage::json).toList());
              all.add(one);
            });
    return SummaryJson.text(Map.of("series", all));
  }

  private static Map<String, Object> json(Step step) {
    Map<String, Object> run = new LinkedHashMap<>();
    run.put("run", step.run());
    run.put("start_unix_ns", step.startUnixNs());
    run.put("engine_version", step.engineVersion());
    run.put("operating_point", step.level());
    run.put("compared_with", step.base());
    run.put("differs", step.isMarked());
    Map<String, Object> figures = new LinkedHashMap<>();
    for (Figure figure : Figure.compared()) {
      Double value = figure.of(step.figures());
      if (value != null) {
        Map<String, Object> of = new LinkedHashMap<>();
        Change change = step.change(figure).orElse(null);
        of.put("value", value);
        of.put("change_percent", change == null ? null : change.percent());
        of.put("interval", change == null ? null : change.interval());
        of.put("outcome", change == null ? null : change.outcome().words());
        figures.put(figure.name(), of);
      }
    }
    run.put("figures", figures);
    return run;
  }
}
