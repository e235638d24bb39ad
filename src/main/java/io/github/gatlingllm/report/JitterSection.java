package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.Figures.Jitter;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Form;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.stats.CloseUps.Evenness;
import io.github.gatlingllm.stats.CloseUps.EventSize;
import io.github.gatlingllm.stats.CloseUps.Pauses;
import io.github.gatlingllm.stats.Series.Shape;
import io.github.gatlingllm.stats.Summary;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** How evenly tokens came: per-request jitter, longest gaps, pauses, tokens per event. */
final class JitterSection {

  private final Summary summary;
  private final Evenness evenness;

  JitterSection(Summary summary, Evenness evenness) {
    this.summary = summary;
    this.evenness = evenness;
  }

  /** The section; empty where no stream has two token events. */
  Optional<Section> section() {
    List<Chart> charts = new ArrayList<>();
    Shape ratio = evenness.ratio();
    if (ratio != null) {
      charts.add(
          Histogram.of(
              "jitter-ratio",
              "Jitter of single requests",
              "1 is even; a request above 3 has gaps that its reader notices.",
              Axis.of("ITL p99 ÷ p50 of the request", ""),
              "Requests",
              ratio));
    }
    Shape longest = evenness.longestGapMs();
    if (longest != null) {
      charts.add(
          Histogram.of(
              "jitter-stall",
              "Longest stall of each request",
              "The one gap that its reader waited longest for; a hump of its own is a pause of the"
                  + " server, such as a long prompt between the tokens.",
              Axis.of("Longest gap", "ms"),
              "Requests",
              longest));
    }
    if (evenness.pauses().size() > 1) {
      charts.add(pauses());
    }
    if (evenness.eventSizes().stream().anyMatch(size -> size.from() != 1)) {
      charts.add(eventSizes());
    }
    if (charts.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new Section(
            "jitter",
            "Jitter and stalls",
            "Jitter",
            "Tokens at an even pace read like speech; the same mean with pauses does not. "
                + eventsInWords(),
            levels(),
            charts));
  }

  private String eventsInWords() {
    List<EventSize> sizes = evenness.eventSizes();
    return sizes.size() == 1 && sizes.get(0).from() == 1
        ? "Every token event held one token."
        : "Some token events held more or less than one token.";
  }

  private Html levels() {
    Table table =
        new Table(
            "Jitter by load level",
            List.of(
                "Load level",
                "ITL p99 ÷ p50, pooled",
                "of the median request",
                "ITL std, ms",
                "longest stall p50, ms",
                "p99",
                "gaps over 100 ms per 1,000 tokens",
                "tokens per event"));
    for (Summary.Stage stage : summary.stages()) {
      if (!stage.figures().metric(Metric.STALL_MS).isEmpty()) {
        row(
            table,
            SummaryTables.place(summary, stage),
            stage.figures().jitter(),
            stage.figures().metric(Metric.STALL_MS));
      }
    }
    if (summary.stages().size() > 1) {
      row(table, "all", summary.figures().jitter(), summary.figures().metric(Metric.STALL_MS));
    }
    return table.html();
  }

  private static void row(Table table, String name, Jitter jitter, Distribution stall) {
    table
        .row(name, "")
        .cell(NumberText.number(jitter.itlP99OverP50()))
        .cell(NumberText.number(jitter.perRequestP50()))
        .cell(NumberText.number(jitter.itlStdMs()));
    MetricTable.percentile(table, stall, "p50", stall.p50());
    MetricTable.percentile(table, stall, "p99", stall.p99());
    table
        .cell(NumberText.number(jitter.stallsPer1kTokens()))
        .cell(NumberText.number(jitter.batchRatio()))
        .end();
  }

  private Chart pauses() {
    Table table =
        new Table(
            "Pauses per 1,000 tokens", List.of("Gap longer than, ms", "gaps per 1,000 tokens"));
    List<String> places = new ArrayList<>();
    List<Point> points = new ArrayList<>();
    for (Pauses pauses : evenness.pauses()) {
      double rate = pauses.per1kTokens();
      // A logarithmic axis has no place for none; the table says it.
      points.add(new Point(places.size(), rate == 0 ? null : (Double) rate));
      String above = NumberText.number(pauses.aboveMs());
      places.add(above);
      table.row(above, "").cell(NumberText.number(rate)).end();
    }
    return new Chart(
            "jitter-pauses",
            "Pauses per 1,000 tokens",
            "↓ lower is better",
            "How many gaps between token events were longer than each threshold; where the line"
                + " ends, no gap was longer. The usual threshold is 100 ms.",
            Axis.places("Gap longer than", "ms", places),
            Axis.of("Gaps per 1,000 output tokens", ""),
            List.of(Line.of("gaps longer than that", 0, 0, points)))
        .scaledToRange()
        .tabled(table.html());
  }

  private Chart eventSizes() {
    double all = evenness.eventSizes().stream().mapToLong(EventSize::events).sum();
    List<String> places = new ArrayList<>();
    List<Point> points = new ArrayList<>();
    for (EventSize size : evenness.eventSizes()) {
      points.add(new Point(places.size(), 100 * size.events() / all));
      places.add(name(size));
    }
    return new Chart(
        "jitter-events",
        "Tokens per event",
        "1 is best",
        "More than one token per event arrive as a lump: ITL then shares a gap among them. Where"
            + " the server does not count, a request's tokens are shared evenly.",
        Axis.places("Tokens in the event", "", places),
        Axis.of("Share of token events", "%"),
        List.of(new Line("Events", Form.BAR, 0, 0, points, List.of())));
  }

  private static String name(EventSize size) {
    Integer to = size.to();
    if (to == null) {
      return size.from() + " or more";
    }
    return to - size.from() == 1 ? Integer.toString(size.from()) : size.from() + "–" + (to - 1);
  }
}
