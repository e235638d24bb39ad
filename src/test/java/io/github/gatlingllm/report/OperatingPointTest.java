package io.github.gatlingllm.report;

import static io.github.gatlingllm.figures.level.Runs.summary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.github.gatlingllm.figures.level.Levels;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.LengthPair;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.Objectives.TargetSlo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.report.Page.PagePart;
import io.github.gatlingllm.report.RunText.NamedText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Headlines quote one named load level, never figures pooled over several. */
class OperatingPointTest {
  @TempDir Path run;

  private final List<LevelInfo> levels = new ArrayList<>();
  private final List<RequestRecord> records = new ArrayList<>();
  private @Nullable String scenario;

  /** A level of 1 s; its requests have a token at {@code ttftMs} and nine in the 9 ms after it. */
  private OperatingPointTest level(String target, int users, int requests, double ttftMs) {
    double from = levels.size() * 1_000.0;
    String label = "c=" + users;
    LevelInfo level = Runs.stage(target, users, from, from + 1_000);
    levels.add(
        new LevelInfo(
            label, target, scenario, level.kind(), level.offered(), level.unit(), level.phases()));
    double[] tokens = IntStream.range(0, 10).mapToDouble(t -> ttftMs + t).toArray();
    for (int i = 0; i < requests; i++) {
      Recorded request = Recorded.at(from).target(target).stage(label);
      request = scenario == null ? request : request.scenario(scenario);
      records.add(
          ttftMs == 0
              ? request.failed(RequestStatus.TIMEOUT, "timeout").record()
              : request.tokens(tokens).record());
    }
    return this;
  }

  private RunFigures figures(String slo) {
    return Runs.figures(
        Runs.run(levels.size(), levels.toArray(LevelInfo[]::new))
            .slo(slo.isEmpty() ? Slo.NONE : Slo.parse(slo)),
        records);
  }

  private static List<NamedText> tiles(Summary summary) {
    assertThat(VerdictSections.tiles(summary)).hasSize(1);
    return VerdictSections.tiles(summary).get(0).content();
  }

  private static NamedText tile(String name, String value, String remark) {
    return new NamedText(name, value, remark, "");
  }

  /**
   * A sweep whose knee is at c=16 with 20 ms: 100, 900 and 950 tok/s. Pooled over all levels TTFT
   * p95 is 500 ms, that of the 95 requests of c=64.
   */
  @Test
  void operatingPointWithoutSloIsTheKnee() throws IOException {
    RunFigures figures =
        level("a", 1, 10, 10).level("a", 16, 90, 20).level("a", 64, 95, 500).figures("");
    Summary summary = figures.summary();

    assertThat(summary.figures().metric(Metric.TTFT_MS).p95()).isEqualTo(500, within(1.0));
    assertThat(summary.operatingPoint().stage()).isEqualTo("c=16");
    assertThat(summary.operatingPoint().why()).isEqualTo("the knee");
    assertThat(summary.verdict()).contains("16 concurrent", "900 tok/s");
    assertThat(VerdictSections.tiles(summary).get(0).title()).isEqualTo("At c=16, the knee");
    assertThat(tiles(summary))
        .startsWith(tile("TTFT p50", "20 ms", "90 values"))
        .extracting(NamedText::value)
        .contains("900 tok/s");
    assertThat(SummaryText.console(summary)).contains("c=16, the knee").doesNotContain("500 ms");
    Path page = run.resolve("llm.html");
    HtmlReport.write(page, summary, figures.series());
    assertThat(Files.readString(page))
        .contains(
            "<div data-level=\"1\" class=\"shown\">",
            "<option value=\"0\">c=1</option>",
            "<option value=\"1\" selected>c=16 (operating point)</option>");
  }

