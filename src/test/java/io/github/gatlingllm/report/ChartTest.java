package io.github.gatlingllm.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.level.Series.Quantile;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Chart.Scale;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChartTest {

  @Test
  void valueThatIsNotFiniteIsAGap() {
    Line line = Line.of("p50", 0, 0, List.of(new Point(0, Double.NaN), new Point(1, 2.5)));
    Chart chart =
        Chart.of(
            "scenario",
            Axis.places("Load level", "", List.of("c=1", "c=2")),
            List.of(line),
            "",
            "");

    assertThat(Page.json(Map.of("charts", List.of(chart)))).contains("[[0,null],[1,2.5]]");
    assertThat(chart.inWords()).contains("p50: 2.50 to 2.50");
  }

  /** A chart stays on the page for a decision; at most 24 kinds. */
  @Test
  void everyChartNamesItsDecision() {
    List<String> rows =
        Templates.resource("charts.txt")
            .lines()
            .skip(1)
            .filter(row -> row.contains(" | "))
            .toList();

    assertThat(rows).allMatch(row -> row.split(" \\| ").length == 6);
    assertThat(rows.stream().map(row -> row.split(" ", 2)[0]).distinct())
        .hasSizeLessThanOrEqualTo(24);
  }

  @ParameterizedTest
  @CsvSource({"0,0 %,0", "1,90 %,90", "2,99 %,99", "3,99.9 %,99.9", "4,99.99 %,99.99"})
  void scaleOfNinesWritesPercentiles(double x, String text, double percent) {
    Line line = Line.percentiles("TTFT", 0, 0, List.of(new Quantile(percent, 7)));

    assertThat(Axis.of("Share of values", "", Scale.NINES).write(x)).isEqualTo(text);
    assertThat(line.points().get(0).x()).isCloseTo(x, within(1e-9));
  }
}
