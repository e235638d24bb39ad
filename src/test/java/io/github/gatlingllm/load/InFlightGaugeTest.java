package io.github.gatlingllm.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.LevelInfo.InFlight;
import org.junit.jupiter.api.Test;

class InFlightGaugeTest {

  private final RunningLevel.InFlightGauge gauge = new RunningLevel.InFlightGauge();

  private void change(int by, long now) {
    gauge.change(by, now, 10, 20);
  }

  /**
   * In flight over 10 to 20: 1 for 2, 2 for 3, 3 for 1, 2 for 3, 1 for 1: 2 + 6 + 3 + 6 + 1 = 18.
   */
  @Test
  void meanAndPeakAreThoseOfTheWindow() {
    change(1, 0);
    change(1, 1);
    change(1, 2);
    change(1, 3);
    change(-3, 9);
    change(1, 12);
    change(1, 15);
    change(-1, 16);
    change(-1, 19);
    change(5, 20);
    change(1, 30);
    assertThat(gauge.over(10, 20)).isEqualTo(new InFlight(1.8, 3));
  }

  @Test
  void requestsThatCrossTheWindowCountForAllOfIt() {
    change(2, 0);
    change(-2, 100);
    assertThat(gauge.over(10, 20)).isEqualTo(new InFlight(2, 2));
  }

  @Test
  void noRequestAfterTheStartOfTheWindow() {
    assertThat(gauge.over(10, 20)).isEqualTo(new InFlight(0, 0));
    assertThat(gauge.over(10, 10)).isNull();
  }

  /** Two threads read the clock before either was here. */
  @Test
  void instantBeforeThePreviousCallCountsAsThat() {
    change(1, 12);
    change(1, 11);
    assertThat(gauge.over(10, 20)).isEqualTo(new InFlight(1.6, 2));
  }

  /** Where a window starts is found out at 15: nothing before it counts. */
  @Test
  void theWindowMayBecomeKnownLater() {
    gauge.change(1, 0, Long.MAX_VALUE, Long.MAX_VALUE);
    gauge.change(1, 14, Long.MAX_VALUE, Long.MAX_VALUE);
    gauge.change(-1, 17, 15, Long.MAX_VALUE);
    assertThat(gauge.over(15, 19)).isEqualTo(new InFlight(1.5, 2));
  }
}
