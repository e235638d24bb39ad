package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Series;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.EngineFigures.EnginePoint;
import io.github.gatlingllm.figures.metric.EngineFigures.Gpu;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Band;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Page.Section;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The server's own metrics, compared with the client's figures and over time. */
record EngineSection(Summary summary, Series series, List<Band> bands) {

  @Nullable Section section() {
    if (summary.serverPages().isEmpty()) {
      return null;
    }
    return Section.of("engine")
        .body("", Tables.of(summary).at("engine"))
        .charts(
            Stream.concat(charts(), gpus())
                .filter(Chart::hasPoints)
                .map(chart -> chart.over(bands))
                .toList());
  }

  /** A line of each target; colours tell targets apart if there are several. */
  private Chart chart(String key) {
    List<Line> lines = new ArrayList<>();
    List<String> targets = List.copyOf(series.engines().keySet());
    boolean one = targets.size() == 1;
    for (ChartLine each : ChartLine.of(key, EnginePoint.class)) {
      for (String target : targets) {
        Line line = each.overTime(EnginePoint.class, series.engines().get(target), 1);
        if (line.points().stream().anyMatch(point -> point.y() != null)) {
          String name = one ? line.name() : target + " " + line.name();
          int color = one ? line.color() : targets.indexOf(target);
          lines.add(Line.of(name, color, line.dash(), line.points()));
        }
      }
    }
    return Chart.of(key, Axis.time(), lines);
  }

  private Stream<Chart> charts() {
    return Stream.of(
        chart("engine-requests"),
        chart("engine-cache").upTo(100),
        chart("engine-times").scaledToRange(),
        chart("engine-machine").upTo(100));
  }

  /** Up to this number of GPUs each has a line, as readers can tell them apart; else quantiles. */
  private static final int MAX_LINES = 16;

  private static final int COLORS = 6;

  private record Gauge(
      EngineMetric gauge, String name, String unit, double factor, String better) {}

  private static final List<Gauge> GAUGES =
      List.of(
          new Gauge(EngineMetric.GPU_CLOCK_MHZ, "Clock", "MHz", 1, "↑ higher is faster"),
          new Gauge(EngineMetric.GPU_TEMPERATURE_C, "Temperature", "°C", 1, "↓ lower is better"),
          new Gauge(EngineMetric.GPU_POWER_W, "Power", "W", 1, "↓ lower is better"),
          new Gauge(EngineMetric.GPU_UTILIZATION, "Utilisation", "%", 100, "equal is better"),
          new Gauge(
              EngineMetric.GPU_MEMORY_USED_BYTES, "Memory", "GB", 1e-9, "↓ lower leaves room"));

  Stream<Chart> gpus() {
    return GAUGES.stream()
        .map(
            of ->
                Chart.of("gpus", Axis.time(), lines(of), of.name, of.unit, of.better)
                    .id("gpus-" + of.name.toLowerCase(Locale.ROOT)));
  }

  private List<Line> lines(Gauge of) {
    Map<String, List<Chart.Point>> byGpu = new TreeMap<>(Gpu.BY_NUMBER);
    Map<Double, List<Double>> byTime = new TreeMap<>();
    for (List<EnginePoint> points : series.engines().values()) {
      // A page that describes all targets is in the points of each.
      List<String> known = List.copyOf(byGpu.keySet());
      for (EnginePoint point : points) {
        point.gpus().keySet().stream()
            .filter(name -> !known.contains(name))
            .forEach(
                name -> {
                  Double value =
                      Chart.Point.scaled(point.gpus().get(name).get(of.gauge), of.factor);
                  if (value != null) {
                    byGpu
                        .computeIfAbsent(name, any -> new ArrayList<>())
                        .add(new Chart.Point(point.startS(), value));
                    byTime.computeIfAbsent(point.startS(), any -> new ArrayList<>()).add(value);
                  }
                });
      }
    }
    List<Line> lines = new ArrayList<>();
    if (byGpu.size() <= MAX_LINES) {
      byGpu.forEach(
          (name, points) ->
              lines.add(Line.of(name, lines.size() % COLORS, lines.size() / COLORS, points)));
      return lines;
    }
    byTime.values().forEach(values -> values.sort(null));
    List<String> names = List.of("lowest GPU", "p10", "median", "p90", "highest GPU");
    double[] shares = {0, 0.1, 0.5, 0.9, 1};
    for (int i = 0; i < shares.length; i++) {
      double share = shares[i];
      List<Chart.Point> points = new ArrayList<>();
      byTime.forEach(
          (at, values) ->
              points.add(
                  new Chart.Point(at, values.get((int) Math.round(share * (values.size() - 1))))));
      lines.add(Line.of(names.get(i), i, i % 3, points));
    }
    return lines;
  }
}
