package io.github.gatlingllm.figures.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.metric.Distribution.Interval;
import org.junit.jupiter.api.Test;

final class IntervalTest {

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
