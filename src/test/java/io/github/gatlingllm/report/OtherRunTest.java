package io.github.gatlingllm.report;

import static io.github.gatlingllm.report.CommandLine.call;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.figures.level.RunStatistics;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.report.CommandLine.Called;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Results of other tools as runs. */
class OtherRunTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir static Path folder;

  private static final String VLLM =
      """
      {"date": "20261128-045149", "backend": "openai-chat", "model_id": "m", "request_rate": "inf",
       "max_concurrency": 2, "duration": 4.0, "completed": 3, "failed": 1,
       "total_output_tokens": 12, "request_throughput": 0.75, "output_throughput": 3.0,
       "input_lens": [10, 20, 30, 40], "output_lens": [3, 5, 4, 0], "ttfts": [0.1, 0.2, 0.3, 0.0],
       "itls": [[0.001, 0.1, 0.1], [0.1, 0.2, 0.3, 0.4], [0.1, 0.2], []],
       "latencies": [0.301, 1.2, 0.6, 0.0], "start_times": [50.0, 50.0, 51.0, 52.0],
       "errors": ["", "", "", "HTTP 500"]}
      """;

  private static final String SUMMARY =
      """
      {"backend": "openai-chat", "request_rate": 2.0, "max_concurrency": null, "duration": 60,
       "completed": 118, "failed": 2, "total_output_tokens": 7552, "request_throughput": 1.97,
       "output_throughput": 125.9, "mean_ttft_ms": 51.5, "median_ttft_ms": 50.5,
       "p99_ttft_ms": 99.5, "mean_tpot_ms": NaN, "mean_itl_ms": 12.5}
      """;

  private static final String AIPERF =
      """
      {"schema_version": "1.4", "request_throughput": {"unit": "requests/sec", "avg": 2.0},
       "request_count": {"unit": "requests", "avg": 2},
       "request_latency": {"unit": "ms", "avg": 600.0, "p50": 500.0, "count": 2},
       "time_to_first_token": {"unit": "us", "avg": 120000.0, "p99": 130000.0},
       "inter_token_latency": {"unit": "ms", "avg": 21.0},
       "output_sequence_length": {"unit": "tokens", "avg": 20.0},
       "benchmark_duration": {"unit": "sec", "avg": 1.0},
       "input_config": {"phases": [{"name": "warmup"}, {"concurrency": 4}]}}
      """;

  private static final String REPORT =
      """
      version: 0.2.1
      run:
        uid: a
        time: {start: '2026-11-28T04:57:41Z', duration: PT20.157S}
      results:
        request_performance:
          aggregate:
            requests: {total: 60, failures: 2, incomplete: 1}
            latency:
              time_to_first_token: {units: ms, mean: 154.0, p99: 1308.0}
              time_per_output_token: {units: s/token, mean: 0.012}
            throughput:
              output_token_rate: {units: tokens/s, mean: 250.0}
      """;

  private static final String PERF =
      """
      {"benchmark_time_seconds": 19.0, "load_summary": {"count": 60},
       "successes": {"count": 58, "latency": {"time_to_first_token": {"mean": 0.15, "p99": 1.3},
         "time_per_output_token": {"mean": 0.012}, "inter_token_latency": {"mean": 0.013, "p50": 0}},
         "throughput": {"output_tokens_per_sec": 250.6, "requests_per_sec": 3.15},
         "output_tokens": {"mean": 64.0}},
       "failures": {"count": 2}}
      """;

  private static final String GUIDE =
      """
      Benchmark,Request Counts,Request Counts,Time to First Token,Time to First Token,Inter Token Latency,Runtime Info
      Strategy,Successful,Errored,Successful ms,Successful ms,Successful ms,Metadata
      ,,,Mean,Percentiles,Mean,
      concurrent@4,60,1,120.9,"[25, 26, 27, 41, 46, 87, 90, 200, 300, 400, 500]",18.4,"{""version"": 2}"
      concurrent@8,60,0,220.9,"[25, 26, 27, 41, 46, 187, 190, 200, 300, 401, 500]",28.4,"{""version"": 2}"
      """;

  private static final String GUIDE_REQUESTS =
      """
      {"metadata": {"version": 2}, "benchmarks": [{"config": {"strategy": {"type_": "constant",
        "rate": 3.0}}, "duration": 2.0, "metrics": {}, "requests": {"successful": [
        {"request_start_time": 1795841605.5, "request_latency": 0.5, "time_to_first_token_ms": 100.0,
         "inter_token_latency_ms": 50.0, "prompt_tokens": 7, "output_tokens": 9}],
        "errored": [{"request_start_time": 1795841605.6, "request_latency": 0.1,
         "info": {"error": "refused"}}]}}]}
      """;

  private static final String PERF_REQUESTS =
      """
      [{"start_time": 10.0, "end_time": 11.0, "error": null, "info": {"request_metrics": {"text":
         {"input_tokens": 5}}, "response_metrics": {"output_tokens": 3,
         "output_token_times": [10.2, 10.4, 11.0]}}},
       {"start_time": 10.5, "end_time": 10.6, "error": {"error_msg": "reset"}, "info": {}}]
      """;

  @BeforeAll
  static void write() throws IOException {
    write("vllm.json", VLLM);
    write("summary.json", SUMMARY);
    write("aiperf.json", AIPERF);
    write("report.yaml", REPORT);
    write("perf.json", PERF);
    write("guide.csv", GUIDE);
    write("guide.json", GUIDE_REQUESTS);
    write("per_request.json", PERF_REQUESTS);
  }

  private static Path write(String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.writeString(file, text);
  }

  private static Called compare(String base, String run, String... options) {
    String[] files = {"compare", folder.resolve(base).toString(), folder.resolve(run).toString()};
    String[] out = {"--out", folder.resolve("out").toString()};
    return call(Stream.of(files, out, options).flatMap(Stream::of).toArray(String[]::new));
  }

  private static RunFigures figures(String name) throws IOException {
    OtherRun run = Objects.requireNonNull(OtherRun.read(folder.resolve(name)));
    return RunStatistics.of(run.info(), run);
  }

  /** Computed by hand from the texts above; times in ms. */
  @ParameterizedTest
  @CsvSource({
    "vllm.json,        c=2, 4,   3,   ttft, mean, 200",
    "vllm.json,        c=2, 4,   3,   tpot, max, 250", // (1.2 − 0.2) ÷ (5 − 1)
    "vllm.json,        c=2, 4,   3,   tpot, min, 100", // (0.6 − 0.3) ÷ (4 − 1), not 0.201 ÷ 2
    "vllm.json,        c=2, 4,   3,   itl,  min, 1",
    "vllm.json,        c=2, 4,   3,   e2e,  max, 1200",
    "vllm.json,        c=2, 4,   3,   prompt_tokens, max, 30",
    "summary.json,     r=2, 120, 118, ttft, mean, 51.5",
    "summary.json,     r=2, 120, 118, ttft, p50, 50.5",
    "summary.json,     r=2, 120, 118, itl,  mean, 12.5",
    "aiperf.json,      c=4, 2,   2,   ttft, mean, 120",
    "aiperf.json,      c=4, 2,   2,   tpot, mean, 21",
    "aiperf.json,      c=4, 2,   2,   e2e,  p50, 500",
    "report.yaml,      all, 60,  57,  ttft, p99, 1308",
    "report.yaml,      all, 60,  57,  tpot, mean, 12",
    "perf.json,        all, 60,  58,  ttft, p99, 1300",
    "perf.json,        all, 60,  58,  tpot, mean, 12",
    "guide.csv,        c=4, 61,  60,  ttft, p99, 400",
    "guide.csv,        c=4, 61,  60,  tpot, mean, 18.4",
    "guide.json,       r=3, 2,   1,   ttft, mean, 100",
    "guide.json,       r=3, 2,   1,   tpot, mean, 50",
    "per_request.json, all, 2,   1,   ttft, mean, 200",
    "per_request.json, all, 2,   1,   itl,  max, 600",
    "per_request.json, all, 2,   1,   e2e,  mean, 1000"
  })
  void valuesAreThoseOfTheFile(
      String name, String label, long started, long ok, String figure, String of, double value)
      throws IOException {
    LevelFigures level = figures(name).summary().stages().get(0);
    Figures figures = level.figures();
    Metric metric =
        Metric.distributions().stream().filter(m -> m.figure().equals(figure)).findFirst().get();
    Distribution values = figures.metric(metric);
    Double found =
        switch (of) {
          case "mean" -> values.mean();
          case "min" -> values.min();
          case "max" -> values.max();
          default -> values.percentile(of);
        };

    assertThat(level.label()).isEqualTo(label);
    assertThat(figures.counts().started()).isEqualTo(started);
    assertThat(figures.counts().ok()).isEqualTo(ok);
    assertThat(found).isCloseTo(value, within(value / 900));
  }

  @Test
  void notANumberIsAbsent() throws IOException {
    Figures figures = figures("summary.json").summary().figures();

    assertThat(figures.metric(Metric.TPOT_MS)).isEqualTo(Distribution.EMPTY);
    assertThat(figures.number(Metric.OUTPUT_TOKENS_PER_S)).isEqualTo(125.9);
    assertThat(figures.counts().failed()).isEqualTo(2);
  }

  @Test
  void rowsOfATableAreLevels() throws IOException {
    assertThat(figures("guide.csv").summary().stages())
        .extracting(LevelFigures::label)
        .containsExactly("c=4", "c=8");
  }

  /** A summary beside lines that are not all of its requests; and beside all of them. */
  @Test
  void aiperfIsReadByItsLinesIfTheseAreAll() throws IOException {
    String line =
        "{\"metadata\":{\"request_start_ns\":1795841605802613138,\"benchmark_phase\":\"%s\"},"
            + "\"metrics\":{\"request_latency\":{\"value\":300,\"unit\":\"ms\"},"
            + "\"time_to_first_token\":{\"value\":100,\"unit\":\"ms\"},\"inter_token_latency\":"
            + "{\"value\":20,\"unit\":\"ms\"},\"inter_chunk_latency\":{\"value\":[50,150],"
            + "\"unit\":\"ms\"},\"output_sequence_length\":{\"value\":3,\"unit\":\"tokens\"}}}\n";
    write("some/profile_export_aiperf.json", AIPERF);
    write("some/profile_export.jsonl", line.formatted("warmup") + line.formatted("profiling"));
    write("complete/profile_export_aiperf.json", AIPERF);
    write(
        "complete/profile_export.jsonl",
        line.formatted("warmup") + line.formatted("profiling").repeat(2));

    assertThat(figures("some").summary().figures().metric(Metric.TTFT_MS).mean()).isEqualTo(120);
    Figures read = figures("complete").summary().figures();
    assertThat(read.counts().started()).isEqualTo(2);
    assertThat(read.metric(Metric.TTFT_MS).mean()).isEqualTo(100);
    assertThat(read.metric(Metric.TPOT_MS).mean()).isEqualTo(20);
    assertThat(read.metric(Metric.ICL_MS).max()).isEqualTo(150);
  }

  // ---- compare

  @Test
  void exportsOfARunAreThatRun() throws IOException {
    Path run = folder.resolve("ours");
    new DemoRun(List.of(2, 8), List.of("local"), List.of("ask")).write(run);
    assertThat(call("render", run.toString(), "--export", "vllm").exitCode()).isZero();
    Path theirs = Files.createDirectories(folder.resolve("theirs"));
    for (String level : List.of("c=2", "c=8")) {
      String name = "vllm-bench-" + level + ".json";
      Files.copy(run.resolve("llm").resolve(name), theirs.resolve(name));
    }
    Called called = compare("ours", "theirs");

    assertThat(called.exitCode()).as(called.error()).isZero();
    assertThat(called.output()).contains("theirs: TTFT: to the first chunk");
    assertThat(folder.resolve("out/compare.md"))
        .content()
        .containsPattern(
            "\\| `ttft.p50` \\| (\\S+ ms) \\| \\1 \\| 0 % \\|.* \\| no clear change \\|")
        .doesNotContain("is only in");
    assertThat(folder.resolve("out/compare.html"))
        .content()
        .contains("theirs: (E2E − TTFT) ÷ (tokens − 1)", "theirs at c=8");
  }

  @Test
  void summariesGetNoVerdict() throws IOException {
    Called called = compare("guide.csv", "aiperf.json", "--fail-on", "ttft.mean>+1%");

    assertThat(called.exitCode()).as("too little to judge by").isEqualTo(2);
    assertThat(called.output()).contains("aiperf.json: Failed: ttft.mean>+1%");
    assertThat(folder.resolve("out/compare.md"))
        .content()
        .contains("| no values to judge by |", "load level c=8 is only in the base");
    assertThat(
            compare("guide.csv", "aiperf.json", "--fail-on", "ttft.mean>+1%", "--allow-thin")
                .exitCode())
        .isZero();
  }

  /** A file that does not name its load is compared with a run of one load level. */
  @Test
  void unknownLoadMatchesASingleLevel() {
    Called one = compare("vllm.json", "report.yaml");
    Called two = compare("guide.csv", "report.yaml");

    assertThat(one.exitCode()).as(one.error()).isZero();
    assertThat(two.exitCode()).isEqualTo(1);
    assertThat(two.error()).contains("no measured load level in common").hasLineCount(1);
  }

  // ---- hostile files

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a.json | aiperf | 1.4 | 2.0 | version 2.0; expected version 1.4",
        "b.yaml | report | 0.2.1 | 0.9 | version 0.9; expected version 0.2 or 0.2.1",
        "c.csv | guide | \"version\"\": 2 | \"version\"\": 3 | version 3; expected version 2",
        "d.json | aiperf | \"unit\": \"us\" | \"unit\": \"furlong\" | is in 'furlong'; expected ms",
        "e.json | vllm | \"errors\": | \"errors\" | is cut or not JSON",
        "f.yaml | report | uid: a | uid: [a | is not understood",
        "g.yaml | report | PT20.157S | soon | has the duration \"soon\"",
        "h.json | vllm | completed | complete | not a known result",
        "i.json | vllm | [10, 20, 30, 40] | [-1, -2, -3, -4] | no request with possible values",
      })
  void hostileFileIsRefusedInOneLine(
      String name, String of, String found, String instead, String message) throws IOException {
    String text =
        of.equals("aiperf")
            ? AIPERF
            : of.equals("vllm") ? VLLM : of.equals("report") ? REPORT : GUIDE;
    assertThat(text).contains(found);
    write("hostile/" + name, text.replace(found, instead));
    Called called = compare("vllm.json", "hostile/" + name);

    assertThat(called.exitCode()).isEqualTo(1);
    assertThat(called.error()).contains(message).hasLineCount(1);
  }

  @Test
  void cutFilesAreRefusedWhereverTheyEnd() throws IOException {
    for (int end = 1; end < VLLM.strip().length(); end += 7) {
      Path file = write("cut.json", VLLM.substring(0, end));
      assertThatThrownBy(() -> OtherRun.read(file)).isInstanceOf(IOException.class);
    }
  }

  @Test
  void impossibleRequestsAreLeftOut() throws IOException {
    String name = "some-impossible.json";
    write(name, VLLM.replace("[3, 5, 4, 0]", "[3, 5, -4, 0]"));

    assertThat(compare(name, name).output()).contains("left out 1 request");
    assertThat(figures(name).summary().figures().counts().ok()).isEqualTo(2);
  }

  @Test
  void filesOfOneLoadAreRefusedTogether() throws IOException {
    write("twice/a.json", VLLM);
    write("twice/b.json", VLLM);

    assertThatThrownBy(() -> OtherRun.read(folder.resolve("twice")))
        .hasMessageContaining("one for each load level");
  }

  /** More requests than are in memory at a time. */
  @Test
  void allRequestsOfALongFileAreRead() throws IOException {
    int count = 3_000;
    Map<String, String> values =
        Map.of(
            "input_lens", "4",
            "output_lens", "4",
            "ttfts", "0.1",
            "itls", "[0.1, 0.1]",
            "latencies", "0.4",
            "start_times", "50.0",
            "errors", "\"\"");
    ObjectNode file = (ObjectNode) JSON.readTree(VLLM);
    for (Map.Entry<String, String> column : values.entrySet()) {
      ArrayNode list = file.putArray(column.getKey());
      for (int i = 0; i < count; i++) {
        list.add(JSON.readTree(column.getValue()));
      }
    }
    write("long.json", file.toString());

    assertThat(figures("long.json").summary().figures().counts().ok()).isEqualTo(count);
  }
}
