package io.github.gatlingllm.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.report.Browser.Plot;
import io.github.gatlingllm.report.Browser.Theme;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith(Browser.Shared.class)
class ComparePageIT {

  private static final Path PICTURES = Path.of("target", "pictures");

  @TempDir static Path folder;

  private static Path page;
  private static Browser browser;

  @BeforeAll
  static void compare(Browser shared) throws IOException {
    DemoRun.sweep().write(folder.resolve("vllm-0.9"));
    DemoRun.sweep().seed(8).write(folder.resolve("vllm-0.9-again"));
    DemoRun.sweep().seed(9).slower(1.2).write(folder.resolve("vllm-1.0"));
    CommandLine.Called called =
        CommandLine.call(
            "compare",
            folder.resolve("vllm-0.9").toString(),
            folder.resolve("vllm-0.9-again").toString(),
            folder.resolve("vllm-1.0").toString(),
            "--out=" + folder.resolve("out"),
            "--fail-on=itl.mean>+10%,errors>+1%");
    assertThat(called.error()).isEmpty();
    page = folder.resolve("out/compare.html");
    browser = shared;
  }

  @ParameterizedTest
  @CsvSource({"LIGHT,1400", "DARK,800"})
  void everyChartIsDrawnWithoutErrorsOrNetwork(Theme theme, int width) throws IOException {
    browser.prefer(theme).show(page, width, 1000);

    assertThat(browser.eval("document.documentElement.scrollWidth <= innerWidth")).isEqualTo(true);
    for (String section : List.of("verdict", "differences", "figures", "trend", "curves")) {
      assertThat(browser.driver().isShown("#" + section)).as(section).isTrue();
    }
    assertThat(browser.plots())
        .hasSize(18)
        .allSatisfy(plot -> assertThat(plot.paths()).isGreaterThan(5));
    assertThat(browser.plots())
        .filteredOn(plot -> !plot.id().startsWith("trend-"))
        .hasSize(9)
        .allSatisfy(plot -> assertThat(plot.label()).contains("vllm-1.0"));
    assertThat(browser.complaints()).isEmpty();
    assertThat(browser.networkRequests()).isEmpty();
    for (String section : List.of("top", "figures", "trend", "curves")) {
      browser.driver().run("document.getElementById('" + section + "').scrollIntoView()");
      browser.picture(PICTURES.resolve("compare-" + section + "-" + width + "-" + theme + ".png"));
    }
  }

  @Test
  void withoutScriptsVerdictAndTablesAreReadable() throws IOException {
    try {
      browser.showWithoutScripts(page, 1400, 1000);

      assertThat(browser.driver().text("#verdict"))
          .contains(
              "vllm-0.9-again: Failed: errors>+1% (",
              "No clear change; too few values for ",
              "vllm-1.0: Failed: itl.mean>+10% (",
              " Worse at c=1: ",
              "itl.mean>+10%",
              "KO");
      assertThat(browser.driver().text("#figures"))
          .contains(
              "ttft.p50",
              "▲ worse",
              "No clear change: ",
              "too few values: ",
              "all 9 load levels pooled",
              "c=4: 9 worse");
      assertThat(browser.plots()).hasSize(18).noneMatch(Plot::displayed);
    } finally {
      browser.letScriptsRun();
    }
  }
}
