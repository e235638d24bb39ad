package io.github.gatlingllm.figures.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.compare.Comparison.ComparedRun;
import io.github.gatlingllm.figures.compare.SliceSample.Weighted;
import io.github.gatlingllm.figures.level.Cell;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.figures.level.TimeSlice;
import io.github.gatlingllm.figures.metric.Amount;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SliceSampleTest {

  private static final int COUNT = TimeSlice.COUNT;

  private final Random random = new Random(3);

  /** Two load levels of 48 slices with random weights, compared with repeated values. */
  @Test
  void weightedSlicesEqualRepeatedValues() {
    for (int round = 0; round < 20; round++) {
      List<SliceSample> samples = new ArrayList<>();
      List<int[]> weights = new ArrayList<>();
      List<Double> repeated = new ArrayList<>();
      for (int s = 0; s < 2; s++) {
        List<Cell> slices = Stream.generate(Cell::ofSlice).limit(COUNT).toList();
        int[] times = new int[COUNT];
        for (int i = 0; i < COUNT; i++) {
          times[i] = random.nextInt(4);
          for (int n = random.nextInt(30); n > 0; n--) {
            double value = 0.001 + Math.exp(3 * random.nextGaussian() + s);
            slices.get(i).add(Metric.TTFT_MS, value, 1);
            slices.get(i).add(Amount.TOKENS, 1);
            repeated.addAll(Collections.nCopies(times[i], value));
          }
        }
        samples.add(new SliceSample(slices, 1));
        weights.add(times);
      }
      Weighted all = new Weighted(samples, weights);
      Collections.sort(repeated);

      for (double percent : new double[] {1, 50, 95, 99, 100}) {
        double exact = repeated.get((int) Math.ceil(percent / 100 * repeated.size()) - 1);
        assertThat(all.percentile(Metric.TTFT_MS, percent))
            .isCloseTo(exact, within(0.0005 + exact * 0.004));
      }
      double mean = repeated.stream().mapToDouble(v -> v).average().orElseThrow();
      assertThat(all.mean(Metric.TTFT_MS)).isCloseTo(mean, within(mean * 1e-9));
      assertThat(all.sum(slice -> slice.of(Amount.TOKENS))).isEqualTo(repeated.size());
      assertThat(all.percentile(Metric.ITL_MS, 50)).isNull();
      assertThat(all.mean(Metric.ITL_MS)).isNull();
    }
  }

  @Test
  void secondsEqualTheWindow() throws IOException {
    RunInfo info = Runs.run(12, Runs.stage(1, 0, 12_000));
    List<RequestRecord> one = List.of(Recorded.at(0).tokens(5).record());
    SliceSample sample = ComparedRun.read(info, null, Runs.source(one)).sampleOf(0);
    int[] once = new int[COUNT];
    Arrays.fill(once, 1);

    assertThat(new Weighted(List.of(sample), List.of(once)).seconds()).isCloseTo(12, within(1e-9));
    assertThat(sample.slices().get(0).of(Amount.STARTED)).isEqualTo(1);
  }

  @Test
  void emptySampleIsZero() {
    Cell slice = Cell.ofSlice();
    slice.add(Metric.TTFT_MS, 0, 2);
    slice.add(Metric.TTFT_MS, 5, 0);
    ValueRecorder values = slice.values(Metric.TTFT_MS);

    assertThat(values.count()).isEqualTo(2);
    assertThat(ValueRecorder.coarseMiddle(values.first())).isZero();
  }

  /** The middle of a bin is within 0.4 % of its values, and in steps of a thousandth. */
  @Test
  void binsFollowEachOther() {
    int before = -1;
    for (double value = 0; value < 1e12; value = value * 1.001 + 0.0005) {
      int bin = ValueRecorder.coarseBin(value);
      assertThat(bin).isBetween(before, before + 1);
      assertThat(ValueRecorder.coarseMiddle(bin)).isCloseTo(value, within(0.0005 + value * 0.004));
      before = bin;
    }
    assertThat(ValueRecorder.coarseBin(-1)).isZero();
    assertThat(ValueRecorder.coarseMiddle(ValueRecorder.coarseBin(Double.MAX_VALUE))).isPositive();
  }
}
