package io.github.gatlingllm.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NinesScaleTest {

  @ParameterizedTest
  @CsvSource({"0,0 %", "1,90 %", "2,99 %", "3,99.9 %", "4,99.99 %"})
  void ninesAreEquallyFarApart(double x, String text) {
    assertThat(NinesScale.label(x)).isEqualTo(text);
    assertThat(NinesScale.of(99.9)).isCloseTo(3, within(1e-9));
  }
}
