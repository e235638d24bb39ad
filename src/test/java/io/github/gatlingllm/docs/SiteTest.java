package io.github.gatlingllm.docs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import io.github.gatlingllm.testing.JavaCommand;
import io.github.gatlingllm.testing.MavenProject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The site has every page of {@code docs}, and so has its index, for people and for machines. */
class SiteTest {

  private static final Path DOCS = Path.of("docs");
  private static final Path CONFIGURATION = Path.of("mkdocs.yml");
  private static final Path WORKFLOW = Path.of(".github/workflows/pages.yml");

  private static final Pattern ROW = Pattern.compile("\\[([^]]+)]\\(([a-z-]+\\.md)\\) \\| (.+)");

  private static final int MAX_WORDS_OF_A_TASK = 450;

  @Test
  void navigationHasEveryPageOnceInTheOrderOfTheIndex() throws IOException {
    List<String> pages =
        Pattern.compile("(?m)^ +- (?:\\w+: )?([a-z-]+\\.md)$")
            .matcher(Files.readString(CONFIGURATION))
            .results()
            .map(page -> page.group(1))
            .toList();
    List<String> index = new ArrayList<>(List.of("index.md"));
    Files.readAllLines(DOCS.resolve("index.md")).stream()
        .map(ROW::matcher)
        .filter(Matcher::matches)
        .forEach(row -> index.add(row.group(2)));

    assertThat(pages).isEqualTo(index);
    try (Stream<Path> files = Files.list(DOCS)) {
      assertThat(files.map(file -> file.getFileName().toString()).filter(SiteTest::isPage))
          .containsExactlyInAnyOrderElementsOf(pages);
    }
  }

  /** See <a href="https://llmstxt.org">llmstxt.org</a>. */
  @Test
  void indexForMachinesIsThatForPeople() throws IOException {
    String site = configuration("site_url");
    StringBuilder text = new StringBuilder("# gatling-llm\n\n> ");
    List<String> lines = Files.readAllLines(DOCS.resolve("index.md"));
    text.append(String.join(" ", lines.subList(2, lines.indexOf("```bash") - 1))).append("\n");
    for (String line : lines) {
      Matcher row = ROW.matcher(line);
      if (line.startsWith("## ")) {
        text.append("\n").append(line).append("\n\n");
      } else if (row.matches()) {
        String page = row.group(2).replace(".md", "/");
        text.append("- [%s](%s%s): %s\n".formatted(row.group(1), site, page, row.group(3)));
      }
    }
    ReferencePage.of("llms.txt").mustBe(text.toString());
  }

  @Test
  void workflowBuildsTheSiteAsTestsDo() throws Exception {
    JsonNode jobs = new ObjectMapper(new YAMLFactory()).readTree(WORKFLOW.toFile()).path("jobs");
    List<String> scripts = jobs.findValuesAsText("run");

    assertThat(scripts)
        .contains(
            "pip install -r packaging/site/requirements.txt", "mkdocs build --strict --quiet");
    assertThat(jobs.findValuesAsText("path")).contains(configuration("site_dir"));
    assertThat(configuration("repo_url")).isEqualTo(MavenProject.property("url"));
    for (String script : scripts) {
      var unused = JavaCommand.output(new ProcessBuilder("bash", "-n", "-c", script));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"capacity", "rag", "agents", "regression-gate", "hosted-api", "gateway"})
  void pagesOfTasksAreShort(String name) throws IOException {
    String page = Files.readString(DOCS.resolve(name + ".md"));

    assertThat(page.split("\\s+", -1)).hasSizeLessThanOrEqualTo(MAX_WORDS_OF_A_TASK);
    assertThat(page)
        .as("a command, its output, how to read it, what next")
        .containsSubsequence("```bash\ngatling-llm ", "```text\n", "## How to read it", "## Next");
  }

  private static boolean isPage(String name) {
    return name.endsWith(".md");
  }

  private static String configuration(String name) throws IOException {
    Matcher line =
        Pattern.compile("(?m)^" + name + ": (.+)$").matcher(Files.readString(CONFIGURATION));
    assertThat(line.find()).isTrue();
    return line.group(1);
  }
}
