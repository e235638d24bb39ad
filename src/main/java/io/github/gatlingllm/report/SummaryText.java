package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Check;
import io.github.gatlingllm.figures.metric.Figures.ErrorCount;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.report.RunText.Fact;
import io.github.gatlingllm.report.Table.Column;
import java.util.List;

/** A {@link Summary} as text: the console block at the end of a run, and a Markdown file. */
final class SummaryText {

  private SummaryText() {}

  /** The console block; each line ends with a line feed. */
  static String console(Summary summary) {
    return Console.of(summary);
  }

  /** The whole {@code llm/summary.md}. */
  static String markdown(Summary summary) {
    return Markdown.of(summary);
  }

  /** The console block at the end of a run in Gatling's style, as wide as {@link ConsoleBlock}. */
  private static final class Console {

    private static final int WIDTH = ConsoleBlock.WIDTH;
    private static final int MAX_TRIALS = 10;

    private static final int MAX_ERRORS = 5;

    private final StringBuilder out = new StringBuilder();

    private Console() {}

    static String of(Summary summary) {
      Console block = new Console();
      block.write(summary);
      return block.out.toString();
    }

    private void write(Summary summary) {
      line("=".repeat(WIDTH));
      line(ConsoleBlock.title("LLM Information"));
      wrapped(summary.verdict());
      new RunText(summary).facts().forEach(fact -> wrapped(fact.name() + ": " + fact.value()));
      rows(DistributionTables.latencies(summary));
      table(KeyFigureTables.CURVES, KeyFigureTables.curves(summary));
      if (summary.stages().size() > 1) {
        table("Load levels", KeyFigureTables.levels(summary));
      }
      table("Requests", KeyFigureTables.requests(summary));
      table("Trials", KeyFigureTables.trials(summary, MAX_TRIALS));
      table("Injectors", OutcomeTables.injectors(summary));
      table("Generators", OutcomeTables.generators(summary));
      SelfTestText selfTest = new SelfTestText(summary);
      table(SelfTestText.TITLE, selfTest.table());
      if (!selfTest.table().isEmpty()) {
        wrapped(selfTest.ceiling());
      }
      errors(OutcomeTables.failures(summary.figures(), MAX_ERRORS));
      line(ConsoleBlock.title("Validity"));
      List<Check> notOk = VerdictSections.raised(summary);
      notOk.forEach(
          c -> wrapped(c.level().key() + " " + c.id() + ": " + c.message() + " " + c.remedy()));
      String passed = VerdictSections.passed(summary.checks().size() - notOk.size());
      if (!passed.isEmpty()) {
        wrapped(passed);
      }
      line("=".repeat(WIDTH));
    }

    /** The errors; their messages are too long for a table. */
    private void errors(List<ErrorCount> errors) {
      if (!errors.isEmpty()) {
        line(ConsoleBlock.title("Errors"));
      }
      for (ErrorCount error : errors) {
        wrapped(NumberText.count(error.count()) + " × " + error.verdict() + ": " + error.message());
      }
    }

    private void table(String title, Table table) {
      if (!table.isEmpty()) {
        line(ConsoleBlock.title(title));
        rows(table);
      }
    }

    private void rows(Table table) {
      if (table.isEmpty()) {
        return;
      }
      List<String> lines = table.lines(WIDTH - 2);
      lines.forEach(text -> line("> " + text));
      if (table.hasLowN()) {
        line("  " + DistributionTables.LOW_N);
      }
    }

    /** Adds a text, broken at spaces; continuation lines are indented. */
    private void wrapped(String text) {
      StringBuilder current = new StringBuilder("> ");
      boolean isFresh = true;
      for (String word : ConsoleBlock.visible(text.replaceAll("\\s+", " ")).split(" ", -1)) {
        String kept = word.length() > WIDTH - 4 ? word.substring(0, WIDTH - 5) + "…" : word;
        if (!isFresh && current.length() + 1 + kept.length() > WIDTH) {
          line(current.toString());
          current = new StringBuilder("  ");
          isFresh = true;
        }
        current.append(isFresh ? "" : " ").append(kept);
        isFresh = false;
      }
      line(current.toString());
    }

    private void line(String text) {
      out.append(text).append('\n');
    }
  }

  /** A {@link Summary} as {@code llm/summary.md}, short enough for a pull request or a CI job. */
  private static final class Markdown {

    private static final int MAX_TRIALS = 50;
    private static final int MAX_ERRORS = 10;

    private final StringBuilder out = new StringBuilder();

    private Markdown() {}

    static String of(Summary summary) {
      Markdown text = new Markdown();
      text.write(summary);
      return text.out.toString();
    }

    private void write(Summary summary) {
      out.append("## LLM load test: ").append(Table.inline(summary.run().id())).append("\n\n");
      out.append("**").append(Table.inline(summary.verdict())).append("**\n\n");
      Table latencies = DistributionTables.latencies(summary);
      if (!latencies.isEmpty()) {
        out.append(latencies.markdown()).append('\n');
        if (latencies.hasLowN()) {
          out.append('`').append(DistributionTables.LOW_N).append("`\n\n");
        }
      }
      Table system =
          Table.of(
              "System",
              new RunText(summary).facts(),
              Column.name("system", Fact::name),
              Column.words("value", Fact::value));
      out.append(system.markdown()).append('\n');
      table(KeyFigureTables.CURVES, KeyFigureTables.curves(summary));
      if (summary.stages().size() > 1) {
        table("Load levels", KeyFigureTables.levels(summary));
      }
      SelfTestText selfTest = new SelfTestText(summary);
      table(SelfTestText.TITLE, selfTest.table());
      out.append(selfTest.table().isEmpty() ? "" : "\n" + selfTest.ceiling() + "\n\n");
      table("Requests", KeyFigureTables.requests(summary));
      table("Trials", KeyFigureTables.trials(summary, MAX_TRIALS));
      table("Injectors", OutcomeTables.injectors(summary));
      table("Generators", OutcomeTables.generators(summary));
      Summary.SloTable slo = summary.slo();
      if (slo != null) {
        String share = ": " + NumberText.plain(slo.percentile()) + " % of the requests";
        table(
            "SLO" + (slo.hasOnePercentile() ? share : ""),
            OutcomeTables.objectives(summary, slo, true));
      }
      table("Assertions", OutcomeTables.assertions(summary.assertions(), true));
      table("Errors", OutcomeTables.errors(summary.figures(), MAX_ERRORS));
      checks(summary);
    }

    private void table(String heading, Table table) {
      if (!table.isEmpty()) {
        out.append("### ").append(heading).append("\n\n").append(table.markdown()).append('\n');
      }
    }

    private void checks(Summary summary) {
      List<Check> notOk = VerdictSections.raised(summary);
      out.append("### Validity\n\n");
      for (Check check : notOk) {
        out.append("- **").append(check.level().key()).append("** `").append(check.id());
        out.append("` ").append(Table.inline(check.message()));
        out.append(' ').append(Table.inline(check.remedy())).append('\n');
      }
      String passed = VerdictSections.passed(summary.checks().size() - notOk.size());
      if (!passed.isEmpty()) {
        out.append(notOk.isEmpty() ? "" : "- ").append(passed).append('\n');
      }
    }
  }
}
