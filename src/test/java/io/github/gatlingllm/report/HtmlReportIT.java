package io.github.gatlingllm.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.report.Browser.Plot;
import io.github.gatlingllm.report.Browser.Theme;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(Browser.Shared.class)
class HtmlReportIT {

  private static final String HOSTILE =
      "</script><script>document.title='owned'</script><img src=x"
          + " onerror=\"document.title='owned'\">'\"&<!--\u2028";
  private static final Path PICTURES = Path.of("target", "pictures");
  private static final String SECTIONS =
      "verdict levels objectives validity metrics load shapes jitter time breakdown"
          + " outcomes glossary files";

  private static final RunFigures SWEEP = DemoRun.sweep().figures();
  private static final RunFigures OPEN =
      new DemoRun(List.of(1, 8, 24, 48), List.of("local"), List.of("ask"))
          .open()
          .reporting(Map.of("queue_s", 0.002, "prefill_s", 0.011))
          .scenarios("chat", "summary")
          .figures();

  private static Browser browser;

  @TempDir Path directory;

  @BeforeAll
  static void openBrowser(Browser shared) {
    browser = shared;
  }

  @Test
  void sweepIsDrawnMatchesSummaryJsonAndIsInteractive() throws IOException {
    Path page = showSweep(Theme.LIGHT, 1400);
    assertTablesAndTilesAreThoseOf(SWEEP.summary());
    assertLinkOpensTheMetricsOfARequest();
    assertZoomButtonsZoomAllCharts();
    browser.driver().run("scrollTo(0, 0)");
    assertShownLoadLevelCanBeChosen();
    assertThemeSwitchChangesPageAndChartsAndIsStored(page);
    assertThat(browser.complaints()).isEmpty();
  }

  @Test
  void sweepIsDrawnInDarkThemeOnASmallScreen() throws IOException {
    var unused = showSweep(Theme.DARK, 800);
  }

  /** Every chart is drawn, without console errors or network. */
  private Path showSweep(Theme theme, int width) throws IOException {
    Path page = write(SWEEP);
    browser.prefer(theme).show(page, width, 1000);
    browser.picture(PICTURES.resolve("llm-top-" + width + "-" + theme + ".png"));
    assertThat(
            browser.eval(
                "(nav => nav.scrollWidth <= nav.clientWidth)(document.querySelector('.bar nav'))"))
        .as("the menu is complete")
        .isEqualTo(true);
    browser.unfold();

    assertThat(browser.eval("document.documentElement.scrollWidth <= innerWidth")).isEqualTo(true);
    for (String section : SECTIONS.split(" ", -1)) {
      assertThat(browser.driver().isShown("#" + section)).as(section).isTrue();
    }
    assertThat(browser.plots()).hasSize(15).allSatisfy(HtmlReportIT::isPainted);
    assertThat(browser.complaints()).isEmpty();
    assertThat(browser.networkRequests()).isEmpty();
    browser.picture(PICTURES.resolve("llm-" + width + "-" + theme + ".png"));
    return page;
  }

  @Test
  void longCommandFitsASmallScreen() throws IOException {
    browser.prefer(Theme.DARK).show(write(DemoRun.sweep().withoutSlo().figures()), 800, 1000);
    assertThat(browser.eval("document.querySelector('p code').textContent"))
        .asString()
        .hasSizeGreaterThan(120);
    assertThat(browser.eval("document.documentElement.scrollWidth <= innerWidth")).isEqualTo(true);
  }

  @ParameterizedTest
  @CsvSource({"LIGHT,1400", "DARK,800"})
  void openLoadOfTwoScenariosShowsArrivalsAndScenarios(Theme theme, int width) throws IOException {
    browser.prefer(theme).show(write(OPEN), width, 1000);
    browser.unfold();

    assertThat(browser.eval("document.documentElement.scrollWidth <= innerWidth")).isEqualTo(true);
    assertThat(plotsOf("scenarios")).containsExactly("scenario");
    assertThat(plotsOf("shapes"))
        .map(id -> id.replaceAll("-\\d+$", ""))
        .containsExactly("percentiles");
    assertThat(browser.driver().text("#arrivals")).contains("planned, requests/s");
    assertThat(browser.driver().text("#breakdown")).contains("server reported");
    assertThat(browser.plots()).isNotEmpty().allSatisfy(HtmlReportIT::isPainted);
    assertWithoutEmptyBoxes();
    assertThat(
            browser.eval(
                "[...document.querySelectorAll('#breakdown tbody tr td:nth-last-child(2)')]"
                    + ".map(cell => cell.textContent)"))
        .as("the mean that the summary states")
        .isEqualTo(
            OPEN.summary().stages().stream()
                .map(s -> s.figures().metric(Metric.E2E_FROM_SCHEDULE_MS).mean())
                .map(NumberText::number)
                .toList());
  }

