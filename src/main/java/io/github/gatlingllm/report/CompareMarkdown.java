package io.github.gatlingllm.report;

import io.github.gatlingllm.compare.Comparison;
import io.github.gatlingllm.compare.Comparison.Change;
import io.github.gatlingllm.compare.Comparison.Place;
import io.github.gatlingllm.report.ComparedRuns.Other;
import java.util.List;

/** A comparison as {@code compare.md}: what a reader of a pull request wants to see. */
final class CompareMarkdown {

  private CompareMarkdown() {}

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
                    .append(Table.inline(ChangeText.judged(judged)))
                    .append('\n'));
    other
        .comparison()
        .notes()
        .forEach(note -> out.append("- ").append(Table.inline(note)).append('\n'));
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
      out.append(ComparePage.differences(runs, differences).markdown());
    }
    out.append('\n');
    for (Other other : runs.others()) {
      for (String stage : other.comparison().unmatched()) {
        out.append("- ").append(Table.inline(other.side().name())).append(": stage ");
        out.append(Table.inline(stage)).append('\n');
      }
      out.append(other.comparison().unmatched().isEmpty() ? "" : "\n");
    }
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
        out.append("### ").append(Table.inline(title)).append("\n\n");
        out.append(ComparePage.changes(title, shown).markdown());
        out.append('\n');
      }
    }
  }
}
