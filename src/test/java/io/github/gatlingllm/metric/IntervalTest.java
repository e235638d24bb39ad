package io.github.gatlingllm.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.metric.Distribution.Interval;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class IntervalTest {

  @ParameterizedTest
  @CsvSource({
    // tables of the sign test: median of 6, 30 and 100 values
    "6, 0.5, 1, 6",
    "30, 0.5, 10, 21",
    "100, 0.5, 40, 61",
    // the binomial distribution summed exactly
    "368, 0.99, 360, 368",
    "1000, 0.99, 983, 997",
    "2000, 0.99, 1971, 1989",
    // 10,000 · 0.99 ± 1.96 · √(10,000 · 0.99 · 0.01)
    "10000, 0.99, 9880, 9921"
  })
  void ranksOfAQuantile(long n, double share, long low, long high) {
    assertThat(Interval.ofQuantile(n, share)).isEqualTo(new Interval.Ranks(low, high));
  }

  @ParameterizedTest
  @CsvSource({"0, 0.5", "5, 0.5", "367, 0.99"})
  void tooFewValuesGiveNone(long n, double share) {
    assertThat(Interval.ofQuantile(n, share)).isNull();
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

  @Test
  void theTrueQuantilesLieInsideAsOftenAsClaimed() {
    SplittableRandom random = new SplittableRandom(7);
    int runs = 2_000;
    int median = 0;
    int tail = 0;
    for (int run = 0; run < runs; run++) {
      double[] values = random.doubles(1_000).map(u -> -Math.log(1 - u) * 1e3).toArray();
      ValueRecorder recorder = new ValueRecorder(ValueRecorder.MICROS);
      Arrays.stream(values).forEach(recorder::add);
      Distribution distribution = recorder.distribution();
      median += contains(distribution.p50Ci95(), 1e3 * Math.log(2)) ? 1 : 0;
      tail += contains(distribution.p99Ci95(), 1e3 * Math.log(100)) ? 1 : 0;
    }
    assertThat(median / (double) runs).isBetween(0.94, 0.98);
    assertThat(tail / (double) runs).isBetween(0.94, 0.98);
  }

  private static boolean contains(Interval interval, double value) {
    return interval.low() <= value && value <= interval.high();
  }
}