  /** Users of a closed loop who wait 0.4 ms of 66 ms: too little to name a second clock. */
  @Test
  void aFigureIsTheSameInVerdictTileAndTable() {
    levels.add(Runs.stage(8, 0, 1_000));
    for (int i = 0; i < 10; i++) {
      records.add(Recorded.at(i).stage("c=8").gate(0.4).tokens(66, 76).record());
    }
    Summary summary = figures("").summary();

    assertThat(summary.figures().metric(Metric.TTFT_FROM_SCHEDULE_MS).p50())
        .isEqualTo(66.4, within(0.05));
    assertThat(summary.verdict()).contains("TTFT p50 66 ms of 10 requests");
    assertThat(tiles(summary).get(0)).isEqualTo(tile("TTFT p50", "66 ms", "10 values"));
    assertThat(byLevel(summary).markdown()).contains("| 66* |");
  }

  /**
   * TTFT of ok requests is 20 ms, but failures miss p99, which has no value; the tile has the
   * share.
   */
  @Test
  void missedObjectiveHasItsShareInTheTile() {
    level("a", 8, 90, 20).level("a", 8, 10, 0);
    levels.remove(1);
    Summary summary = figures("ttft<200ms").summary();
    assertThat(tiles(summary).get(0))
        .isEqualTo(tile("TTFT p99", "–", "SLO < 200 ms · ✗ missed: met by 90.0 %"));
  }

  /** Of each objective one at its percentile; ITL, which has none, at the highest certain one. */
  @Test
  void eachObjectiveHasATileAtItsPercentile() {
    List<NamedText> tiles = tiles(level("a", 8, 200, 20).figures("ttft<200ms,tpot<1ms").summary());
    assertThat(tiles)
        .extracting(NamedText::name)
        .startsWith("TTFT p99", "TPOT p99", "ITL p99", "Output")
        .doesNotHaveDuplicates();
    assertThat(tiles.get(0)).isEqualTo(tile("TTFT p99", "20 ms", "SLO < 200 ms · ✓ met"));
    assertThat(tiles.get(1).remark()).contains("SLO < 1 ms · ✗ missed: met by 0 %");
    assertThat(tiles(Levels.gated(Slo.parse("ttft<1s"), 4)).get(0).name())
        .isEqualTo("TTFT from schedule p99");
  }

  /** The line of the SLO and the points are of one percentile; without a line p95 is drawn. */
  @Test
  void curveIsDrawnAtThePercentileOfTheSlo() throws IOException {
    level("a", 1, 100, 10).level("a", 8, 200, 20);
    for (String slo : List.of("ttft<200ms", "tpot<50ms", "")) {
      RunFigures figures = figures(slo);
      Path page = run.resolve("llm.html");
      HtmlReport.write(page, figures.summary(), figures.series());
      assertThat(Files.readString(page))
          .contains("TTFT " + (slo.startsWith("ttft") ? "p99" : "p95") + " against output tokens");
    }
  }

  /** All three objectives hold at c=1 and c=16 only, so no tile of c=16 reports a miss. */
  @Test
  void operatingPointIsTheHighestLoadWithinTheSlo() {
    Summary summary =
        level("a", 1, 10, 10)
            .level("a", 16, 50, 20)
            .level("a", 64, 95, 500)
            .figures("ttft<200ms,tpot<50ms,e2e<400ms")
            .summary();

    assertThat(summary.operatingPoint().stage()).isEqualTo("c=16");
    assertThat(summary.operatingPoint().why())
        .isEqualTo("the highest load that met the SLO, within noise");
    assertThat(tiles(summary))
        .startsWith(tile("TTFT p99", "20 ms", "SLO < 200 ms · ✓ met"))
        .extracting(NamedText::remark)
        .noneMatch(remark -> remark.contains("missed"));
    assertThat(summary.stages().get(2).objectives().get(0).ok()).isFalse();
    assertThat(summary.slo().objectives().get(0).ok()).as("pooled, for scripts").isFalse();
  }

  @Test
  void operatingPointWithoutALevelInSloIsTheKnee() {
    Summary summary =
        level("a", 1, 10, 210)
            .level("a", 16, 90, 220)
            .level("a", 64, 95, 500)
            .figures("ttft<200ms")
            .summary();

    assertThat(summary.curves().get(0).quoted())
        .isEqualTo("c=16, the knee, as no level is within the SLO");
    assertThat(summary.curves().get(0).maxGoodput()).isNull();
  }

