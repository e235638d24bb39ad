package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.LoadCurve;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Series.Quantile;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.ComparePage.Compared;
import io.github.gatlingllm.report.LoadSection.Drawn;
import io.github.gatlingllm.report.Page.Section;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The curves of compared runs in the same charts, a line for each run, target and scenario. An
 * engine, a target of a run, has a colour, a scenario a dash pattern.
 */
record CompareCurves(List<Compared> runs) {

  /** {@code level} is the operating point of the base, or its own where it lacks that level. */
  private record RunCurve(Compared run, Drawn drawn, LevelFigures level) {}

  Section section() {
    List<RunCurve> curves = curves();
    List<Drawn> drawn = curves.stream().map(RunCurve::drawn).toList();
    boolean isSweep =
        drawn.stream().flatMap(d -> d.levels().stream()).map(LevelFigures::label).distinct().count()
            > 1;
    List<Chart> charts = new ArrayList<>();
    if (isSweep) {
      charts.add(loadCurve(drawn));
      charts.add(time("load-ttft of runs", Metric.TTFT_MS, drawn));
      charts.add(time("load-tpot of runs", Metric.TPOT_MS, drawn));
      charts.addAll(LoadSection.judged(drawn));
    }
    for (Metric metric : List.of(Metric.TTFT_MS, Metric.ITL_MS, Metric.TPOT_MS, Metric.E2E_MS)) {
      charts.add(percentiles(metric, curves));
    }
    boolean isEmpty = charts.stream().noneMatch(Chart::hasPoints);
    return Section.of("curves")
        .body(isEmpty ? "No request succeeded: a curve needs at least one." : "")
        .charts(charts);
  }

  private List<RunCurve> curves() {
    List<RunCurve> all = new ArrayList<>();
    List<String> engines = new ArrayList<>();
    List<String> scenarios = new ArrayList<>();
    for (Compared run : runs) {
      Summary summary = run.summary();
      for (LoadCurve curve : summary.curves()) {
        int engine = position(run.name() + '\n' + curve.target(), engines);
        int scenario = position(String.valueOf(curve.scenario()), scenarios);
        boolean isOne = summary.curves().size() == 1;
        String name = run.name() + (isOne ? "" : ", " + summary.name(curve));
        int dash = summary.hasSeveralScenarios() ? scenario : engine;
        List<LevelFigures> levels = new LoadSection(summary).of(curve);
        String stage = stage(curve);
        LevelFigures level =
            levels.stream().filter(each -> each.label().equals(stage)).findFirst().orElseThrow();
        all.add(new RunCurve(run, new Drawn(name, engine, dash, levels), level));
      }
    }
    return all;
  }

  private String stage(LoadCurve curve) {
    List<LoadCurve> ofBase = runs.get(0).summary().curves();
    boolean isOneTarget = ofBase.stream().map(LoadCurve::target).distinct().count() == 1;
    return ofBase.stream()
        .filter(
            its ->
                Objects.equals(its.scenario(), curve.scenario())
                    && (isOneTarget || its.target().equals(curve.target())))
        .map(its -> its.operatingPoint().stage())
        .filter(curve.stages()::contains)
        .findFirst()
        .orElse(curve.operatingPoint().stage());
  }

  private static int position(String name, List<String> known) {
    if (!known.contains(name)) {
      known.add(name);
    }
    return known.indexOf(name);
  }

  /** From schedule where a run's headlines are. */
  private Metric shown(Metric metric) {
    return runs.stream()
        .map(run -> run.summary().headlineMetric(metric))
        .filter(shown -> shown != metric)
        .findFirst()
        .orElse(metric);
  }

  private Chart loadCurve(List<Drawn> curves) {
    List<Figures> all = runs.stream().map(run -> run.summary().figures()).toList();
    boolean isStreamed = all.stream().anyMatch(run -> !run.metric(Metric.TTFT_MS).isEmpty());
    Metric latency = shown(isStreamed ? Metric.TTFT_MS : Metric.E2E_MS);
    String delivered = all.get(0).embeds() ? "inputs per second" : "output tokens per second";
    List<Line> lines =
        curves.stream()
            .map(
                drawn ->
                    drawn.line(
                        Point.ofLevels(
                            drawn.levels(),
                            level -> level.figures().delivered(),
                            level -> level.figures().metric(latency).p95())))
            .toList();
    Axis x = Axis.of(NumberText.capital(delivered), all.get(0).deliveredUnit());
    return Chart.of("load-curve of runs", x, lines, latency.title(), delivered)
        .scaledToRange()
        .widened();
  }

  private Chart time(String key, Metric metric, List<Drawn> curves) {
    Metric shown = shown(metric);
    Function<LevelFigures, @Nullable Double> p95 = level -> level.figures().metric(shown).p95();
    return LoadSection.against(key, curves, p95, shown.title()).scaledToRange();
  }

  private Chart percentiles(Metric metric, List<RunCurve> curves) {
    List<Line> lines = new ArrayList<>();
    for (RunCurve of : curves) {
      RunFigures figures = of.run.figures();
      int stage = figures.summary().stages().indexOf(of.level);
      List<Quantile> curve =
          figures.series().levelQuantiles().getOrDefault(stage, Map.of()).get(metric);
      if (curve != null) {
        String name = of.drawn.name() + " at " + of.level.label();
        lines.add(Line.percentiles(name, of.drawn.color(), of.drawn.dash(), curve));
      }
    }
    return Chart.percentiles("percentiles of runs", lines, metric.title())
        .id("percentiles-" + metric.name().toLowerCase(Locale.ROOT).replace('_', '-'));
  }
}
