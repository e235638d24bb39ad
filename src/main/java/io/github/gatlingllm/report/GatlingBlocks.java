package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.stats.AssertionResult;
import io.github.gatlingllm.stats.Summary;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The markup of our pieces in Gatling's pages; {@code gatling.css} styles it in both themes. */
final class GatlingBlocks {

  private static final String REPORT = "llm.html";

  private GatlingBlocks() {}

  static Html tab() {
    return new Html().open("div", "class", "item").element("a", "LLM", "href", REPORT).close();
  }

  static Html menuEntry() {
    Html html = new Html().open("li").open("a", "class", "item", "href", "#gatling-llm");
    return html.element("span", "LLM", "class", "nav-label").close().close();
  }

  /** The block on the index: verdict, six figures, assertions, a row per request name. */
  static Html index(Summary summary) {
    Html html = opened("LLM", REPORT, "Full LLM report");
    html.element("p", summary.verdict(), "class", "gatling-llm-verdict");
    html.element(
        "p", "Workload: " + new WorkloadText(summary).line(), "class", "gatling-llm-workload");
    html.open("ul", "class", "gatling-llm-tiles");
    for (Tiles.Tile tile : new Tiles(summary).list()) {
      html.open("li").element("span", tile.name()).element("strong", tile.value());
      html.element("span", tile.remark()).close();
    }
    html.close();
    long levels = summary.stages().stream().map(Summary.Stage::label).distinct().count();
    if (levels > 1) {
      String pooled = "All but the knee are of all " + levels + " load levels together.";
      html.element("p", pooled, "class", "gatling-llm-workload");
    }
    if (!summary.assertions().isEmpty()) {
      html.add(assertions(summary.assertions()));
    }
    if (!summary.requests().isEmpty()) {
      html.add(requests(summary));
    }
    return html.close();
  }

  /** The block on the page of a request: all its metrics. */
  static Html request(Summary.RequestGroup request) {
    String link = REPORT + "#" + MetricsSection.anchor(request.name());
    Html html = opened("LLM metrics", link, "In the LLM report");
    html.open("table");
    head(
        html,
        List.of(
            "Lower is better",
            "count",
            "mean",
            "std",
            "min",
            "p50",
            "p75",
            "p90",
            "p95",
            "p99",
            "p99.9",
            "max"));
    for (Metric metric : Metric.distributions()) {
      Distribution values = request.figures().metric(metric);
      if (metric.isTime() && !values.isEmpty()) {
        html.open("tr").element("th", metric.title() + ", " + metric.unit().sign(), "scope", "row");
        html.element("td", NumberText.count(values.count()));
        html.element("td", NumberText.number(values.mean()));
        html.element("td", NumberText.number(values.std()));
        html.element("td", NumberText.number(values.min()));
        percentile(html, values, "p50", values.p50());
        percentile(html, values, "p75", values.p75());
        percentile(html, values, "p90", values.p90());
        percentile(html, values, "p95", values.p95());
        percentile(html, values, "p99", values.p99());
        percentile(html, values, "p999", values.p999());
        html.element("td", NumberText.number(values.max())).close();
      }
    }
    return html.close().close().close();
  }

  private static Html opened(String title, String link, String linkText) {
    Html html = new Html().open("div", "id", "gatling-llm", "class", "gatling-llm");
    html.open("style").raw(Resource.text("gatling.css")).close();
    html.open("div", "class", "gatling-llm-title").element("h2", title);
    return html.element("a", linkText, "href", link).close();
  }

  private static Html assertions(List<AssertionResult> results) {
    Html html = new Html().open("table");
    head(html, List.of("Assertion", "expected", "actual", "status"));
    for (AssertionResult result : results) {
      html.open("tr").open("th", "scope", "row").text(result.subject());
      if (result.note() != null) {
        html.element("small", result.note());
      }
      html.close();
      html.element("td", result.expected());
      html.element("td", NumberText.orAbsent(result.actual()));
      html.element(
          "td",
          result.ok() ? "✓ OK" : "✗ KO",
          "class",
          result.ok() ? "gatling-llm-ok" : "gatling-llm-ko");
      html.close();
    }
    return html.close().close();
  }

  private static Html requests(Summary summary) {
    boolean judged = summary.slo() != null;
    List<String> headings =
        new ArrayList<>(
            List.of(
                "Request, times in ms",
                "count",
                "TTFT p50",
                "TTFT p95",
                "TTFT p99",
                "ITL p50",
                "ITL p99",
                "TPOT p50",
                "output tok/s"));
    if (judged) {
      headings.add("in SLO");
    }
    Html html = new Html().open("table");
    head(html, headings);
    for (Summary.RequestGroup request : summary.requests()) {
      Figures figures = request.figures();
      html.open("tr").open("th", "scope", "row");
      String link = REPORT + "#" + MetricsSection.anchor(request.name());
      html.element("a", request.name(), "href", link).close();
      html.element("td", NumberText.count(figures.counts().started()));
      Distribution ttft = figures.metric(Metric.TTFT_MS);
      percentile(html, ttft, "p50", ttft.p50());
      percentile(html, ttft, "p95", ttft.p95());
      percentile(html, ttft, "p99", ttft.p99());
      Distribution itl = figures.metric(Metric.ITL_MS);
      percentile(html, itl, "p50", itl.p50());
      percentile(html, itl, "p99", itl.p99());
      Distribution tpot = figures.metric(Metric.TPOT_MS);
      percentile(html, tpot, "p50", tpot.p50());
      html.element("td", NumberText.number(figures.throughput().outputTokensPerS()));
      if (judged) {
        Figures.Goodput goodput = figures.goodput();
        html.element("td", NumberText.percent(goodput == null ? null : goodput.share()));
      }
      html.close();
    }
    return html.close().close();
  }

  private static void head(Html html, List<String> headings) {
    html.open("thead").open("tr");
    headings.forEach(heading -> html.element("th", heading, "scope", "col"));
    html.close().close().open("tbody");
  }

  private static void percentile(
      Html html, Distribution values, String name, @Nullable Double value) {
    if (value != null && values.isLowN(name)) {
      html.open("td", "class", "gatling-llm-low", "title", "fewer than 10 values lie beyond it");
      html.text(NumberText.number(value) + " †").close();
    } else {
      html.element("td", NumberText.number(value));
    }
  }
}