  /** One target answers, the other fails: figures of the two are never averaged. */
  @Test
  void eachTargetHasItsOwnOperatingPoint() throws IOException {
    RunFigures figures = level("fast", 8, 90, 20).level("dead", 8, 90, 0).figures("");
    Summary summary = figures.summary();

    assertThat(summary.operatingPoint()).isNull();
    assertThat(summary.curves())
        .extracting(c -> c.operatingPoint().why())
        .containsOnly("the only load level");
    assertThat(VerdictSections.tiles(summary))
        .extracting(PagePart::title)
        .containsExactly("fast: c=8", "dead: c=8");
    assertThat(VerdictSections.tiles(summary).get(0).content())
        .extracting(NamedText::value)
        .contains("900 tok/s", "0 %");
    assertThat(VerdictSections.tiles(summary).get(1).content())
        .extracting(NamedText::value)
        .contains("0 tok/s", "100 %");
    assertThat(summary.figures().number(Metric.OUTPUT_TOKENS_PER_S)).as("pooled").isEqualTo(450);
    assertThat(SummaryText.markdown(summary)).doesNotContain("450");
  }

  /**
   * The first pair has its knee at c=16, and c=64 misses its SLO; the second is flat from c=1 on,
   * of 900 to 930 tok/s; the output of the third still doubles at c=64.
   */
  @Test
  void gridHasFiguresAndAKneeForEachPair() {
    pair("128/8", new int[] {10, 90, 95}, 500);
    pair("128/64", new int[] {90, 92, 93}, 30);
    pair("1024/8", new int[] {10, 45, 95}, 40);
    RunInfo info = Runs.run(9, levels.toArray(LevelInfo[]::new)).slo(Slo.parse("ttft<200ms"));
    Summary summary = summary(info.config("promptTokens", "128,1024"), records);

    assertThat(summary.grid())
        .extracting(
            LengthPair::promptTokens,
            LengthPair::maxTokens,
            LengthPair::stage,
            LengthPair::knee,
            LengthPair::outputTokensPerS,
            LengthPair::goodputRequestsPerS,
            pair -> Math.round(pair.ttftP99Ms()))
        .containsExactly(
            tuple("128", 8, "c=16", "c=16", 900.0, 90.0, 20L),
            tuple("128", 64, "c=64", null, 930.0, 93.0, 30L),
            tuple("1024", 8, "c=64", null, 950.0, 95.0, 40L));
    assertThat(table(summary, "verdict", "Pairs of lengths").markdown())
        .contains(
            "| 128/8 | c=16 | c=16 | 0 | 900 | 90 | 100 % | 20 |",
            "| 128/64 | c=64 | ≤ c=1 | 0 | 930 | 93 | 100 % | 30 |",
            "| 1024/8 | c=64 | not reached | 0 | 950 | 95 | 100 % | 40 |");
    List<Chart> maps = Page.charts(List.of(new LoadSection(summary).lengths()));
    assertThat(maps).extracting(Chart::id).containsExactly("grid-tok", "grid-goodput", "grid-ttft");
    assertThat(maps.get(0).series())
        .extracting(Chart.Line::name, line -> line.points().stream().map(Chart.Point::y).toList())
        .containsExactly(tuple("128", List.of(900.0, 930.0)), tuple("1024", List.of(950.0)));
    assertThat(summary(info, records).grid()).as("scenarios of a simulation in code").isEmpty();
  }

  private void pair(String name, int[] requests, double lastTtftMs) {
    int[] users = {1, 16, 64};
    double[] ttftMs = {10, 20, lastTtftMs};
    scenario = name;
    for (int i = 0; i < users.length; i++) {
      level("a", users[i], requests[i], ttftMs[i]);
    }
  }

