package io.github.gatlingllm.report;

import io.github.gatlingllm.compare.Comparison.Change;
import io.github.gatlingllm.compare.Comparison.Outcome;
import io.github.gatlingllm.compare.Comparison.Place;
import io.github.gatlingllm.compare.FailCondition.Judged;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.report.ComparedRuns.Other;
import io.github.gatlingllm.report.ComparedRuns.Side;
import io.github.gatlingllm.stats.Summary;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The page {@code compare.html}: what differs, what changed, and the curves of all runs. */
final class ComparePage {

  private final ComparedRuns runs;

  private ComparePage(ComparedRuns runs) {
    this.runs = runs;
  }

  /** Writes the page whole or not at all. */
  static void write(Path file, ComparedRuns runs) throws IOException {
    ComparePage page = new ComparePage(runs);
    Path directory = file.toAbsolutePath().getParent();
    new Page("LLM comparison", "LLM comparison: " + runs.base().name())
        .head(page.head())
        .sections(page.sections())
        .end(new PageEnd(directory).licences())
        .write(file);
  }

  private Html head() {
    Html html = new Html().open("header", "id", "top");
    html.open("div", "class", "head").element("h1", "Comparison with " + runs.base().name());
    html.close().open("dl", "class", "facts");
    for (Side side : runs.sides()) {
      Summary summary = side.figures().summary();
      html.open("div").element("dt", side.equals(runs.base()) ? "Base" : "Run");
      html.element(
          "dd",
          side.name()
              + ", "
              + NumberText.count(summary.figures().counts().started())
              + " requests, "
              + summary.run().state());
      html.close();
    }
    return html.close().close();
  }

  private List<Section> sections() {
    List<Section> sections = new ArrayList<>();
    sections.add(differences());
    sections.add(verdict());
    sections.add(figures());
    sections.add(new CompareCharts(runs).section());
    return sections;
  }

  private Section verdict() {
    Html html = new Html();
    for (Other other : runs.others()) {
      String named = runs.others().size() > 1 ? other.side().name() + ": " : "";
      html.element("p", named + ChangeText.verdict(other), "class", "verdict");
      other.comparison().notes().forEach(note -> html.element("p", "▲ " + note, "class", "note"));
    }
    if (runs.others().stream().anyMatch(other -> !other.judged().isEmpty())) {
      html.add(conditions());
    }
    html.element("p", ChangeText.RULE, "class", "note");
    return new Section("verdict", "Verdict", "Verdict", "", html, List.of());
  }

  private Html conditions() {
    Table table =
        new Table(
            "Conditions",
            List.of("Condition", "Run", "Base", "This run", "Change", "Interval", "Outcome"),
            "errors");
    for (Other other : runs.others()) {
      for (Judged judged : other.judged()) {
        Change change = judged.change();
        table.row(judged.condition().text(), "").cell(other.side().name(), "words");
        if (change == null) {
          table.cell(NumberText.ABSENT).cell(NumberText.ABSENT);
          table.cell(NumberText.ABSENT).cell(NumberText.ABSENT);
        } else {
          table.cell(ChangeText.value(change, change.base()));
          table.cell(ChangeText.value(change, change.run()));
          table.cell(ChangeText.by(change)).cell(ChangeText.interval(change));
        }
        table.cell(
            judged.hasFailed() ? "KO" : "OK", judged.hasFailed() ? "level invalid" : "level ok");
        table.end();
      }
    }
    return table.html();
  }

  private Section differences() {
    Html html = new Html();
    List<ConfigurationDifference.Row> rows =
        ConfigurationDifference.of(
            runs.sides().stream().map(side -> side.figures().summary()).toList());
    if (rows.isEmpty()) {
      html.element("p", "Nothing differs that the runs know of.", "class", "note");
    } else {
      List<String> headings = new ArrayList<>(List.of("Setting"));
      runs.sides().forEach(side -> headings.add(side.name()));
      Table table = new Table("Configuration", headings, "compact");
      for (ConfigurationDifference.Row row : rows) {
        table.row(row.name(), "");
        row.values().forEach(value -> table.cell(value, "words"));
        table.end();
      }
      html.add(table.html());
    }
    for (Other other : runs.others()) {
      for (String stage : other.comparison().unmatched()) {
        html.element("p", other.side().name() + ": stage " + stage + ".", "class", "note");
      }
    }
    return new Section(
        "differences",
        "What differs",
        "What differs",
        "Settings, versions and workload that were not the same: look here first.",
        html,
        List.of());
  }

  private Section figures() {
    Html html = new Html();
    for (Other other : runs.others()) {
      if (runs.others().size() > 1) {
        html.element("h3", other.side().name(), "class", "sub");
      }
      boolean isFirst = true;
      for (Place place : other.comparison().places()) {
        String title = ChangeText.place(other.comparison(), place);
        if (isFirst) {
          html.element("h4", title, "class", "sub").add(table(title, place));
        } else {
          html.open("details").element("summary", title + clear(place)).add(table(title, place));
          html.close();
        }
        isFirst = false;
      }
    }
    return new Section(
        "figures",
        "Figures",
        "Figures",
        "Every figure of both, how much it changed, and whether that is more than noise.",
        html,
        List.of());
  }

  /** What a closed part holds. */
  private static String clear(Place place) {
    long worse = place.changes().stream().filter(c -> c.outcome() == Outcome.WORSE).count();
    long better = place.changes().stream().filter(c -> c.outcome() == Outcome.BETTER).count();
    return worse + better == 0
        ? ": no clear change"
        : ": " + worse + " worse, " + better + " better";
  }

  private static Html table(String title, Place place) {
    Table table =
        new Table(title, List.of("Figure", "Base", "This run", "Change", "Interval", "Verdict"));
    for (Change change : place.changes()) {
      table.row(
          change.figure().name(),
          change.figure().words()
              + (change.isLowerBetter() ? ", lower is better" : ", higher is better"));
      table.cell(ChangeText.value(change, change.base()));
      table.cell(ChangeText.value(change, change.run()));
      table.cell(ChangeText.by(change)).cell(ChangeText.interval(change));
      table.cell(ChangeText.outcome(change.outcome()), kind(change.outcome())).end();
    }
    return table.html();
  }

  private static String kind(Outcome outcome) {
    return switch (outcome) {
      case BETTER -> "level ok";
      case WORSE -> "level invalid";
      case NO_CLEAR_CHANGE, TOO_FEW, NOT_JUDGED -> "soft";
    };
  }
}
