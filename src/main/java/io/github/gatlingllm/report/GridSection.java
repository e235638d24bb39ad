package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.LengthPair;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Form;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Page.Section;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A heat map of each figure over the pairs of a grid of lengths. */
final class GridSection {

  private static final String HIGHER = "↑ higher";
  private static final String LOWER = "↓ lower";

  private GridSection() {}

  /** Null without a grid. */
  static @Nullable Section of(Summary summary) {
    List<LengthPair> pairs = summary.grid();
    if (pairs.isEmpty()) {
      return null;
    }
    String ttft = summary.headlineMetric(Metric.TTFT_MS).title() + " p99";
    return Section.of("grid")
        .charts(
            List.of(
                map(summary, pairs, "tok", "Output", "tok/s", HIGHER, LengthPair::outputTokensPerS),
                map(
                    summary,
                    pairs,
                    "goodput",
                    "Goodput",
                    "requests/s",
                    HIGHER,
                    LengthPair::goodputRequestsPerS),
                map(summary, pairs, "ttft", ttft, "ms", LOWER, LengthPair::ttftP99Ms)));
  }

  private static Chart map(
      Summary summary,
      List<LengthPair> pairs,
      String id,
      String figure,
      String unit,
      String better,
      Function<LengthPair, @Nullable Double> value) {
    List<Integer> outputs = pairs.stream().map(LengthPair::maxTokens).distinct().toList();
    Map<String, List<Point>> rows = new LinkedHashMap<>();
    for (LengthPair pair : pairs) {
      String target = summary.hasSeveralTargets() ? " @ " + pair.target() : "";
      List<Point> row = rows.computeIfAbsent(pair.promptTokens() + target, n -> new ArrayList<>());
      if (value.apply(pair) != null) {
        row.add(new Point(outputs.indexOf(pair.maxTokens()), value.apply(pair)));
      }
    }
    List<Line> lines = new ArrayList<>();
    rows.forEach((name, row) -> lines.add(Line.of(name, 0, 0, row).as(Form.GRID)));
    Axis columns = Axis.places("Output tokens", "", outputs.stream().map(String::valueOf).toList());
    return Chart.of("scenario pairs", columns, lines, figure, unit, better).id("grid-" + id);
  }
}
