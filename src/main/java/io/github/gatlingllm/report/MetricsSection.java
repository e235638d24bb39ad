package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.stats.Summary;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Every metric as numbers: pooled, and by load level, target and request name. */
final class MetricsSection {

  private final Summary summary;
  private final Html html = new Html();

  MetricsSection(Summary summary) {
    this.summary = summary;
  }

  Section section() {
    MetricTable all = new MetricTable(summary.figures());
    html.add(all.html("All metrics"));
    if (all.hasLowN()) {
      html.element("p", MetricTable.LOW_N, "class", "note");
    }
    html.element("p", MetricTable.INTERVAL, "class", "note");
    html.element("h3", "Throughput, goodput and jitter", "class", "sub").add(system());
    byStage();
    byTrial();
    byTarget();
    byName();
    byCache();
    return new Section(
        "metrics",
        "Metrics",
        "Metrics",
        "Successful requests scheduled in a measure window, all load levels pooled."
            + " Formulas are in the glossary.",
        html,
        List.of());
  }

  /** The anchor of a request name: the same in Gatling's pages and here. */
  static String anchor(String requestName) {
    return "request-" + String.format(Locale.ROOT, "%08x", requestName.hashCode());
  }

  private Html system() {
    Figures figures = summary.figures();
    Figures.Throughput throughput = figures.throughput();
    Table table =
        new Table(
            "Throughput, goodput and jitter", List.of("Figure", "value", "better"), "compact");
    higher(
        table,
        "Output",
        "tokens that arrived in the window ÷ window",
        throughput.outputTokensPerS(),
        "tok/s");
    higher(
        table,
        "Output and prompt",
        "with the prompts of requests whose first token came in the window",
        throughput.totalTokensPerS(),
        "tok/s");
    higher(
        table,
        "Output, wall clock",
        "all tokens ÷ (last close − first schedule)",
        throughput.wallOutputTokensPerS(),
        "tok/s");
    higher(
        table,
        "Requests",
        "ok requests that ended in the window ÷ window",
        throughput.requestsPerS(),
        "req/s");
    higher(table, "Requests", "the same per minute", throughput.requestsPerMin(), "req/min");
    Figures.Trials trials = throughput.trials();
    if (trials != null) {
      higher(
          table,
          "Trials",
          NumberText.count(trials.count()) + " trials: all tokens ÷ all wall time",
          trials.aggregateTokensPerS(),
          "tok/s");
      higher(
          table,
          "Slowest trial",
          "tokens of the trial ÷ its wall time",
          trials.minTokensPerS(),
          "tok/s");
      higher(
          table,
          "Fastest trial",
          "tokens of the trial ÷ its wall time",
          trials.maxTokensPerS(),
          "tok/s");
    }
    goodput(table, figures.goodput());
    Figures.Jitter jitter = figures.jitter();
    lower(
        table,
        "Jitter",
        "pooled ITL p99 ÷ p50; 1 ideal, above 3 visible pauses",
        jitter.itlP99OverP50(),
        "");
    lower(
        table, "Jitter of the median request", "its own ITL p99 ÷ p50", jitter.perRequestP50(), "");
    lower(table, "ITL standard deviation", "pooled", jitter.itlStdMs(), "ms");
    lower(
        table,
        "Stalls",
        "gaps over 100 ms per 1,000 output tokens",
        jitter.stallsPer1kTokens(),
        "");
    value(
        table,
        "Batch ratio",
        "output tokens ÷ token events; above 1.2 read ITL with care",
        NumberText.number(jitter.batchRatio()),
        jitter.batchRatio() == null,
        "1 is exact");
    return table.html();
  }

  private static void goodput(Table table, Figures.@Nullable Goodput goodput) {
    if (goodput == null) {
      return;
    }
    String met =
        NumberText.count(goodput.met())
            + " of "
            + NumberText.count(goodput.attempted())
            + " attempted requests met every objective"
            + (goodput.shareCi95() == null
                ? ""
                : "; 95 % interval "
                    + NumberText.percent(goodput.shareCi95().low())
                    + " to "
                    + NumberText.percent(goodput.shareCi95().high()));
    value(
        table,
        "In SLO",
        met,
        NumberText.percent(goodput.share()),
        goodput.share() == null,
        "↑ higher");
    higher(
        table,
        "Goodput",
        "requests that met every objective ÷ window",
        goodput.requestsPerS(),
        "req/s");
    higher(table, "Goodput", "tokens of those requests ÷ window", goodput.tokensPerS(), "tok/s");
  }

  private static void higher(
      Table table, String name, String formula, @Nullable Double value, String unit) {
    value(table, name, formula, NumberText.with(value, unit), value == null, "↑ higher");
  }

  private static void lower(
      Table table, String name, String formula, @Nullable Double value, String unit) {
    value(table, name, formula, NumberText.with(value, unit), value == null, "↓ lower");
  }

