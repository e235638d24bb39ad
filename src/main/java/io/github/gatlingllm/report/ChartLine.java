package io.github.gatlingllm.report;

import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.LineForm;
import io.github.gatlingllm.report.Chart.Point;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A line of a chart, as {@code charts.txt} writes it below the chart. */
record ChartLine(
    String name,
    int color,
    int dash,
    LineForm form,
    ColumnValue value,
    double factor,
    boolean isRare) {

  private static final Pattern TEXT =
      Pattern.compile("(.+) (\\d) (\\d)(?: as (\\w+))? = (\\S+)(?: × (\\S+))?( \\?)?");

  static List<ChartLine> of(String chart, Class<?> own) {
    return Templates.below("charts.txt", chart).map(text -> parsed(text, own)).toList();
  }

  /** The lines of a chart over time, {@code scale} times as high. */
  static <T> List<Line> overTime(String chart, Class<T> type, List<T> points, double scale) {
    return of(chart, type).stream()
        .filter(line -> !line.isRare || points.stream().map(Row::of).anyMatch(line::isPositive))
        .map(line -> line.overTime(type, points, scale))
        .toList();
  }

  <T> Line overTime(Class<T> type, List<T> points, double scale) {
    ColumnValue startS = ColumnValue.of("startS", type);
    return through(points.stream().map(Row::of).toList(), startS::number, scale);
  }

  private static ChartLine parsed(String text, Class<?> own) {
    Matcher of = TEXT.matcher(text);
    if (!of.matches()) {
      throw new IllegalArgumentException("expected name, colour, dash = value but got: " + text);
    }
    return new ChartLine(
        of.group(1),
        Integer.parseInt(of.group(2)),
        Integer.parseInt(of.group(3)),
        of.group(4) == null
            ? LineForm.LINE
            : LineForm.valueOf(of.group(4).toUpperCase(Locale.ROOT)),
        ColumnValue.of(of.group(5), own),
        of.group(6) == null ? 1 : Double.parseDouble(of.group(6)),
        of.group(7) != null);
  }

  Line through(List<Row> rows, ToDoubleFunction<Row> x, double scale) {
    List<Point> points =
        rows.stream()
            .map(
                row ->
                    new Point(
                        x.applyAsDouble(row), Point.scaled(value.number(row), factor * scale)))
            .toList();
    return Line.of(name, color, dash, points).as(form);
  }

  private boolean isPositive(Row row) {
    Double number = value.number(row);
    return number != null && number > 0;
  }
}
