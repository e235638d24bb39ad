package io.github.gatlingllm.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.stats.SliceSample.Weighted;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SliceSampleTest {

  private static final int COUNT = StageSlices.COUNT;

  private final Random random = new Random(3);

  /** Two stages of 48 slices; what they weigh is drawn, and done again value by value. */
  @Test
  void weightedSlicesHaveTheFiguresOfTheirValuesRepeated() {
    for (int round = 0; round < 20; round++) {
      List<SliceSample> samples = new ArrayList<>();
      List<int[]> weights = new ArrayList<>();
      List<Double> repeated = new ArrayList<>();
      for (int s = 0; s < 2; s++) {
        StageSlices stage =
            new StageSlices(
                StageWindow.of(s, Recorded.stage(s + 1, s * 48_000, (s + 1) * 48_000), 0));
        int[] times = new int[COUNT];
        for (int i = 0; i < COUNT; i++) {
          times[i] = random.nextInt(4);
          for (int n = random.nextInt(30); n > 0; n--) {
            double value = 0.001 + Math.exp(3 * random.nextGaussian() + s);
            stage.slices().get(i).add(Metric.TTFT_MS, value, 1);
            stage.slices().get(i).tokens += 1;
            repeated.addAll(Collections.nCopies(times[i], value));
          }
        }
        samples.add(new SliceSample(stage));
        weights.add(times);
      }
      Weighted all = new Weighted(samples, weights);
      Collections.sort(repeated);

      for (double percent : new double[] {1, 50, 95, 99, 100}) {
        double exact = repeated.get((int) Math.ceil(percent / 100 * repeated.size()) - 1);
        assertThat(all.percentile(Metric.TTFT_MS, percent))
            .isCloseTo(exact, within(exact * 0.0026));
      }
      double mean = repeated.stream().mapToDouble(v -> v).average().orElseThrow();
      assertThat(all.mean(Metric.TTFT_MS)).isCloseTo(mean, within(mean * 1e-9));
      assertThat(all.sum(slice -> slice.tokens)).isEqualTo(repeated.size());
      assertThat(all.percentile(Metric.ITL_MS, 50)).isNull();
      assertThat(all.mean(Metric.ITL_MS)).isNull();
    }
  }

  @Test
  void secondsAreThoseOfTheWindow() {
    StageSlices stage = new StageSlices(StageWindow.of(0, Recorded.stage(1, 0, 12_000), 0));
    int[] once = new int[COUNT];
    Arrays.fill(once, 1);

    assertThat(new Weighted(List.of(new SliceSample(stage)), List.of(once)).seconds())
        .isCloseTo(12, within(1e-9));
    assertThat(stage.at(Recorded.ORIGIN - 1)).isSameAs(stage.slices().get(0));
    assertThat(stage.at(Recorded.ORIGIN + 250_000_000)).isSameAs(stage.slices().get(1));
    assertThat(stage.at(Recorded.ORIGIN + 12_000_000_000L)).isSameAs(stage.slices().get(47));
  }

  @Test
  void nothingIsZero() {
    LogHistogram values = new LogHistogram();
    values.add(0, 2);
    values.add(5, 0);

    assertThat(values.total()).isEqualTo(2);
    assertThat(LogHistogram.middle(values.first())).isZero();
  }
}
