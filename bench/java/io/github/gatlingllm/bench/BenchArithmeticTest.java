package io.github.gatlingllm.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** Figures of the harness, compared with numbers computed by hand. */
class BenchArithmeticTest {

  private static final long MS = 1_000_000;

  @TempDir Path dir;

  private static TimedStream stream(String id, long number, long... millis) {
    long[] nanos = new long[millis.length];
    for (int i = 0; i < nanos.length; i++) {
      nanos[i] = millis[i] * MS;
    }
    return new TimedStream(id, number, 7 * MS, nanos);
  }

  @Test
  void errorsAreTheClientsTimesLessTheServers() {
    Comparison comparison =
        Comparison.of(
            List.of(
                stream("a", -1, 103, 121, 150, 160, 180),
                stream("", 1, 99, 120),
                stream("unknown", -1, 1),
                stream("", 2)),
            List.of(
                stream("a", 0, 100, 120, 140, 160, 180),
                stream("b", 1, 100, 120, 140, 160, 180),
                stream("c", 2, 100)));
    assertThat(comparison.ttft()).containsExactly(MS, 3 * MS);
    // Gaps 18, 29, 10, 20 instead of 20 each; the second stream has lost tokens, so only its TTFT
    // counts.
    assertThat(comparison.itl()).containsExactly(0, 2 * MS, 9 * MS, 10 * MS);
    assertThat(comparison.late()).containsExactly(0, 0, MS, 3 * MS, 10 * MS);
    assertThat(comparison.lateAtEnd()).containsExactly(0);
  }

  @Test
  void cpuTimeIsReadBetweenSamples() {
    TreeMap<Long, Long> samples = new TreeMap<>(Map.of(100L, 0L, 200L, 50L, 300L, 50L));
    assertThat(CpuMeter.at(samples, 150)).isEqualTo(25);
    assertThat(CpuMeter.at(samples, 200)).isEqualTo(50);
    assertThat(CpuMeter.at(samples, 250)).isEqualTo(50);
    assertThat(CpuMeter.at(samples, 1)).isZero();
    assertThat(CpuMeter.at(samples, 999)).isEqualTo(50);
  }

  @Test
  void medianOfRoundsThatAreKept() throws IOException {
    BenchResults results = new BenchResults(dir);
    results.keep("short", "ours", 1, Map.of("a", 5.0, "b", Double.NaN));
    results.keep("short", "ours", 2, Map.of("a", 1.0));
    results.keep("short", "aiperf", 1, Map.of("a", 1.0));
    results.keep("short", "netty", 1, Map.of("a", 1.0));
    results.keep("flood", "other", 1, Map.of("a", 1.0));
    assertThat(results.medians("short", "ours")).containsEntry("a", 3.0);
    results.keep("short", "ours", 3, Map.of("a", 2.0));
    assertThat(results.medians("short", "ours")).containsEntry("a", 2.0);
    assertThat(results.medians("short", "nobody")).isEmpty();
    assertThat(results.clients("short")).containsExactly("ours", "netty", "aiperf");
    assertThat(results.has("short", "ours", 3)).isTrue();
    assertThat(results.has("short", "ours", 4)).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "0.0123, 0.012",
    "0.4567, 0.46",
    "1.26, 1.3",
    "12.6, 13",
    "1234567, '1,234,567'",
    "-0.3, -0.30",
    "NaN, –"
  })
  void numbersShowTwoDigitsThatCount(double value, String text) {
    assertThat(BenchTable.number(value)).isEqualTo(text);
  }

  @Test
  void tableHasRatiosToBareNetty() {
    Map<String, Map<String, Double>> medians = new LinkedHashMap<>();
    medians.put("ours", Map.of("cpu_us_per_request", 150.0, "cpu_us_per_request_warm", 90.0));
    medians.put("netty", Map.of("cpu_us_per_request", 100.0, "cpu_us_per_request_warm", 60.0));
    medians.put("slow", Map.of("cpu_us_per_request", 1000.0, "missing", 3.0));
    assertThat(BenchTable.of(BenchScenario.SHORT, medians))
        .isEqualTo(
            """
            client | CPU per request, µs | second half, µs
            ---|---|---
            ours | 150 (1.5×) | 90 (1.5×)
            netty | 100 | 60
            slow (3 requests missing) | 1,000 (10×) | –
            """);
  }

  @Test
  void tableIsWrittenBetweenItsMarkers() throws IOException {
    Path page =
        Files.writeString(
            dir.resolve("page.md"), "a\n<!-- bench:x -->\nold\n<!-- /bench:x -->\nb\n");
    BenchTable.write(page, "x", "new\n");
    assertThat(page).hasContent("a\n<!-- bench:x -->\nnew\n<!-- /bench:x -->\nb\n");
    assertThatThrownBy(() -> BenchTable.write(page, "y", ""))
        .hasMessageContaining("<!-- bench:y -->");
  }

  @Test
  void paceKeepsToItsSpread() {
    long[] offsets = new Pace(100 * MS, 20 * MS, 0.3).offsets(7, 100);
    assertThat(offsets).hasSize(100).isSorted();
    assertThat(offsets[0]).isBetween(70 * MS, 130 * MS);
    for (int i = 1; i < offsets.length; i++) {
      assertThat(offsets[i] - offsets[i - 1]).isBetween(14 * MS, 26 * MS);
    }
    assertThat(offsets).isEqualTo(new Pace(100 * MS, 20 * MS, 0.3).offsets(7, 100));
    assertThat(new Pace(100 * MS, 20 * MS, 0).offsets(7, 3))
        .containsExactly(100 * MS, 120 * MS, 140 * MS);
  }

  static Stream<String> commands() throws IOException {
    return Stream.of("docs/performance.md", "bench/README.md", "CONTRIBUTING.md")
        .flatMap(page -> read(Path.of(page)).lines())
        .flatMap(
            line ->
                Pattern.compile("(?:^|`)(bench/\\w+[^#`]*)")
                    .matcher(line)
                    .results()
                    .map(match -> match.group(1).strip()))
        .filter(command -> !command.endsWith(".md"))
        .distinct();
  }

  private static String read(Path page) {
    try {
      return Files.readString(page);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  /** Each command of the pages can be run: its file is there, its arguments are understood. */
  @ParameterizedTest
  @MethodSource("commands")
  void commandOfThePagesExists(String command) {
    // Where file names are ASCII, "…" is not a path.
    String[] words =
        command.replaceAll("\"[^\"]*\"", "-Xmx1g").replace("…", "folder").split(" +", -1);
    assertThat(Path.of(words[0])).isExecutable();
    if (words[0].equals("bench/run")) {
      Bench bench = new Bench();
      var unused =
          new CommandLine(bench)
              .parseArgs(List.of(words).subList(1, words.length).toArray(String[]::new));
      assertThat(bench.isKnown()).as(command).isTrue();
    }
  }

  @Test
  void pageHasAPlaceForEachScenario() throws IOException {
    String page = Files.readString(Path.of("docs", "performance.md"));
    for (BenchScenario scenario : BenchScenario.values()) {
      assertThat(BenchTable.between(page, scenario.label(), "here\n")).contains("here");
    }
  }
}
