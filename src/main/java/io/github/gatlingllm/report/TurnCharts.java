package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.stats.Summary;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * How conversations go from turn to turn: what is asked, what of it is cached, how long it takes.
 */
final class TurnCharts {

  private final List<Summary.Turn> turns;

  TurnCharts(List<Summary.Turn> turns) {
    this.turns = turns;
  }

  /** The charts; empty where no conversation had a second turn. */
  List<Chart> charts() {
    if (turns.size() < 2) {
      return List.of();
    }
    List<Chart> charts = new ArrayList<>();
    charts.add(ttft());
    if (turns.stream().anyMatch(turn -> turn.meanPromptTokens() != null)) {
      charts.add(prompts());
    }
    return charts;
  }

  private Chart ttft() {
    return new Chart(
            "depend-turn",
            "TTFT by turn of the conversation",
            "↓ lower is better",
            "The first turn has no prefix to reuse; later turns that stay as fast although their"
                + " prompts grow show a prefix cache at work.",
            places(),
            Axis.of("TTFT", "ms"),
            List.of(
                line("p50", 0, 0, Distribution::p50),
                line("p95", 1, 1, Distribution::p95),
                line("p99", 3, 2, Distribution::p99)))
        .scaledToRange()
        .tabled(table());
  }

  /** Mean prompt tokens, and how many of them the cache held where the server tells. */
  private Chart prompts() {
    List<Point> asked = new ArrayList<>();
    List<Point> cached = new ArrayList<>();
    for (Summary.Turn turn : turns) {
      Double tokens = turn.meanPromptTokens();
      Double share = turn.cachedShare();
      asked.add(new Point(asked.size(), tokens));
      cached.add(
          new Point(
              cached.size(), tokens == null || share == null ? null : (Double) (tokens * share)));
    }
    List<Line> lines = new ArrayList<>(List.of(Line.of("all", 0, 0, asked)));
    if (turns.stream().anyMatch(turn -> turn.cachedShare() != null)) {
      lines.add(Line.of("from the prefix cache", 2, 1, cached));
    }
    return new Chart(
            "turn-tokens",
            "Prompt tokens by turn of the conversation",
            "the gap is prefill work",
            "Each turn sends what was said before, so prompts grow; where the server keeps whole"
                + " dialogs, what it takes from its cache grows with them.",
            places(),
            Axis.of("Mean prompt tokens", ""),
            lines)
        .tabled(table());
  }

  private Axis places() {
    return Axis.places("Turn", "", turns.stream().map(TurnCharts::name).toList());
  }

  private static String name(Summary.Turn turn) {
    return Integer.toString(turn.turn());
  }

  private Line line(
      String name, int color, int dash, Function<Distribution, @Nullable Double> figure) {
    List<Point> points = new ArrayList<>();
    turns.forEach(turn -> points.add(new Point(points.size(), figure.apply(turn.ttftMs()))));
    return Line.of(name, color, dash, points);
  }

  private Html table() {
    Table table =
        new Table(
            "Key figures by turn of the conversation",
            List.of(
                "Turn",
                "requests",
                "prompt tokens, mean",
                "from prefix cache",
                "TTFT p50, ms",
                "TTFT p95",
                "TTFT p99"));
    for (Summary.Turn turn : turns) {
      Distribution ttft = turn.ttftMs();
      table
          .row(name(turn), "")
          .cell(NumberText.count(turn.requests()))
          .cell(NumberText.number(turn.meanPromptTokens()))
          .cell(NumberText.percent(turn.cachedShare()));
      MetricTable.percentile(table, ttft, "p50", ttft.p50());
      MetricTable.percentile(table, ttft, "p95", ttft.p95());
      MetricTable.percentile(table, ttft, "p99", ttft.p99());
      table.end();
    }
    return table.html();
  }
}
