package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Series.Quantile;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.ComparedRuns.Side;
import io.github.gatlingllm.report.Page.Section;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The curves of all runs in the same charts: a colour, a symbol and a dash pattern per run. */
final class CompareCharts {

  private final List<Side> sides;
  private final boolean hasCurves;

  CompareCharts(ComparedRuns runs) {
    sides = runs.sides();
    hasCurves =
        sides.stream()
                .flatMap(side -> side.figures().summary().stages().stream())
                .map(LevelFigures::label)
                .distinct()
                .count()
            > 1;
  }

  Section section() {
    List<Chart> charts = new ArrayList<>();
    if (hasCurves) {
      charts.add(curve());
    }
    for (Metric metric : List.of(Metric.TTFT_MS, Metric.ITL_MS, Metric.E2E_MS)) {
      charts.add(percentiles(metric));
    }
    boolean isEmpty = charts.stream().noneMatch(Chart::hasPoints);
    return Section.of("curves")
        .body(isEmpty ? "No request succeeded, so there is no curve." : "")
        .charts(charts);
  }

  /** TTFT, or E2E if no run streamed. */
  private Metric latency() {
    boolean isStreamed =
        sides.stream()
            .anyMatch(s -> !s.figures().summary().figures().metric(Metric.TTFT_MS).isEmpty());
    return isStreamed ? Metric.TTFT_MS : Metric.E2E_MS;
  }

  private Chart curve() {
    List<Line> lines = new ArrayList<>();
    for (int i = 0; i < sides.size(); i++) {
      Summary summary = sides.get(i).figures().summary();
      List<String> targets =
          summary.stages().stream().map(LevelFigures::target).distinct().toList();
      for (int t = 0; t < targets.size(); t++) {
        String name = sides.get(i).name() + (targets.size() > 1 ? ", " + targets.get(t) : "");
        List<Point> points = points(summary, targets.get(t));
        lines.add(Line.of(name, i, targets.size() > 1 ? t : i, points));
      }
    }
    Axis x = Axis.of("Output tokens per second", "tok/s");
    return Chart.of("load-curve of runs", x, lines, latency().title()).scaledToRange().widened();
  }

  private List<Point> points(Summary summary, String target) {
    List<Point> points = new ArrayList<>();
    for (LevelFigures stage : summary.stages()) {
      Double x = stage.figures().number(Metric.OUTPUT_TOKENS_PER_S);
      Double y = stage.figures().metric(latency()).p95();
      if (stage.target().equals(target) && x != null && y != null) {
        points.add(new Point(x, y, stage.label()));
      }
    }
    return points;
  }

  private Chart percentiles(Metric metric) {
    List<Line> lines = new ArrayList<>();
    for (int i = 0; i < sides.size(); i++) {
      List<Quantile> curve = sides.get(i).figures().series().quantiles().get(metric);
      if (curve != null) {
        lines.add(Line.percentiles(sides.get(i).name(), i, i, curve));
      }
    }
    return Chart.percentiles("percentiles of runs", lines, metric.title())
        .id("percentiles-" + metric.name().toLowerCase(Locale.ROOT).replace('_', '-'));
  }
}
