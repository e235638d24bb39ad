package io.github.gatlingllm.figures.metric;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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
  void absentValueIsADashWithoutUnit() {
    assertThat(NumberText.ms(null)).isEqualTo("–");
    assertThat(NumberText.percent(null)).isEqualTo("–");
    assertThat(NumberText.ms(412.0)).isEqualTo("412 ms");
  }

  @ParameterizedTest
  @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY})
  void notFiniteIsADashToo(double value) {
    assertThat(NumberText.number(value)).isEqualTo("–");
    assertThat(NumberText.ms(value)).isEqualTo("–");
    assertThat(NumberText.percent(value)).isEqualTo("–");
  }

  /** Sentences and tables once disagreed about the first four. */
  @ParameterizedTest
  @CsvSource({
    "0.9991,99.9 %",
    "0.9996,> 99.9 %",
    "0.0006,0.1 %",
    "0.0001,< 0.1 %",
    "1,100 %",
    "0,0 %",
    "0.926,92.6 %",
    "0.5,50.0 %",
    "1.5,150.0 %"
  })
  void onlyOneIs100PercentAndOnlyZeroIs0Percent(double share, String text) {
    assertThat(NumberText.percent(share)).isEqualTo(text);
  }

  /** Tables once had "12,345 ms" where sentences had "12.3 s". */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"9999|9,999 ms", "9999.6|10.0 s", "12345|12.3 s", "-12345|−12.3 s", "0.5|0.500 ms"})
  void longTimesAreInSeconds(double millis, String text) {
    assertThat(NumberText.ms(millis)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({"200,200 ms", "0.5,0.5 ms", "9999,9999 ms", "2000,2 s", "30000,30 s", "12500,12.5 s"})
  void timesOfSettingsHaveNoTrailingZeros(double millis, String text) {
    assertThat(NumberText.plainMs(millis)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({"0.5,0.5 s", "1,1 s", "45.2,45 s", "365,6 min 05 s", "7260,2 h 01 min"})
  void durationsHaveMinutesAndHours(double seconds, String text) {
    assertThat(NumberText.duration(seconds)).isEqualTo(text);
  }
}
