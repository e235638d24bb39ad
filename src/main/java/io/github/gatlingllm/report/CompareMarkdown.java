package io.github.gatlingllm.report;

import io.github.gatlingllm.compare.Comparison;
import io.github.gatlingllm.compare.Comparison.Change;
import io.github.gatlingllm.compare.Comparison.Place;
import io.github.gatlingllm.report.ComparedRuns.Other;
import java.util.ArrayList;
import java.util.List;

/** A comparison as {@code compare.md}: what a reader of a pull request wants to see. */
final class CompareMarkdown {

  private CompareMarkdown() {}

  static String of(ComparedRuns runs) {
    StringBuilder out = new StringBuilder();
    out.append("## LLM load test compared with ");
    out.append(SummaryMarkdown.inline(runs.base().name())).append("\n\n");
    differences(runs, out);
    for (Other other : runs.others()) {
      out.append("**").append(SummaryMarkdown.inline(other.side().name())).append(": ");
      out.append(SummaryMarkdown.inline(ChangeText.verdict(other))).append("**\n\n");
      conditions(other, out);
    }
    for (Other other : runs.others()) {
      figures(other, out);
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
                    .append(SummaryMarkdown.inline(ChangeText.judged(judged)))
                    .append('\n'));
    other
        .comparison()
        .notes()
        .forEach(note -> out.append("- ").append(SummaryMarkdown.inline(note)).append('\n'));
    out.append(other.judged().isEmpty() && other.comparison().notes().isEmpty() ? "" : "\n");
  }

  private static void differences(ComparedRuns runs, StringBuilder out) {
    List<ConfigurationDifference.Row> differences =
        ConfigurationDifference.of(
            runs.sides().stream().map(side -> side.figures().summary()).toList());
    out.append("### What differs\n\n");
    if (differences.isEmpty()) {
      out.append("Nothing that the runs know of.\n");
    } else {
      out.append(table(runs, differences).markdown());
    }
    out.append('\n');
    for (Other other : runs.others()) {
      for (String stage : other.comparison().unmatched()) {
        out.append("- ").append(SummaryMarkdown.inline(other.side().name())).append(": stage ");
        out.append(SummaryMarkdown.inline(stage)).append('\n');
      }
      out.append(other.comparison().unmatched().isEmpty() ? "" : "\n");
    }
  }

  private static TextTable table(ComparedRuns runs, List<ConfigurationDifference.Row> differences) {
    List<String> heading = new ArrayList<>(List.of("setting"));
    runs.sides().forEach(side -> heading.add(SummaryMarkdown.inline(side.name())));
    List<List<String>> rows = new ArrayList<>();
    for (ConfigurationDifference.Row row : differences) {
      List<String> cells = new ArrayList<>(List.of(SummaryMarkdown.inline(row.name())));
      row.values().forEach(value -> cells.add(SummaryMarkdown.inline(value)));
      rows.add(cells);
    }
    return new TextTable(heading, rows);
  }

  /** All figures of the first place, clear changes of the others. */
  private static void figures(Other other, StringBuilder out) {
    Comparison comparison = other.comparison();
    for (int i = 0; i < comparison.places().size(); i++) {
      Place place = comparison.places().get(i);
      boolean isFirst = i == 0;
      List<Change> shown =
          place.changes().stream().filter(c -> isFirst || c.outcome().isClear()).toList();
      if (!shown.isEmpty()) {
        String title = other.side().name() + ", " + ChangeText.place(comparison, place);
        out.append("### ").append(SummaryMarkdown.inline(title)).append("\n\n");
        List<String> heading =
            List.of("figure", "base", "this run", "change", "interval", "verdict");
        out.append(
            new TextTable(heading, shown.stream().map(CompareMarkdown::row).toList()).markdown());
        out.append('\n');
      }
    }
  }

  private static List<String> row(Change change) {
    return List.of(
        "`" + change.figure().name() + "`",
        ChangeText.value(change, change.base()),
        ChangeText.value(change, change.run()),
        ChangeText.by(change),
        ChangeText.interval(change),
        ChangeText.outcome(change.outcome()));
  }
}
