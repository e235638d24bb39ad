package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Series;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.EngineFigures.Gpu;
import io.github.gatlingllm.figures.metric.EngineFigures.TargetPoints;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.Table.Columns;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** GPUs one by one: their spread by load level, each at the operating point, and over time. */
record GpuTables(Summary summary, Series series) {

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

  private static Map<String, Gpu> gpus(LevelFigures level) {
    EngineFigures engine = level.serverMetrics();
    return engine == null ? Map.of() : engine.gpus();
  }

  private static Column<LevelFigures> over(
      String heading,
      Function<Gpu, @Nullable Double> figure,
      double factor,
      BinaryOperator<Double> choice) {
    return Column.<LevelFigures>number(
            heading,
            level ->
                gpus(level).values().stream()
                    .map(figure)
                    .filter(Objects::nonNull)
                    .reduce(choice)
                    .map(value -> value * factor)
                    .orElse(null))
        .ifKnown();
  }

  private static Function<Gpu, @Nullable Double> mean(EngineMetric gauge) {
    return gpu -> gpu.mean(gauge);
  }

  /** Lowest and highest means of GPUs, a row for each level with more than one. */
  Table spread() {
    Columns<LevelFigures> columns =
        Columns.of(
            Column.name("Load level", level -> summary.place(level.info())),
            Column.count("GPUs", level -> gpus(level).size()));
    for (Drawn each : DRAWN) {
      String name = each.name + ", " + each.unit;
      boolean isHot = each.gauge == EngineMetric.GPU_TEMPERATURE_C;
      columns.and(
          over(name + ": lowest", mean(each.gauge), each.factor, Math::min),
          isHot
              ? over("highest ever", gpu -> gpu.max(each.gauge), 1, Math::max)
              : over("highest", mean(each.gauge), each.factor, Math::max));
    }
    return columns.table(
        "Spread over GPUs", summary.stages().stream().filter(of -> gpus(of).size() > 1).toList());
  }

  private record Row(String place, String name, Gpu gpu) {}

  Table each() {
    List<Row> rows = new ArrayList<>();
    for (Summary.Curve curve : summary.curves()) {
      LevelFigures level = summary.operatingLevel(curve);
      gpus(level).forEach((name, gpu) -> rows.add(new Row(summary.place(level.info()), name, gpu)));
    }
    Columns<Row> columns =
        Columns.of(Column.name("GPU", Row::name), Column.words("at", Row::place));
    for (Drawn each : DRAWN) {
      columns.and(
          Column.<Row>number(
                  each.name + ", " + each.unit,
                  row -> Point.scaled(row.gpu.mean(each.gauge), each.factor))
              .ifKnown());
    }
    return columns
        .and(
            Column.<Row>number("highest, °C", row -> row.gpu.max(EngineMetric.GPU_TEMPERATURE_C))
                .ifKnown())
        .table("GPUs at the operating point", rows);
  }

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
