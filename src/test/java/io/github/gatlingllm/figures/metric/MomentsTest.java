package io.github.gatlingllm.figures.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import org.junit.jupiter.api.Test;

class MomentsTest {

  /** 2, 4, 4, 4, 5, 5, 7, 9: Σ 40, mean 5; squares 9+1+1+1+0+0+4+16 = 32, ÷ 8 = 4, √ = 2. */
  @Test
  void populationDeviation() {
    Moments moments = new Moments();
    for (double value : new double[] {2, 4, 4, 4, 5, 5, 7, 9}) {
      moments.add(value, 1);
    }
    assertThat(moments.mean()).isEqualTo(5);
    assertThat(moments.std()).isEqualTo(2);
    assertThat(moments.min()).isEqualTo(2);
    assertThat(moments.max()).isEqualTo(9);
  }

  @Test
  void weightsAreRepeats() {
    Moments weighted = new Moments();
    weighted.add(3, 4);
    weighted.add(7, 2);
    weighted.add(1, 0);
    assertThat(weighted.count()).isEqualTo(6);
    assertThat(weighted.mean()).isEqualTo(26.0 / 6, within(1e-12));
    assertThat(weighted.min()).isEqualTo(3);
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
}
