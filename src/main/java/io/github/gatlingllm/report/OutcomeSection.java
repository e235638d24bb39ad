package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Figures.ErrorCount;
import io.github.gatlingllm.metric.NumberText;
import java.util.List;
import java.util.Map;

/** How requests ended: errors by verdict and message, finish reasons, objectives missed. */
final class OutcomeSection {

  private final Figures figures;

  OutcomeSection(Figures figures) {
    this.figures = figures;
  }

  Section section() {
    Html html = new Html();
    Figures.Counts counts = figures.counts();
    if (figures.errors().isEmpty()) {
      html.element("p", "No request failed.", "class", "note");
    } else {
      html.add(errors(counts.started()));
    }
    if (!figures.finishReasons().isEmpty()) {
      html.add(shares("Finish reason", figures.finishReasons(), counts.ok(), "of ok requests"));
    }
    Figures.Goodput goodput = figures.goodput();
    if (goodput != null && goodput.missed().values().stream().anyMatch(count -> count > 0)) {
      html.add(
          shares(
              "Objective missed", goodput.missed(), goodput.attempted(), "of attempted requests"));
    }
    String lead =
        NumberText.count(counts.started())
            + " requests measured: "
            + NumberText.count(counts.ok())
            + " ok, "
            + NumberText.count(counts.failed())
            + " failed, "
            + NumberText.count(counts.cancelled())
            + " cancelled by us at the end.";
    return new Section("outcomes", "How requests ended", "Outcomes", lead, html, List.of());
  }

  private Html errors(long started) {
    Table table =
        new Table("Errors", List.of("Verdict", "message", "count", "share of requests"), "errors");
    for (ErrorCount error : figures.errors()) {
      table
          .row(error.verdict().replace('_', ' '), "")
          .cell(error.message(), "words")
          .cell(NumberText.count(error.count()))
          .cell(NumberText.percent(share(error.count(), started)))
          .end();
    }
    return table.html();
  }

  private static Html shares(String what, Map<String, Long> counts, long all, String base) {
    Table table = new Table(what, List.of(what, "count", base));
    counts.forEach(
        (name, count) ->
            table
                .row(name, "")
                .cell(NumberText.count(count))
                .cell(NumberText.percent(share(count, all)))
                .end());
    return table.html();
  }

  private static double share(long part, long all) {
    return all == 0 ? 0 : (double) part / all;
  }
}
