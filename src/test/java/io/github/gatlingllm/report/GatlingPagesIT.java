package io.github.gatlingllm.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.testing.GatlingRun;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GatlingPagesIT {

  @TempDir Path directory;

  private final Summary summary = summary();

  private static Path pages;

  @BeforeAll
  static void makePages() throws Exception {
    pages = GatlingRun.of(PlainHttpSimulation.class).reports().succeed().directory();
  }

  @BeforeEach
  void copyPages() throws IOException {
    try (Stream<Path> files = Files.list(pages)) {
      for (Path page : files.filter(file -> file.toString().endsWith(".html")).toList()) {
        Files.copy(page, directory.resolve(page.getFileName()));
      }
    }
  }

  static Summary summary() {
    List<String> names =
        List.of(
            PlainHttpSimulation.PLAIN, PlainHttpSimulation.GROUPED, PlainHttpSimulation.HOSTILE);
    return new DemoRun(List.of(1, 4, 16), List.of("local"), names)
        .demanding("ttft.p99<10s", "goodput>=99.9%")
        .figures()
        .summary();
  }

  @Test
  void everyPageHasATabTheIndexABlockAndEachRequestItsMetrics() throws IOException {
    assertThat(GatlingPages.insert(directory, summary)).isEmpty();

    for (String page : htmlFiles().keySet()) {
      assertThat(read(page)).as(page).contains("<a href=\"llm.html\">LLM</a>");
    }
    assertThat(read("index.html"))
        .contains("href=\"#gatling-llm\"")
        .contains("Full LLM report")
        .contains(
            "&#10003; OK",
            "&#10007; KO",
            "Global: percentage of requests in SLO</th><td>&#8805; 99.9 %</td>")
        .containsSubsequence(
            "Assertions", "<div id=\"gatling-llm\"", "<div id=\"statistics_table_container\">");

    for (Summary.RequestGroup request : summary.requests()) {
      String link = "llm.html#" + Row.anchor(request.name());
      assertThat(htmlFiles().keySet().stream().filter(page -> page.startsWith("req_")))
          .as("pages of " + request.name())
          .filteredOn(page -> read(page).contains(link))
          .hasSize(1);
    }
    assertThat(htmlFiles().keySet()).as("pages of groups").anyMatch(p -> p.startsWith("group_"));
    Map<String, String> once = htmlFiles();
    GatlingPages.insert(directory, summary);
    assertThat(htmlFiles()).as("inserted twice").isEqualTo(once);
  }

  @Test
  void pageOfAnotherGatlingVersionIsReportedInOneLine() throws IOException {
    String other = read("index.html").replace("statistics_table_container", "stats");
    Files.writeString(directory.resolve("index.html"), other, StandardCharsets.ISO_8859_1);

    assertThat(GatlingPages.insert(directory, summary))
        .singleElement()
        .satisfies(line -> assertThat(line).hasSizeLessThanOrEqualTo(200).doesNotContain("\n"))
        .asString()
        .startsWith("LLM block omitted from index.html");
    assertThat(read("index.html")).contains("#gatling-llm").doesNotContain("gatling-llm-tiles");
  }

  @Test
  void pageThatCannotBeWrittenDoesNotPreventTheReport() throws IOException {
    DemoRun.sweep().write(directory);
    Files.createDirectories(directory.resolve("index.html.part").resolve("not empty"));
    List<String> lines = new ArrayList<>();

    RunReport.of(new RunFiles(directory)).write(List.of(), lines::add);

    assertThat(directory.resolve("llm.html")).exists();
    assertThat(lines).anyMatch(line -> line.startsWith("LLM block omitted from Gatling's pages"));
  }

  private Map<String, String> htmlFiles() throws IOException {
    Map<String, String> pages = new TreeMap<>();
    try (Stream<Path> files = Files.list(directory)) {
      files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".html"))
          .forEach(name -> pages.put(name, read(name)));
    }
    return pages;
  }

  private String read(String name) {
    try {
      return Files.readString(directory.resolve(name), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
