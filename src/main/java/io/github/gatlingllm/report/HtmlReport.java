package io.github.gatlingllm.report;

import io.github.gatlingllm.stats.CloseUps;
import io.github.gatlingllm.stats.Series;
import io.github.gatlingllm.stats.Summary;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The page {@code llm.html}: one self-contained file that opens from disk and asks no network.
 * Verdict and tables are plain HTML; charts come on top where scripts run.
 */
public final class HtmlReport {

  private HtmlReport() {}

  /**
   * Writes the page whole or not at all.
   *
   * @param llmHtml where to; links to other files of the run are made for those that lie beside it
   * @param summary the numbers
   * @param series what charts need beside them
   */
  public static void write(Path llmHtml, Summary summary, Series series) throws IOException {
    PageEnd end = new PageEnd(llmHtml.toAbsolutePath().getParent());
    new Page("LLM report", "LLM report: " + PageHead.name(summary))
        .head(new PageHead(summary).html())
        .sections(sections(summary, series, end))
        .end(end.licences())
        .write(llmHtml);
  }

  private static List<Section> sections(Summary summary, Series series, PageEnd end) {
    VerdictSections verdict = new VerdictSections(summary);
    GeneratorSection generator = new GeneratorSection(summary);
    CloseUps closeUps = series.closeUps();
    List<Section> sections = new ArrayList<>();
    sections.add(verdict.verdict());
    sections.add(verdict.checks());
    sections.add(new MetricsSection(summary).section());
    sections.add(new LoadSection(summary).section());
    new ScenarioSection(closeUps.scenarios()).section().ifPresent(sections::add);
    sections.add(new TimeSection(summary, series).section());
    sections.add(new ShapeSection(series).section());
    new DependenceSection(closeUps.dependence(), summary.workload().byTurn())
        .section()
        .ifPresent(sections::add);
    new JitterSection(summary, closeUps.evenness()).section().ifPresent(sections::add);
    new BreakdownSection(summary, closeUps.breakdowns()).section().ifPresent(sections::add);
    new ExemplarSection(summary, closeUps.exemplars()).section().ifPresent(sections::add);
    sections.add(new OutcomeSection(summary.figures()).section());
    if (generator.isKnown()) {
      sections.add(generator.section());
    }
    new ArrivalSection(summary, series).section().ifPresent(sections::add);
    sections.add(end.glossary());
    sections.add(end.files());
    return sections;
  }
}
