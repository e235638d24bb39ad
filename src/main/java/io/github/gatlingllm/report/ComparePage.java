package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.compare.Comparison;
import io.github.gatlingllm.figures.compare.Comparison.Change;
import io.github.gatlingllm.figures.compare.Comparison.FailCondition.Judged;
import io.github.gatlingllm.figures.compare.Comparison.Outcome;
import io.github.gatlingllm.figures.compare.Comparison.Place;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.report.ComparedRuns.ConfigurationDifference;
import io.github.gatlingllm.report.ComparedRuns.Other;
import io.github.gatlingllm.report.ComparedRuns.Side;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.RunText.Fact;
import io.github.gatlingllm.report.Table.Cell;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.Table.Columns;
import io.github.gatlingllm.report.Table.Kind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * A comparison as {@code compare.html} and {@code compare.md}: configuration differences, changes,
 * and, on the page, the curves of all runs.
 */
final class ComparePage {

  /** Figures that are shown whether or not they changed. */
  private static final Set<String> KEY_FIGURES =
      Set.of(
          "ttft.p50",
          "ttft.p99",
          "itl.p99",
          "tpot.p50",
          "e2e.p50",
          "output_tokens_per_s",
          "requests_per_s",
          "goodput.percent",
          "errors");

  private final ComparedRuns runs;

  private ComparePage(ComparedRuns runs) {
    this.runs = runs;
  }

  /** Writes the page atomically. */
  static void write(Path file, ComparedRuns runs) throws IOException {
    String base = runs.base().name();
    List<Fact> facts =
        runs.sides().stream()
            .map(side -> new Fact(side.equals(runs.base()) ? "Base" : "Run", what(side)))
            .toList();
    new Page(
            "compare",
            "LLM comparison",
            "LLM comparison: " + base,
            Map.of("base", base),
            facts,
            List.of(),
            new ComparePage(runs).sections())
        .write(file);
  }

  /** The comparison as {@code compare.md}. */
  static String markdown(ComparedRuns runs) {
    return Markdown.of(runs);
  }

  private static String what(Side side) {
    Summary summary = side.figures().summary();
    return side.name()
        + ", "
        + NumberText.count(summary.figures().counts().started())
        + " requests, "
        + summary.run().state();
  }

  private List<Section> sections() {
    return List.of(differences(), verdict(), figures(), new CompareCharts(runs).section());
  }

  /** The verdict on a run, and notes on its limits. */
  private record Verdict(String text, List<String> notes) {}

  private Section verdict() {
    List<Verdict> verdicts =
        runs.others().stream()
            .map(
                other ->
                    new Verdict(
                        (runs.others().size() > 1 ? other.side().name() + ": " : "")
                            + ChangeText.verdict(other),
                        other.comparison().notes()))
            .toList();
    return Section.of("verdict")
        .body(
            "compare-verdict",
            Map.of("verdicts", verdicts, "conditions", conditions(), "rule", ChangeText.RULE));
  }

  /** A condition with the name of the judged run. */
  private record Condition(String run, Judged judged) {}

  private Table conditions() {
    List<Condition> conditions = new ArrayList<>();
    for (Other other : runs.others()) {
      other.judged().forEach(judged -> conditions.add(new Condition(other.side().name(), judged)));
    }
    return Table.of(
        "Conditions",
        conditions,
        Column.name("Condition", c -> c.judged.condition().text()),
        Column.words("Run", Condition::run),
        measured("Base", change -> ChangeText.value(change, change.base())),
        measured("This run", change -> ChangeText.value(change, change.run())),
        measured("Change", ChangeText::by),
        measured("Interval", ChangeText::interval),
        Column.of("Outcome", c -> Cell.passed(!c.judged.hasFailed())));
  }

  private static Column<Condition> measured(String heading, Function<Change, String> figure) {
    return Column.figure(
        heading,
        c -> c.judged.change() == null ? NumberText.ABSENT : figure.apply(c.judged.change()));
  }

  private Section differences() {
    List<ConfigurationDifference.Row> rows = runs.differences();
    List<String> unmatched =
        runs.others().stream()
            .flatMap(
                other ->
                    other.comparison().unmatched().stream()
                        .map(level -> other.side().name() + ": load level " + level + "."))
            .toList();
    return Section.of("differences")
        .body(
            "compare-differences",
            Map.of("settings", differences(runs, rows), "unmatched", unmatched));
  }

  /** The configuration differences, a column per run. */
  private static Table differences(ComparedRuns runs, List<ConfigurationDifference.Row> rows) {
    Columns<ConfigurationDifference.Row> columns =
        Columns.of(Column.name("Setting", ConfigurationDifference.Row::name));
    for (int i = 0; i < runs.sides().size(); i++) {
      int side = i;
      columns.and(Column.words(runs.sides().get(i).name(), row -> row.values().get(side)));
    }
    return columns.table("Configuration", rows).styled("compact");
  }

  /** The changes at one load level, or of all pooled. */
  private record Changes(
      String run, String title, String counted, Table table, Table rest, int unchanged) {}

