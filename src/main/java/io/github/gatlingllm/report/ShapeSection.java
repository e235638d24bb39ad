package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Form;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Chart.Scale;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.stats.Series;
import io.github.gatlingllm.stats.Summary;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** How values are distributed: histograms, and percentile curves on a scale of nines. */
final class ShapeSection {

  private static final int HEAT_COLUMNS = 60;

  private final Summary summary;
  private final Series series;

  ShapeSection(Summary summary, Series series) {
    this.summary = summary;
    this.series = series;
  }

  Section section() {
    List<Chart> charts = new ArrayList<>();
    for (Metric metric : List.of(Metric.TTFT_MS, Metric.ITL_MS, Metric.TPOT_MS, Metric.E2E_MS)) {
      Series.Shape shape = series.shapes().get(metric);
      if (shape != null && !shape.bars().isEmpty()) {
        charts.add(histogram(metric, shape));
      }
    }
    charts.add(curves("shape-waiting", "TTFT and E2E", Metric.TTFT_MS, Metric.E2E_MS));
    charts.add(curves("shape-gaps", "ITL and TPOT", Metric.ITL_MS, Metric.TPOT_MS));
    charts.add(heat());
    String pooled = new RunText(summary).pooled();
    boolean isEmpty = charts.stream().noneMatch(Chart::hasPoints);
    return Section.of(
            "shapes",
            "Distributions",
            "Distributions",
            (pooled.isEmpty()
                    ? "The same values as in the metrics table, all of them. "
                    : pooled + " Two humps may be two loads; the metrics table tells them apart. ")
                + "Means hide two humps, percentiles hide how many.")
        .body(isEmpty ? "No request succeeded, so there is no distribution to show." : "")
        .charts(charts);
  }

  /** TTFT over time; at most {@value #HEAT_COLUMNS} columns, so that its table can be read. */
  private Chart heat() {
    int buckets = series.overTime().size();
    int width = Math.max(1, (buckets + HEAT_COLUMNS - 1) / HEAT_COLUMNS);
    List<Double> edges = series.ttftHeat().edgesMs();
    List<Line> rows = new ArrayList<>();
    for (int row = 0; row + 1 < edges.size(); row++) {
      Map<Integer, Long> counts = new TreeMap<>();
      for (Series.Cell cell : series.ttftHeat().cells()) {
        if (cell.row() == row) {
          counts.merge(cell.bucket() / width, cell.count(), Long::sum);
        }
      }
      List<Point> points = new ArrayList<>();
      counts.forEach(
          (column, count) -> points.add(new Point(column * width * series.bucketS(), count * 1.0)));
      String name =
          NumberText.number(edges.get(row)) + "–" + NumberText.number(edges.get(row + 1)) + " ms";
      rows.add(new Line(name, Form.HEAT, 0, 0, points, List.of()));
    }
    return new Chart(
            "heat-ttft",
            "TTFT over time, every request",
            Chart.LOWER,
            "Each cell counts requests by when they got their first token and how long after the"
                + " planned arrival that was; two bands at once are two kinds of requests, a rising"
                + " band is a growing queue.",
            Axis.time().upTo(buckets * series.bucketS()),
            Axis.of("Requests", ""),
            rows)
        .widened();
  }

  private Chart histogram(Metric metric, Series.Shape shape) {
    return Chart.histogram(
        "histogram-" + metric.name().toLowerCase(Locale.ROOT).replace('_', '-'),
        "Histogram of " + metric.title(),
        "How many values fell into each range; two humps usually are two "
            + (new RunText(summary).pooled().isEmpty() ? "" : "loads or ")
            + "kinds of requests.",
        Axis.of(metric.title(), metric.unit().sign()),
        "Values",
        shape);
  }

  private Chart curves(String id, String title, Metric first, Metric second) {
    List<Line> lines = new ArrayList<>();
    for (Metric metric : List.of(first, second)) {
      Series.Shape shape = series.shapes().get(metric);
      if (shape != null) {
        lines.add(Line.percentiles(metric.title(), lines.size(), shape));
      }
    }
    return new Chart(
        id,
        "Percentiles of " + title,
        Chart.LOWER,
        "Read up from a share of all values to the time within which they came; a step near the"
            + " right is the tail.",
        Axis.shares(lines),
        Axis.of("Time", "ms", Scale.LOG),
        lines);
  }
}
