package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Series;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.EngineFigures.Point;
import io.github.gatlingllm.figures.metric.EngineFigures.TargetPoints;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Band;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Page.Section;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
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
            Stream.concat(charts(), new GpuCharts(series).charts())
                .filter(Chart::hasPoints)
                .map(chart -> chart.over(bands))
                .toList());
  }

  // ---- charts over time

  /** A line to draw for each target; {@code color} applies if there is only one target. */
  private record Drawn(String name, int color, int dash, Function<Point, @Nullable Double> figure) {

    static Drawn of(String name, int color, int dash, EngineMetric metric, double factor) {
      return new Drawn(name, color, dash, point -> Chart.Point.scaled(point.of(metric), factor));
    }
  }

  private Chart chart(String key, Drawn... drawn) {
    List<Line> lines = new ArrayList<>();
    List<TargetPoints> targets = series.engines();
    for (Drawn each : drawn) {
      for (TargetPoints target : targets) {
        boolean one = targets.size() == 1;
        List<Chart.Point> points = Chart.Point.of(target.points(), Point::startS, each.figure);
        if (points.stream().anyMatch(point -> point.y() != null)) {
          String name = one ? each.name : target.target() + " " + each.name;
          lines.add(Line.of(name, one ? each.color : targets.indexOf(target), each.dash, points));
        }
      }
    }
    return Chart.of(key, Axis.time(), lines);
  }

  private Stream<Chart> charts() {
    return Stream.of(
        chart(
            "engine-requests",
            Drawn.of("running", 0, 0, EngineMetric.REQUESTS_RUNNING, 1),
            Drawn.of("waiting", 1, 1, EngineMetric.REQUESTS_WAITING, 1)),
        chart(
                "engine-cache",
                Drawn.of("KV cache in use", 0, 0, EngineMetric.KV_CACHE_USE, 100),
                new Drawn(
                    "prefix hits", 2, 1, of -> Chart.Point.scaled(of.prefixCacheHitRate(), 100)))
            .upTo(100),
        chart(
                "engine-times",
                Drawn.of("TTFT", 0, 0, EngineMetric.ENGINE_TTFT_S, 1e3),
                Drawn.of("queue", 1, 1, EngineMetric.ENGINE_QUEUE_S, 1e3),
                Drawn.of("prefill", 3, 2, EngineMetric.ENGINE_PREFILL_S, 1e3))
            .scaledToRange(),
        chart(
                "engine-machine",
                Drawn.of("GPUs busy", 0, 0, EngineMetric.GPU_UTILIZATION, 100),
                new Drawn("GPU memory", 3, 1, EngineSection::gpuMemory),
                Drawn.of("CPU", 2, 2, EngineMetric.NODE_CPU_USE, 100))
            .upTo(100));
  }

  private static @Nullable Double gpuMemory(Point point) {
    Double used = point.of(EngineMetric.GPU_MEMORY_USED_BYTES);
    Double total = point.of(EngineMetric.GPU_MEMORY_TOTAL_BYTES);
    return used == null || total == null || total == 0 ? null : (Double) (100 * used / total);
  }
}
