package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Form;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.stats.Series.Bar;
import io.github.gatlingllm.stats.Series.Shape;
import java.util.ArrayList;
import java.util.List;

/** The chart of one distribution: a bar per range of values. */
final class Histogram {

  private Histogram() {}

  /**
   * The chart.
   *
   * @param x what was counted, and its unit
   * @param counted what a bar counts, e.g. {@code Requests}
   */
  static Chart of(String id, String title, String howTo, Axis x, String counted, Shape shape) {
    List<String> places = new ArrayList<>();
    List<Point> points = new ArrayList<>();
    for (Bar bar : shape.bars()) {
      points.add(new Point(places.size(), (double) bar.count()));
      places.add(NumberText.number(bar.from()) + "–" + NumberText.number(bar.to()));
    }
    return new Chart(
        id,
        title,
        "further left is better",
        howTo,
        Axis.places(x.name(), x.unit(), places),
        Axis.of(counted, ""),
        List.of(new Line(x.name(), Form.BAR, 0, 0, points, List.of())));
  }
}
