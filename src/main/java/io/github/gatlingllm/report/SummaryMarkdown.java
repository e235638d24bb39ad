package io.github.gatlingllm.report;

import io.github.gatlingllm.check.Check;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Figures.ErrorCount;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.stats.AssertionResult;
import io.github.gatlingllm.stats.Summary;
import io.github.gatlingllm.stats.Summary.ObjectiveRow;
import java.util.ArrayList;
import java.util.List;

/**
 * A {@link Summary} as {@code llm/summary.md}: what a reader of a pull request or a CI job wants to
 * see, no more.
 */
public final class SummaryMarkdown {

  private static final int MOST_TRIALS = 50;

  private SummaryMarkdown() {}

  /** The whole file. */
  public static String of(Summary summary) {
    StringBuilder out = new StringBuilder();
    out.append("## LLM load test: ").append(inline(summary.run().id())).append("\n\n");
    out.append("**").append(inline(summary.verdict())).append("**\n\n");
    Figures f = summary.figures();
    TextTable latencies = SummaryTables.latencies(f);
    if (!latencies.rows().isEmpty()) {
      out.append(latencies.markdown()).append("\n`").append(SummaryTables.LOW_N).append("`\n\n");
    }
    out.append(new TextTable(List.of("system", "value"), system(summary)).markdown()).append('\n');
    if (summary.targets().size() > 1) {
      out.append("### Targets\n\n").append(SummaryTables.targets(summary).markdown());
      out.append('\n');
    }
    if (summary.stages().size() > 1) {
      out.append("### Load levels\n\n").append(SummaryTables.stages(summary).markdown());
      out.append('\n');
    }
    TextTable trials = SummaryTables.trials(summary, MOST_TRIALS);
    if (!trials.rows().isEmpty()) {
      out.append("### Trials\n\n").append(trials.markdown()).append('\n');
    }
    slo(summary, out);
    assertions(summary, out);
    errors(f, out);
    checks(summary, out);
    return out.toString();
  }

  private static List<List<String>> system(Summary summary) {
    Figures f = summary.figures();
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "requests",
            NumberText.count(f.counts().started())
                + " started, "
                + NumberText.count(f.counts().ok())
                + " ok, "
                + NumberText.count(f.counts().failed())
                + " failed, "
                + NumberText.count(f.counts().cancelled())
                + " cancelled"));
    rows.add(List.of("output", NumberText.with(f.throughput().outputTokensPerS(), "tok/s")));
    rows.add(List.of("completed", NumberText.with(f.throughput().requestsPerS(), "requests/s")));
    rows.add(List.of("workload", inline(new WorkloadText(summary).line())));
    if (summary.arrivals() != null) {
      rows.add(List.of("arrivals", SummaryTables.arrivals(summary.arrivals())));
    }
    Figures.Goodput goodput = f.goodput();
    if (goodput != null) {
      rows.add(
          List.of(
              "goodput",
              NumberText.percent(goodput.share())
                  + ", "
                  + NumberText.with(goodput.requestsPerS(), "requests/s")));
    }
    Summary.Knee knee = summary.knee();
    if (knee != null && summary.stages().size() > 1) {
      rows.add(
          List.of(
              "knee",
              knee.reached()
                  ? summary.place(knee.stage(), knee.target(), knee.scenario())
                  : "not reached"));
    }
    rows.add(List.of("jitter (ITL p99 ÷ p50)", NumberText.number(f.jitter().itlP99OverP50())));
    return rows;
  }

  private static void slo(Summary summary, StringBuilder out) {
    Summary.SloTable slo = summary.slo();
    if (slo == null) {
      return;
    }
    out.append("### SLO: ").append(NumberText.plain(slo.percentile()));
    out.append(" % of the requests\n\n");
    List<List<String>> rows = new ArrayList<>();
    for (ObjectiveRow row : slo.objectives()) {
      rows.add(
          List.of(
              row.measure(),
              NumberText.with(row.limitMs(), "ms"),
              NumberText.with(row.actualMs(), "ms"),
              NumberText.with(row.marginMs(), "ms"),
              NumberText.percent(row.metShare()),
              row.ok() == null ? NumberText.ABSENT : row.ok() ? "OK" : "KO"));
    }
    List<String> heading = List.of("objective", "limit", "actual", "margin", "met by", "outcome");
    out.append(new TextTable(heading, rows).markdown()).append('\n');
  }

  private static void assertions(Summary summary, StringBuilder out) {
    if (summary.assertions().isEmpty()) {
      return;
    }
    List<List<String>> rows = new ArrayList<>();
    for (AssertionResult a : summary.assertions()) {
      rows.add(
          List.of(
              inline(a.subject()),
              a.expected(),
              NumberText.orAbsent(a.actual()),
              a.ok() ? "OK" : "KO",
              a.note() == null ? "" : inline(a.note())));
    }
    out.append("### Assertions\n\n");
    out.append(
        new TextTable(List.of("assertion", "expected", "actual", "outcome", "note"), rows)
            .markdown());
    out.append('\n');
  }

  private static void errors(Figures f, StringBuilder out) {
    if (f.errors().isEmpty()) {
      return;
    }
    List<List<String>> rows = new ArrayList<>();
    for (ErrorCount error : f.errors().subList(0, Math.min(10, f.errors().size()))) {
      rows.add(
          List.of(
              error.verdict() + ": " + inline(error.message()), NumberText.count(error.count())));
    }
    out.append("### Errors\n\n").append(new TextTable(List.of("cause", "count"), rows).markdown());
    out.append('\n');
  }

  private static void checks(Summary summary, StringBuilder out) {
    List<Check> notOk = summary.checks().stream().filter(c -> c.level() != Check.Level.OK).toList();
    if (notOk.isEmpty()) {
      out.append("All ").append(summary.checks().size()).append(" validity checks are ok.\n");
      return;
    }
    out.append("### Validity\n\n");
    for (Check check : notOk) {
      out.append("- **").append(check.level().key()).append("** `").append(check.id());
      out.append("` ").append(inline(check.message())).append(' ').append(inline(check.remedy()));
      out.append('\n');
    }
  }

  /** Text from a server or a script, so that it cannot become markup. */
  static String inline(String text) {
    return text.replaceAll("([\\\\`*<>\\[\\]])", "\\\\$1").replaceAll("\\s+", " ");
  }
}
