package io.github.gatlingllm.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.atIndex;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Series;
import io.github.gatlingllm.figures.level.Series.Bucket;
import io.github.gatlingllm.figures.level.Series.GeneratorBucket;
import io.github.gatlingllm.figures.level.Series.Quantile;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

  /** GPU i has a clock of 1,980 − 15 i MHz; of twenty the quantiles are drawn. */
  @ParameterizedTest
  @CsvSource({"16, 16, 1980, 1755", "20, 5, 1695, 1980"})
  void gpusHaveALineEachUpToSixteen(int gpus, int lines, double first, double last) {
    RunFigures run =
        new DemoRun(List.of(1, 2), List.of("a"), List.of("ask")).gpus(gpus).observed().figures();
    List<Line> clocks =
        Page.charts(List.of(TimeSection.of(run.summary(), run.series()).engine())).stream()
            .filter(chart -> chart.id().equals("gpus-clock"))
            .findFirst()
            .orElseThrow()
            .series();
    assertThat(clocks).hasSize(lines);
    assertThat(clocks)
        .extracting(line -> List.of(line.color(), line.dash()))
        .doesNotHaveDuplicates();
    assertThat(clocks.get(0).points().get(0).y()).isEqualTo(first);
    if (gpus == 16) {
      assertThat(clocks).extracting(Line::name).contains("node-1 GPU 15", atIndex(15));
    }
    if (gpus > 16) {
      assertThat(clocks.get(1).points().get(0).y()).as("p10").isEqualTo(1_725);
      assertThat(clocks.get(2).points().get(0).y()).as("median").isEqualTo(1_845);
    }
    assertThat(clocks.stream().mapToDouble(line -> line.points().get(0).y())).contains(last);
    assertThat(Tables.of(run.summary()).at("engine"))
        .filteredOn(table -> table.title().contains("GPUs ") || table.title().endsWith(" GPUs"))
        .extracting(Table::title, table -> table.rows().count())
        .contains(tuple("Spread over GPUs", 2L), tuple("GPUs at the operating point", (long) gpus));
  }

  /** What is always 0 has no line if it is rare; the line of the others is scaled. */
  @Test
  void linesOverTimeAreRowsOfText() {
    Series series = DemoRun.sweep().figures().series();
    List<Bucket> buckets = series.overTime();
    List<Line> lines = Chart.overTime("time-requests", Bucket.class, buckets, 0.5);

    assertThat(lines).extracting(Line::name).containsExactly("started", "ended", "failed");
    assertThat(lines.get(0).points().get(3))
        .isEqualTo(new Point(buckets.get(3).startS(), buckets.get(3).started() / 2.0));
    assertThatThrownBy(() -> Chart.overTime("time-requests", GeneratorBucket.class, List.of(), 1))
        .hasMessageContaining("no figure is called 'plannedArrivals'");
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

    assertThat(Axis.shares(List.of(line)).write(x)).isEqualTo(text);
    assertThat(line.points().get(0).x()).isCloseTo(x, within(1e-9));
  }

  private final String css = Templates.resource("report.css");

  @Test
  void seriesContrastWithTheCardInBothThemes() {
    for (int n = 1; n <= 6; n++) {
      assertContrast("series-" + n, 3);
    }
    assertContrast("limit", 3);
  }

  @Test
  void textIsReadableInBothThemes() {
    for (String name : List.of("ink", "soft", "link", "ok", "warning", "invalid")) {
      assertContrast(name, 4.5);
    }
  }

  @Test
  void paleColourIsDetected() {
    assertThat(contrast("#b0d22f", "#ffffff")).isLessThan(3);
    assertThat(contrast("#000000", "#ffffff")).isEqualTo(21);
  }

  private void assertContrast(String name, double min) {
    for (String background : List.of("card", "paper")) {
      for (int theme = 1; theme <= 2; theme++) {
        assertThat(contrast(color(name, theme), color(background, theme)))
            .as("--" + name + " on --" + background + ", theme " + theme)
            .isGreaterThanOrEqualTo(min);
      }
    }
  }

  private String color(String name, int theme) {
    Matcher found =
        Pattern.compile("--" + name + ": light-dark\\((#\\w{6}), (#\\w{6})\\)").matcher(css);
    assertThat(found.find()).as("--" + name).isTrue();
    return found.group(theme);
  }

  private static double contrast(String a, String b) {
    double lighter = Math.max(luminance(a), luminance(b));
    double darker = Math.min(luminance(a), luminance(b));
    return (lighter + 0.05) / (darker + 0.05);
  }

  private static double luminance(String color) {
    return 0.2126 * channel(color, 1) + 0.7152 * channel(color, 3) + 0.0722 * channel(color, 5);
  }

  private static double channel(String color, int at) {
    double value = Integer.parseInt(color, at, at + 2, 16) / 255.0;
    return value <= 0.04045 ? value / 12.92 : Math.pow((value + 0.055) / 1.055, 2.4);
  }
}
