package io.github.gatlingllm.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NumberTextTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          412.34     | 412
          23.06      | 23.1
          1.2345     | 1.23
          0.06149    | 0.061
          0          | 0
          96         | 96
          3          | 3
          9.996      | 10.0
          99.96      | 100
          1842.3     | 1,842
          1234567.8  | 1,234,568
          -4080.2    | −4,080
          """)
  void threeDigitsAndThousands(double value, String text) {
    assertThat(NumberText.number(value)).isEqualTo(text);
  }

  @Test
  void absentIsADashWithoutUnit() {
    assertThat(NumberText.ms(null)).isEqualTo("–");
    assertThat(NumberText.percent(null)).isEqualTo("–");
    assertThat(NumberText.ms(412.0)).isEqualTo("412 ms");
  }

  @ParameterizedTest
  @CsvSource({"1,100 %", "0,0 %", "0.9996,99.9 %", "0.0001,0.1 %", "0.926,92.6 %"})
  void onlyAllIsAHundredPercentAndOnlyNoneIsZero(double share, String text) {
    assertThat(NumberText.percent(share)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({"0.5,0.5 s", "1,1 s", "45.2,45 s", "365,6 min 05 s", "7260,2 h 01 min"})
  void durationsAsPeopleSayThem(double seconds, String text) {
    assertThat(NumberText.duration(seconds)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({"0,0 %", "1,90 %", "2,99 %", "3,99.9 %", "4,99.99 %"})
  void ninesAreEquallyFarApart(double x, String text) {
    assertThat(NinesScale.label(x)).isEqualTo(text);
    assertThat(NinesScale.of(99.9)).isCloseTo(3, within(1e-9));
  }
}
