package io.github.gatlingllm.report;

import io.github.gatlingllm.check.Check;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.stats.Summary;
import java.util.ArrayList;
import java.util.List;

/**
 * The block that ends a run on the console, in Gatling's style: plain text, at most {@value #WIDTH}
 * columns.
 */
public final class ConsoleSummary {

  /** Columns. */
  static final int WIDTH = 120;

  private static final int MOST_TRIALS = 10;

  private final StringBuilder out = new StringBuilder();

  private ConsoleSummary() {}

  /** The whole block, each line ended. */
  public static String of(Summary summary) {
    ConsoleSummary block = new ConsoleSummary();
    block.line("=".repeat(WIDTH));
    block.title("LLM Information");
    block.wrapped("> ", summary.verdict());
    if (summary.targets().size() > 1) {
      block.wrapped("> ", "all targets and levels pooled; each target has a row below");
    }
    block.counts(summary);
    block.table(SummaryTables.latencies(summary.figures()));
    if (summary.targets().size() > 1) {
      block.title("Targets");
      block.table(SummaryTables.targets(summary));
    }
    if (summary.stages().size() > 1) {
      block.title("Load levels");
      block.table(SummaryTables.stages(summary));
    }
    TextTable trials = SummaryTables.trials(summary, MOST_TRIALS);
    if (!trials.rows().isEmpty()) {
      block.title("Trials");
      block.table(trials);
    }
    block.warnings(summary);
    block.line("=".repeat(WIDTH));
    return block.out.toString();
  }

  private void counts(Summary summary) {
    Figures f = summary.figures();
    Figures.Counts counts = f.counts();
    wrapped(
        "> ",
        "requests: "
            + NumberText.count(counts.started())
            + " started, "
            + NumberText.count(counts.ok())
            + " ok, "
            + NumberText.count(counts.failed())
            + " failed, "
            + NumberText.count(counts.cancelled())
            + " cancelled; "
            + NumberText.with(f.throughput().requestsPerS(), "requests/s"));
    wrapped(
        "> ",
        "output: "
            + NumberText.with(f.throughput().outputTokensPerS(), "tok/s")
            + ", total "
            + NumberText.with(f.throughput().totalTokensPerS(), "tok/s")
            + "; jitter (ITL p99 ÷ p50) "
            + NumberText.number(f.jitter().itlP99OverP50()));
    wrapped("> ", "workload: " + new WorkloadText(summary).line());
    if (summary.arrivals() != null) {
      wrapped("> ", "arrivals: " + SummaryTables.arrivals(summary.arrivals()));
    }
    Figures.Goodput goodput = f.goodput();
    Summary.SloTable slo = summary.slo();
    if (goodput != null && slo != null) {
      Figures.MaxGoodput max = goodput.max();
      wrapped(
          "> ",
          "goodput ("
              + slo.text()
              + "): "
              + NumberText.percent(goodput.share())
              + ", "
              + NumberText.with(goodput.requestsPerS(), "requests/s")
              + (max == null
                  ? "; no level holds it"
                  : summary.stages().size() == 1
                      ? ""
                      : "; at most "
                          + NumberText.with(max.requestsPerS(), "requests/s")
                          + " at "
                          + summary.place(max.stage(), max.target(), max.scenario())));
    }
    Summary.Knee knee = summary.knee();
    if (knee != null && summary.stages().size() > 1) {
      wrapped(
          "> ",
          knee.reached()
              ? "knee: "
                  + summary.place(knee.stage(), knee.target(), knee.scenario())
                  + " = "
                  + NumberText.with(knee.outputTokensPerS(), "tok/s")
                  + " at E2E p50 "
                  + NumberText.ms(knee.medianE2eMs())
              : "knee: not reached");
    }
  }

  private void warnings(Summary summary) {
    List<Check> notOk = summary.checks().stream().filter(c -> c.level() != Check.Level.OK).toList();
    if (notOk.isEmpty()) {
      return;
    }
    title("Validity");
    for (Check check : notOk) {
      wrapped("> ", check.level().key() + " " + check.id() + ": " + check.message());
    }
  }

  private void table(TextTable table) {
    if (table.rows().isEmpty()) {
      return;
    }
    List<String> lines = table.lines(WIDTH - 2);
    lines.forEach(text -> line("> " + text));
    if (lines.stream().anyMatch(text -> text.indexOf('*') >= 0)) {
      line("  " + SummaryTables.LOW_N);
    }
  }

  private void title(String text) {
    String head = "---- " + text + " ";
    line(head + "-".repeat(WIDTH - head.length()));
  }

  /** Breaks at spaces; further lines are indented. */
  private void wrapped(String lead, String text) {
    List<String> lines = new ArrayList<>();
    StringBuilder current = new StringBuilder(lead);
    boolean fresh = true;
    for (String word : text.replaceAll("\\s+", " ").split(" ", -1)) {
      String kept = word.length() > WIDTH - 4 ? word.substring(0, WIDTH - 5) + "…" : word;
      if (!fresh && current.length() + 1 + kept.length() > WIDTH) {
        lines.add(current.toString());
        current = new StringBuilder("  ");
        fresh = true;
      }
      current.append(fresh ? "" : " ").append(kept);
      fresh = false;
    }
    lines.add(current.toString());
    lines.forEach(this::line);
  }

  private void line(String text) {
    out.append(text).append('\n');
  }
}
