package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Series;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.EngineFigures.Page;
import io.github.gatlingllm.figures.metric.EngineFigures.Point;
import io.github.gatlingllm.figures.metric.EngineFigures.TargetPoints;
import io.github.gatlingllm.figures.metric.EngineFigures.Timing;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Band;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.Table.Cell;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.Table.Columns;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The server's own metrics, compared with the client's figures and over time. */
record EngineSection(Summary summary, Series series, List<Band> bands) {

  @Nullable Section section() {
    if (summary.serverPages().isEmpty()) {
      return null;
    }
    GpuTables gpus = new GpuTables(summary, series);
    List<LevelFigures> stages =
        summary.stages().stream().filter(stage -> stage.serverMetrics() != null).toList();
    return Section.of("engine")
        .body(
            "",
            Stream.of(times(stages), states(stages), gpus.spread(), gpus.each(), pages())
                .filter(table -> !table.isEmpty() && table.headings().size() > 1)
                .toList())
        .charts(
            Stream.concat(charts(), gpus.charts())
                .filter(Chart::hasPoints)
                .map(chart -> chart.over(bands))
                .toList());
  }

  // ---- tables

  private static @Nullable Double of(
      LevelFigures stage, Function<EngineFigures, @Nullable Double> figure) {
    EngineFigures engine = stage.serverMetrics();
    return engine == null ? null : figure.apply(engine);
  }

  private Column<LevelFigures> level() {
    return Column.name("Load level", stage -> summary.place(stage.info()));
  }

  private static Column<LevelFigures> number(
      String heading, Function<EngineFigures, @Nullable Double> figure) {
    return Column.<LevelFigures>number(heading, stage -> of(stage, figure)).ifKnown();
  }

  private static Column<LevelFigures> share(
      String heading, Function<EngineFigures, @Nullable Double> figure) {
    return Column.<LevelFigures>percent(heading, stage -> of(stage, figure)).ifKnown();
  }

  private static Column<LevelFigures> client(String heading, Metric metric) {
    return Column.<LevelFigures>number(heading, stage -> stage.figures().number(metric)).ifKnown();
  }

  private Table times(List<LevelFigures> stages) {
    List<LevelFigures> timed =
        stages.stream()
            .filter(stage -> !Objects.requireNonNull(stage.serverMetrics()).timings().isEmpty())
            .toList();
    return Columns.of(level())
        .and(clientAndEngine(timed, "TTFT", Metric.TTFT_MS, EngineMetric.ENGINE_TTFT_S))
        .and(
            number("queue", engine -> engine.meanMs(EngineMetric.ENGINE_QUEUE_S)),
            number("prefill", engine -> engine.meanMs(EngineMetric.ENGINE_PREFILL_S)))
        .and(clientAndEngine(timed, "ITL", Metric.ITL_MS, EngineMetric.ENGINE_ITL_S))
        .and(clientAndEngine(timed, "E2E", Metric.E2E_MS, EngineMetric.ENGINE_E2E_S))
        .table("Client and engine, mean times in ms", timed);
  }

  private static List<Column<LevelFigures>> clientAndEngine(
      List<LevelFigures> stages, String name, Metric client, EngineMetric engine) {
    return stages.stream().noneMatch(stage -> of(stage, of -> of.meanMs(engine)) != null)
        ? List.of()
        : List.of(
            Column.number(name + ", client", stage -> stage.figures().metric(client).mean()),
            number(name + ", engine", figures -> figures.meanMs(engine)),
            number(
                "its p99",
                figures -> {
                  Timing timing = figures.timings().get(engine);
                  return timing == null ? null : Chart.Point.scaled(timing.p99(), 1e3);
                }));
  }

  private Table states(List<LevelFigures> stages) {
    boolean isSpeculative =
        stages.stream().anyMatch(stage -> of(stage, EngineFigures::acceptedLength) != null);
    return Columns.of(level())
        .and(
            number("running", engine -> engine.mean(EngineMetric.REQUESTS_RUNNING)),
            number("waiting", engine -> engine.mean(EngineMetric.REQUESTS_WAITING)),
            share("KV cache, max", engine -> engine.max(EngineMetric.KV_CACHE_USE)),
            share("prefix hits", EngineFigures::prefixCacheHitRate),
            number("preemptions", engine -> engine.total(EngineMetric.PREEMPTIONS)),
            number("tok/s, engine", engine -> engine.perS(EngineMetric.GENERATION_TOKENS)),
            client("tok/s, client", Metric.OUTPUT_TOKENS_PER_S),
            share("drafts accepted", EngineFigures::acceptanceRate),
            number("accepted length", EngineFigures::acceptedLength))
        .when(isSpeculative, client("tokens per event", Metric.BATCH_RATIO))
        .and(
            share("GPU busy", engine -> engine.mean(EngineMetric.GPU_UTILIZATION)),
            client("power, W", Metric.POWER_W),
            client("tok/J", Metric.OUTPUT_TOKENS_PER_JOULE))
        .table("Engine and GPUs by load level", stages);
  }

  private Table pages() {
    return Columns.<Page>of(
            Column.name("Page", Page::url),
            Column.words("server", page -> page.source().isEmpty() ? "?" : page.source()),
            Column.count("readings", Page::readings),
            Column.of(
                "failed",
                page ->
                    Cell.count(page.failedReadings())
                        .remarked(Objects.requireNonNullElse(page.lastError(), ""))),
            Column.count("restarts", Page::resets))
        .when(
            summary.hasSeveralTargets(),
            Column.words(
                "target", page -> Objects.requireNonNullElse(page.target(), "all of them")))
        .table("Pages of metrics", summary.serverPages());
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
