package io.github.gatlingllm.report;

import io.github.gatlingllm.check.Check;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.stats.AssertionResult;
import io.github.gatlingllm.stats.Summary;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What came out, and how far it can be trusted. */
final class VerdictSections {

  private final Summary summary;

  VerdictSections(Summary summary) {
    this.summary = summary;
  }

  /** The outcome in words, the six figures, the SLO and the assertions. */
  Section verdict() {
    Html html = new Html().element("p", summary.verdict(), "class", "verdict");
    html.add(new Tiles(summary).html());
    long levels = summary.stages().stream().map(Summary.Stage::label).distinct().count();
    if (levels > 1) {
      html.open("p", "class", "note")
          .text("All but the knee are of all " + levels + " load levels together; ")
          .element("a", "each level by itself", "href", "#levels")
          .text(".")
          .close();
    }
    if (summary.targets().size() > 1) {
      FigureTable targets = new FigureTable("Target", summary.slo() != null);
      summary.targets().forEach(t -> targets.row(new Html().text(t.label()), "", t.figures()));
      html.element("p", "The figures above pool all targets; each by itself:", "class", "note");
      html.add(targets.html());
    }
    Summary.SloTable slo = summary.slo();
    if (slo == null) {
      html.open("p", "class", "note")
          .text("No SLO was set, so nothing says which requests were fast enough. Set one with ")
          .element("code", "-Dllm.slo=ttft<200ms,tpot<50ms")
          .text(".")
          .close();
    } else {
      html.add(objectives(slo));
    }
    if (!summary.assertions().isEmpty()) {
      html.add(assertions(summary.assertions()));
    }
    return new Section("verdict", "Verdict", "Verdict", "", html, List.of());
  }

  private static Html objectives(Summary.SloTable slo) {
    String at = "p" + NumberText.plain(slo.percentile());
    Table table =
        new Table(
            "Service level objectives",
            List.of("Objective", "limit", "actual " + at, "margin", "requests within", "result"));
    for (Summary.ObjectiveRow row : slo.objectives()) {
      table
          .row(row.measure().toUpperCase(Locale.ROOT), "lower is better")
          .cell("< " + NumberText.plainMs(row.limitMs()))
          .cell(NumberText.with(row.actualMs(), "ms"))
          .cell(NumberText.with(row.marginMs(), "ms"))
          .cell(NumberText.percent(row.metShare()))
          .cell(result(row.ok()))
          .end();
    }
    return table
        .html()
        .element(
            "p",
            "All load levels pooled. An objective holds when at least "
                + NumberText.plain(slo.percentile())
                + " % of attempted requests meet it; TTFT and E2E count from the planned arrival.",
            "class",
            "note");
  }

  private static Html assertions(List<AssertionResult> results) {
    Table table =
        new Table("Assertions", List.of("Assertion", "expected", "actual", "result"), "notes");
    for (AssertionResult assertion : results) {
      table
          .row(assertion.subject(), assertion.note() == null ? "" : assertion.note())
          .cell(assertion.expected())
          .cell(NumberText.orAbsent(assertion.actual()))
          .cell(result(assertion.ok()))
          .end();
    }
    long missed = results.stream().filter(result -> !result.ok()).count();
    String lead =
        missed == 0
            ? "The build's demands are met."
            : missed
                + " of "
                + results.size()
                + " demands of the build "
                + (missed == 1 ? "is" : "are")
                + " missed.";
    return new Html()
        .element("h3", "Assertions")
        .element("p", lead, "class", "note")
        .add(table.html());
  }

  /** OK or KO as sign and word. */
  static Html result(@Nullable Boolean ok) {
    if (ok == null) {
      return new Html().text(NumberText.ABSENT);
    }
    return ok
        ? new Html().element("span", "✓ OK", "class", "level ok")
        : new Html().element("span", "✗ KO", "class", "level invalid");
  }

  /** How far the figures can be trusted. */
  Section checks() {
    Html html = new Html();
    if (summary.checks().isEmpty()) {
      html.element("p", "This run was not checked.", "class", "note");
    } else {
      list(html, "checks", check -> check.level() != Check.Level.OK);
      list(html, "checks fine", check -> check.level() == Check.Level.OK);
    }
    String lead =
        switch (summary.level()) {
          case OK -> "Nothing speaks against these figures.";
          case WARNING -> "Read the figures with the warnings below in mind.";
          case INVALID -> "Some figures do not mean what they say; see what to do below.";
        };
    return new Section(
        "validity", "Can these figures be trusted?", "Validity", lead, html, List.of());
  }

  private void list(Html html, String kind, Predicate<Check> which) {
    List<Check> checks =
        summary.checks().stream()
            .filter(which)
            .sorted(Comparator.comparing(Check::level).reversed())
            .toList();
    if (!checks.isEmpty()) {
      html.open("ul", "class", kind);
      checks.forEach(check -> item(html, check));
      html.close();
    }
  }

  private static void item(Html html, Check check) {
    html.open("li").add(level(check.level()));
    html.element("p", check.message());
    if (check.level() != Check.Level.OK) {
      html.element("p", check.remedy(), "class", "remedy");
    }
    html.close();
  }

  private static Html level(Check.Level level) {
    String sign =
        switch (level) {
          case OK -> "✓ ok";
          case WARNING -> "▲ warning";
          case INVALID -> "✗ invalid";
        };
    return new Html().element("span", sign, "class", "level " + level.key());
  }
}
