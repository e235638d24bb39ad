package io.github.gatlingllm.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.figures.level.Levels;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.report.Table.CellKind;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.Table.TableCell;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** The three plain files of a summary: JSON for scripts, Markdown for CI, text for the console. */
class SummaryFilesTest {
  private static final Summary SWEEP = DemoRun.sweep().figures().summary();
  private static final JsonNode JSON = parsed(SummaryText.json(SWEEP));
  private static final Summary DEMANDING =
      DemoRun.sweep()
          .demanding("ttft.max<1m", "c=9:ttft.p99<200ms", "errors=0", "goodput>=10%")
          .figures()
          .summary();
  private static final Summary OBSERVED = DemoRun.sweep().observed().figures().summary();

  @Test
  void keysInTheOrderOfTheContract() {
    assertThat(keys(JSON))
        .isEqualTo(
            keys(
                "schema run verdict findings config workload slo goodput errors finish_reasons"
                    + " counts server rate_limits metrics throughput jitter reader arrivals knee"
                    + " operating_point checks self_test assertions server_names stages curves"
                    + " targets requests"));
    assertThat(JSON.get("schema").asText()).isEqualTo("gatling-llm/summary/1");
    assertThat(keys(JSON.get("run")))
        .isEqualTo(
            keys(
                "id simulation start_unix_ns load_start_unix_ns end_unix_ns state seed injectors"
                    + " versions"));
  }

  @Test
  void numbersAreAtTheirPathsInTheCatalogue() {
    JsonNode json = parsed(SummaryText.json(OBSERVED));
    for (Metric metric : Metric.values()) {
      if (!metric.isDistribution() && !metric.key().startsWith("counts.verdicts.")) {
        assertThat(json.at("/" + metric.key().replace('.', '/')).isMissingNode())
            .as(metric.key())
            .isFalse();
      }
    }
  }

  /** Without pages of metrics nothing of them is in any file. */
  @Test
  void serverMetricsAndCostsAreInAllFiles() {
    JsonNode json = parsed(SummaryText.json(OBSERVED));
    JsonNode level = json.at("/stages/8");
    assertThat(level.at("/server_metrics/states/requests_running/mean").asDouble())
        .isBetween(20.0, 25.0);
    assertThat(level.at("/server_metrics/counters/generation_tokens/per_s").asDouble())
        .isCloseTo(level.at("/throughput/output_tokens_per_s").asDouble(), withinPercentage(3));
    assertThat(level.at("/efficiency/cost_per_million_output_tokens").asDouble())
        .isCloseTo(
            4 * 2.5 / 3.6e-3 / level.at("/throughput/output_tokens_per_s").asDouble(),
            withinPercentage(0.01));
    assertThat(json.at("/server_pages/0/last_error").asText()).isEqualTo("no answer within 900 ms");
    assertThat(SummaryText.markdown(OBSERVED))
        .contains("| efficiency | cost per million output tokens ")
        .contains("| engine | running ")
        .contains("| cost/1M tokens | cost/1M in SLO | tok/J |");

    assertThat(JSON.at("/stages/8").has("server_metrics")).isFalse();
    assertThat(JSON.has("efficiency")).isFalse();
    assertThat(JSON.has("server_pages")).isFalse();
    assertThat(SummaryText.markdown(SWEEP)).doesNotContain("engine", "tok/J", "cost");
  }

  @Test
  void everyMetricHasAllStatistics() {
    List<String> names = new ArrayList<>();
    for (Metric metric : Metric.distributions()) {
      if (metric.unit() == Metric.Unit.TOKENS_PER_S) {
        continue; // stands with the throughput
      }
      names.add(metric.key());
      assertThat(keys(JSON.get("metrics").get(metric.key())))
          .isEqualTo(
              keys(
                  "count mean std min p50 p75 p90 p95 p99 p999 max mean_ci95 p50_ci95 p99_ci95"
                      + " low_n"));
    }
    assertThat(keys(JSON.get("metrics"))).isEqualTo(names);
    assertThat(keys(JSON.at("/throughput/user_tokens_per_s")))
        .containsSubsequence("min", "p1", "p5", "p10", "p50");
    assertThat(names).startsWith("ttft_ms", "ttft_from_schedule_ms").contains("e2e_per_token_ms");
  }

