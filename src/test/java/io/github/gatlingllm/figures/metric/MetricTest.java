package io.github.gatlingllm.figures.metric;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.docs.ReferencePage;
import io.github.gatlingllm.figures.metric.Metric.Better;
import io.github.gatlingllm.figures.metric.Metric.Unit;
import io.github.gatlingllm.record.RequestStatus;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MetricTest {

  @ParameterizedTest
  @EnumSource(Metric.class)
  void entryIsComplete(Metric metric) {
    assertThat(metric.figure()).matches("[a-z0-9_]+(\\.[a-z_]+)?");
    assertThat(metric.title()).isNotBlank();
    assertThat(metric.words()).isNotBlank();
    assertThat(metric.formula()).isNotBlank().doesNotEndWith(".");
    assertThat(metric.isTime()).isEqualTo(metric.key().endsWith("_ms"));
    if (metric.isTime()) {
      assertThat(metric.better()).isEqualTo(Better.LOWER);
    }
    if (metric.isCompared()) {
      assertThat(metric.better()).isNotEqualTo(Better.NEITHER);
    }
  }

  @Test
  void namesAreUnique() {
    assertThat(Arrays.stream(Metric.values()).map(Metric::figure)).doesNotHaveDuplicates();
    assertThat(Arrays.stream(Metric.values()).map(Metric::key)).doesNotHaveDuplicates();
  }

  @Test
  void everyStatusIsCounted() {
    List<String> counted =
        Arrays.stream(Metric.values())
            .filter(metric -> metric.count() != null)
            .map(Metric::figure)
            .toList();

    assertThat(counted)
        .containsAll(Arrays.stream(RequestStatus.values()).map(RequestStatus::key).toList());
  }

  @Test
  void referencePage() throws IOException {
    Map<String, StringBuilder> groups = new LinkedHashMap<>();
    List<String> statuses = new ArrayList<>();
    for (Metric metric : Metric.values()) {
      if (metric.formula().equals("status " + metric.figure())) {
        statuses.add("`" + metric.figure() + "`");
      } else {
        String group =
            metric.population().equals("as in its formula")
                ? "Numbers, by their formulas"
                : metric.summarised() + ", of " + metric.population();
        groups.computeIfAbsent(group, title -> new StringBuilder()).append(item(metric));
      }
    }
    StringBuilder page = new StringBuilder();
    groups.forEach(
        (title, items) ->
            page.append("**").append(upper(title)).append("**\n\n").append(items).append('\n'));
    page.append(
        ReferencePage.paragraph(
            "**Requests of a status**, counts and shares, key `counts.verdicts.<status>`: "
                + String.join(", ", statuses)
                + "."));
    ReferencePage.of("metrics.md").mustHave(List.of(page.toString()));
  }

  private static String item(Metric metric) {
    String section =
        !metric.isDistribution()
            ? ""
            : metric.unit() == Unit.TOKENS_PER_S ? "throughput." : "metrics.";
    boolean isCount = metric.count() != null && metric.total() == null;
    String facts =
        Stream.of(
                metric.isTime() ? "" : metric.unit().sign(),
                isCount ? "count" : "",
                metric.isTime() || metric.better() == Better.NEITHER
                    ? ""
                    : metric.better().name().toLowerCase(Locale.ROOT),
                "`" + section + metric.key() + "`")
            .filter(fact -> !fact.isEmpty())
            .collect(joining(", "));
    String title = metric.title().toLowerCase(Locale.ROOT).replace(' ', '_');
    return ReferencePage.item(
        "`%s`%s%s (%s): %s"
            .formatted(
                metric.figure(),
                metric.isCompared() ? "*" : "",
                title.equals(metric.figure()) ? "" : " " + metric.title(),
                facts,
                metric.formula()));
  }

  private static String upper(String text) {
    return text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
  }
}
