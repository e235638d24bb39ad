package io.github.gatlingllm.report;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static io.github.gatlingllm.report.CommandLine.call;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.CommandLine.Called;
import io.github.gatlingllm.report.ComparePage.Compared;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CompareCommandTest {

  @TempDir static Path runs;

  @BeforeAll
  static void record() throws IOException {
    demo().write(runs.resolve("base"));
    demo().seed(8).write(runs.resolve("again"));
    demo().seed(9).slower(1.3).write(runs.resolve("slower"));
    new DemoRun(List.of(64), List.of("local"), List.of("ask")).write(runs.resolve("other"));
  }

  private static DemoRun demo() {
    return new DemoRun(List.of(2, 8), List.of("local"), List.of("ask", "<b>follow|up</b>"));
  }

  private static String run(String name) {
    return runs.resolve(name).toString();
  }

  @Test
  void slowerServerIsReportedOnThePageAndInMarkdown() throws IOException {
    Path out = runs.resolve("out");
    Called called =
        call("compare", run("base"), run("again"), run("slower"), "--out", out.toString());

    assertThat(called.error()).isEmpty();
    assertThat(called.exitCode()).isZero();
    assertThat(called.output())
        .containsPattern("again: No clear change; too few values for \\d+ of \\d+ figures\\.")
        .containsPattern("slower: Worse at c=2: .*itl\\.mean \\+[23]\\d\\.?\\d? %.* at c=8: ")
        .contains("compare.html");
    assertThat(out.resolve("compare.md"))
        .content(UTF_8)
        .contains("| `ttft.p50` |", "| `errors.percent` |", "▲ worse", "### What differs")
        .contains("Others: no clear change: ")
        .doesNotContain("| `ttfo.mean`")
        .as("more than two runs are columns of one table")
        .containsOnlyOnce("### c=8\n\n| Figure | base | again | slower |\n")
        .containsPattern(
            "\\| `itl.mean` \\| \\S+ ms \\| \\S+ ms \\| \\S+ ms ▲ worse \\+[23]\\S+ % \\(\\+\\S+ to"
                + " \\+\\S+ %\\) \\|");
    assertThat(out.resolve("compare.html"))
        .content(UTF_8)
        .contains("▲ worse", "percentiles-ttft-ms", "trend-itl-p99");
    assertThat(out).isDirectoryNotContaining("glob:**.part");

    assertThat(call("compare", run("base"), run("slower")).exitCode()).isZero();
    Path slower = runs.resolve("slower");
    assertThat(slower.resolve("compare.html")).content(UTF_8).doesNotContain("trend-itl-p99");
    String first = Files.readString(slower.resolve("compare.md"));
    assertThat(call("compare", run("base"), run("slower")).exitCode()).isZero();
    assertThat(slower.resolve("compare.md")).as("again").content(UTF_8).isEqualTo(first);
  }

  /** The level that one run shares with the base is the same row, though there it is all. */
  @Test
  void levelsOfSeveralRunsAreMatched() throws IOException {
    Path one = runs.resolve("one");
    new DemoRun(List.of(8), List.of("local"), List.of("ask", "<b>follow|up</b>")).write(one);
    Path out = runs.resolve("matched");
    Called called =
        call("compare", run("base"), run("slower"), one.toString(), "--out", out.toString());

    assertThat(called.output()).contains("one: load level c=2 is only in the base");
    assertThat(out.resolve("compare.md"))
        .content(UTF_8)
        .containsOnlyOnce("### c=8\n\n| Figure | base | slower | one |\n")
        .containsOnlyOnce("### all 2 load levels pooled\n\n| Figure | base | slower | one |\n")
        .containsPattern(
            "all 2 load levels pooled(?s:.)*\\| `[a-z0-9.]+` \\|[^|]+\\|[^|]+\\| – \\|");
  }

  @Test
  void runsBelowAFolderAreComparedWithTheFirst() throws IOException {
    Path sweep = runs.resolve("sweep");
    demo().write(sweep.resolve("a"));
    demo().seed(9).slower(1.3).write(sweep.resolve("b"));
    Called called = call("compare", sweep.toString());

    assertThat(called.exitCode()).as(called.error()).isZero();
    assertThat(called.output()).contains("b: Worse at c=2: ");
    assertThat(sweep.resolve("b/compare.md")).exists();
  }

  /** Lengths, cache share and seed, as every figure depends on them. */
  @Test
  void workloadIsQuotedWhereItIsTheSame() throws IOException {
    Path out = runs.resolve("same");
    assertThat(call("compare", run("base"), run("base"), "--out", out.toString()).exitCode())
        .isZero();

    for (String row :
        List.of(
            "| prompt tokens | " + "median 379, mean 426 (81 to 909) | ".repeat(2).strip(),
            "| output tokens | " + "median 135, mean 132 (97 to 160) | ".repeat(2).strip(),
            "| from prefix cache | " + "24.9 % of prompt tokens | ".repeat(2).strip(),
            "| seed | 42 | 42 |")) {
      assertThat(out.resolve("compare.md")).content(UTF_8).contains(row);
    }
    assertThat(out.resolve("compare.html"))
        .content(UTF_8)
        .contains(
            "median 379, mean 426",
            "from prefix cache",
            "No other recorded setting or version differs.");
  }

  @ParameterizedTest
  @CsvSource({
    "itl.mean>+10%, 2, 2, 'failed: itl\\.mean \\+[23]\\S* %, limit \\+10 %, at c=8 \\(worse,"
        + " interval .*\\)'",
    "itl.mean>+90%, 0, 2, 'passed: itl\\.mean \\+[23]\\S* %, limit \\+90 %, at c=2 \\(worse,"
        + " .*\\)'",
    "'output_tokens_per_s<-5%,errors>+50%', 2, 4, 'passed: errors\\.percent .* points, limit \\+50"
        + " points, at c=8 .*'",
    "c=8:tpot.p50>+10%, 2, 1, 'failed: tpot\\.p50 .*, limit \\+10 %, at c=8 \\(worse, .*'",
    "all:itl.mean<-2.5%, 0, 1, 'passed: itl\\.mean .*, limit −2\\.5 %, at all 2 load levels pooled"
        + " \\(worse, .*'",
    "c=9:tpot.p50>+10%, 2, 1, 'failed: tpot\\.p50, limit \\+10 % \\(c=9 is not a load level of both"
        + " runs; they have c=2, c=8\\)'",
    "c=8:itl.p75>+10%, 2, 1, 'failed: itl\\.p75 .*, at c=8 \\(not judged\\)'",
    "c=8:ttft.p99.9>+900%, 2, 1, 'failed: ttft\\.p99\\.9 .*, at c=8 \\(too few values; measure"
        + " longer, or pass --allow-thin\\)'",
    "c=8:ttft.p99.9>+900% --allow-thin, 0, 1, 'passed: ttft\\.p99\\.9 .*, at c=8 \\(too few"
        + " values\\)'"
  })
  void gatesReadForwards(String conditions, int exitCode, int lines, String line) {
    List<String> arguments = new ArrayList<>(List.of("compare", run("base"), run("slower")));
    arguments.addAll(List.of(("--fail-on " + conditions).split(" ", -1)));
    Called called = call(arguments.toArray(String[]::new));

    assertThat(called.exitCode()).as(called.output()).isEqualTo(exitCode);
    assertThat(called.output().lines().filter(each -> each.matches("(passed|failed): .*")))
        .hasSize(lines)
        .anyMatch(each -> each.matches(line));
  }

  @ParameterizedTest
  @CsvSource({
    "compare base none, none",
    "compare base slower --fail-on fast, expected e.g. ttft.p95>+10%",
    "compare base slower --fail-on ttft.q95>+10%, no figure is called 'ttft.q95'",
    "compare base other, no measured load level in common",
    "compare base, is one run; expected a base and at least one other run",
    "compare base none, has no run",
    "trend none, 'none has no run; expected folders with llm/run.json and llm/requests.jsonl'",
    "trend base --fail-on=ttft.p95>+10%, --fail-on and --allow-thin are options of compare",
    "trend base --allow-thin, --fail-on and --allow-thin are options of compare"
  })
  void badInputIsOneLineAndWritesNothing(String arguments, String message) {
    Called called =
        call(
            Stream.of(arguments.split(" ", -1))
                .map(text -> text.matches("base|slower|other|none") ? run(text) : text)
                .toArray(String[]::new));

    assertThat(called.exitCode()).isEqualTo(1);
    assertThat(called.error()).contains(message).hasLineCount(1);
    assertThat(runs.resolve("other/compare.html")).doesNotExist();
    assertThat(runs.resolve("base/trend.html")).doesNotExist();
  }

  @Test
  void differencesAreTheFirstSection() throws IOException {
    Path differing = runs.resolve("differing");
    demo().withoutSlo().write(differing);
    RunFiles files = new RunFiles(differing);
    Files.writeString(
        files.info(),
        Files.readString(files.info()).replace("\"3.15.1\"", "\"3.15.2\"").replace("42", "43"));
    assertThat(call("compare", run("base"), differing.toString()).exitCode()).isZero();

    String text = Files.readString(differing.resolve("compare.md"));
    assertThat(text)
        .contains("| version of gatling | 3.15.1 | 3.15.2 |", "| seed | 42 | 43 |")
        .doesNotContain("| tokenizer |");
    assertThat(text.indexOf("What differs")).isLessThan(text.indexOf("ttft.p50"));
    assertThat(text).as("judged by the SLO of the base").contains("| `goodput.percent` |");
  }

  /**
   * Two targets and two scenarios at c=1 and c=2, each for 10 s. Of the 10 requests of a level each
   * has its first token after {@code ttftMs} × users × (1 + scenario) × (1 + target), then two gaps
   * of 10 ms and one of 10 × users ms.
   */
  private static Compared side(String name, double ttftMs, int... users) {
    List<LevelInfo> levels = new ArrayList<>();
    List<RequestRecord> records = new ArrayList<>();
    for (String target : List.of("a", "b")) {
      for (String scenario : List.of("S", "T")) {
        for (int c : users) {
          double from = levels.size() * 10_000.0;
          LevelInfo of = Runs.stage(target, c, from, from + 10_000);
          levels.add(
              new LevelInfo(
                  of.label(), target, scenario, of.kind(), of.offered(), of.unit(), of.phases()));
          double first = ttftMs * c * (scenario.equals("T") ? 2 : 1) * (target.equals("b") ? 2 : 1);
          for (int i = 0; i < 10; i++) {
            records.add(
                at(from + i * 100)
                    .target(target)
                    .scenario(scenario)
                    .stage(of.label())
                    .prompt(scenario.equals("T") ? 200 : 100)
                    .tokens(first, first + 10, first + 20, first + 20 + 10 * c)
                    .record());
          }
        }
      }
    }
    return new Compared(
        name,
        Runs.figures(
            Runs.run(levels.size() * 10, levels.toArray(LevelInfo[]::new))
                .seed(7L)
                .slo(Slo.parse("ttft<100ms")),
            records),
        null,
        List.of(),
        null);
  }

  private static final List<Compared> SIDES = List.of(side("old", 10, 1, 2), side("new", 20, 2, 1));

  private static Map<String, Chart> charts(List<Compared> sides) {
    return Page.charts(List.of(LoadSection.compared(sides))).stream()
        .collect(Collectors.toMap(Chart::id, chart -> chart));
  }

  @Test
  void everyRunTargetAndScenarioHasALineInEveryChart() {
    Map<String, Chart> charts = charts(SIDES);

    assertThat(charts)
        .containsOnlyKeys(
            "load-curve",
            "load-ttft",
            "load-tpot",
            "load-jitter",
            "load-goodput",
            "percentiles-ttft-ms",
            "percentiles-itl-ms",
            "percentiles-tpot-ms",
            "percentiles-e2e-ms");
    assertThat(charts.get("load-ttft").series())
        .as("a colour per engine, a dash pattern per scenario")
        .extracting(line -> line.name() + " " + line.color() + line.dash())
        .containsExactly(
            "old, S at a 00",
            "old, T at a 01",
            "old, S at b 10",
            "old, T at b 11",
            "new, S at a 20",
            "new, T at a 21",
            "new, S at b 30",
            "new, T at b 31");
  }

  @Test
  void figuresAreDrawnAgainstLoad() {
    Map<String, Chart> charts = charts(SIDES);

    assertThat(charts.get("load-ttft").x().categories()).containsExactly("c=1", "c=2");
    assertThat(values(charts, "load-ttft", "new, T at b")).containsExactly(80.0, 160.0);
    assertThat(values(charts, "load-tpot", "old, S at a")).containsExactly(10.0, 13.3);
    assertThat(values(charts, "load-jitter", "old, S at a")).containsExactly(1.0, 2.0);
    // 160 ms misses the SLO of 100 ms
    assertThat(values(charts, "load-goodput", "new, T at b")).containsExactly(1.0, 0.0);
  }

  /** Values in order of load, within the bins of percentiles. */
  private static List<Double> values(Map<String, Chart> charts, String id, String line) {
    return line(charts.get(id), line).points().stream()
        .sorted((one, other) -> Double.compare(one.x(), other.x()))
        .map(point -> Math.round(point.y() * 10) / 10.0)
        .toList();
  }

  private static Line line(Chart chart, String name) {
    return chart.series().stream().filter(l -> l.name().equals(name)).findFirst().orElseThrow();
  }

  /** T at b of the new run has its own operating point, c=1, and is drawn at that of the base. */
  @Test
  void percentilesAreThoseOfTheOperatingPointOfTheBase() {
    Map<String, Chart> charts = charts(SIDES);

    Line one = line(charts.get("percentiles-ttft-ms"), "new, T at b at c=2");
    assertThat(one.points())
        .isNotEmpty()
        .allSatisfy(point -> assertThat(point.y()).isCloseTo(160, within(0.2)));
    Map<String, Chart> without = charts(List.of(SIDES.get(0), side("one", 20, 1)));
    Line own = line(without.get("percentiles-ttft-ms"), "one, T at b at c=1");
    assertThat(own.points())
        .extracting(Point::y)
        .allSatisfy(y -> assertThat(y).isCloseTo(80, within(0.1)));
  }
}
