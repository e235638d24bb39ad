package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.RequestSamples.LevelSamples;
import io.github.gatlingllm.figures.level.Series.Shape;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.ShownLevels.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Distributions of latencies: histograms, and percentile curves over a scale of nines. */
final class ShapeSection {

  private static final List<Metric> DRAWN =
      List.of(Metric.TTFT_MS, Metric.ITL_MS, Metric.TPOT_MS, Metric.E2E_MS);

  private final Summary summary;
  private final ShownLevels levels;
  private final Map<Integer, LevelSamples> samples;

  ShapeSection(Summary summary, ShownLevels levels, Map<Integer, LevelSamples> samples) {
    this.summary = summary;
    this.levels = levels;
    this.samples = samples;
  }

  Section section() {
    Section section =
        Section.of("shapes")
            .groups(
                levels.charts(
                    samples,
                    this::operatingPoints,
                    (level, drawn) -> of(drawn, level.suffix()),
                    drawn -> ""));
    return section.hasCharts()
        ? section
        : section.body("No request succeeded, so there is no distribution to show.");
  }

  private static List<Chart> of(LevelSamples drawn, String suffix) {
    List<Chart> charts = new ArrayList<>();
    for (Metric metric : DRAWN) {
      Shape shape = drawn.shapes().get(metric);
      if (shape != null && !shape.bars().isEmpty()) {
        charts.add(histogram(metric, shape, suffix));
      }
    }
    charts.add(
        curves("shape-waiting" + suffix, "TTFT and E2E", drawn, Metric.TTFT_MS, Metric.E2E_MS));
    charts.add(curves("shape-gaps" + suffix, "ITL and TPOT", drawn, Metric.ITL_MS, Metric.TPOT_MS));
    return charts;
  }

  /** The percentiles at the operating point of each curve, a chart per metric. */
  private List<Chart> operatingPoints() {
    return DRAWN.stream()
        .map(
            metric ->
                percentiles(
                    "shape-" + id(metric), metric.title(), samples -> samples.shapes().get(metric)))
        .toList();
  }

  /** A chart of percentiles with a line for each operating point. */
  Chart percentiles(String id, String title, Function<LevelSamples, @Nullable Shape> shape) {
    List<Line> lines = new ArrayList<>();
    for (Level level : levels.operating()) {
      LevelSamples drawn = samples.get(level.position());
      Shape values = drawn == null ? null : shape.apply(drawn);
      if (values != null) {
        String name = KeyFigureTables.place(summary, level.stage());
        lines.add(Line.percentiles(name, lines.size(), values));
      }
    }
    return curves(id, title, lines);
  }

  private static String id(Metric metric) {
    return metric.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static Chart histogram(Metric metric, Shape shape, String suffix) {
    Axis x = Axis.of(metric.title(), metric.unit().sign());
    return Chart.histogram("histogram", x, shape, metric.title())
        .id("histogram-" + id(metric) + suffix);
  }

  private static Chart curves(
      String id, String title, LevelSamples drawn, Metric first, Metric second) {
    List<Line> lines = new ArrayList<>();
    for (Metric metric : List.of(first, second)) {
      Shape shape = drawn.shapes().get(metric);
      if (shape != null) {
        lines.add(Line.percentiles(metric.title(), lines.size(), shape));
      }
    }
    return curves(id, title, lines);
  }

  private static Chart curves(String id, String title, List<Line> lines) {
    return Chart.percentiles("percentiles", title, lines).id(id);
  }
}
