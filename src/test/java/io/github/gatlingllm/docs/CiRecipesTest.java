package io.github.gatlingllm.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.compare.Comparison.FailCondition;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.simulations.CheckedSettings;
import io.github.gatlingllm.testing.JavaCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The recipes for CI are valid, and settings and files in them exist. */
class CiRecipesTest {

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "github-actions.yml",
        "gitlab-ci.yml",
        "Jenkinsfile",
        "github-matrix.yml",
        "github-nightly.yml",
        "gitlab-nightly.yml"
      })
  void shellCommandsAreValid(String file) throws Exception {
    assertThat(CiRecipes.blocks(file))
        .hasSizeGreaterThanOrEqualTo(3)
        .allSatisfy(block -> assertThat(syntaxError(block.shell())).as(block.name()).isEmpty());
  }

  @Test
  void invalidShellIsDetected() throws Exception {
    assertThat(syntaxError("if true; then")).isNotEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"github-actions.yml", "gitlab-ci.yml", "Jenkinsfile"})
  void settingsConditionsAndFilesExist(String file) throws IOException {
    String text = Files.readString(CiRecipes.FOLDER.resolve(file));
    assertSettingsExist(file, "LLM_SLO", "LLM_ASSERT", "LLM_CONCURRENCY");
    assertThat(CiRecipes.blocks(file))
        .anySatisfy(block -> assertThat(block.shell()).contains("mvn -B gatling:test"))
        .anySatisfy(block -> assertThat(block.shell()).contains("compare baseline"));

    Matcher conditions = Pattern.compile("--fail-on ([^\" ]+)").matcher(text);
    assertThat(conditions.find()).isTrue();
    assertThat(FailCondition.parse(conditions.group(1))).hasSize(2);

    RunFiles files = new RunFiles(Path.of(""));
    Matcher named = Pattern.compile("llm/([a-z]+\\.[a-z]+)").matcher(text);
    assertThat(named.results().map(found -> found.group(1)))
        .isNotEmpty()
        .allMatch(
            name ->
                name.equals(files.requests().getFileName().toString())
                    || name.equals(files.info().getFileName().toString())
                    || name.equals(files.junit().getFileName().toString()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"github-nightly.yml", "gitlab-nightly.yml"})
  void nightlyJobKeepsSixtyRunsAndShowsTheirTrend(String file) throws Exception {
    assertSettingsExist(file, "LLM_SLO", "LLM_CONCURRENCY", "LLM_FAIL_ON_INVALID");
    for (int night = 100; night < 160; night++) {
      Files.createDirectories(folder.resolve("history/2026-01-" + night));
    }
    Path run = Files.createDirectories(folder.resolve("target/gatling/benchmark-1/llm"));
    Files.createFile(run.resolve("run.json"));
    Files.createFile(run.resolve("requests.jsonl"));
    fakeMaven();
    assertThat(
            bash("PATH=.:$PATH NIGHT=7 CI_PIPELINE_ID=7; " + CiRecipes.blocks(file).get(2).shell()))
        .contains("-Dexec.args=trend history");
    try (Stream<Path> nights = Files.list(folder.resolve("history"))) {
      assertThat(nights)
          .hasSize(60)
          .doesNotContain(folder.resolve("history/2026-01-100"))
          .anyMatch(night -> Files.exists(night.resolve("llm/requests.jsonl")));
    }
  }

  private void assertSettingsExist(String file, String... some) throws IOException {
    Map<String, String> environment = new TreeMap<>();
    Pattern.compile("(LLM_[A-Z_]+)(?:: | = )['\"]?([^'\"\n]+)")
        .matcher(Files.readString(CiRecipes.FOLDER.resolve(file)))
        .results()
        .filter(found -> !found.group(2).contains("$"))
        .forEach(found -> environment.put(found.group(1), found.group(2)));
    environment.remove("LLM_API_KEY");
    environment.put("LLM_ENDPOINT", "http://localhost:8000/v1");
    assertThat(environment).containsKeys(some);
    assertThat(CheckedSettings.warnings(Map.of(), environment, folder)).isEmpty();
  }

  private void fakeMaven() throws IOException {
    Path mvn = Files.writeString(folder.resolve("mvn"), "#!/bin/sh\nprintf '%s\\n' \"$@\"\n");
    assertThat(mvn.toFile().setExecutable(true)).isTrue();
  }

  /** The command that merges the runners' artifacts, as bash passes it to Maven. */
  @Test
  void runsOfTheMatrixAreMerged() throws Exception {
    Map<String, String> environment = new TreeMap<>();
    CiRecipes.map(CiRecipes.yaml("github-matrix.yml").get("env"))
        .forEach((name, value) -> environment.put(name.toString(), value.toString()));
    environment.put("LLM_ENDPOINT", "http://localhost:8000/v1");
    environment.put("LLM_INJECTOR", "2/4");
    environment.put("LLM_START_AT", "2027-03-01T09:30:00Z");
    environment.keySet().removeAll(List.of("LLM_API_KEY", "LLM_MODEL"));
    assertThat(CheckedSettings.warnings(Map.of(), environment, folder)).isEmpty();

    for (int i = 1; i <= 4; i++) {
      Path run = folder.resolve("injectors/injector-" + i + "/benchmark-" + i + "/llm");
      Files.createFile(Files.createDirectories(run).resolve("run.json"));
    }
    fakeMaven();
    String join =
        CiRecipes.blocks("github-matrix.yml").stream()
            .map(CiRecipes.Block::shell)
            .filter(shell -> shell.contains("merge"))
            .findFirst()
            .orElseThrow();
    assertThat(bash("PATH=.:$PATH; " + join))
        .contains(
            "merge injectors/injector-1/benchmark-1 injectors/injector-2/benchmark-2"
                + " injectors/injector-3/benchmark-3 injectors/injector-4/benchmark-4"
                + " --expect 4 --fail-as-run --out merged");
  }

  private String bash(String script) throws IOException, InterruptedException {
    return JavaCommand.output(
        new ProcessBuilder("bash", "-e", "-o", "pipefail", "-c", script)
            .directory(folder.toFile()));
  }

  private String syntaxError(String shell) throws IOException, InterruptedException {
    Path script = Files.writeString(folder.resolve("block.sh"), shell);
    JavaCommand.Ended bash = JavaCommand.run(new ProcessBuilder("bash", "-n", script.toString()));
    return bash.code() == 0 ? "" : bash.output() + "exit";
  }
}
