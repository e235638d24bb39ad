package io.github.gatlingllm.figures.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Figures.Check;
import io.github.gatlingllm.figures.metric.Figures.CheckLevel;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EarlyStoppingTest {

  private static final BigDecimal DOUBT = new BigDecimal("0.01");

  /** The first rows are those that MLPerf's rules print; 0.99^n = 0.01 at n = 458.2. */
  @ParameterizedTest
  @CsvSource({
    "0.9, 0, 44",
    "0.9, 1, 64",
    "0.95, 0, 90",
    "0.99, 0, 459",
    "0.99, 1, 662",
    "0.99, 10, ",
    "0.95, 25, ",
    "0.5, 7, ",
    "0.999, 2, "
  })
  void fewestRequestsAreThoseOfTheSumOfTheBinomialTerms(String share, int missed, Integer known) {
    double percent = 100 * Double.parseDouble(share);
    long needed = (long) found(Math.max(1, missed), missed, percent).get("needed");
    if (known != null) {
      assertThat(needed).isEqualTo(known.longValue());
    }
    BigDecimal met = new BigDecimal(share);
    assertThat(atMost(missed, (int) needed, met)).isLessThanOrEqualTo(DOUBT);
    assertThat(atMost(missed, (int) needed - 1, met)).isGreaterThan(DOUBT);
  }

  private static Map<String, Object> found(int requests, int misses, double percent) {
    return Runs.check(ChecksTest.judged(requests, misses, percent), "early_stopping")
        .findings()
        .get(0)
        .values();
  }

  /** P(X ≤ misses) of n requests, term by term. */
  private static BigDecimal atMost(int misses, int n, BigDecimal met) {
    MathContext digits = MathContext.DECIMAL128;
    BigDecimal term = met.pow(n, digits);
    BigDecimal sum = term;
    BigDecimal odds = BigDecimal.ONE.subtract(met).divide(met, digits);
    for (int k = 1; k <= misses; k++) {
      term =
          term.multiply(odds, digits)
              .multiply(BigDecimal.valueOf(n - k + 1L), digits)
              .divide(BigDecimal.valueOf(k), digits);
      sum = sum.add(term, digits);
    }
    return sum;
  }

  /** Of 20 requests at 95 %: 5 misses have a chance of 0.26 %, 4 of 1.6 %. */
  @ParameterizedTest
  @CsvSource({"20, 5, true", "20, 4, false", "20, 0, false", "200, 19, true", "200, 17, false"})
  void missesProveTheContrary(int judged, int missed, boolean isProven) {
    assertThat(found(judged, missed, 95)).containsEntry("missed", isProven);
    BigDecimal atLeast =
        missed == 0
            ? BigDecimal.ONE
            : BigDecimal.ONE.subtract(atMost(missed - 1, judged, new BigDecimal("0.95")));
    assertThat(atLeast.compareTo(DOUBT) <= 0).isEqualTo(isProven);
  }

  @ParameterizedTest
  @CsvSource({
    "90, 0, OK, '[false, true, 0, 90, 95.0, 90, 0]'",
    "89, 0, NOTE, '[false, false, 0, 89, 95.0, 90, 1]'",
    "22, 0, WARNING, '[false, false, 0, 22, 95.0, 90, 68]'",
    "20, 5, OK, '[true, false, 5, 20, 95.0, 259, 239]'"
  })
  void checkSaysHowManyRequestsAreMissing(
      int requests, int misses, CheckLevel level, String values) {
    Check check = Runs.check(ChecksTest.judged(requests, misses, 95), "early_stopping");
    assertThat(check.level()).isEqualTo(level);
    assertThat(check.findings().toString()).contains("early_stopping.found" + values);
  }

  @Test
  void runWithoutAnSloIsNotJudged() {
    Summary summary = ChecksTest.steady(ChecksTest.RUN);
    assertThat(summary.checks()).extracting(Check::id).doesNotContain("early_stopping");
  }
}
