package io.github.gatlingllm.report;

import static io.github.gatlingllm.report.CommandLine.call;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.report.CommandLine.Called;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrendCommandTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path history;

  /** The series of these runs. */
  private JsonNode trend() throws IOException {
    Called called = call("trend", history.toString());
    assertThat(called.exitCode()).as(called.error()).isZero();
    return JSON.readTree(history.resolve("trend.json").toFile()).path("series");
  }

  private void night(int night, double slowness, String engine, String prompts) throws IOException {
    Path run = history.resolve("night-" + night);
    new DemoRun(List.of(2, 8), List.of("local"), List.of("ask"))
        .seed(night)
        .slower(slowness)
        .write(run);
    Path file = run.resolve("llm/run.json");
    ObjectNode info = (ObjectNode) JSON.readTree(file.toFile());
    info.put("start_unix_ns", info.path("start_unix_ns").asLong() - (9 - night));
    ObjectNode config = info.withObject("/config");
    config.put("engineVersion", engine).put("promptTokens", prompts).put("seed", "" + night);
    config.put("prefixSeed", "" + night).put("tokenizer_source", "http://10.0.0." + night);
    JSON.writeValue(file.toFile(), info);
  }

  @Test
  void runThatDiffersIsMarkedInItsSeries() throws IOException {
    night(1, 1, "1.0", "256");
    night(2, 1, "1.0", "256");
    night(3, 1, "1.0", "1024");
    night(4, 1.3, "1.1", "256");
    night(5, 1.3, "1.1", "256");

    Called called = call("trend", history.toString());

    assertThat(called.error()).isEmpty();
    assertThat(called.exitCode()).isZero();
    assertThat(called.output().lines().filter(line -> line.contains("worse")))
        .singleElement(STRING)
        .startsWith("night-4 (1.1), since night-1: ");

    JsonNode series = trend();
    assertThat(series)
        .extracting(of -> of.at("/settings/promptTokens").asText())
        .containsExactly("256", "1024");
    JsonNode nights = series.get(0).path("runs");
    assertThat(nights)
        .extracting(of -> of.path("run").asText())
        .containsExactly("night-1", "night-2", "night-4", "night-5");
    assertThat(nights)
        .extracting(of -> of.path("compared_with").asText(null))
        .containsExactly(null, "night-1", "night-1", "night-4");
    assertThat(nights)
        .extracting(of -> of.path("differs").asBoolean())
        .containsExactly(false, false, true, false);
    JsonNode slower = nights.get(2).at("/figures/itl.mean");
    assertThat(slower.path("outcome").asText()).isEqualTo("worse");
    assertThat(slower.path("change_percent").asDouble())
        .isCloseTo(
            100
                * (slower.path("value").asDouble()
                        / nights.at("/0/figures/itl.mean/value").asDouble()
                    - 1),
            within(0.01));
    assertThat(history.resolve("trend.html"))
        .content(UTF_8)
        .contains("night-4", "▲ worse", "trend-itl-p99", "promptTokens=1024", "1.1");
  }

  @Test
  void otherWeightsOfModelsAreAnotherSeries() throws IOException {
    for (int night = 1; night <= 2; night++) {
      night(night, 1, "1.0", "256");
      Path llm = history.resolve("night-" + night + "/llm");
      Path requests = llm.resolve("requests.jsonl");
      String everySecond = "(.*\\n.*\"model\":\")[^\"]+";
      Files.writeString(requests, Files.readString(requests).replaceAll(everySecond, "$1lora"));
      ObjectNode info = (ObjectNode) JSON.readTree(llm.resolve("run.json").toFile());
      info.withObject("/config").put("model", "base=50,lora=" + night);
      JSON.writeValue(llm.resolve("run.json").toFile(), info);
    }
    assertThat(trend()).hasSize(2);
  }

  @Test
  void runsWithTheSameFolderNameAreNamedByTheirPaths() throws IOException {
    List<String> folders =
        Stream.of("a/run", "b/run").map(history::resolve).map(Path::toString).toList();
    for (String folder : folders) {
      new DemoRun(List.of(2), List.of("local"), List.of("ask")).write(Path.of(folder));
    }
    assertThat(trend().at("/0/runs")).extracting(of -> of.path("run").asText()).isEqualTo(folders);
  }
}