  private Section figures() {
    List<Changes> all = new ArrayList<>();
    for (Other other : runs.others()) {
      String run = runs.others().size() > 1 ? other.side().name() : "";
      for (Place place : runs.byImportance(other)) {
        String title = ChangeText.place(other.comparison(), place);
        List<Change> shown = shown(runs, other, place);
        List<Change> rest = place.changes().stream().filter(c -> !shown.contains(c)).toList();
        String counted = runs.isOpen(other, place) ? "" : clear(place);
        all.add(
            new Changes(
                run, title, counted, changes(title, shown), changes("", rest), rest.size()));
        run = "";
      }
    }
    return Section.of("figures").body("compare-figures", Map.of("places", all));
  }

  /** Worse figures, better figures, then the unchanged key figures at the operating points. */
  private static List<Change> shown(ComparedRuns runs, Other other, Place place) {
    boolean isHeadline = runs.isHeadline(other, place);
    return place.changes().stream()
        .filter(
            c -> c.outcome().isClear() || (isHeadline && KEY_FIGURES.contains(c.figure().name())))
        .sorted(
            Comparator.comparingInt(
                c -> c.outcome() == Outcome.WORSE ? 0 : c.outcome() == Outcome.BETTER ? 1 : 2))
        .toList();
  }

  /** The summary line of a folded part. */
  private static String clear(Place place) {
    long worse = place.changes().stream().filter(c -> c.outcome() == Outcome.WORSE).count();
    long better = place.changes().stream().filter(c -> c.outcome() == Outcome.BETTER).count();
    return worse + better == 0 ? "no clear change" : worse + " worse, " + better + " better";
  }

  /** The figures of both runs with their changes. */
  private static Table changes(String title, List<Change> changes) {
    return Table.of(
        title,
        changes,
        Column.of("Figure", ComparePage::figure),
        Column.figure("Base", change -> ChangeText.value(change, change.base())),
        Column.figure("This run", change -> ChangeText.value(change, change.run())),
        Column.figure("Change", ChangeText::by),
        Column.figure("Interval", ChangeText::interval),
        Column.of("Verdict", ComparePage::outcome));
  }

  private static Cell figure(Change change) {
    String direction =
        change.figure().metric().better() == Metric.Better.LOWER
            ? ", lower is better"
            : ", higher is better";
    return new Cell(change.figure().name(), Kind.CODE)
        .remarked(change.figure().words() + direction);
  }

  private static Cell outcome(Change change) {
    Kind kind =
        switch (change.outcome()) {
          case BETTER -> Kind.BETTER;
          case WORSE -> Kind.WORSE;
          case NO_CLEAR_CHANGE, TOO_FEW, NOT_JUDGED -> Kind.UNCHANGED;
        };
    return new Cell(ChangeText.outcome(change.outcome()), kind);
  }

  /** A comparison as {@code compare.md}, short enough for a pull request. */
  private static final class Markdown {

    private Markdown() {}

    static String of(ComparedRuns runs) {
      StringBuilder out = new StringBuilder();
      out.append("## LLM load test compared with ");
      out.append(Table.inline(runs.base().name())).append("\n\n");
      differences(runs, out);
      for (Other other : runs.others()) {
        out.append("**").append(Table.inline(other.side().name())).append(": ");
        out.append(Table.inline(ChangeText.verdict(other))).append("**\n\n");
        conditions(other, out);
      }
      for (Other other : runs.others()) {
        figures(runs, other, out);
      }
      return out.append(ChangeText.RULE).append('\n').toString();
    }

    private static void conditions(Other other, StringBuilder out) {
      other
          .judged()
          .forEach(
              judged ->
                  out.append("- ")
                      .append(judged.hasFailed() ? "KO " : "OK ")
                      .append(Table.inline(ChangeText.judged(judged)))
                      .append('\n'));
      other
          .comparison()
          .notes()
          .forEach(note -> out.append("- ").append(Table.inline(note)).append('\n'));
      out.append(other.judged().isEmpty() && other.comparison().notes().isEmpty() ? "" : "\n");
    }

    private static void differences(ComparedRuns runs, StringBuilder out) {
      List<ConfigurationDifference.Row> differences = runs.differences();
      out.append("### What differs\n\n");
      if (differences.isEmpty()) {
        out.append("No recorded setting, version or workload.\n");
      } else {
        out.append(ComparePage.differences(runs, differences).markdown());
      }
      out.append('\n');
      for (Other other : runs.others()) {
        for (String stage : other.comparison().unmatched()) {
          out.append("- ").append(Table.inline(other.side().name())).append(": load level ");
          out.append(Table.inline(stage)).append('\n');
        }
        out.append(other.comparison().unmatched().isEmpty() ? "" : "\n");
      }
    }

    /** Key figures and clear changes at the operating points, clear changes elsewhere. */
    private static void figures(ComparedRuns runs, Other other, StringBuilder out) {
      Comparison comparison = other.comparison();
      for (Place place : runs.byImportance(other)) {
        List<Change> shown = shown(runs, other, place);
        if (!shown.isEmpty()) {
          String title = other.side().name() + ", " + ChangeText.place(comparison, place);
          out.append("### ").append(Table.inline(title)).append("\n\n");
          out.append(ComparePage.changes(title, shown).markdown());
          out.append('\n');
          int others = place.changes().size() - shown.size();
          if (others > 0) {
            out.append("No clear change of ").append(others).append(" other figures.\n\n");
          }
        }
      }
    }
  }
}
