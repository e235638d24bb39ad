package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.AssertionResult;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.AtomicFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The assertions of a run as {@code llm/junit.xml}, which CI servers show as tests: a suite with
 * the name of the simulation, and a test case per assertion.
 */
final class JUnitXml {

  private JUnitXml() {}

  /** Writes the file, or deletes it if the run has no assertions. */
  static void write(Summary summary, Path junitXml) throws IOException {
    if (summary.assertions().isEmpty()) {
      Files.deleteIfExists(junitXml);
    } else {
      AtomicFile.write(junitXml, of(summary));
    }
  }

  /** The whole file. */
  static String of(Summary summary) {
    Summary.Run run = summary.run();
    List<AssertionResult> results = summary.assertions();
    return Templates.fill(
        "junit",
        Map.of(
            "simulation",
            valid(run.simulation() == null ? run.id() : run.simulation()),
            "failures",
            results.stream().filter(result -> !result.ok()).count(),
            "time",
            String.format(Locale.ROOT, "%.3f", (run.endUnixNs() - run.startUnixNs()) / 1e9),
            "cases",
            results.stream().map(Case::of).toList()));
  }

  /** One assertion for {@code junit.peb}. */
  private record Case(boolean ok, String name, String what, String line) {

    static Case of(AssertionResult result) {
      String actual = NumberText.orAbsent(result.actual());
      return new Case(
          result.ok(),
          valid(result.text()),
          valid("expected " + result.expected() + ", actual " + actual),
          valid(result.line()));
    }
  }

  /** Replaces characters that XML 1.0 does not allow, not even escaped. */
  private static String valid(String text) {
    return ConsoleBlock.visible(text).replaceAll("[\\uFFFE\\uFFFF]", "\uFFFD");
  }
}
