package io.github.gatlingllm.figures.metric;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.docs.ReferencePage;
import io.github.gatlingllm.figures.metric.Metric.Better;
import io.github.gatlingllm.figures.metric.Metric.Kind;
import io.github.gatlingllm.figures.metric.Metric.Unit;
import io.github.gatlingllm.record.RequestStatus;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
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
            .filter(metric -> metric.kind() == Kind.REQUESTS)
            .map(Metric::figure)
            .toList();

    assertThat(counted)
        .containsAll(Arrays.stream(RequestStatus.values()).map(RequestStatus::key).toList());
  }

  @Test
  void referencePage() throws IOException {
    List<List<String>> rows = new ArrayList<>();
    for (Metric metric : Metric.values()) {
      Unit unit = metric.unit();
      String section = unit == Unit.TOKENS_PER_S ? "throughput." : "metrics.";
      rows.add(
          List.of(
              "`" + metric.figure() + "`",
              metric.title(),
              unit.sign(),
              metric.formula(),
              metric.better() == Better.NEITHER
                  ? ""
                  : metric.better().name().toLowerCase(Locale.ROOT),
              metric.summarised(),
              metric.kind().population(),
              "`" + (metric.isDistribution() ? section : "") + metric.key() + "`",
              metric.isCompared() ? "yes" : ""));
    }
    ReferencePage.of("metrics.md")
        .mustHave(
            List.of(
                "figure",
                "title",
                "unit",
                "formula",
                "better",
                "summarised as",
                "population",
                "key in `summary.json`",
                "compared"),
            List.of(rows));
  }
}
