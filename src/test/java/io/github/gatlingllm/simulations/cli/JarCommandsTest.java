package io.github.gatlingllm.simulations.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.simulations.CheckedSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The runnable jar accepts the commands that the documentation shows. */
class JarCommandsTest {

  private static final String START = "java -jar target/gatling-llm.jar ";
  private static final Pattern WORD = Pattern.compile("'([^']*)'|(\\S+)");

  @TempDir Path dir;

  @Test
  void commandsOfTheReadmeAreAccepted() throws IOException {
    List<List<String>> commands =
        Files.readAllLines(Path.of("README.md")).stream()
            .filter(line -> line.startsWith(START))
            .map(line -> words(line.substring(START.length())))
            .toList();
    assertThat(commands).extracting(words -> words.get(0)).contains("engine", "--endpoint");

    for (List<String> words : commands) {
      if (words.get(0).equals("engine")) {
        CommandLine engine = new CommandLine(new EngineCommand());
        engine.parseArgs(words.subList(1, words.size()).toArray(String[]::new));
      } else {
        Map<String, String> settings =
            BenchmarkProcess.of(words).settings().entrySet().stream()
                .collect(Collectors.toMap(entry -> "llm." + entry.getKey(), Map.Entry::getValue));
        assertThat(CheckedSettings.warnings(settings, Map.of(), dir)).isEmpty();
      }
    }
  }

  private static List<String> words(String line) {
    return WORD.matcher(line).results().map(JarCommandsTest::word).toList();
  }

  private static String word(MatchResult word) {
    return word.group(1) == null ? word.group(2) : word.group(1);
  }
}
