package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Series;
import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.EngineFigures.Gpu;
import io.github.gatlingllm.figures.metric.EngineFigures.TargetPoints;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** GPUs one by one over time. */
record GpuCharts(Series series) {

  /** A line for each of so many GPUs can be told from the others; of more there are quantiles. */
  private static final int MAX_LINES = 16;

  private static final int COLORS = 6;

  private record Drawn(
      EngineMetric gauge, String name, String unit, double factor, String better) {}

  private static final List<Drawn> DRAWN =
      List.of(
          new Drawn(EngineMetric.GPU_CLOCK_MHZ, "Clock", "MHz", 1, "↑ higher is faster"),
          new Drawn(EngineMetric.GPU_TEMPERATURE_C, "Temperature", "°C", 1, "↓ lower is better"),
          new Drawn(EngineMetric.GPU_POWER_W, "Power", "W", 1, "↓ lower is better"),
          new Drawn(EngineMetric.GPU_UTILIZATION, "Utilisation", "%", 100, "equal is better"),
          new Drawn(
              EngineMetric.GPU_MEMORY_USED_BYTES, "Memory", "GB", 1e-9, "↓ lower leaves room"));

  Stream<Chart> charts() {
    return DRAWN.stream()
        .map(
            of ->
                Chart.of("gpus", Axis.time(), lines(of), of.name, of.unit, of.better)
                    .id("gpus-" + of.name.toLowerCase(Locale.ROOT)));
  }

  private List<Line> lines(Drawn of) {
    Map<String, List<Point>> byGpu = new TreeMap<>(Gpu.BY_NUMBER);
    Map<Double, List<Double>> byTime = new TreeMap<>();
    for (TargetPoints target : series.engines()) {
      // A page that describes all targets is in the points of each.
      List<String> known = List.copyOf(byGpu.keySet());
      for (EngineFigures.Point point : target.points()) {
        point.gpus().keySet().stream()
            .filter(name -> !known.contains(name))
            .forEach(
                name -> {
                  Double value = Point.scaled(point.gpus().get(name).get(of.gauge), of.factor);
                  if (value != null) {
                    byGpu
                        .computeIfAbsent(name, any -> new ArrayList<>())
                        .add(new Point(point.startS(), value));
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
      List<Point> points = new ArrayList<>();
      byTime.forEach(
          (at, values) ->
              points.add(new Point(at, values.get((int) Math.round(share * (values.size() - 1))))));
      lines.add(Line.of(names.get(i), i, i % 3, points));
    }
    return lines;
  }
}
