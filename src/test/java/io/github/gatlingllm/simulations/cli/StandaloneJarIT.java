package io.github.gatlingllm.simulations.cli;

import static io.github.gatlingllm.testing.JavaCommand.output;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.record.StartCommand;
import io.github.gatlingllm.testing.JavaCommand;
import io.github.gatlingllm.testing.JavaCommand.Ended;
import java.io.BufferedReader;
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
      String measured =
          output(
              java(
                  "--model tiny --concurrency 2 --requests 6 --max-tokens=4 --jvmWarmUp=false"
                      + " --fail-on-invalid=false --assert ok=6 --results out --endpoint "
                      + baseUrl));
      assertThat(measured).contains("Validity", "llm.html");
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
      assertThat(output(again.directory(dir.toFile())))
          .contains("ok=6", "Dry run: nothing was sent");
      Files.delete(run.resolve("llm.html"));
      Ended mistake = JavaCommand.run(java("--maxTokns 4"));
      assertThat(mistake.code()).isEqualTo(1);
      assertThat(mistake.output())
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
      assertThat(output(java("--dry-run"))).startsWith("target ").doesNotContain("[cds]", "[aot]");
      var unused = output(java("render " + run));
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
}
