package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.Metric;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Glossary, files to download, licences. */
final class PageEnd {

  private record File(String path, String what) {}

  private static final List<File> FILES =
      List.of(
          new File("llm/summary.json", "every figure, for scripts"),
          new File("llm/summary.md", "the key figures, for a merge request"),
          new File("llm/junit.xml", "one test case per assertion"),
          new File("llm/requests.jsonl", "one line per request"),
          new File("llm/requests.csv", "the same as a table"),
          new File("llm/arrivals.jsonl", "planned and real arrivals"),
          new File("llm/server.jsonl", "engine metrics"),
          new File("llm/generator.jsonl", "health of the load generator"));

  private final Path runDirectory;

  PageEnd(Path runDirectory) {
    this.runDirectory = runDirectory;
  }

  Section glossary() {
    Html html = new Html().open("dl", "class", "glossary card");
    for (Metric metric : Metric.distributions()) {
      term(html, metric.title(), metric.formula());
    }
    term(
        html,
        "N",
        "streamed output tokens; reasoning that was billed but never streamed is not in it");
    term(
        html,
        "Output tok/s",
        "tokens that arrived in the measure window ÷ window, failed requests included");
    term(html, "Goodput", "requests per second that met every objective; failures count as misses");
    term(
        html,
        "Max goodput",
        "highest load at which enough of the attempted requests meet every objective");
    term(
        html,
        "Knee",
        "load level with the highest output tok/s ÷ median E2E; known only when a higher level was"
            + " run");
    term(html, "Jitter", "pooled ITL p99 ÷ p50: 1 ideal, 2 some stutter, above 3 visible pauses");
    term(
        html,
        "Dispersion",
        "variance ÷ mean of arrivals per second: 1 for Poisson arrivals, 0 for constant ones");
    term(
        html,
        "Start lag, gate",
        "start − scheduled; admitted − start: together the queue wait, which is the client's own");
    term(
        html,
        "Batch ratio",
        "output tokens ÷ token events; above 1.2 the server sends tokens in lumps");
    term(
        html,
        "Percentiles",
        "nearest rank on a histogram of 3 significant digits (error ≤ 0.1 %); runs and levels are"
            + " pooled, percentiles never averaged");
    term(
        html,
        "Clock",
        "one monotonic nanosecond clock, read when bytes arrive, before they are decoded");
    term(
        html,
        "Token count",
        "the server's usage first, then the tokenizer, then one per event; each record says which");
    html.close();
    return new Section(
        "glossary",
        "Glossary",
        "Glossary",
        "scheduled: planned arrival. admitted: left the client's own queue. first and last token:"
            + " the events that carried them arrived.",
        html,
        List.of());
  }

  private static void term(Html html, String name, String meaning) {
    html.open("div").element("dt", name).element("dd", meaning).close();
  }

  /** Links to the files that lie beside the page, and only to those. */
  Section files() {
    Html html = new Html().open("ul", "class", "files");
    for (File file : FILES) {
      if (Files.exists(runDirectory.resolve(file.path()))) {
        link(html, file.path(), file.path(), file.what());
      }
    }
    if (Files.exists(runDirectory.resolve("index.html"))) {
      link(html, "index.html", "Gatling's report", "users, requests and response times");
    }
    html.close();
    return new Section("files", "Files", "Files", "They lie beside this page.", html, List.of());
  }

  private static void link(Html html, String path, String name, String what) {
    html.open("li").element("a", name, "href", path, "class", "button", "title", what).close();
  }

  /** What is inside this page and under which terms. */
  Html licences() {
    Html html = new Html().open("footer");
    html.element(
        "p",
        "Made by gatling-llm. Charts by Apache ECharts, unmodified, under the Apache License 2.0;"
            + " parts of it by Mike Bostock under the BSD 3-clause licence.");
    html.open("details").element("summary", "Licences");
    for (String file : List.of("NOTICE", "LICENSE", "LICENSE-d3")) {
      html.element("pre", Resource.text("echarts/" + file), "tabindex", "0");
    }
    return html.close().close();
  }
}
