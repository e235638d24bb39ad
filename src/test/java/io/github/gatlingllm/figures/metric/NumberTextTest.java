package io.github.gatlingllm.figures.metric;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NumberTextTest {

  private static final Map<String, Function<Double, String>> TEXTS =
      Map.of(
          "number", NumberText::number,
          "percent", NumberText::percent,
          "ms", NumberText::ms,
          "plainMs", NumberText::plainMs,
          "duration", NumberText::duration);

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          # three digits and thousands
          number  | 412.34    | 412
          number  | 23.06     | 23.1
          number  | 1.2345    | 1.23
          number  | 0.06149   | 0.061
          number  | 0         | 0
          number  | 96        | 96
          number  | 15.999999999999998 | 16
          number  | 9.996     | 10.0
          number  | 99.96     | 100
          number  | 1842.3    | 1,842
          number  | 1234567.8 | 1,234,568
          number  | -4080.2   | −4,080
          number  | NaN       | –
          number  | Infinity  | –
          # only 1 is 100 %, and only 0 is 0 %: sentences and tables once disagreed
          percent | 0.9991    | 99.9 %
          percent | 0.9996    | > 99.9 %
          percent | 0.0006    | 0.1 %
          percent | 0.0001    | < 0.1 %
          percent | 1         | 100 %
          percent | 0         | 0 %
          percent | 0.926     | 92.6 %
          percent | 0.5       | 50.0 %
          percent | 1.5       | 150.0 %
          percent | -Infinity | –
          # tables once had "12,345 ms" where sentences had "12.3 s"
          ms      | 412       | 412 ms
          ms      | 9999      | 9,999 ms
          ms      | 9999.6    | 10.0 s
          ms      | 12345     | 12.3 s
          ms      | -12345    | −12.3 s
          ms      | 0.5       | 0.500 ms
          ms      | NaN       | –
          # no trailing zeros
          plainMs | 200       | 200 ms
          plainMs | 0.5       | 0.5 ms
          plainMs | 9999      | 9999 ms
          plainMs | 2000      | 2 s
          plainMs | 30000     | 30 s
          plainMs | 12500     | 12.5 s
          # minutes and hours
          duration | 0.5      | 0.5 s
          duration | 1        | 1 s
          duration | 45.2     | 45 s
          duration | 365      | 6 min 05 s
          duration | 7260     | 2 h 01 min
          """)
  void numberHasItsText(String kind, double value, String text) {
    assertThat(TEXTS.get(kind).apply(value)).isEqualTo(text);
  }

  @Test
  void absentValueIsADashWithoutUnit() {
    assertThat(NumberText.ms(null)).isEqualTo("–");
    assertThat(NumberText.percent(null)).isEqualTo("–");
  }
}
