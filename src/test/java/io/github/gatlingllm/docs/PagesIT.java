package io.github.gatlingllm.docs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.JavaCommand;
import io.github.gatlingllm.testing.JavaCommand.Ended;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What readers do with Python: the snippets for notebooks run, and the pages make a site. */
@Tag("nightly")
class PagesIT {

  private static final Path PROJECT = Path.of("").toAbsolutePath();
  private static final Path NOTEBOOKS = Path.of("docs/notebooks.md");

  @TempDir static Path dir;

  @BeforeAll
  static void install() throws Exception {
    run(PROJECT, "python3", "-m", "venv", dir + "/venv").require("no python3-venv: ");
    python("-m", "pip", "install", "-q", "--no-input", "--retries", "1", "-r", packages())
        .require("no index of packages: ");
  }

  /** Those that the page installs, and those of the site. */
  private static String packages() throws IOException {
    String pip = snippets("bash").lines().filter(line -> line.startsWith("pip ")).findFirst().get();
    String notebooks = pip.replace("pip install ", "").replace(' ', '\n');
    String site = Files.readString(Path.of("packaging/site/requirements.txt"));
    return Files.writeString(dir.resolve("packages.txt"), notebooks + "\n" + site).toString();
  }

  @Test
  void snippetsForNotebooksReadARun() throws Exception {
    Path results = dir.resolve("results");
    String options =
        "--concurrency 2 --requests 40 --max-tokens=8 --jvm-warm-up=false --fail-on-invalid=false";
    List<String> command = new ArrayList<>(List.of(JavaCommand.JAVA, "-jar"));
    command.add("target/gatling-llm.jar");
    command.addAll(List.of(options.split(" ", -1)));
    command.addAll(List.of("--results", results.toString()));
    Ended measured = run(PROJECT, command.toArray(String[]::new));
    assertThat(measured.code()).as(measured.output()).isZero();
    Path run;
    try (Stream<Path> all = Files.list(results)) {
      run = all.findFirst().orElseThrow();
    }
    JsonNode summary = new ObjectMapper().readTree(run.resolve("llm/summary.json").toFile());
    int requests = summary.at("/stages/0/counts/ok").asInt();
    assertThat(requests).isPositive();

    Path program = Files.writeString(dir.resolve("notebook.py"), snippets("python"));
    Ended ended = run(run, python(), program.toString());
    assertThat(ended.code()).as(ended.output()).isZero();
    assertThat(ended.output()).as("pandas").containsPattern("c=2 +" + requests + "\\.0 ");
    assertThat(ended.output()).as("Polars").containsPattern("│ c=2 +┆ [0-9.]+ +┆ [0-9.]+ +│");
    assertThat(ended.output()).as("DuckDB").containsPattern("c=2 +│ +" + requests + " │");
    assertThat(run.resolve("ttft.png")).isNotEmptyFile();

    run(PROJECT, "jq", "--version").require("no jq: ");
    String jq = snippets("bash").lines().filter(line -> !line.startsWith("pip ")).collect(joined());
    Ended counted = run(run, "bash", "-e", "-o", "pipefail", "-c", jq);
    assertThat(counted.code()).as(counted.output()).isZero();
    assertThat(counted.output()).containsPattern(requests + " c=2\tcomplete");
    assertThat(counted.output()).contains("\"ttft_s\": 0.");
  }

  @Test
  void pagesMakeASite() throws Exception {
    Path site = dir.resolve("site");
    Ended built = python("-m", "mkdocs", "build", "--strict", "--site-dir", site.toString());

    assertThat(built.code()).as(built.output()).isZero();
    assertThat(site.resolve("index.html")).content().contains("gatling-llm");
    assertThat(site.resolve("llms.txt")).hasSameTextualContentAs(Path.of("docs/llms.txt"));
    assertThat(site.resolve("search/search_index.json")).content().contains("goodput");
    assertThat(site.resolve("getting-started/index.html"))
        .content()
        .as("files outside of docs are those of the repository")
        .contains("/blob/main/README.md#add-it-to-a-gatling-project\"");
  }

  private static Collector<CharSequence, ?, String> joined() {
    return Collectors.joining("\n");
  }

  private static String snippets(String language) throws IOException {
    return Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL)
        .matcher(Files.readString(NOTEBOOKS))
        .results()
        .map(found -> found.group(1))
        .collect(joined());
  }

  private static String python() {
    return dir.resolve("venv/bin/python").toString();
  }

  private static Ended python(String... arguments) throws IOException, InterruptedException {
    return run(
        PROJECT, Stream.concat(Stream.of(python()), Stream.of(arguments)).toArray(String[]::new));
  }

  private static Ended run(Path work, String... command) throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).directory(work.toFile());
    GatlingRun.removeForeign(builder.environment());
    return JavaCommand.run(builder);
  }
}
