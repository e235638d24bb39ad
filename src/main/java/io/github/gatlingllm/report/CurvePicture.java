package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Pin;
import io.github.gatlingllm.report.Chart.Point;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;

/** A line chart as SVG without scripts, for Gatling's pages; the x axis begins at zero. */
final class CurvePicture {

  static final int WIDTH = 760;
  static final int HEIGHT = 260;

  private static final int LEFT = 56;
  private static final int RIGHT = 60;
  private static final int TOP = 24;
  private static final int BOTTOM = 40;
  private static final int TICKS = 5;

  private final Chart chart;
  private final boolean isLog;
  private final double most;
  private final double low;
  private final double high;

  CurvePicture(Chart chart) {
    this.chart = chart;
    isLog = chart.y().scale() == Chart.Scale.LOG;
    most = points().stream().mapToDouble(Point::x).max().orElse(1);
    high = heights().max().orElse(1);
    low = isLog ? heights().min().orElse(1) : 0;
  }

  private List<Point> points() {
    return chart.series().stream()
        .flatMap(line -> line.points().stream())
        .filter(point -> point.y() != null)
        .toList();
  }

  private DoubleStream heights() {
    return points().stream().mapToDouble(point -> Objects.requireNonNull(point.y()));
  }

  /** A position in the picture, in SVG units, with a text. */
  record Mark(String x, String y, String text) {}

  /** One line: name, CSS class, points of its polyline, labels of the points, ringed points. */
  record Drawn(String name, String css, String corners, List<Mark> marks, List<Mark> rings) {}

  public String inWords() {
    return chart.inWords();
  }

  public String x() {
    return chart.x().heading();
  }

  public String y() {
    return chart.y().heading() + (isLog ? ", logarithmic" : "");
  }

  public List<Drawn> lines() {
    List<Drawn> lines = new ArrayList<>();
    for (Line line : chart.series()) {
      List<Mark> marks = new ArrayList<>();
      for (Point point : line.points()) {
        if (point.y() != null) {
          marks.add(mark(point.x(), point.y(), Objects.requireNonNullElse(point.label(), "")));
        }
      }
      lines.add(
          new Drawn(
              chart.series().size() > 1 ? line.name() : "",
              "gatling-llm-line-" + line.color() % 3,
              marks.stream().map(m -> m.x + "," + m.y).collect(Collectors.joining(" ")),
              marks,
              line.pins().stream().map(this::ring).toList()));
    }
    return lines;
  }

  private Mark ring(Pin pin) {
    return mark(pin.x(), pin.y(), pin.label());
  }

  public List<Mark> ticksOfX() {
    return ticks(0, most, false).stream().map(x -> mark(x, low, NumberText.number(x))).toList();
  }

  public List<Mark> ticksOfY() {
    return ticks(low, high, isLog).stream().map(y -> mark(0, y, NumberText.number(y))).toList();
  }

  private static List<Double> ticks(double from, double to, boolean isLog) {
    List<Double> ticks = new ArrayList<>();
    for (int i = 0; i < TICKS; i++) {
      double share = i / (TICKS - 1.0);
      ticks.add(isLog ? from * Math.pow(to / from, share) : from + share * (to - from));
    }
    return ticks;
  }

  private Mark mark(double x, double y, String text) {
    double share =
        high <= low
            ? 0.5
            : isLog ? Math.log(y / low) / Math.log(high / low) : (y - low) / (high - low);
    return new Mark(
        written(LEFT + (WIDTH - LEFT - RIGHT) * (most <= 0 ? 0.5 : x / most)),
        written(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share),
        text);
  }

  private static String written(double place) {
    return String.format(Locale.ROOT, "%.1f", place);
  }
}
