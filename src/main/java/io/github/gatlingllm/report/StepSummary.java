package io.github.gatlingllm.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;

/** The file that GitHub Actions shows on the page of a job. */
final class StepSummary {

  private StepSummary() {}

  /** Appends to the file that {@code GITHUB_STEP_SUMMARY} names; nothing where it names none. */
  static void append(String markdown, Map<String, String> environment) throws IOException {
    String file = environment.get("GITHUB_STEP_SUMMARY");
    if (file != null && !file.isBlank()) {
      Files.writeString(
          Path.of(file), markdown, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
  }
}
