package io.github.gatlingllm.report;

import io.github.gatlingllm.report.Chart.Form;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A line of a chart over time, as {@code charts.txt} writes it below the chart. */
record ChartLine(
    String name, int color, int dash, Form form, ColumnValue value, double factor, boolean isRare) {

  private static final Pattern TEXT =
      Pattern.compile("(.+) (\\d) (\\d)(?: as (\\w+))? = (\\S+)(?: × (\\S+))?( \\?)?");

  static List<ChartLine> of(String chart, Class<?> point) {
    return Templates.below("charts.txt", chart).map(text -> parsed(text, point)).toList();
  }

  /** The lines of a chart through some points, {@code scale} times as high. */
  static <T> List<Line> all(
      String chart, Class<T> point, List<T> points, ToDoubleFunction<T> x, double scale) {
    return of(chart, point).stream()
        .filter(line -> line.isIn(points))
        .map(line -> line.through(points, x, scale))
        .toList();
  }

  private static ChartLine parsed(String text, Class<?> point) {
    Matcher of = TEXT.matcher(text);
    if (!of.matches()) {
      throw new IllegalArgumentException("expected name, colour, dash = value but got: " + text);
    }
    return new ChartLine(
        of.group(1),
        Integer.parseInt(of.group(2)),
        Integer.parseInt(of.group(3)),
        of.group(4) == null ? Form.LINE : Form.valueOf(of.group(4).toUpperCase(Locale.ROOT)),
        ColumnValue.of(of.group(5), point),
        of.group(6) == null ? 1 : Double.parseDouble(of.group(6)),
        of.group(7) != null);
  }

  <T> Line through(List<T> points, ToDoubleFunction<T> x, double scale) {
    List<Point> drawn =
        Point.of(points, x, point -> Point.scaled(value.number(point), factor * scale));
    return Line.of(name, color, dash, drawn).as(form);
  }

  boolean isIn(List<?> points) {
    return !isRare || points.stream().map(value::number).anyMatch(of -> of != null && of > 0);
  }
}
