package io.github.gatlingllm.report;

import io.github.gatlingllm.stats.Distribution;
import io.github.gatlingllm.stats.Summary;
import io.github.gatlingllm.stats.Summary.Arrivals;
import io.github.gatlingllm.stats.Summary.Stage;
import java.util.List;
import java.util.Map;

/** The load generator itself: did it send what was planned, and was it healthy? */
final class GeneratorSection {

  private final Summary summary;

  GeneratorSection(Summary summary) {
    this.summary = summary;
  }

  /** Whether anything is known about it. */
  boolean isKnown() {
    return summary.arrivals() != null
        || !summary.generator().isEmpty()
        || !summary.server().isEmpty();
  }

  Section section() {
    Html html = new Html();
    if (summary.arrivals() != null) {
      html.element("h3", "Planned against realised arrivals", "class", "sub").add(arrivals());
      html.element(
          "p",
          "Dispersion is variance ÷ mean of arrivals per second: 1 for Poisson arrivals, 0 for"
              + " constant ones.",
          "class",
          "note");
    }
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

  private Html arrivals() {
    Table table =
        new Table(
            "Planned against realised arrivals",
            List.of(
                "Load level",
                "arrivals",
                "planned, req/s",
                "realised, req/s",
                "dispersion planned",
                "realised",
                "late p50, ms",
                "late p99, ms",
                "late max, ms"));
    for (Stage stage : summary.stages()) {
      if (stage.arrivals() != null) {
        row(table, SummaryTables.place(summary, stage), stage.arrivals());
      }
    }
    if (summary.arrivals() != null) {
      row(table, "all", summary.arrivals());
    }
    return table.html();
  }

  private static void row(Table table, String name, Arrivals arrivals) {
    table
        .row(name, "")
        .cell(NumberText.count(arrivals.count()))
        .cell(NumberText.number(arrivals.plannedPerS()))
        .cell(NumberText.number(arrivals.realisedPerS()))
        .cell(NumberText.number(arrivals.plannedDispersion()))
        .cell(NumberText.number(arrivals.realisedDispersion()))
        .cell(NumberText.number(arrivals.lagP50Ms()))
        .cell(NumberText.number(arrivals.lagP99Ms()))
        .cell(NumberText.number(arrivals.lagMaxMs()))
        .end();
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