  /** As a server may call a timing, and people a scenario, a target or a request. */
  @Test
  void namesMayEqualKeys() {
    Summary named =
        new DemoRun(List.of(1, 2), List.of("numbers"), List.of("numbers"))
            .scenarios("numbers", "metrics")
            .reporting(Map.of("numbers", 0.25))
            .figures()
            .summary();
    JsonNode json = parsed(SummaryText.json(named));
    assertThat(keys(json)).isEqualTo(keys(JSON));
    assertThat(json.at("/workload/scenarios/numbers").asLong()).isPositive();
    assertThat(json.at("/server/numbers/count").asLong()).isPositive();
    assertThat(json.at("/server/numbers/mean").asDouble()).isPositive();
  }

  @Test
  void summaryIsAppendedToThePageOfTheJob(@TempDir Path dir) throws IOException {
    Path page = Files.writeString(dir.resolve("page.md"), "before\n");
    List<String> lines = new ArrayList<>();

    RunReport.toJobPage("after\n", Map.of("GITHUB_STEP_SUMMARY", page.toString()), lines::add);

    assertThat(page).content().isEqualTo("before\nafter\n");
    assertThat(lines).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"missing/page.md", "\0"})
  void jobPageThatCannotBeWrittenDoesNotFailTheReport(String file) {
    List<String> lines = new ArrayList<>();

    RunReport.toJobPage("text", Map.of("GITHUB_STEP_SUMMARY", file), lines::add);

    assertThat(lines)
        .singleElement()
        .asString()
        .contains("GITHUB_STEP_SUMMARY", "unset it", file)
        .doesNotContain("\n");
  }

  @Test
  void footnoteOfUncertainPercentilesNeedsOne() {
    assertThat(columnOf(TableCell.figure("12.0"))).matches(table -> !table.hasLowN());
    assertThat(columnOf(new TableCell("12.0", CellKind.LOW_N))).matches(Table::hasLowN);
  }

  private static Table columnOf(TableCell figure) {
    return Table.of(
        "", List.of(figure), Column.name("request", c -> "chat*"), Column.of("p99", c -> c));
  }

  @Test
  void jsonOfAssertions() {
    JsonNode gates = parsed(SummaryText.json(DEMANDING)).get("assertions");
    assertThat(keys(gates.get(0))).isEqualTo(keys("text expected actual ok note"));
    assertThat(gates.get(0).get("text").asText())
        .isEqualTo("Global: max of TTFT is less than 60000.0");
    assertThat(gates.get(0).get("expected").asText()).isEqualTo("< 60,000 ms");
    assertThat(gates.get(0).get("actual").asText()).endsWith(" ms");
    assertThat(gates.get(0).get("ok").asBoolean()).isTrue();
    assertThat(gates.get(0).get("note").isNull()).isTrue();
    assertThat(gates.get(1).get("actual").isNull()).isTrue();
    assertThat(gates.get(1).get("ok").asBoolean()).isFalse();
    assertThat(JSON.get("assertions")).isEmpty();
    assertThat(JSON.get("counts").get("verdicts").get("complete").asLong()).isPositive();
  }

  @Test
  void consoleFitsItsColumns() {
    String block = SummaryText.console(SWEEP);
    assertThat(block.lines())
        .allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(120))
        .noneMatch(line -> line.endsWith(" "));
    assertThat(block.lines().findFirst().orElseThrow()).hasSize(120);
  }

  @Test
  void longNamesAreBrokenBetweenWordsAndElseClipped() {
    Table table =
        Table.of(
            "Names",
            List.of("x".repeat(300), "y", "time to first token from schedule ms"),
            Column.name("name", name -> name),
            Column.figure("value", name -> name.equals("y") ? "22" : "1"));
    assertThat(table.lines(40)).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(40));
    assertThat(table.lines(40).get(1)).containsPattern("^x+…x+      1$");
    assertThat(table.lines(40).get(3)).containsPattern("^time to first token from schedule +1$");
    assertThat(table.lines(40).get(4)).isEqualTo("ms");
    assertThat(table.markdown()).contains("| y | 22 |");
  }

  /** Wherever a reader looks first: at the head of the page, and where the verdict begins. */
  @Test
  void invalidRunSaysSoFirst(@TempDir Path dir) throws IOException {
    RunInfo valid = Runs.run(1, Runs.stage(1, 0, 1_000));
    for (RunInfo info : List.of(valid.dropped(3), valid)) {
      RunFigures figures = Runs.figures(info, Recorded.at(0).tokens(100, 120));
      Summary summary = figures.summary();
      boolean isInvalid = info.outcome().dropped() > 0;
      String start = isInvalid ? "Invalid run by check records_dropped: 3 " : "At 1 concurrent";
      assertThat(parsed(SummaryText.json(summary)).get("verdict").asText()).startsWith(start);
      assertThat(SummaryText.markdown(summary).lines().limit(4))
          .contains("**" + summary.verdict() + "**");
      assertThat(SummaryText.console(summary).lines().skip(2).findFirst().orElseThrow())
          .startsWith("> " + start);
      Path page = dir.resolve("llm.html");
      HtmlReport.write(page, summary, figures.series());
      String head = Files.readString(page).split("<section", 2)[0];
      assertThat(head.contains("badge invalid")).isEqualTo(isInvalid);
      assertThat(head).contains("badge ok");
    }
  }

  @Test
  void levelsOfASearchAreInOrderOfLoad() {
    Summary summary = Levels.of("4:40 16:30:400 8:100").summary();
    for (Table table :
        List.of(
            Tables.of(summary).about(null, "Load levels"),
            Tables.of(summary).about(null, "By load level"))) {
      assertThat(table.markdown()).containsSubsequence("c=4 ", "c=8 ", "c=16 ");
    }
  }

  private static List<String> keys(String keys) {
    return List.of(keys.split(" "));
  }

  private static List<String> keys(JsonNode node) {
    List<String> keys = new ArrayList<>();
    node.fieldNames().forEachRemaining(keys::add);
    return keys;
  }

  private static JsonNode parsed(String text) {
    try {
      return new ObjectMapper().readTree(text);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void everyAssertionIsATestCase() throws Exception {
    Element suite = suite(DEMANDING);

    assertThat(suite.getAttribute("name")).isEqualTo("demo.DemoSimulation");
    assertThat(suite.getAttribute("tests")).isEqualTo("4");
    assertThat(suite.getAttribute("failures")).isEqualTo("2");
    assertThat(suite.getAttribute("errors")).isEqualTo("0");
    assertThat(Double.parseDouble(suite.getAttribute("time"))).isPositive();
    NodeList cases = suite.getElementsByTagName("testcase");
    assertThat(cases.getLength()).isEqualTo(4);
    Element met = (Element) cases.item(0);
    assertThat(met.getAttribute("classname")).isEqualTo("demo.DemoSimulation");
    assertThat(met.getAttribute("name")).isEqualTo("Global: max of TTFT is less than 60000.0");
    assertThat(met.getElementsByTagName("failure").getLength()).isZero();
    assertThat(met.getElementsByTagName("system-out").item(0).getTextContent())
        .startsWith("Global: max of TTFT is less than 60000.0 ms : true (actual : ");
    Element failure = (Element) suite.getElementsByTagName("failure").item(1);
    assertThat(((Element) failure.getParentNode()).getAttribute("name"))
        .isEqualTo("Global: count of failed requests is 0.0");
    assertThat(failure.getAttribute("message")).matches("expected = 0, actual \\d+");
    assertThat(failure.getTextContent()).contains(" : false (actual : ");
  }

  private static Element suite(Summary run) throws Exception {
    byte[] xml = SummaryText.junit(run).getBytes(StandardCharsets.UTF_8);
    Element root =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new ByteArrayInputStream(xml))
            .getDocumentElement();
    assertThat(root.getTagName()).isEqualTo("testsuites");
    return (Element) root.getElementsByTagName("testsuite").item(0);
  }

  @Test
  void numbersAreRounded() {
    assertThat(SummaryText.json(SWEEP))
        .doesNotContainPattern("[0-9]\\.[0-9]{12}")
        .doesNotContainPattern("[0-9]E[+-]?[0-9]");
    assertThat(SummaryText.json(SWEEP)).isEqualTo(SummaryText.json(SWEEP));
  }
}
