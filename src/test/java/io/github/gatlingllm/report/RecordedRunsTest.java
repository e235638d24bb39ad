package io.github.gatlingllm.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.docs.FilesPage;
import io.github.gatlingllm.record.RunFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Runs of the benchmark against embedded engines, recorded with the version of November 2026, and
 * their {@code summary.json}: no figure may change. If a figure changes on purpose, the expected
 * file changes in the same commit; figures and checks may be added.
 */
class RecordedRunsTest {

  /** Sums of floating-point numbers may be added up in another order. */
  private static final double RELATIVE_ERROR = 1e-9;

  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path run;

  @ParameterizedTest
  @ValueSource(strings = {"targets", "batch"})
  void summaryEqualsTheRecordedOne(String name) throws IOException {
    RunFiles files = recorded(name);

    assertThat(CommandLine.call("render", run.toString()).exitCode()).isZero();

    try (InputStream expected = resource(name, "summary.json")) {
      JsonNode actual = JSON.readTree(files.summaryJson().toFile());
      equal("summary", JSON.readTree(expected), actual);
      FilesPage.mustName(actual);
    }
  }

  /** Figures and tables of the two text forms; the checks below them are tested by themselves. */
  @Test
  void textsEqualTheRecordedOnes() throws IOException {
    RunFiles files = recorded("targets");

    String console = CommandLine.call("render", run.toString()).output();

    assertThat(figures(console)).isEqualTo(figures(text("targets", "console.txt")));
    assertThat(figures(Files.readString(files.summaryMarkdown())))
        .isEqualTo(figures(text("targets", "summary.md")));
  }

  private static String figures(String text) {
    return text.replaceFirst("(?s)\\R[-#]+ Validity.*", "").strip();
  }

  private static String text(String run, String file) throws IOException {
    try (InputStream in = resource(run, file)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private RunFiles recorded(String name) throws IOException {
    RunFiles files = new RunFiles(run);
    Files.createDirectories(files.requests().getParent());
    try (InputStream records = new GZIPInputStream(resource(name, "requests.jsonl.gz"));
        InputStream info = resource(name, "run.json")) {
      Files.copy(records, files.requests());
      Files.copy(info, files.info());
    }
    return files;
  }

  private static InputStream resource(String run, String file) {
    return Objects.requireNonNull(
        RecordedRunsTest.class.getResourceAsStream("/recorded/runs/" + run + "/" + file));
  }

  /** What stays of a sentence when its words change. */
  private static String digits(JsonNode sentence) {
    return sentence.textValue().replaceAll("([^\\d.,]|[.,](?!\\d))+", " ").strip();
  }

  private static void equal(String path, JsonNode expected, JsonNode actual) {
    assertThat(actual).as("%s: missing", path).isNotNull();
    if (expected.isObject()) {
      for (Iterator<String> keys = expected.fieldNames(); keys.hasNext(); ) {
        String key = keys.next();
        equal(path + "." + key, expected.get(key), actual.get(key));
      }
    } else if (expected.isArray() && expected.path(0).has("id")) {
      Map<String, JsonNode> byId = new HashMap<>();
      actual.forEach(entry -> byId.put(entry.get("id").textValue(), entry));
      for (JsonNode entry : expected) {
        String id = entry.get("id").textValue();
        equal(path + "[" + id + "]", entry, byId.get(id));
      }
    } else if (expected.isArray()) {
      assertThat(actual.size()).as("%s: number of entries", path).isEqualTo(expected.size());
      for (int i = 0; i < expected.size(); i++) {
        equal(path + "[" + i + "]", expected.get(i), actual.get(i));
      }
    } else if (expected.isFloatingPointNumber() && actual.isNumber()) {
      double value = expected.doubleValue();
      double error = Math.max(1, Math.abs(value)) * RELATIVE_ERROR;
      assertThat(Math.abs(actual.doubleValue() - value))
          .as("%s: %s, expected %s", path, actual, expected)
          .isLessThanOrEqualTo(error);
    } else if (path.startsWith("summary.checks[") && expected.isTextual()) {
      assertThat(digits(actual)).as("%s: %s", path, actual).isEqualTo(digits(expected));
    } else {
      assertThat(actual).as(path).isEqualTo(expected);
    }
  }
}
