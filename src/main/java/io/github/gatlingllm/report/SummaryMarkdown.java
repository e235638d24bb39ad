package io.github.gatlingllm.report;

import io.github.gatlingllm.check.Check;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.report.RunText.Fact;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.stats.Summary;
import java.util.List;

/**
 * A {@link Summary} as {@code llm/summary.md}: what a reader of a pull request or a CI job wants to
 * see, no more.
 */
final class SummaryMarkdown {

  private static final int MOST_TRIALS = 50;
  private static final int MOST_ERRORS = 10;

  private final StringBuilder out = new StringBuilder();

  private SummaryMarkdown() {}

  /** The whole file. */
  static String of(Summary summary) {
    SummaryMarkdown text = new SummaryMarkdown();
    text.write(summary);
    return text.out.toString();
  }

  private void write(Summary summary) {
    out.append("## LLM load test: ").append(Table.inline(summary.run().id())).append("\n\n");
    out.append("**").append(Table.inline(summary.verdict())).append("**\n\n");
    Table latencies = DistributionTables.latencies(summary);
    if (!latencies.isEmpty()) {
      out.append(latencies.markdown())
          .append("\n`")
          .append(DistributionTables.LOW_N)
          .append("`\n\n");
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
    table("Trials", KeyFigureTables.trials(summary, MOST_TRIALS));
    Summary.SloTable slo = summary.slo();
    if (slo != null) {
      String share = NumberText.plain(slo.percentile());
      table("SLO: " + share + " % of the requests", OutcomeTables.objectives(summary, slo, true));
    }
    table("Assertions", OutcomeTables.assertions(summary.assertions(), true));
    table("Errors", OutcomeTables.errors(summary.figures(), MOST_ERRORS));
    checks(summary);
  }

  private void table(String heading, Table table) {
    if (!table.isEmpty()) {
      out.append("### ").append(heading).append("\n\n").append(table.markdown()).append('\n');
    }
  }

  private void checks(Summary summary) {
    List<Check> notOk = summary.checks().stream().filter(c -> c.level() != Check.Level.OK).toList();
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
