package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Form;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** A chart on the page: caption, the place it is drawn in, and its data as a table. */
final class ChartFigure {

  private final Chart chart;

  ChartFigure(Chart chart) {
    this.chart = chart;
  }

  Html html() {
    Html html = new Html();
    if (chart.wide()) {
      html.open("figure", "class", "wide");
    } else {
      html.open("figure");
    }
    html.open("figcaption").open("h3").text(chart.title());
    if (!chart.direction().isEmpty()) {
      html.element("small", chart.direction());
    }
    html.close().element("p", chart.howTo()).close();
    html.element(
        "div", "", "id", chart.id(), "class", "plot", "role", "img", "aria-label", inWords());
    Html own = chart.table();
    html.open("details").element("summary", "Data as a table");
    return html.add(own == null ? table() : own).close().close();
  }

  /** Title, direction, limits, and the range of each series: what a screen reader says. */
  String inWords() {
    StringBuilder words = new StringBuilder(chart.title());
    if (!chart.direction().isEmpty()) {
      words.append(", ").append(chart.direction());
    }
    if (chart.series().stream().anyMatch(line -> line.form() == Form.HEAT)) {
      return words.append(". ").append(fullestRow()).append('.').toString();
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

  /** The row of a heat map that holds most, e.g. {@code Most requests: 101–128 ms}. */
  private String fullestRow() {
    Line fullest =
        chart.series().stream().max(Comparator.comparingDouble(ChartFigure::sum)).orElseThrow();
    double all = chart.series().stream().mapToDouble(ChartFigure::sum).sum();
    return "Most in one row: "
        + fullest.name()
        + " with "
        + NumberText.number(sum(fullest))
        + " of "
        + NumberText.number(all);
  }

  private static double sum(Line line) {
    return line.points().stream().mapToDouble(p -> p.y() == null ? 0 : p.y()).sum();
  }

  private Html table() {
    Html html =
        new Html()
            .open("div", "class", "scroll", "tabindex", "0", "role", "group", "aria-label", "Data");
    html.open("table").open("thead").open("tr").element("th", chart.x().heading(), "scope", "col");
    boolean sharesX = chart.x().scale() != Chart.Scale.VALUE;
    Axis y = chart.y();
    if (sharesX) {
      chart.series().forEach(line -> html.element("th", headingOf(line, y), "scope", "col"));
    } else {
      html.element("th", y.heading(), "scope", "col");
      html.element("th", "Series", "scope", "col", "class", "words");
      html.element("th", "Point", "scope", "col", "class", "words");
    }
    html.close().close().open("tbody");
    if (sharesX) {
      rowsByX(html);
    } else {
      rowsByPoint(html);
    }
    return html.close().close().close();
  }

  private static String headingOf(Line line, Axis y) {
    return y.unit().isEmpty() ? line.name() : line.name() + ", " + y.unit();
  }

  private void rowsByX(Html html) {
    TreeSet<Double> places = new TreeSet<>();
    List<Map<Double, Point>> columns =
        chart.series().stream().map(line -> byX(line, places)).toList();
    for (Double x : places) {
      html.open("tr").element("th", chart.x().write(x), "scope", "row");
      columns.forEach(column -> html.element("td", valueOf(column.get(x))));
      html.close();
    }
  }

  private static Map<Double, Point> byX(Line line, Set<Double> places) {
    Map<Double, Point> column = new HashMap<>();
    for (Point point : line.points()) {
      column.put(point.x(), point);
      places.add(point.x());
    }
    return column;
  }

  private void rowsByPoint(Html html) {
    for (Line line : chart.series()) {
      for (Point point : line.points()) {
        html.open("tr").element("th", chart.x().write(point.x()), "scope", "row");
        html.element("td", valueOf(point)).element("td", line.name(), "class", "words");
        html.element("td", Objects.requireNonNullElse(point.label(), ""), "class", "words");
        html.close();
      }
    }
  }

  private static String valueOf(@Nullable Point point) {
    return NumberText.number(point == null ? null : point.y());
  }
}
