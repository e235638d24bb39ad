package io.github.gatlingllm.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.openqa.selenium.By;
import org.openqa.selenium.WebElement;

/** Compares the numbers of a page with {@code summary.json}. */
final class PageNumbers {

  private PageNumbers() {}

  /** Asserts that every figure of the tables and tiles equals the one in the file. */
  static void assertTablesAndTilesAreThoseOf(Summary summary, Browser browser) throws IOException {
    JsonNode json = new ObjectMapper().readTree(SummaryJson.of(summary));
    assertThat(browser.driver().findElement(By.className("verdict")).getText())
        .isEqualTo(json.path("verdict").textValue());
    JsonNode headline = operatingLevel(json);
    List<List<String>> metrics = new ArrayList<>(rows(browser, "metrics", "Metric", 0));
    metrics.addAll(rows(browser, "metrics", "Metric", 1));
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
              "/metrics/e2e_ms/p50",
              "/metrics/e2e_ms/p95",
              "/metrics/e2e_ms/p99")) {
        double value = stage.at(path).doubleValue();
        row.add(path.endsWith("share") ? NumberText.percent(value) : NumberText.number(value));
      }
      levels.add(row);
    }
    List<List<String>> shown = rows(browser, "levels", "Load level", 0);
    shown.forEach(row -> row.remove(2)); // failed: counted by verdict in the file
    assertThat(shown).isNotEmpty().isEqualTo(levels);
    assertThat(browser.driver().findElements(By.cssSelector(".tiles strong")))
        .extracting(WebElement::getText)
        .contains(
            NumberText.ms(headline.at("/metrics/ttft_ms/p95").doubleValue()),
            NumberText.ms(headline.at("/metrics/itl_ms/p99").doubleValue()),
            NumberText.with(headline.at("/throughput/output_tokens_per_s").doubleValue(), "tok/s"),
            NumberText.with(headline.at("/goodput/requests_per_s").doubleValue(), "req/s"),
            NumberText.number(headline.at("/jitter/itl_p99_over_p50").doubleValue()));
  }

  /** The operating point. */
  private static JsonNode operatingLevel(JsonNode json) {
    for (JsonNode stage : json.path("stages")) {
      if (stage.path("label").equals(json.at("/operating_point/stage"))) {
        return stage;
      }
    }
    throw new AssertionError("no operating point");
  }

  /** The texts of each row of a table with this heading, without remarks. */
  @SuppressWarnings("unchecked")
  private static List<List<String>> rows(
      Browser browser, String section, String heading, int which) {
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
