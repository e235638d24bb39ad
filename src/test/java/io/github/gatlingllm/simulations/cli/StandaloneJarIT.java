package io.github.gatlingllm.simulations.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.record.StartCommand;
import io.github.gatlingllm.testing.JavaCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The runnable jar as users start it: the engine in one process, the benchmark in another. */
class StandaloneJarIT {

  private static final Path JAR = Path.of("target", "gatling-llm.jar").toAbsolutePath();

  @TempDir Path dir;

  @Test
  void measuresItsOwnEngineAndRendersTheRunAgain() throws Exception {
    Process engine =
        java("engine --port=0 --model=tiny --fixed=5ms,1ms")
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader lines = engine.inputReader()) {
      String baseUrl = Objects.requireNonNull(lines.readLine());
      Path output = dir.resolve("output");
      int exitCode =
          ended(
              java(
                  "--model tiny --concurrency 2 --requests 6 --max-tokens=4 --jvmWarmUp=false"
                      + " --fail-on-invalid=false --assert ok=6 --results out --endpoint "
                      + baseUrl),
              output);

      assertThat(exitCode).as(Files.readString(output)).isZero();
      assertThat(output).content(UTF_8).contains("Validity", "llm.html");
      Path run;
      try (Stream<Path> runs = Files.list(dir.resolve("out"))) {
        run = runs.toList().get(0);
      }
      assertThat(Files.readAllLines(run.resolve("llm/requests.jsonl"))).hasSize(6);
      StartCommand start =
          new StartCommand(
              new ObjectMapper()
                  .readTree(run.resolve("llm/run.json").toFile())
                  .at("/config/" + StartCommand.CONFIG_NAME)
                  .asText());
      ProcessBuilder again = new ProcessBuilder("sh", "-c", start.with("dryRun", "true"));
      again
          .environment()
          .merge("PATH", Path.of(JavaCommand.JAVA).getParent() + ":", (p, j) -> j + p);
      assertThat(ended(again.directory(dir.toFile()), output)).isZero();
      assertThat(output).content(UTF_8).contains("ok=6", "Dry run: nothing was sent");
      Files.delete(run.resolve("llm.html"));
      assertThat(ended(java("--maxTokns 4"), output)).isEqualTo(1);
      assertThat(output)
          .content(UTF_8)
          .contains("did you mean --max-tokens?")
          .doesNotContain("\tat ", "Exception");
      Path kept;
      try (Stream<Path> all = Files.list(dir.resolve(".gatling-llm/classes"))) {
        List<Path> files = all.toList();
        assertThat(files).as("classes for the next run").hasSize(1);
        kept = files.get(0);
      }
      assertThat(kept.toFile().setWritable(true)).isTrue();
      Files.writeString(kept, "not what a JVM has made");
      assertThat(ended(java("--dry-run"), output)).isZero();
      assertThat(output).content(UTF_8).startsWith("target ").doesNotContain("[cds]", "[aot]");
      assertThat(ended(java("render " + run), output)).isZero();
      assertThat(run.resolve("llm.html")).exists();
    } finally {
      engine.destroy();
      assertThat(engine.waitFor(10, TimeUnit.SECONDS)).isTrue();
    }
  }

  private ProcessBuilder java(String arguments) {
    List<String> command = new ArrayList<>();
    command.add(JavaCommand.JAVA);
    command.addAll(
        List.of("-XX:TieredStopAtLevel=1", "-Duser.home=" + dir, "-jar", JAR.toString()));
    command.addAll(List.of(arguments.split(" ", -1)));
    return new ProcessBuilder(command).directory(dir.toFile());
  }

  private static int ended(ProcessBuilder builder, Path output)
      throws IOException, InterruptedException {
    Process process = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    try {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroy();
    }
    return process.exitValue();
  }
}