  @Test
  void fourTargetsHaveATableInsteadOfTiles() throws IOException {
    for (String target : List.of("a", "b", "c", "d")) {
      level(target, 8, 90, 20);
    }
    RunFigures figures = figures("");
    Path page = run.resolve("llm.html");
    HtmlReport.write(page, figures.summary(), figures.series());

    assertThat(VerdictSections.tiles(figures.summary())).isEmpty();
    assertThat(Files.readString(page)).contains(">target, ms<");
    Files.writeString(run.resolve("index.html"), "<div id=\"statistics_table_container\"></div>");
    assertThat(GatlingPages.insert(run, figures.summary())).hasSize(1);
    assertThat(Files.readString(run.resolve("index.html"))).contains("<th scope=\"col\">at</th>");
  }

  /**
   * Ten requests of ten tokens in a second at each of two targets, 1 ms apart from the first on:
   * too few for any percentile but the median of 90 gaps.
   */
  @Test
  void tableOfTargetsHasAllItsColumns() {
    Summary summary = level("a", 8, 10, 20).level("b", 8, 10, 40).figures("ttft<30ms").summary();

    assertThat(byTarget(summary).markdown().lines())
        .containsExactly(
            "| Target, times in ms | count | failed | completed/s | output tok/s | in SLO"
                + " | TTFT p50 | TTFT p95 | TTFT p99 | ITL p50 | ITL p99"
                + " | E2E p50 | E2E p95 | E2E p99 |",
            "| --- |" + " ---: |".repeat(13),
            "| a | 10 | 0 | 10 | 100 | 100 % | 20* | 20* | 20* | 1 | 1* | 29* | 29* | 29* |",
            "| b | 10 | 0 | 10 | 100 | 0 % | 40* | 40* | 40* | 1 | 1* | 49* | 49* | 49* |");
  }

  @Test
  void singleLevelHasNoName() {
    Summary summary = level("a", 8, 90, 20).figures("").summary();

    assertThat(summary.operatingPoint().why()).isEqualTo("the only load level");
    assertThat(VerdictSections.tiles(summary).get(0).title()).isEmpty();
    assertThat(SummaryText.console(summary)).doesNotContain("operating point");
  }

  private static Table table(Summary summary, String place, String key) {
    assertThat(Tables.layoutsAt(place)).extracting(Tables.Layout::key).contains(key);
    return Tables.of(summary).about(null, key);
  }

  /** The table of targets, also of a run with one. */
  private static Table byTarget(Summary summary) {
    List<Row> rows =
        summary.targets().stream().map(t -> Row.of(summary, t.label(), t.figures())).toList();
    return Tables.of(summary).table("By target", rows);
  }

  /** The table of load levels, also of a run with one. */
  private static Table byLevel(Summary summary) {
    List<Row> rows =
        new ShownLevels(summary).all().stream().map(of -> Row.of(summary, of)).toList();
    return Tables.of(summary).table("By load level", rows);
  }

  private static String last(Table table, String heading) {
    int column = headings(table).indexOf(heading);
    assertThat(column).as("%s of %s", heading, headings(table)).isPositive();
    List<List<Table.TableCell>> rows = table.groups().get(0).rows();
    return rows.get(rows.size() - 1).get(column).text();
  }

  /** The figure of the last row, within the 0.1 % resolution of the histograms. */
  private static void assertLast(Table table, String heading, double figure) {
    assertThat(Double.parseDouble(last(table, heading).replace(",", "").replace("*", "")))
        .isCloseTo(figure, withinPercentage(0.1));
  }