  private static List<String> plotsOf(String section) {
    return browser.plots("#" + section).stream().filter(Plot::displayed).map(Plot::id).toList();
  }

  @Test
  void hostileNamesAreShownLiterallyAlsoInTooltips() throws IOException {
    RunFigures figures =
        new DemoRun(List.of(1, 4, 16), List.of(HOSTILE), List.of(HOSTILE, "ask"))
            .scenarios(HOSTILE, "other")
            .figures();
    browser.prefer(Theme.LIGHT).show(write(figures), 1400, 1000);
    browser.unfold();
    assertWithoutEmptyBoxes();
    browser
        .driver()
        .run(
            "echarts.getInstanceByDom(document.getElementById('scenario'))"
                + ".dispatchAction({type: 'showTip', seriesIndex: 0, dataIndex: 0})");

    assertThat(browser.driver().text("#scenario")).contains("document.title='owned'\">'\"&<!--");
    assertThat(browser.driver().title()).isEqualTo("LLM report: DemoSimulation");
    assertThat(browser.texts("main img, main script")).isEmpty();
    assertThat(browser.driver().text("#metrics"))
        .contains("</script><script>document.title='owned'</script>");
  }

  private static void isPainted(Plot plot) {
    assertThat(plot.label()).matches(".+ (to|of) .+");
    assertThat(plot.paths()).as("paths").isGreaterThan(5);
    assertThat(plot.texts()).as("labels").isGreaterThan(5);
  }

  private void assertThemeSwitchChangesPageAndChartsAndIsStored(Path page) throws IOException {
    Object light = firstLine();
    browser.driver().click("#theme");
    Object dark = firstLine();

    assertThat(light).isNotEqualTo(dark);
    assertThat(browser.eval("document.documentElement.dataset.theme")).isEqualTo("dark");
    assertThat(browser.eval("localStorage.getItem('theme')")).isEqualTo("dark");
    awaitThemeIsStored();
    browser.show(page, 1400, 1000);
    assertThat(firstLine()).isEqualTo(dark);
  }

  /** Waits, because the browser stores the choice asynchronously. */
  private void awaitThemeIsStored() throws IOException {
    Path empty = Files.writeString(directory.resolve("empty.html"), "<title>Empty</title>");
    assertThat(IntStream.range(0, 1_000))
        .anyMatch(
            unused -> {
              browser.driver().open(empty.toUri().toString());
              return "dark".equals(browser.eval("localStorage.getItem('theme')"));
            });
  }

  /** By default c=24 is shown, the highest within the SLO; then c=4, by its row and by the list. */
  private static void assertShownLoadLevelCanBeChosen() {
    String all = SWEEP.summary().curves().get(0).quoted();
    assertThat(chosen()).startsWith("c=24 (operating point)", "At " + all);

    browser.driver().clickLink("c=4");

    LevelFigures level = SWEEP.summary().stages().get(2);
    assertThat(chosen()).containsExactly("c=4", "At c=4", "At c=4", "At c=4");
    assertThat(browser.driver().text("#verdict"))
        .contains(NumberText.with(level.figures().number(Metric.OUTPUT_TOKENS_PER_S), "tok/s"));
    assertThat(browser.driver().text("#objectives")).contains("c=4");
    assertThat(plotsOf("shapes")).hasSize(1).allMatch(id -> id.endsWith("-2"));
    assertThat(browser.plots()).hasSize(15).allSatisfy(HtmlReportIT::isPainted);
    browser.driver().click("#level option[value='3']");
    assertThat(chosen()).startsWith("c=8", "At c=8");
    assertThat(browser.texts("tr.chosen th")).containsExactly("c=8");
  }

