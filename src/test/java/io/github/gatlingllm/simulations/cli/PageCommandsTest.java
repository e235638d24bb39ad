package io.github.gatlingllm.simulations.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.compare.Comparison.FailCondition;
import io.github.gatlingllm.report.Main;
import io.github.gatlingllm.simulations.CheckedSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** The commands {@code gatling-llm …} of README and pages are accepted as they are written. */
class PageCommandsTest {

  private static final Pattern COMMAND =
      Pattern.compile("^(?:gatling-llm|java -jar (?:target/)?gatling-llm\\.jar) +(.*)$");

  private static final Pattern WORD = Pattern.compile("'([^']*)'|\"([^\"]*)\"|(\\S+)");

  /** What a reader or a script puts in its place, and data sets to download. */
  private static final Pattern NOT_HERE = Pattern.compile("[…$]|:hf:");

  /** Of the form that {@code hf download} leaves. */
  private static final String TOKENIZER = "src/test/resources/tokenizers/bpe.tokenizer.json";

  @TempDir Path dir;

  @Test
  void commandsAreAccepted() throws IOException {
    List<String> kinds = new ArrayList<>();
    List<String> refused = new ArrayList<>();
    for (Path page : pages()) {
      String text = Files.readString(page);
      for (String command : commands(text)) {
        kinds.add(words(command).get(0));
        String problem = problem(command, text);
        if (!problem.isEmpty()) {
          refused.add("%s: %s: %s".formatted(page, command, problem));
        }
      }
    }
    assertThat(refused).isEmpty();
    assertThat(kinds).hasSizeGreaterThan(30).contains("engine", "benchmark", "probe", "compare");
  }

  @ParameterizedTest
  @CsvSource({
    "'--endpoint http://localhost:8000/v1 --maxTokns 4', maxTokns",
    "'--endpoint http://localhost:8000/v1 --rate 0', rate",
    "'probe --endpont http://localhost:8000/v1', endpont",
    "'engine --prot 8000', --prot",
    "'compare a b --fail-on ttft.p95>ten', ten"
  })
  void mistakesAreDetected(String command, String named) throws IOException {
    assertThat(problem(command, "")).contains(named);
  }

  @Test
  void commandsAreReadWithTheirContinuation() {
    assertThat(commands("```bash\ngatling-llm \\\n  --rate 4 # comment\nls\n```"))
        .containsExactly("--rate 4");
  }

  /** What is wrong with a command, else nothing; the files that it reads are made. */
  private String problem(String command, String page) throws IOException {
    List<String> words = words(command);
    try {
      switch (words.get(0)) {
        case "engine" -> parse(new CommandLine(new EngineCommand()), words, 1);
        case "anonymize" -> parse(new CommandLine(new AnonymizeCommand()), words, 1);
        case "render", "merge", "compare", "trend" -> {
          parse(Main.commandLine(Main.class), words, 0);
          int conditions = words.indexOf("--fail-on") + 1;
          if (conditions > 0) {
            assertThat(FailCondition.parse(words.get(conditions))).isNotEmpty();
          }
        }
        default -> {
          boolean isNamed = List.of("benchmark", "probe").contains(words.get(0));
          var process = BenchmarkProcess.of(words.subList(isNamed ? 1 : 0, words.size()));
          Map<String, String> settings = process.settings();
          settings.keySet().removeAll(Set.of("help", "json"));
          if (settings.containsKey("sessions")) {
            settings.put("sessions", sessions(page).toString());
          }
          settings.computeIfPresent(
              "tokenizer", (name, value) -> value.replace("hf:tokenizer.json", "hf:" + TOKENIZER));
          settings.putIfAbsent("tokenizer", "chars4"); // faster
          return String.join(" ", CheckedSettings.warnings(settings, Map.of(), dir));
        }
      }
    } catch (IllegalArgumentException | ParameterException e) {
      return String.valueOf(e.getMessage());
    }
    return "";
  }

  /** The block of a page that has the lines of the file. */
  private Path sessions(String page) throws IOException {
    Matcher json =
        Pattern.compile("```json\n(\\{\"session_id.*?)```", Pattern.DOTALL).matcher(page);
    assertThat(json.find()).isTrue();
    return Files.writeString(dir.resolve("agents.jsonl"), json.group(1));
  }

  private static void parse(CommandLine command, List<String> words, int from) {
    var unused = command.parseArgs(words.subList(from, words.size()).toArray(String[]::new));
  }

  /** What follows the program's name, in the blocks of commands. */
  private static List<String> commands(String page) {
    return Pattern.compile("```bash\n(.*?)```", Pattern.DOTALL)
        .matcher(page)
        .results()
        .flatMap(block -> block.group(1).replaceAll("\\\\\n\\s*", "").lines())
        .map(line -> COMMAND.matcher(line.replaceFirst("\\s+#.*$", "")))
        .filter(Matcher::matches)
        .map(found -> found.group(1))
        .filter(command -> !NOT_HERE.matcher(command).find())
        .toList();
  }

  private static List<String> words(String line) {
    return WORD.matcher(line)
        .results()
        .map(word -> Stream.of(1, 2, 3).map(word::group).filter(part -> part != null).findFirst())
        .map(Optional::orElseThrow)
        .toList();
  }

  private static List<Path> pages() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("docs"))) {
      return Stream.concat(
              Stream.of(Path.of("README.md")),
              files.filter(file -> file.toString().endsWith(".md")).sorted())
          .toList();
    }
  }
}
