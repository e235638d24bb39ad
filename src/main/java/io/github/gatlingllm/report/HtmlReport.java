package io.github.gatlingllm.report;

import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.stats.RequestSamples;
import io.github.gatlingllm.stats.Series;
import io.github.gatlingllm.stats.Summary;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The page {@code llm.html}: one self-contained file that opens from disk and asks no network.
 * Verdict and tables are plain HTML; charts come on top where scripts run.
 */
final class HtmlReport {

  private HtmlReport() {}

  /**
   * Writes the page whole or not at all.
   *
   * @param llmHtml where to; links to other files of the run are made for those that lie beside it
   * @param summary the numbers
   * @param series what charts need beside them
   */
  static void write(Path llmHtml, Summary summary, Series series) throws IOException {
    PageHead head = new PageHead(summary);
    new Page(
            "report",
            "LLM report",
            "LLM report: " + PageHead.name(summary),
            Map.of("run", head.heading()),
            head.facts(),
            sections(summary, series, llmHtml.toAbsolutePath().getParent()))
        .write(llmHtml);
  }

  private static List<Section> sections(Summary summary, Series series, Path runDirectory) {
    VerdictSections texts = new VerdictSections(summary);
    RequestSamples requestSamples = series.requestSamples();
    return Stream.of(
            Optional.of(texts.verdict()),
            Optional.of(texts.checks()),
            Optional.of(new MetricsSection(summary).section()),
            Optional.of(new LoadSection(summary).section()),
            new ScenarioSection(requestSamples.scenarios()).section(),
            Optional.of(new TimeSection(summary, series).section()),
            Optional.of(new ShapeSection(series).section()),
            new DependenceSection(requestSamples.dependence(), summary.workload()).section(),
            new JitterSection(summary, requestSamples.evenness()).section(),
            new BreakdownSection(summary, requestSamples.breakdowns()).section(),
            new ExemplarSection(summary, requestSamples.exemplars()).section(),
            Optional.of(texts.outcomes()),
            texts.server(),
            new ArrivalSection(summary, series).section(),
            Optional.of(VerdictSections.glossary()),
            Optional.of(VerdictSections.files(runDirectory)))
        .flatMap(Optional::stream)
        .toList();
  }
}