  private static void value(
      Table table, String name, String formula, String value, boolean absent, String better) {
    if (!absent) {
      table.row(name, formula).cell(value).cell(better).end();
    }
  }

  private void byStage() {
    if (summary.stages().size() < 2) {
      return;
    }
    FigureTable table = new FigureTable("Load level", summary.slo() != null);
    for (Summary.Stage stage : summary.stages()) {
      String scenario = stage.scenario();
      String level =
          summary.hasSeveralScenarios() && scenario != null
              ? stage.label() + " of " + scenario
              : stage.label();
      String target = summary.hasSeveralTargets() ? stage.target() : "";
      table.row(new Html().text(level), target, stage.figures());
    }
    html.element("h3", "By load level", "class", "sub", "id", "levels").add(table.html());
    html.open("div", "class", "more");
    for (Summary.Stage stage : summary.stages()) {
      details(SummaryTables.place(summary, stage), "", stage.figures());
    }
    html.close();
  }

  /** Batch trials one by one, a table per stage. */
  private void byTrial() {
    for (Summary.Stage stage : summary.stages()) {
      Figures.Trials trials = stage.figures().throughput().trials();
      if (trials == null) {
        continue;
      }
      String place = SummaryTables.place(summary, stage);
      Table table =
          new Table(
              "Trials of " + place,
              List.of("Trial", "requests", "ok", "output tokens", "wall, s", "output tok/s"));
      for (Figures.Trial trial : trials.rows()) {
        table
            .row(NumberText.count(trial.trial()), "")
            .cell(NumberText.count(trial.requests()))
            .cell(NumberText.count(trial.ok()))
            .cell(NumberText.count(trial.outputTokens()))
            .cell(NumberText.number(trial.wallS()))
            .cell(NumberText.number(trial.outputTokensPerS()))
            .end();
      }
      html.element("h3", "Trials of " + place, "class", "sub").add(table.html());
      if (trials.rowsLeftOut() > 0) {
        String left = NumberText.count(trials.rowsLeftOut()) + " later trials have no row.";
        html.element("p", left, "class", "note");
      }
    }
  }

  private void byTarget() {
    if (summary.targets().size() < 2) {
      return;
    }
    FigureTable table = new FigureTable("Target", summary.slo() != null);
    summary.targets().forEach(t -> table.row(new Html().text(t.label()), "", t.figures()));
    html.element("h3", "By target", "class", "sub").add(table.html());
    html.open("div", "class", "more");
    summary.targets().forEach(target -> details(target.label(), "", target.figures()));
    html.close();
  }

  private void byName() {
    if (summary.requests().isEmpty()) {
      return;
    }
    FigureTable table = new FigureTable("Request", summary.slo() != null);
    for (Summary.RequestGroup group : summary.requests()) {
      Html link = new Html().element("a", group.name(), "href", "#" + anchor(group.name()));
      table.row(link, "", group.figures());
    }
    html.element("h3", "By request name", "class", "sub").add(table.html());
    html.open("div", "class", "more");
    summary
        .requests()
        .forEach(group -> details(group.name(), anchor(group.name()), group.figures()));
    html.close();
  }

  private void byCache() {
    Summary.CacheUse cache = summary.workload().cache();
    if (cache == null || cache.warmTtftMs().isEmpty()) {
      return;
    }
    Table table =
        new Table(
            "TTFT with and without the prefix cache",
            List.of("Prompt", "count", "TTFT p50, ms", "TTFT p95", "TTFT p99"));
    table
        .row("Warm", "half or more of it cached")
        .cell(NumberText.count(cache.warmTtftMs().count()));
    ttft(table, cache.warmTtftMs());
    table.row("Cold", "the others").cell(NumberText.count(cache.coldTtftMs().count()));
    ttft(table, cache.coldTtftMs());
    html.element("h3", "By prefix cache", "class", "sub");
    if (cache.stage() != null) {
      String note = "At " + cache.stage() + ", the load level with most requests of both kinds.";
      html.element("p", note, "class", "note");
    }
    html.add(table.html());
  }

  private static void ttft(Table table, Distribution ttft) {
    MetricTable.percentile(table, ttft, "p50", ttft.p50());
    MetricTable.percentile(table, ttft, "p95", ttft.p95());
    MetricTable.percentile(table, ttft, "p99", ttft.p99());
    table.end();
  }

  private void details(String name, String anchor, Figures figures) {
    html.open("details").element("summary", "All metrics of " + name);
    String label = "All metrics of " + name;
    if (anchor.isEmpty()) {
      html.add(new MetricTable(figures).html(label));
    } else {
      html.open("div", "id", anchor).add(new MetricTable(figures).html(label)).close();
    }
    html.close();
  }
}
