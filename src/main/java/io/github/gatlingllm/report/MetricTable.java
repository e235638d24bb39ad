package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Interval;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.Metric.Unit;
import io.github.gatlingllm.metric.NumberText;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Every distribution of one set of requests: a row per metric, a column per statistic. */
final class MetricTable {

  /** What explains the mark of an uncertain percentile. */
  static final String LOW_N =
      "† fewer than 10 values lie beyond this percentile (p99 needs 1,000): read it as a rough"
          + " indication.";

  /** What the pair of numbers below a percentile means. */
  static final String INTERVAL =
      "Below p50 and p99: their 95 % confidence interval by order statistics, as if requests were"
          + " independent; requests that share a queue are not quite. None for ITL and ICL, whose"
          + " gaps depend on each other.";

  private static final List<String> HEADINGS =
      List.of(
          "Metric", "count", "mean", "std", "min", "p50", "p75", "p90", "p95", "p99", "p99.9",
          "max");

  private final Figures figures;

  MetricTable(Figures figures) {
    this.figures = figures;
  }

  Html html(String label) {
    Table table = new Table(label, HEADINGS);
    table.group("Latency, ms", "lower is better");
    rows(table, Unit.MILLIS);
    table.group("Rates of single requests, tok/s", "higher is better");
    rows(table, Unit.TOKENS_PER_S);
    table.group("Lengths, tokens", "neither better nor worse");
    rows(table, Unit.TOKENS);
    Html html = table.html();
    String missing =
        Metric.distributions().stream()
            .filter(metric -> metric.unit() != Unit.TOKENS_PER_S)
            .filter(metric -> figures.metric(metric).isEmpty())
            .map(Metric::title)
            .collect(Collectors.joining(", "));
    if (!missing.isEmpty()) {
      html.element("p", "No value in this run: " + missing + ".", "class", "note");
    }
    return html;
  }

  /** Whether any percentile shown is uncertain. */
  boolean hasLowN() {
    return Metric.distributions().stream().anyMatch(m -> !figures.metric(m).lowN().isEmpty());
  }

  private void rows(Table table, Unit unit) {
    for (Metric metric : Metric.distributions()) {
      if (metric.unit() == unit) {
        row(table, metric.title(), metric.formula(), figures.metric(metric));
      }
    }
  }

  private static void row(Table table, String name, String formula, Distribution values) {
    if (values.isEmpty()) {
      return;
    }
    table.row(name, formula).cell(NumberText.count(values.count()));
    plain(table, values.mean());
    plain(table, values.std());
    plain(table, values.min());
    percentile(table, values, "p50", values.p50(), values.p50Ci95());
    percentile(table, values, "p75", values.p75());
    percentile(table, values, "p90", values.p90());
    percentile(table, values, "p95", values.p95());
    percentile(table, values, "p99", values.p99(), values.p99Ci95());
    percentile(table, values, "p999", values.p999());
    plain(table, values.max());
    table.end();
  }

  private static void plain(Table table, @Nullable Double value) {
    table.cell(NumberText.number(value));
  }

  private static void percentile(
      Table table,
      Distribution values,
      String name,
      @Nullable Double value,
      @Nullable Interval interval) {
    table.cell(
        NumberText.number(value),
        values.isLowN(name) ? "low" : "",
        interval == null || interval.low() == interval.high()
            ? ""
            : NumberText.interval(interval.low(), interval.high()));
  }

  /** A percentile, marked where it is uncertain. */
  static void percentile(Table table, Distribution values, String name, @Nullable Double value) {
    if (value != null && values.isLowN(name)) {
      table.cell(NumberText.number(value), "low");
    } else {
      table.cell(NumberText.number(value));
    }
  }
}
