package io.github.gatlingllm.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Scale;
import io.github.gatlingllm.stats.Series.Quantile;
import io.github.gatlingllm.stats.Series.Shape;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChartTest {

  @ParameterizedTest
  @CsvSource({"0,0 %,0", "1,90 %,90", "2,99 %,99", "3,99.9 %,99.9", "4,99.99 %,99.99"})
  void ninesAreEquallyFarApart(double x, String text, double percent) {
    Line line =
        Line.percentiles("TTFT", 0, new Shape(List.of(), List.of(new Quantile(percent, 7))));

    assertThat(Axis.of("Share of values", "", Scale.NINES).write(x)).isEqualTo(text);
    assertThat(line.points().get(0).x()).isCloseTo(x, within(1e-9));
  }
}
