package io.github.gatlingllm.figures.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StudentTTest {

  /** From tables of the distribution; the last two are the normal distribution's. */
  @ParameterizedTest
  @CsvSource({
    "0.5, 1, 1.0000",
    "0.05, 1, 12.706",
    "0.05, 10, 2.2281",
    "0.01, 23, 2.8073",
    "0.001, 47, 3.5099",
    "0.0001, 7, 7.8846",
    "0.05, 1e6, 1.95997",
    "0.0001, 1e6, 3.8906"
  })
  void quantilesEqualPublishedTables(double beyond, double df, double expected) {
    assertThat(StudentT.quantile(beyond, df)).isCloseTo(expected, within(expected * 1e-4));
    assertThat(StudentT.beyond(expected, df)).isCloseTo(beyond, within(beyond * 1e-3));
  }
}