  private static List<String> chosen() {
    return browser.texts(
        "#level option:checked, [data-level].shown > .sub, [data-level].shown > summary");
  }

  private static Object firstLine() {
    return browser.eval(
        "[getComputedStyle(document.body).backgroundColor,"
            + " echarts.getInstanceByDom(document.getElementById('load-curve'))"
            + ".getOption().series[0].color].join()");
  }

  private static void assertLinkOpensTheMetricsOfARequest() {
    String metrics = "#" + Row.anchor("ask");
    assertThat(browser.driver().isShown(metrics)).isFalse();
    browser.driver().clickLink("ask");
    assertThat(browser.driver().isShown(metrics)).isTrue();
  }

  private static void assertZoomButtonsZoomAllCharts() {
    browser.driver().type("[data-zoom=in]", "\n");

    for (String chart : List.of("time-ttft", "time-tokens", "time-itl", "time-requests")) {
      assertThat(browser.eval(zoomOf(chart))).as(chart).isEqualTo("25,75");
    }
    browser.driver().type("[data-zoom=all]", "\n");
    assertThat(browser.eval(zoomOf("time-itl"))).isEqualTo("0,100");
  }

  private static String zoomOf(String chart) {
    return "(z => [z.start, z.end].join())(echarts.getInstanceByDom(document.getElementById('"
        + chart
        + "')).getOption().dataZoom[0])";
  }

  @Test
  void withoutScriptsVerdictAndTablesAreReadable() throws IOException {
    try {
      browser.prefer(Theme.LIGHT).showWithoutScripts(write(SWEEP), 1400, 1000);

      assertThat(browser.driver().text("#verdict"))
          .contains(SWEEP.summary().verdict())
          .contains("TTFT p95", "TPOT p95");
      browser.driver().run("document.querySelectorAll('.fold').forEach(fold => fold.open = true)");
      assertThat(browser.driver().text("#metrics")).contains("TTFT", "lower is better", "p99.9");
      assertThat(browser.plots()).hasSize(15).noneMatch(Plot::displayed);
      assertThat(browser.shown("figure summary")).isEqualTo(15);
      String parts = "#breakdown figure details";
      browser.driver().click(parts + " summary");
      assertThat(browser.driver().text(parts)).contains("E2E from schedule, ms");
      browser.picture(PICTURES.resolve("llm-scripts-off.png"));
    } finally {
      browser.letScriptsRun();
    }
  }

