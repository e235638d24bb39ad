package io.github.gatlingllm.report;

import static io.github.gatlingllm.report.CommandLine.call;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion.VersionFlag;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.report.CommandLine.Called;
import io.github.gatlingllm.testing.JavaCommand;
import io.github.gatlingllm.testing.JavaCommand.Ended;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.yaml.snakeyaml.Yaml;

/** Results in the formats of other tools, beside those of a script in another language. */
class ExportTest {

  private static final Path REFERENCE = Path.of("src/test/resources/reference");
  private static final Path GOLDEN = REFERENCE.resolve("export.json");
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final Map<String, String> FILES =
      Map.of(
          "benchmark-report", "benchmark-report-%s.yaml",
          "vllm", "vllm-bench-%s.json",
          "aiperf", "aiperf-%s.json");

  @TempDir static Path folder;

  private static Path run;

  @BeforeAll
  static void export() throws IOException {
    run = Files.createDirectories(folder.resolve("run"));
    new DemoRun(List.of(2, 8), List.of("local"), List.of("ask")).observed().write(run);
    RunFiles files = new RunFiles(run);
    files
        .requireInfo()
        .config("apiKey", "sk-12345678")
        .config("engineVersion", "vllm 0.32.0")
        .write(files.info());
    Called called = call("render", run.toString(), "--export", "benchmark-report,vllm,aiperf");
    assertThat(called.exitCode()).as(called.error()).isZero();
  }

  private static JsonNode exported(String format, String level) throws IOException {
    Path file = run.resolve("llm").resolve(FILES.get(format).formatted(level));
    return format.equals("benchmark-report")
        ? JSON.valueToTree(new Yaml().load(Files.readString(file)))
        : JSON.readTree(file.toFile());
  }

  @ParameterizedTest
  @CsvSource({
    "benchmark-report, c=2",
    "benchmark-report, c=8",
    "vllm, c=2",
    "vllm, c=8",
    "aiperf, c=8"
  })
  void figuresAreThoseOfTheReference(String format, String level) throws IOException {
    JsonNode tree = exported(format, level);
    JsonNode expected = JSON.readTree(GOLDEN.toFile()).path(format).path(level);
    assertThat(expected).hasSizeGreaterThan(40);
    expected
        .properties()
        .forEach(
            each -> {
              double value = each.getValue().doubleValue();
              boolean isPercentile = each.getKey().matches(".*(\\bp\\d|median).*");
              assertThat(number(tree, each.getKey()))
                  .as(each.getKey())
                  .isCloseTo(
                      value, within(Math.abs(value) * (isPercentile ? 1.1e-3 : 1e-8) + 1e-9));
            });
  }

  /** The number at a path; {@code .count} and {@code .sum} are those of a list. */
  private static double number(JsonNode tree, String path) {
    JsonNode list = ExchangeFormat.at(tree, path.replaceFirst("\\.(count|sum)$", ""));
    if (!list.isArray()) {
      return ExchangeFormat.at(tree, path).asDouble(Double.NaN);
    }
    List<JsonNode> values = new ArrayList<>();
    list.forEach(
        each -> {
          if (each.isArray()) {
            each.forEach(values::add);
          } else {
            values.add(each);
          }
        });
    return path.endsWith(".sum")
        ? values.stream().mapToDouble(JsonNode::asDouble).sum()
        : values.size();
  }

  @Test
  void goldenFileIsWhatTheReferencePrints() throws Exception {
    Ended script =
        JavaCommand.run(
            new ProcessBuilder(
                "python3", "-B", REFERENCE.resolve("export.py").toString(), run + "/llm"));
    JavaCommand.require(script.code() != 127, "python3 is not installed");
    assertThat(script.code()).as(script.output()).isZero();
    if (Boolean.getBoolean("gatlingllm.docs.write")) {
      Files.writeString(GOLDEN, script.output());
    }
    assertThat(JSON.readTree(script.output())).isEqualTo(JSON.readTree(GOLDEN.toFile()));
  }

