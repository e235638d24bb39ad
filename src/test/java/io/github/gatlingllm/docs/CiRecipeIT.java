package io.github.gatlingllm.docs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The commands of the GitHub recipe, run by bash one after the other as a runner does, with real
 * Maven and a few seconds of load on the embedded engine. {@code mvn} uses this project's POM and
 * runs in an empty folder, into which a new run is moved; the second load test is a copy of the
 * first.
 */
class CiRecipeIT {

  private static final int MAX_SECONDS = 300;

  /** A second of load without settling: figures are not asserted here. */
  private static final Map<String, String> SHORT =
      Map.of(
          "LLM_CONCURRENCY", "4",
          "LLM_DURATION", "1s",
          "LLM_MAX_TOKENS", "16",
          "LLM_FILL", "0",
          "LLM_STABILIZE", "0",
          "LLM_JVM_WARM_UP", "false",
          "LLM_FAIL_ON_INVALID", "false",
          "MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");

  @TempDir Path folder;

  @Test
  @Tag("nightly")
  void secondRunIsComparedWithTheFirst() throws Exception {
    mvn();
    Path summary = folder.resolve("summary.md");

    runAll();
    assertThat(folder.resolve("baseline/llm/requests.jsonl")).isNotEmptyFile();
    assertThat(summary).content(UTF_8).contains("## LLM load test:", "No baseline yet");

    Files.delete(summary);
    runAll();
    assertThat(summary)
        .content(UTF_8)
        .contains("## LLM load test compared with baseline", "- passed: ttft.p95 ");
  }

  /** Bounds that no two runs of a few seconds exceed: the commands are tested, not the figures. */
  private void runAll() throws IOException, InterruptedException {
    Map<String, String> outputs = new TreeMap<>();
    for (CiRecipes.Block block : CiRecipes.blocks("github-actions.yml")) {
      String shell =
          block
              .shell()
              .replaceAll(
                  "--fail-on [^\" ]+",
                  "--fail-on ttft.p95>+99999%,requests_per_s<-99.9% --allow-thin");
      Path output = folder.resolve("github-output");
      Files.deleteIfExists(output);
      ProcessBuilder step =
          new ProcessBuilder("bash", "-e", "-o", "pipefail", "-c", shell)
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .redirectOutput(folder.resolve("log.txt").toFile());
      Map<String, String> environment = step.environment();
      environment.put("PATH", folder + ":" + environment.get("PATH"));
      environment.put("GITHUB_OUTPUT", output.toString());
      environment.put("GITHUB_STEP_SUMMARY", folder.resolve("summary.md").toString());
      environment.putAll(SHORT);
      block
          .variables()
          .forEach((name, value) -> environment.put(name.toString(), filled(value, outputs)));
      Process process = step.start();
      assertThat(process.waitFor(MAX_SECONDS, TimeUnit.SECONDS)).as(block.name()).isTrue();
      assertThat(process.exitValue()).as(() -> block.name() + ":\n" + log()).isZero();
      if (Files.exists(output)) {
        for (String line : Files.readAllLines(output)) {
          outputs.put(line.substring(0, line.indexOf('=')), line.substring(line.indexOf('=') + 1));
        }
      }
    }
  }

  private static String filled(Object value, Map<String, String> outputs) {
    return value
        .toString()
        .replace(
            "${{ steps.run.outputs.directory }}", outputs.getOrDefault("directory", "missing"));
  }

  private String log() {
    try {
      return Files.readString(folder.resolve("log.txt"));
    } catch (IOException e) {
      return e.toString();
    }
  }

  /** The local repository of the build that runs this test, which has all dependencies. */
  private static String repository() {
    String folder = System.getProperty("maven.repo.local");
    return folder == null ? "" : "\"-Dmaven.repo.local=" + folder + "\"";
  }

  private void mvn() throws IOException {
    Path script =
        Files.writeString(
            folder.resolve("mvn"),
            """
            #!/bin/sh
            PATH=${PATH#*:}
            first=$(echo target/gatling/*)
            case "$*" in *gatling:test*) [ ! -d "$first" ] || exec cp -r "$first" "$first-again";; esac
            stamp=$(mktemp)
            mvn -o -f "%1$s/pom.xml" %2$s "$@" || exit $?
            mkdir -p target/gatling
            find "%1$s/target/gatling" -mindepth 1 -maxdepth 1 -type d -newer "$stamp" \\
              -exec mv {} target/gatling/ ';'
            rm "$stamp"
            """
                .formatted(Path.of("").toAbsolutePath(), repository()));
    assertThat(script.toFile().setExecutable(true)).isTrue();
  }
}
