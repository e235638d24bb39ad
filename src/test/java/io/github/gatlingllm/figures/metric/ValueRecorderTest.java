package io.github.gatlingllm.figures.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ValueRecorderTest {

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 9, 10, 99, 100, 101, 999, 1_000, 4_321})
  void nearestRankIsThatOfASortedArray(int n) {
    Random random = new Random(n);
    double[] sorted = new double[n];
    ValueRecorder values = new ValueRecorder(ValueRecorder.MICROS);
    for (int i = 0; i < n; i++) {
      sorted[i] = Math.exp(random.nextGaussian() * 2 + 3);
      values.add(sorted[i]);
    }
    Arrays.sort(sorted);
    for (double percent : new double[] {1, 10, 10.1, 50, 75, 90, 95, 99, 99.9}) {
      double expected = sorted[(int) Math.ceil(percent / 100 * n - 1e-9) - 1];
      assertThat(values.percentile(percent))
          .as("p%s of %s", percent, n)
          .isEqualTo(expected, offset(expected * 0.001 + 0.0005));
    }
    assertThat(values.distribution().min()).isEqualTo(sorted[0]);
    assertThat(values.distribution().max()).isEqualTo(sorted[n - 1]);
    assertThat(values.percentile(100)).as("exactly").isEqualTo(sorted[n - 1]);
  }

  @Test
  void weightCountsAsRepeats() {
    ValueRecorder values = new ValueRecorder(ValueRecorder.MICROS);
    values.add(10, 99);
    values.add(500, 1);
    assertThat(values.distribution().count()).isEqualTo(100);
    assertThat(values.percentile(99)).isEqualTo(10, offset(0.01));
    assertThat(values.percentile(99.5)).isEqualTo(500);
  }

  @Test
  void noValuesGiveNullNotZero() {
    Distribution empty = new ValueRecorder(ValueRecorder.MICROS).distribution();
    assertThat(empty.count()).isZero();
    assertThat(empty.mean()).isNull();
    assertThat(empty.p50()).isNull();
    assertThat(empty.max()).isNull();
  }

  /**
   * p99 of 999: rank 990, 9 values beyond: low. p99 of 1,000: rank 990, 10 beyond: enough. For a
   * rate p5 of 200: rank 10, 9 values below: low. p5 of 201: rank 11, 10 below: enough.
   */
  @ParameterizedTest
  @CsvSource({
    "false, 19, 'p50 p75 p90 p95 p99 p999'",
    "false, 20, 'p75 p90 p95 p99 p999'",
    "false, 40, 'p90 p95 p99 p999'",
    "false, 100, 'p95 p99 p999'",
    "false, 200, 'p99 p999'",
    "false, 999, 'p99 p999'",
    "false, 1000, 'p999'",
    "false, 9999, 'p999'",
    "false, 10000, ''",
    "true, 100, 'p1 p5 p10 p95 p99 p999'",
    "true, 101, 'p1 p5 p95 p99 p999'",
    "true, 200, 'p1 p5 p99 p999'",
    "true, 201, 'p1 p99 p999'",
    "true, 1000, 'p1 p999'",
    "true, 1001, 'p999'"
  })
  void tenValuesLieBeyondAPercentileThatIsNotLow(boolean isRate, long count, String low) {
    assertThat(String.join(" ", ValueRecorder.lowN(count, isRate))).isEqualTo(low);
  }

  /** Of 1 to 200 the 2nd, the 10th and the 20th. */
  @Test
  void onlyRatesHaveLowPercentiles() {
    ValueRecorder rate = Metric.USER_TOKENS_PER_S.recorder();
    ValueRecorder time = Metric.TTFT_MS.recorder();
    for (int i = 1; i <= 200; i++) {
      rate.add(i);
      time.add(i);
    }
    assertThat(rate.distribution().p1()).isEqualTo(2, offset(0.01));
    assertThat(rate.distribution().p5()).isEqualTo(10, offset(0.01));
    assertThat(rate.distribution().p10()).isEqualTo(20, offset(0.02));
    assertThat(rate.distribution().lowN()).containsExactly("p1", "p5", "p99", "p999");
    assertThat(time.distribution().p5()).isNull();
    assertThat(time.distribution().lowN()).containsExactly("p99", "p999");
  }

  /** 2, 4, 4, 4, 5, 5, 7, 9: Σ 40, mean 5; squares 9+1+1+1+0+0+4+16 = 32, ÷ 8 = 4, √ = 2. */
  @Test
  void populationDeviation() {
    Moments moments = new Moments();
    moments.add(1, 0);
    moments.add(4, 3);
    for (double value : new double[] {2, 5, 5, 7, 9}) {
      moments.add(value, 1);
    }
    assertThat(moments.count()).isEqualTo(8);
    assertThat(moments.mean()).isEqualTo(5);
    assertThat(moments.std()).isEqualTo(2);
    assertThat(moments.min()).isEqualTo(2);
    assertThat(moments.max()).isEqualTo(9);
  }

  @Test
  void mergedMomentsEqualThoseOfAllValues() {
    Moments all = new Moments();
    Moments left = new Moments();
    Moments right = new Moments();
    for (int i = 0; i < 1_000; i++) {
      double value = Math.sin(i) * 100 + 1e6;
      all.add(value, 1);
      (i < 300 ? left : right).add(value, 1);
    }
    left.add(right);
    left.add(new Moments());
    assertThat(left.count()).isEqualTo(1_000);
    assertThat(left.mean()).isEqualTo(all.mean(), within(1e-6));
    assertThat(left.std()).isEqualTo(all.std(), within(1e-9 * all.std() * 1_000));
  }

  /** Values 1e6 + (i mod 10): mean 1e6 + 4.5, variance of 0…9 = 8.25. */
  @Test
  void twentyMillionValuesStayExact() {
    Moments moments = new Moments();
    for (int i = 0; i < 20_000_000; i++) {
      moments.add(1e6 + i % 10, 1);
    }
    assertThat(moments.mean()).isEqualTo(1_000_004.5, within(1e-9 * 1_000_004.5));
    assertThat(moments.std()).isEqualTo(Math.sqrt(8.25), within(1e-9 * 1e6));
  }

  @Test
  void sharesByWilson() {
    // Newcombe 1998, table I: 81 of 263, 15 of 148, 0 of 20
    assertShare(81, 263, 0.2553, 0.3662);
    assertShare(15, 148, 0.0624, 0.1605);
    assertShare(0, 20, 0, 0.1611);
    assertShare(20, 20, 1 - 0.1611, 1);
    // Newcombe 1998, method 3
    assertShare(9, 10, 0.5958, 0.9821);
    assertThat(Interval.ofShare(0, 0)).isNull();
  }

  private static void assertShare(long met, long all, double low, double high) {
    Interval interval = Interval.ofShare(met, all);
    assertThat(interval).isNotNull();
    assertThat(interval.low()).isEqualTo(low, within(1e-4));
    assertThat(interval.high()).isEqualTo(high, within(1e-4));
  }
}
