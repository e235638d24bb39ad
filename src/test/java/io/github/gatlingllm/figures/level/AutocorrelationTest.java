package io.github.gatlingllm.figures.level;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.level.TimeSlice.Autocorrelation;
import org.junit.jupiter.api.Test;

class AutocorrelationTest {

  @Test
  void correlationOfSlicesIsEstimated() {
    double[] alternating = new double[48];
    double[] slow = new double[48];
    for (int i = 0; i < 48; i++) {
      alternating[i] = i % 2;
      slow[i] = Math.sin(i * Math.PI / 12);
    }

    assertThat(Autocorrelation.coefficient(alternating)).isZero();
    assertThat(Autocorrelation.coefficient(slow)).isEqualTo(0.9);
    assertThat(Autocorrelation.coefficient(new double[48])).isZero();
    // no correlation at all: half a standard error
    assertThat(Autocorrelation.upper(new double[48], 1))
        .isCloseTo(0.5 / Math.sqrt(48), within(1e-12));
    assertThat(Autocorrelation.upper(slow, 1)).isEqualTo(0.95);
    // 1 + 2 × ½ × 0.5 of the (1 + 0.5) ÷ (1 − 0.5) is in blocks of 2
    assertThat(Autocorrelation.missedBy(2, 0.5)).isCloseTo(2, within(1e-12));
    assertThat(Autocorrelation.missedBy(1, 0.5)).isCloseTo(3, within(1e-12));
  }
}
