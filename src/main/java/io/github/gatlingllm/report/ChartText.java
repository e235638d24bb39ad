package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Table.Cell;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.Table.Group;
import io.github.gatlingllm.report.Table.Heading;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The text alternative of a chart: in words, and its data as a table. */
final class ChartText {

  private final Chart chart;

  ChartText(Chart chart) {
    this.chart = chart;
  }

  /** Title, direction, the range of each series, and limits, for screen readers. */
  String inWords() {
    StringBuilder words = new StringBuilder(chart.title());
    if (!chart.caption().direction().isEmpty()) {
      words.append(", ").append(chart.caption().direction());
    }
    for (Line line : chart.series()) {
      List<Double> values =
          line.points().stream().map(Point::y).filter(Objects::nonNull).sorted().toList();
      if (!values.isEmpty()) {
        words
            .append(". ")
            .append(line.name())
            .append(": ")
            .append(NumberText.number(values.get(0)))
            .append(" to ")
            .append(NumberText.with(values.get(values.size() - 1), chart.y().unit()));
      }
      line.pins().forEach(pin -> words.append(". ").append(pin.label()));
    }
    chart.limits().forEach(limit -> words.append(". ").append(limit.label()));
    return words.append('.').toString();
  }

  /** A column per series where they share their values of x, else a row per point. */
  Table table() {
    return chart.x().scale() == Chart.Scale.VALUE ? byPoint() : byX();
  }

  private Table byX() {
    TreeSet<Double> places = new TreeSet<>();
    List<Map<Double, Point>> columns = new ArrayList<>();
    for (Line line : chart.series()) {
      Map<Double, Point> column = new HashMap<>();
      line.points().forEach(point -> column.put(point.x(), point));
      places.addAll(column.keySet());
      columns.add(column);
    }
    List<List<Cell>> rows = new ArrayList<>();
    for (Double x : places) {
      List<Cell> row = new ArrayList<>(List.of(Cell.words(chart.x().write(x))));
      columns.forEach(column -> row.add(valueOf(column.get(x))));
      rows.add(row);
    }
    List<Heading> headings = new ArrayList<>(List.of(new Heading(chart.x().heading(), false)));
    chart.series().forEach(line -> headings.add(new Heading(headingOf(line, chart.y()), false)));
    return new Table(chart.title(), "", headings, List.of(new Group("", "", rows)));
  }

  private static String headingOf(Line line, Axis y) {
    return y.unit().isEmpty() ? line.name() : line.name() + ", " + y.unit();
  }

  /** A point with its line. */
  private record Of(Line line, Point point) {}

  private Table byPoint() {
    List<Of> points =
        chart.series().stream()
            .flatMap(line -> line.points().stream().map(point -> new Of(line, point)))
            .toList();
    return Table.of(
        chart.title(),
        points,
        Column.name(chart.x().heading(), of -> chart.x().write(of.point.x())),
        Column.of(chart.y().heading(), of -> valueOf(of.point)),
        Column.words("Series", of -> of.line.name()),
        Column.words("Point", of -> Objects.requireNonNullElse(of.point.label(), "")));
  }

  private static Cell valueOf(@Nullable Point point) {
    return Cell.number(point == null ? null : point.y());
  }
}