  /**
   * The k-th of 64 waits at most 13,125 ms, so TTFT p99 is 13,325 ms from schedule and 200 ms from
   * admission; the median is that of group 3, 5,625 + 200 ms, and of E2E 5,625 + 2,000 ms.
   */
  @Test
  void openLoadHasTimesFromSchedule() {
    Summary summary = Levels.gated(Slo.parse("ttft<1s"), 4, 64);
    Table text = table(summary, "headline", "Load levels");
    assertLast(text, "TTFT from schedule p50", 5_825);
    assertLast(text, "TTFT from schedule p99", 13_325);
    assertThat(last(text, "in SLO")).isEqualTo("12.5 %");
    Table page = table(summary, "levels", "By load level");
    assertLast(page, "TTFT p99", 13_325);
    assertLast(page, "E2E p50", 7_625);
    assertThat(page.columns().get(0).heading()).isEqualTo("Load level, times in ms from schedule");
    assertLast(byTarget(summary), "E2E p95", 15_125);
    assertThat(SummaryText.console(summary))
        .as("names are complete beside many columns")
        .contains("\n> r=4 ", "\n> r=64 ")
        .doesNotContain("…");
  }

  /** Each level has figures of what the SLO limits, at its percentile, once. */
  @ParameterizedTest
  @CsvSource({
    "'ttft<1s,tpot<50ms', 99, 'TTFT from schedule p99, ITL p99, TPOT p99, in SLO'",
    "'tpot<50ms,itl<90ms', 95, 'ITL p99, ITL p95, TPOT p95, in SLO'",
    "'e2e<9s,stall<1s', 90, 'ITL p99, E2E from schedule p90, Longest stall p90, in SLO'",
    "'tpot<50ms', 97, 'ITL p99, TPOT p99, in SLO'",
    "'ttft<1s', 50, 'TTFT from schedule p50, TTFT from schedule p99, ITL p99, in SLO'",
  })
  void levelsHaveTheTimesOfTheSlo(String slo, double percentile, String headings) {
    Summary summary = Levels.gated(Slo.parse(slo, percentile, Slo.Rule.PERCENTILES), 4, 64);
    List<String> expected = List.of(headings.split(", ", -1));
    List<String> text = headings(Tables.of(summary).about(null, "Load levels"));
    assertThat(text).doesNotHaveDuplicates();
    assertThat(text.subList(text.indexOf(expected.get(0)), text.indexOf("in SLO") + 1))
        .containsExactlyElementsOf(expected);
    assertThat(headings(Tables.of(summary).about(null, "By load level")))
        .doesNotHaveDuplicates()
        .containsAll(
            expected.stream().map(heading -> heading.replace(" from schedule", "")).toList());
    assertThat(SummaryText.console(summary).lines())
        .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(120));
  }

  private static List<String> headings(Table table) {
    return table.columns().stream().<String>map(Table.Column::heading).toList();
  }

  /** Of 100 requests/s: gold's limit is 200 ms, silver's 500 ms, and batch has none of TTFT. */
  @Test
  void chartsHaveTheLimitsMarksAndGoodputOfEachTier() {
    Map<String, TargetSlo> tiers = new LinkedHashMap<>();
    tiers.put("gold", TargetSlo.of(Slo.parse("ttft<200ms"), Map.of()));
    tiers.put("silver", TargetSlo.of(Slo.parse("ttft<500ms"), Map.of()));
    tiers.put("batch", TargetSlo.of(Slo.parse("e2e<9s"), Map.of()));
    Summary summary =
        Levels.of("1:100:100 2:100:300 4:100:700")
            .figures(run -> run.slo(Slo.parse("ttft<200ms")).sloTiers(tiers))
            .summary();
    LoadSection section = new LoadSection(summary);
    assertThat(Page.charts(List.of(section.levels())).get(0).inWords())
        .contains("gold 200 ms", "silver 500 ms")
        .contains("c=1 is (max goodput of gold)", "c=2 is (max goodput of silver)")
        .contains("c=4 is (max goodput of batch)");
    assertThat(Page.charts(List.of(section.section())))
        .filteredOn(chart -> chart.id().equals("load-goodput"))
        .flatExtracting(Chart::series)
        .extracting(Chart.Line::name, line -> line.points().stream().map(Chart.Point::y).toList())
        .containsExactly(
            tuple("gold", List.of(100.0, 0.0, 0.0)),
            tuple("silver", List.of(100.0, 100.0, 0.0)),
            tuple("batch", List.of(100.0, 100.0, 100.0)));
  }
}
