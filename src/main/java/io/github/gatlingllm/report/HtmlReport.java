package io.github.gatlingllm.report;

import io.github.gatlingllm.stats.CloseUps;
import io.github.gatlingllm.stats.Series;
import io.github.gatlingllm.stats.Summary;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
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
    Path target = llmHtml.toAbsolutePath();
    Path directory = target.getParent();
    Path draft = target.resolveSibling(target.getFileName() + ".part");
    try {
      Files.writeString(draft, page(summary, series, directory), StandardCharsets.UTF_8);
      Files.move(draft, target, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(draft);
    }
  }

  private static String page(Summary summary, Series series, Path directory) {
    PageEnd end = new PageEnd(directory);
    List<Section> sections = sections(summary, series, end);
    List<Chart> charts = sections.stream().flatMap(section -> section.charts().stream()).toList();

    Html html = new Html().raw("<!DOCTYPE html>\n").open("html", "lang", "en").open("head");
    String theme = Resource.text("theme.js");
    String echarts = Resource.text("echarts/echarts.min.js");
    String script = Resource.text("forms.js") + Resource.text("report.js");
    html.single("meta", "charset", "utf-8");
    html.single(
        "meta", "http-equiv", "Content-Security-Policy", "content", policy(theme, echarts, script));
    html.single("meta", "name", "viewport", "content", "width=device-width, initial-scale=1");
    html.single("link", "rel", "icon", "href", "data:,");
    html.element("title", "LLM report: " + PageHead.name(summary));
    html.open("style").raw(Resource.text("report.css")).close();
    html.open("script").raw(theme).close();
    html.close().open("body");
    html.element("a", "Skip to the report", "class", "skip", "href", "#report");
    html.add(bar(sections)).open("main", "id", "report").add(new PageHead(summary).html());
    sections.forEach(section -> html.add(section.html()));
    html.add(end.licences()).close();
    html.open("script", "type", "application/json", "id", "chart-data").raw(ChartData.json(charts));
    html.close().open("script").raw(echarts).close().open("script").raw(script).close();
    return html.close().close().toString();
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
    new DependenceSection(closeUps.dependence()).section().ifPresent(sections::add);
    new JitterSection(summary, closeUps.evenness()).section().ifPresent(sections::add);
    new BreakdownSection(closeUps.breakdowns()).section().ifPresent(sections::add);
    new ExemplarSection(closeUps.exemplars()).section().ifPresent(sections::add);
    sections.add(new OutcomeSection(summary.figures()).section());
    if (generator.isKnown()) {
      sections.add(generator.section());
    }
    new ArrivalSection(summary, series).section().ifPresent(sections::add);
    sections.add(end.glossary());
    sections.add(end.files());
    return sections;
  }

  private static Html bar(List<Section> sections) {
    Html html = new Html().open("div", "class", "bar").element("strong", "LLM report");
    html.open("nav", "aria-label", "Sections").open("ul");
    for (Section section : sections) {
      html.open("li").element("a", section.menu(), "href", "#" + section.id()).close();
    }
    html.close().close();
    html.element("button", "Light or dark", "id", "theme", "type", "button", "data-script", "");
    return html.close();
  }

  /** Only our own scripts run, by their hashes, and nothing is loaded from anywhere. */
  private static String policy(String... scripts) {
    StringBuilder policy = new StringBuilder("default-src 'none'; style-src 'unsafe-inline';");
    policy.append(" img-src data:; base-uri 'none'; form-action 'none'; script-src");
    for (String script : scripts) {
      policy.append(" 'sha256-").append(sha256(script)).append('\'');
    }
    return policy.toString();
  }

  private static String sha256(String text) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return Base64.getEncoder().encodeToString(hash);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(
          "This Java has no SHA-256; use a complete JDK 17 or later", e);
    }
  }
}
