package io.github.gatlingllm.report;

import io.github.gatlingllm.check.Check;
import io.github.gatlingllm.stats.Summary;
import java.util.List;

/**
 * The block that ends a run on the console, in Gatling's style: plain text, as wide as {@link
 * ConsoleBlock}.
 */
public final class ConsoleSummary {

  private static final int WIDTH = ConsoleBlock.WIDTH;
  private static final int MOST_TRIALS = 10;

  private final StringBuilder out = new StringBuilder();

  private ConsoleSummary() {}

  /** The whole block, each line ended. */
  public static String of(Summary summary) {
    ConsoleSummary block = new ConsoleSummary();
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
    table("Trials", KeyFigureTables.trials(summary, MOST_TRIALS));
    SelfTestText selfTest = new SelfTestText(summary);
    table(SelfTestText.TITLE, selfTest.table());
    if (!selfTest.table().isEmpty()) {
      wrapped(selfTest.ceiling());
    }
    List<Check> notOk = summary.checks().stream().filter(c -> c.level() != Check.Level.OK).toList();
    line(ConsoleBlock.title("Validity"));
    notOk.forEach(
        c -> wrapped(c.level().key() + " " + c.id() + ": " + c.message() + " " + c.remedy()));
    String passed = VerdictSections.passed(summary.checks().size() - notOk.size());
    if (!passed.isEmpty()) {
      wrapped(passed);
    }
    line("=".repeat(WIDTH));
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
    if (lines.stream().anyMatch(text -> text.indexOf('*') >= 0)) {
      line("  " + DistributionTables.LOW_N);
    }
  }

  /** Breaks at spaces; further lines are indented. */
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