  static Stream<Arguments> runs() {
    List<String> local = List.of("local");
    List<String> ask = List.of("ask");
    List<Integer> four = List.of(1, 8, 24, 48);
    List<Integer> many = IntStream.rangeClosed(1, 40).boxed().toList();
    RunInfo one = Runs.run(1, Runs.stage(1, 0, 1_000)).slo(Slo.parse("ttft<500ms"));
    Recorded failed = Recorded.at(0).failed(RequestStatus.HTTP_ERROR, "HTTP 503").closed(3);
    return Stream.of(
        Arguments.of(
            "interrupted, with assertions",
            new DemoRun(List.of(1, 8), local, ask)
                .demanding("ttft.p99<1ms", "errors<50%", "c=9:jitter<3", "valid")
                .interrupted()
                .figures()),
        Arguments.of("one-level", new DemoRun(List.of(8), local, ask).figures()),
        Arguments.of("two-targets", new DemoRun(four, List.of("a", "b"), ask).figures()),
        Arguments.of("many-levels", new DemoRun(many, local, ask).figures()),
        Arguments.of("without-slo", new DemoRun(four, local, ask).withoutSlo().figures()),
        Arguments.of("zero-successes", Runs.figures(one, failed, failed)),
        Arguments.of("one-request", Runs.figures(one, Recorded.at(0).tokens(100, 120))),
        Arguments.of("nothing", new DemoRun(List.of(), List.of(), List.of()).figures()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("runs")
  void pageOfAnyRunHasNoEmptyBoxes(String name, RunFigures run) throws IOException {
    browser.prefer(Theme.LIGHT).show(write(run), 1400, 1000);
    browser.unfold();

    assertWithoutEmptyBoxes();
    browser.picture(PICTURES.resolve("llm-run-" + name + ".png"));
  }

  private static void assertWithoutEmptyBoxes() {
    assertThat(browser.complaints()).isEmpty();
    assertThat(browser.networkRequests()).isEmpty();
    assertThat(browser.driver().title()).startsWith("LLM report: ");
    assertThat(browser.texts("img, main script")).isEmpty();
    assertThat(browser.plots()).allMatch(plot -> plot.paths() > 0);
    assertThat(browser.texts("section"))
        .isNotEmpty()
        .allMatch(text -> text.lines().count() > 1, "more than its heading");
  }

  /** Two sessions, one with a sub-agent; the last request of the other fails. */
  @ParameterizedTest
  @CsvSource({"LIGHT,1400", "DARK,800"})
  void lanesOfSessionsAreReachedByKeyboard(Theme theme, int width) throws IOException {
    RunFigures run =
        Runs.figures(
            Runs.run(20, Runs.stage(2, 0, 20_000)),
            Recorded.at(0).session("c1/<b>fix", false).tokens(500, 4_000),
            Recorded.at(5_000).session("c1/<b>fix/read", false).tokens(500, 4_000),
            Recorded.at(10_000).session("c1/<b>fix", true).tokens(500, 4_000),
            Recorded.at(2_000).session("c2/cut", false).tokens(500, 9_000),
            Recorded.at(15_000)
                .session("c2/cut", true)
                .failed(RequestStatus.HTTP_ERROR, "HTTP 500")
                .closed(100));
    browser.prefer(theme).show(write(run), width, 1000);
    browser.unfold();
    String lanes = "#session-lanes";

    assertThat(plotsOf("sessions")).containsExactly("session-lanes", "time-in-flight");
    assertThat(browser.eval("document.documentElement.scrollWidth <= innerWidth")).isEqualTo(true);
    assertThat(browser.shown(lanes + " [role=option]")).isEqualTo(3);
    browser.driver().type(lanes, "\uE015"); // arrow down: from the first lane, which has the focus
    assertThat(browser.driver().text(lanes + " .tip"))
        .contains("<b>fix", "agent read", "requests 1", "decode, s 3.50");
    browser.driver().type(lanes, "\uE010"); // end
    assertThat(browser.driver().text(lanes + " .tip")).contains("c2/cut", "outcome failed");
    assertThat(browser.eval("document.querySelector('#session-lanes [aria-selected]').ariaLabel"))
        .asString()
        .contains("c2/cut", "failed");
    browser.picture(PICTURES.resolve("llm-sessions-" + width + "-" + theme + ".png"));
    assertThat(pathOf(lanes)).hasSizeGreaterThan(20);
    Object before = pathOf(lanes);
    browser.driver().type("#sessions [data-zoom=in]", "\n");
    assertThat(pathOf(lanes)).as("zooms with the charts").isNotEqualTo(before);
    browser.driver().type("#sessions [data-zoom=all]", "\n");
    assertThat(pathOf(lanes)).isEqualTo(before);
    browser.driver().type(lanes, "\uE00C"); // escape
    assertThat(browser.shown(lanes + " .tip")).isZero();
    assertWithoutEmptyBoxes();
  }

  private static String pathOf(String chart) {
    return (String)
        browser.eval(
            "[...document.querySelectorAll('%s path[fill]')].map(p => p.getAttribute('d')).join()"
                .formatted(chart));
  }

  @Test
  void browserReportsErrorsAndRequests() throws IOException {
    Path page = directory.resolve("bad.html");
    Files.writeString(
        page, "<title>good</title><img src='http://127.0.0.1:9/x'><p>" + HOSTILE, UTF_8);
    browser.prefer(Theme.LIGHT).show(page, 1400, 1000);

    assertThat(browser.driver().title()).isEqualTo("owned");
    assertThat(browser.networkRequests()).contains("http://127.0.0.1:9/x");
    assertThat(browser.complaints()).isNotEmpty();
  }

  private Path write(RunFigures figures) throws IOException {
    Path page = directory.resolve("llm.html");
    HtmlReport.write(page, figures.summary(), figures.series());
    return page;
  }

  /** Asserts that every figure of the tables and tiles equals the one in the file. */
  private static void assertTablesAndTilesAreThoseOf(Summary summary) throws IOException {
    JsonNode json = new ObjectMapper().readTree(SummaryText.json(summary));
    assertThat(browser.driver().text(".verdict")).isEqualTo(json.path("verdict").textValue());
    JsonNode headline = operatingLevel(json);
    List<List<String>> metrics = new ArrayList<>(rows("metrics", "Metric", 0));
    metrics.addAll(rows("metrics", "Metric", 1));
    for (Metric metric : Metric.distributions()) {
      boolean isRate = metric.unit() == Metric.Unit.TOKENS_PER_S;
      JsonNode values = headline.path(isRate ? "throughput" : "metrics").path(metric.key());
      if (values.path("count").asLong() == 0) {
        continue;
      }
      if (metric.unit() == Metric.Unit.MILLIS && values.path("max").doubleValue() == 0) {
        assertThat(browser.texts("#metrics .note"))
            .anyMatch(note -> note.contains("Always 0: ") && note.contains(metric.title()));
        continue;
      }
      List<String> row = new ArrayList<>();
      for (String statistic :
          isRate
              ? List.of(
                  "count", "mean", "std", "min", "p1", "p5", "p10", "p50", "p90", "p99", "max")
              : List.of(
                  "count", "mean", "std", "min", "p50", "p75", "p90", "p95", "p99", "p999",
                  "max")) {
        row.add(NumberText.number(values.path(statistic).doubleValue()));
      }
      assertThat(metrics)
          .as(metric.title())
          .anyMatch(
              shown ->
                  List.of(shown.get(0).split(", ")).contains(metric.title())
                      && shown.subList(1, shown.size()).equals(row));
    }
    List<List<String>> levels = new ArrayList<>();
    for (JsonNode stage : json.path("stages")) {
      List<String> row = new ArrayList<>(List.of(stage.path("label").textValue()));
      for (String path :
          List.of(
              "/counts/started",
              "/throughput/requests_per_s",
              "/throughput/output_tokens_per_s",
              "/goodput/share",
              "/metrics/ttft_ms/p50",
              "/metrics/ttft_ms/p95",
              "/metrics/ttft_ms/p99",
              "/metrics/itl_ms/p50",
              "/metrics/itl_ms/p99",
              "/metrics/tpot_ms/p95",
              "/metrics/e2e_ms/p50",
              "/metrics/e2e_ms/p95",
              "/metrics/e2e_ms/p99")) {
        double value = stage.at(path).doubleValue();
        row.add(path.endsWith("share") ? NumberText.percent(value) : NumberText.number(value));
      }
      levels.add(row);
    }
    List<List<String>> shown = rows("levels", "Load level", 0);
    shown.forEach(row -> row.remove(2)); // failed: counted by verdict in the file
    assertThat(shown).isNotEmpty().isEqualTo(levels);
    assertThat(browser.texts(".tiles strong"))
        .contains(
            NumberText.ms(headline.at("/objectives/0/actual_ms").doubleValue()),
            NumberText.ms(headline.at("/metrics/itl_ms/p99").doubleValue()),
            NumberText.with(headline.at("/throughput/output_tokens_per_s").doubleValue(), "tok/s"),
            NumberText.with(headline.at("/goodput/requests_per_s").doubleValue(), "req/s"),
            NumberText.number(headline.at("/jitter/itl_p99_over_p50").doubleValue()));
  }

  private static JsonNode operatingLevel(JsonNode json) {
    for (JsonNode stage : json.path("stages")) {
      if (stage.path("label").equals(json.at("/operating_point/stage"))) {
        return stage;
      }
    }
    throw new AssertionError("no operating point");
  }

  @SuppressWarnings("unchecked")
  private static List<List<String>> rows(String section, String heading, int which) {
    Object cells =
        browser.eval(
            "[...[...document.querySelectorAll('#"
                + section
                + " table')].filter(t => !t.closest('[data-level]:not(.shown)'))"
                + ".filter(t => t.tHead.textContent.trim().startsWith('"
                + heading
                + "'))["
                + which
                + "].querySelectorAll('tbody tr:not(.group)')]"
                + ".map(r => [...r.cells].map(c => c.firstChild.textContent.trim()))");
    return ((List<List<String>>) cells).stream().<List<String>>map(ArrayList::new).toList();
  }
}