  /** Only where a property names the schema of llm-d's Benchmark Report 0.2.1. */
  @Test
  void reportIsValidByItsSchema() throws IOException {
    String schema = System.getProperty("benchmark.report.schema");
    assumeTrue(schema != null, "no property benchmark.report.schema");
    JsonSchema valid =
        JsonSchemaFactory.getInstance(VersionFlag.V202012)
            .getSchema(Files.readString(Path.of(schema)));

    assertThat(valid.validate(exported("benchmark-report", "c=8"))).isEmpty();
    assertThat(valid.validate(JSON.readTree("{\"run\": {}, \"results\": {}}"))).isNotEmpty();
  }

  @Test
  void reportHasLoadStackAndMetricsOfTheServer() throws IOException {
    JsonNode report = exported("benchmark-report", "c=8");

    assertThat(report.at("/scenario/load/standardized/concurrency").asInt()).isEqualTo(8);
    assertThat(report.at("/scenario/load/standardized/tool").asText()).isEqualTo("gatling-llm");
    assertThat(report.at("/scenario/stack/0/metadata/label").asText()).isEqualTo("local");
    assertThat(report.at("/scenario/stack/0/standardized/tool_version").asText())
        .isEqualTo("0.32.0");
    JsonNode server = report.at("/results/observability/components/0");
    assertThat(server.at("/aggregate/running_requests/max").asDouble()).isPositive();
    assertThat(server.at("/aggregate/power_consumption/units").asText()).isEqualTo("Watts");
    assertThat(server.at("/time_series/num_requests_running/series")).hasSizeGreaterThan(5);
    assertThat(report.at("/results/request_performance/time_series/throughput")).isNotEmpty();
    assertThat(report.at("/results/session_performance").isMissingNode()).isTrue();
  }

  @Test
  void noFileHasTheKey() throws IOException {
    assertThat(new RunFiles(run).requireInfo().config()).containsEntry("apiKey", "***");
    for (String format : FILES.keySet()) {
      Path file = run.resolve("llm").resolve(FILES.get(format).formatted("c=8"));
      assertThat(file).content().doesNotContain("sk-1234", "***");
    }
  }

  @Test
  void linesHaveARequestEach() throws IOException {
    List<String> lines = Files.readAllLines(run.resolve("llm/aiperf-c=8.jsonl"));

    assertThat(lines).hasSize(exported("vllm", "c=8").path("num_prompts").asInt());
    JsonNode first = JSON.readTree(lines.get(0));
    assertThat(first.at("/metadata/benchmark_phase").asText()).isEqualTo("profiling");
    assertThat(first.at("/metrics/time_to_first_token/unit").asText()).isEqualTo("ms");
    assertThat(first.at("/metrics/inter_chunk_latency/value")).isNotEmpty();
    assertThat(run.resolve("llm")).isDirectoryNotContaining("glob:**.part");
    assertThat(new RunFiles(run).exported()).as("two levels in four files each").hasSize(8);
  }

  /** As the setting llm.export leaves it in run.json. */
  @Test
  void runExportsWhatItsSettingNames() throws IOException {
    Path other = folder.resolve("other");
    new DemoRun(List.of(2), List.of("local"), List.of("ask")).write(other);
    RunFiles files = new RunFiles(other);
    RunInfo info = files.requireInfo();
    info.config(RunFiles.EXPORT, "VLLM, unheard").write(files.info());
    RunReport.of(files).write();

    assertThat(other.resolve("llm/vllm-bench-c=2.json")).exists();
    assertThat(other.resolve("llm/aiperf-c=2.json")).doesNotExist();
  }

  @Test
  void unknownFormatIsRefused() {
    Called called = call("render", run.toString(), "--export", "excel");

    assertThat(called.exitCode()).isEqualTo(1);
    assertThat(called.error()).contains("'excel'", "aiperf").hasLineCount(1);
  }

  @Test
  void formatsAreThoseOfTheSetting() {
    assertThat(ExchangeFormat.all())
        .filteredOn(format -> !format.file().isEmpty())
        .extracting(ExchangeFormat::name)
        .isEqualTo(RunFiles.EXPORTS);
  }
}
