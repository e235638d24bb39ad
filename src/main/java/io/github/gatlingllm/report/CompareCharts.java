package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Series;
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
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The curves of all runs in the same charts: a colour, a symbol and a dash pattern per run. */
final class CompareCharts {

  private final List<Side> sides;
  private final List<String> levels;

  CompareCharts(ComparedRuns runs) {
    sides = runs.sides();
    levels =
        sides.stream()
            .flatMap(side -> side.figures().summary().stages().stream())
            .map(LevelFigures::label)
            .distinct()
            .toList();
  }

  Section section() {
    List<Chart> charts = new ArrayList<>();
    if (levels.size() > 1) {
      charts.add(curve());
      charts.add(
          against("load-throughput of runs", s -> s.figures().number(Metric.OUTPUT_TOKENS_PER_S)));
      charts.add(against("load-latency of runs", stage -> stage.figures().metric(latency()).p95()));
    }
    for (Metric metric : List.of(Metric.TTFT_MS, Metric.ITL_MS, Metric.TPOT_MS, Metric.E2E_MS)) {
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
    List<Line> lines =
        lines(
            (summary, target) -> {
              List<Point> points = new ArrayList<>();
              for (LevelFigures stage : of(summary, target)) {
                Double x = stage.figures().number(Metric.OUTPUT_TOKENS_PER_S);
                Double y = stage.figures().metric(latency()).p95();
                if (x != null && y != null) {
                  points.add(new Point(x, y, stage.label()));
                }
              }
              return points;
            });
    Axis x = Axis.of("Output tokens per second", "tok/s");
    return Chart.of("load-curve of runs", x, lines, latency().title()).scaledToRange().widened();
  }

  private Chart against(String key, Function<LevelFigures, @Nullable Double> figure) {
    List<Line> lines =
        lines(
            (summary, target) ->
                of(summary, target).stream()
                    .map(s -> new Point(levels.indexOf(s.label()), figure.apply(s)))
                    .toList());
    Axis x = Axis.places("Load level", "", levels);
    return Chart.of(key, x, lines, latency().title()).scaledToRange();
  }

  private Chart percentiles(Metric metric) {
    List<Line> lines = new ArrayList<>();
    for (int i = 0; i < sides.size(); i++) {
      Series.Shape shape = sides.get(i).figures().series().shapes().get(metric);
      if (shape != null) {
        lines.add(Line.percentiles(sides.get(i).name(), i, shape));
      }
    }
    return Chart.percentiles("percentiles of runs", metric.title(), lines)
        .id("percentiles-" + metric.name().toLowerCase(Locale.ROOT).replace('_', '-'));
  }

  /** The points of one target of one run. */
  private interface Points {
    List<Point> of(Summary summary, String target);
  }

  private List<Line> lines(Points points) {
    List<Line> lines = new ArrayList<>();
    for (int i = 0; i < sides.size(); i++) {
      Summary summary = sides.get(i).figures().summary();
      List<String> targets =
          summary.stages().stream().map(LevelFigures::target).distinct().toList();
      for (int t = 0; t < targets.size(); t++) {
        String name = sides.get(i).name() + (targets.size() > 1 ? ", " + targets.get(t) : "");
        lines.add(Line.of(name, i, targets.size() > 1 ? t : i, points.of(summary, targets.get(t))));
      }
    }
    return lines;
  }

  private static List<LevelFigures> of(Summary summary, String target) {
    return summary.stages().stream().filter(stage -> stage.target().equals(target)).toList();
  }
}
