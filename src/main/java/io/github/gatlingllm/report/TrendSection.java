package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.compare.Comparison.Change;
import io.github.gatlingllm.figures.compare.Comparison.Step;
import io.github.gatlingllm.figures.compare.Comparison.TrendSeries;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.RunText.NamedText;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.Table.TableCell;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Figures run by run, a line for each series; of a trend also as tables and as {@code trend.json}.
 */
record TrendSection(Map<TrendSeries, List<Step>> series, boolean isTrend) {

  /** Figures that are shown whether or not they changed. */
  private static final Set<String> KEY_FIGURES =
      Set.of(
          """
          ttft.p50 ttft.p99 itl.p99 tpot.p50 e2e.p50 output_tokens_per_s requests_per_s
          goodput.percent errors.percent
          """
              .split("\\s+"));

  private static final List<Figure> SHOWN =
      Figure.compared().stream().filter(TrendSection::isKey).toList();

  private static final int MAX_NAMED = 3;

  static boolean isKey(Figure figure) {
    return KEY_FIGURES.contains(figure.name());
  }

  Section section() {
    List<Chart> charts = SHOWN.stream().map(this::chart).toList();
    return isTrend
        ? Section.of("trend")
            .body(Templates.fill("compare-rule", Map.of()), tables())
            .charts(charts)
        : Section.of("trend of compared").charts(charts);
  }

  /** The page of a trend. */
  Page page() {
    List<NamedText> facts =
        List.of(
            new NamedText("Runs", NumberText.count(places().size())),
            new NamedText("Series", NumberText.count(series.size())));
    Map<String, Object> own = Map.of("heading", "Trend over runs", "facts", facts);
    return new Page("compare", "LLM trend", "LLM trend", own, List.of(section()));
  }

  private List<Step> steps() {
    return series.values().stream().flatMap(List::stream).toList();
  }

  private List<Table> tables() {
    List<Table> tables = new ArrayList<>();
    series.forEach(
        (of, steps) -> {
          String name = name(of);
          List<Column<Step>> columns = new ArrayList<>();
          columns.add(Column.name("Run", Step::run));
          columns.add(Column.figure("Start, UTC", TrendSection::start));
          columns.add(
              Column.<Step>words("Engine", step -> NumberText.orAbsent(step.engineVersion()))
                  .ifKnown());
          columns.add(Column.words("At", Step::level));
          SHOWN.forEach(
              figure ->
                  columns.add(Column.<Step>of(figure.name(), s -> cell(s, figure)).ifKnown()));
          tables.add(Table.of(name, steps, columns, step -> name));
        });
    return tables;
  }

  private static TableCell cell(Step step, Figure figure) {
    Change change = step.clear(figure);
    TableCell value = ChangeText.cell(figure, step);
    return change == null ? value : value.remarked(ChangeText.words(change));
  }

  private static String start(Step step) {
    String instant =
        Instant.ofEpochSecond(step.summary().run().startUnixNs() / 1_000_000_000).toString();
    return instant.substring(0, "2026-11-26T22:45".length()).replace('T', ' ');
  }

  /** A series by what distinguishes it from the others: model, curve, and settings that differ. */
  private String name(TrendSeries of) {
    List<String> words = new ArrayList<>();
    words.add(isTrend && of.model().isEmpty() ? "no model" : of.model());
    words.add(of.curve());
    words.add(differs(TrendSeries::load) ? of.load() : "");
    Set<String> settings = new TreeSet<>();
    series.keySet().forEach(each -> settings.addAll(each.settings().keySet()));
    settings.removeIf(setting -> !differs(each -> each.settings().get(setting)));
    settings.forEach(
        setting -> words.add(setting + "=" + NumberText.orAbsent(of.settings().get(setting))));
    return words.stream().filter(word -> !word.isEmpty()).collect(Collectors.joining(", "));
  }

  private boolean differs(Function<TrendSeries, @Nullable String> part) {
    return series.keySet().stream().map(part).distinct().count() > 1;
  }

  /** The runs in order, as the charts name them. */
  private List<String> places() {
    Map<Integer, String> places = new TreeMap<>();
    steps().forEach(step -> places.put(step.position(), isTrend ? start(step) : step.run()));
    return List.copyOf(places.values());
  }

  /** A line per series over all runs; rings mark what differs beyond chance. */
  private Chart chart(Figure figure) {
    List<Line> lines = new ArrayList<>();
    series.forEach(
        (of, steps) -> {
          int n = lines.size();
          List<Point> pins = new ArrayList<>();
          List<Point> points = Point.of(steps, Step::position, step -> figure.of(step.figures()));
          for (Step step : steps) {
            Double y = figure.of(step.figures());
            Change change = step.clear(figure);
            if (y != null && change != null) {
              pins.add(new Point(step.position(), y, mark(step) + words(change)));
            }
          }
          lines.add(Line.of(name(of), n, n, points).pinned(pins));
        });
    boolean isLower = figure.metric().better() == Metric.Better.LOWER;
    return Chart.of(
            isTrend ? "trend" : "trend of compared",
            Axis.places(isTrend ? "Start of the run, UTC" : "Run", "", places()),
            lines,
            figure.name(),
            figure.unit().sign(),
            isLower ? "↓ lower is better" : "↑ higher is better")
        .id("trend-" + figure.name().replaceAll("[^a-z0-9]+", "-"));
  }

  /** A line for each run that differs beyond chance. */
  List<String> marks() {
    return steps().stream()
        .filter(step -> !step.clear().isEmpty())
        .map(
            step ->
                step.clear().stream()
                    .limit(MAX_NAMED)
                    .map(TrendSection::words)
                    .collect(Collectors.joining("; ", mark(step), "")))
        .toList();
  }

  private static String mark(Step step) {
    String engine = step.engineVersion() == null ? "" : " (" + step.engineVersion() + ")";
    return "%s%s, since %s: ".formatted(step.run(), engine, step.base());
  }

  private static String words(Change change) {
    return change.figure().name() + " " + ChangeText.words(change);
  }

  String json() {
    List<Map<String, Object>> all = new ArrayList<>();
    series.forEach(
        (of, steps) ->
            all.add(
                row(
                    "model", of.model(),
                    "curve", of.curve(),
                    "load", of.load(),
                    "settings", of.settings(),
                    "runs", steps.stream().map(TrendSection::json).toList())));
    return SummaryText.json(Map.of("series", all));
  }

  private static Map<String, @Nullable Object> json(Step step) {
    Map<String, Object> figures = new LinkedHashMap<>();
    for (Figure figure : Figure.compared()) {
      Double value = figure.of(step.figures());
      Change change = step.change(figure);
      if (value != null) {
        figures.put(
            figure.name(),
            row(
                "value", value,
                "change_percent", change == null ? null : change.percent(),
                "interval", change == null ? null : change.interval(),
                "outcome", change == null ? null : change.outcome().words()));
      }
    }
    return row(
        "run", step.run(),
        "start_unix_ns", step.summary().run().startUnixNs(),
        "engine_version", step.engineVersion(),
        "operating_point", step.level(),
        "compared_with", step.base(),
        "differs", !step.clear().isEmpty(),
        "figures", figures);
  }

  private static Map<String, @Nullable Object> row(@Nullable Object... namesAndValues) {
    Map<String, @Nullable Object> row = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      row.put(String.valueOf(namesAndValues[i]), namesAndValues[i + 1]);
    }
    return row;
  }
}
