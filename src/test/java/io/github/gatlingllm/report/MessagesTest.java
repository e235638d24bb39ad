package io.github.gatlingllm.report;

import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.action.PreflightTexts;
import io.github.gatlingllm.cli.JarTexts;
import io.github.gatlingllm.docs.ReferencePage;
import io.github.gatlingllm.docs.SourceTexts;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.simulations.SettingMistakes;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * All messages of the product in one file, for review: of settings, commands and the preflight, the
 * plan, the live block, the console and Markdown of recorded runs, and every sentence of the
 * sources (values are {@code …} or {@code %s}), except those of the catalogues, which are in {@code
 * docs/}. Rewritten with {@code -Dgatlingllm.docs.write=true}.
 */
class MessagesTest {

  private static final Path FILE = Path.of("src", "test", "resources", "messages.txt");
  private static final Path SOURCES = Path.of("src/main/java/io/github/gatlingllm");

  /** Catalogues with texts in docs/, and classes with words of synthetic prompts and answers. */
  private static final Set<String> ELSEWHERE =
      Set.of(
          "check/CheckCatalogue.java",
          "engine/Vocabulary.java",
          "metric/Metric.java",
          "record/EngineMetric.java",
          "record/GeneratorField.java",
          "record/RecordField.java",
          "simulations/Setting.java",
          "workload/BlockText.java",
          "workload/SyntheticText.java");

  @TempDir Path folder;

  private final StringBuilder all = new StringBuilder();

  @Test
  void messagesEqualTheReviewedFile() throws IOException {
    part("Settings: mistakes", SettingMistakes.text(folder));
    part("Settings: plans before a run", SettingMistakes.plans(folder));
    part("First request of a run fails", PreflightTexts.text());
    part("While a run is on", ConsoleBlockTest.examples());
    for (String name : List.of("targets", "mix", "batch", "curve")) {
      Path run = folder.resolve(name);
      RunFiles files = new RunFiles(run);
      Files.createDirectories(files.requests().getParent());
      try (InputStream records = new GZIPInputStream(resource(name, "requests.jsonl.gz"));
          InputStream info = resource(name, "run.json")) {
        Files.copy(records, files.requests());
        Files.copy(info, files.info());
      }
      part("console of " + name, CommandLine.call("render", run.toString()).output() + "\n");
      part("summary.md of " + name, Files.readString(files.summaryMarkdown()));
    }
    part("Commands of the jar", JarTexts.text());
    part("Sentences of the sources", sentences());
    String text =
        all.toString().replace("\r\n", "\n").replace(folder.toUri().toString(), "file:///runs/");
    new ReferencePage(FILE, Boolean.getBoolean("gatlingllm.docs.write"))
        .mustBe(text.replace(folder.toString(), "/runs"));
  }

  private void part(String title, String text) {
    all.append("######## ").append(title).append("\n\n").append(text).append("\n\n");
  }

  private static String sentences() throws IOException {
    StringBuilder text = new StringBuilder();
    List<Path> files;
    try (Stream<Path> tree = Files.walk(SOURCES)) {
      files = tree.filter(file -> file.toString().endsWith(".java")).sorted().toList();
    }
    for (Path file : files) {
      String name = SOURCES.relativize(file).toString().replace('\\', '/');
      List<String> texts =
          ELSEWHERE.contains(name) ? List.of() : SourceTexts.of(Files.readString(file));
      if (!texts.isEmpty()) {
        text.append("\n# ").append(name).append("\n\n");
        texts.forEach(each -> text.append(each).append('\n'));
      }
    }
    for (String table : List.of("charts.txt", "sections.txt")) {
      text.append("\n# report/").append(table).append("\n\n").append(Templates.resource(table));
    }
    return text.toString();
  }

  private static InputStream resource(String run, String file) {
    return requireNonNull(
        MessagesTest.class.getResourceAsStream("/recorded/runs/" + run + "/" + file));
  }
}
