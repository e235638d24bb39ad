package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.stats.Summary;
import java.util.List;
import java.util.Map;

/** The load generator's health, and what the server said of itself. */
final class GeneratorSection {

  private final Summary summary;

  GeneratorSection(Summary summary) {
    this.summary = summary;
  }

  /** Whether anything is known about it. */
  boolean isKnown() {
    return !summary.generator().isEmpty() || !summary.server().isEmpty();
  }

  Section section() {
    Html html = new Html();
    if (!summary.generator().isEmpty()) {
      html.element("h3", "Health of the load generator", "class", "sub");
      html.add(gauges("Gauge", summary.generator()));
    }
    if (!summary.server().isEmpty()) {
      html.element("h3", "What the server said of itself", "class", "sub");
      html.add(gauges("Timing", summary.server()));
    }
    return new Section(
        "generator",
        "Load generator and server",
        "Generator",
        "A slow client looks like a slow server: these figures tell them apart.",
        html,
        List.of());
  }

  private static Html gauges(String what, Map<String, Distribution> gauges) {
    Table table = new Table(what, List.of(what, "samples", "mean", "p50", "p99", "max"));
    gauges.forEach(
        (name, values) ->
            table
                .row(name, "")
                .cell(NumberText.count(values.count()))
                .cell(NumberText.number(values.mean()))
                .cell(NumberText.number(values.p50()))
                .cell(NumberText.number(values.p99()))
                .cell(NumberText.number(values.max()))
                .end());
    return table.html();
  }
}
