package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.NumberText;
import java.util.ArrayList;
import java.util.List;

/**
 * The key figures of several sets of requests side by side: stages, targets or request names, a row
 * each.
 */
final class FigureTable {

  private final Table table;
  private final boolean judged;

  /**
   * @param what the rows are
   * @param judged whether there is an SLO, and so a column for the share that met it
   */
  FigureTable(String what, boolean judged) {
    this.judged = judged;
    List<String> headings =
        new ArrayList<>(
            List.of(
                what,
                "count",
                "failed",
                "TTFT p50, ms",
                "TTFT p95",
                "TTFT p99",
                "ITL p50, ms",
                "ITL p99",
                "TPOT p50, ms",
                "E2E p50, ms",
                "E2E p95",
                "req/s",
                "output tok/s"));
    if (judged) {
      headings.add("in SLO");
    }
    table = new Table("Key figures by " + what, headings);
  }

  /** Adds a row; times in ms. */
  FigureTable row(Html name, String remark, Figures figures) {
    Figures.Counts counts = figures.counts();
    table
        .row(name, remark)
        .cell(NumberText.count(counts.started()))
        .cell(NumberText.count(counts.failed()));
    Distribution ttft = figures.metric(Metric.TTFT_MS);
    MetricTable.percentile(table, ttft, "p50", ttft.p50());
    MetricTable.percentile(table, ttft, "p95", ttft.p95());
    MetricTable.percentile(table, ttft, "p99", ttft.p99());
    Distribution itl = figures.metric(Metric.ITL_MS);
    MetricTable.percentile(table, itl, "p50", itl.p50());
    MetricTable.percentile(table, itl, "p99", itl.p99());
    Distribution tpot = figures.metric(Metric.TPOT_MS);
    MetricTable.percentile(table, tpot, "p50", tpot.p50());
    Distribution e2e = figures.metric(Metric.E2E_MS);
    MetricTable.percentile(table, e2e, "p50", e2e.p50());
    MetricTable.percentile(table, e2e, "p95", e2e.p95());
    table
        .cell(NumberText.number(figures.throughput().requestsPerS()))
        .cell(NumberText.number(figures.throughput().outputTokensPerS()));
    if (judged) {
      Figures.Goodput goodput = figures.goodput();
      table.cell(NumberText.percent(goodput == null ? null : goodput.share()));
    }
    table.end();
    return this;
  }

  Html html() {
    return table.html();
  }
}
