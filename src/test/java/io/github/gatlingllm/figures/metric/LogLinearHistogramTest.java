package io.github.gatlingllm.figures.metric;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LogLinearHistogramTest {

  private record Bin(long high, long count) {}

  /** Values of all magnitudes in any order, compared with HdrHistogram. */
  @ParameterizedTest
  @CsvSource({"2, 1", "2, 2000", "3, 7", "3, 5000"})
  void sameAsHdrHistogram(int digits, int values) {
    Random random = new Random(values);
    LogLinearHistogram ours = new LogLinearHistogram(digits);
    Histogram theirs = new Histogram(digits);
    for (int i = 0; i < values; i++) {
      long value = random.nextLong() >>> (1 + random.nextInt(63));
      int weight = 1 + random.nextInt(3);
      ours.add(value, weight);
      theirs.recordValueWithCount(value, weight);
    }
    for (double percent : new double[] {0, 0.1, 1, 25, 50, 75, 90, 99, 99.9, 100}) {
      assertThat(ours.percentile(percent))
          .as("p%s", percent)
          .isEqualTo(
              percent == 0
                  ? theirs.highestEquivalentValue(theirs.getMinValue())
                  : theirs.getValueAtPercentile(percent));
    }
    List<Bin> bins = new ArrayList<>();
    ours.forEach((low, high, count) -> bins.add(new Bin(high, count)));
    List<Bin> expected = new ArrayList<>();
    theirs
        .recordedValues()
        .forEach(
            v ->
                expected.add(
                    new Bin(v.getValueIteratedTo(), v.getCountAddedInThisIterationStep())));
    assertThat(bins).isEqualTo(expected);
    assertThat(ours.low()).isEqualTo(theirs.getMinValue());
    assertThat(ours.high()).isEqualTo(theirs.getMaxValue());
    assertThat(ours.total()).isEqualTo(theirs.getTotalCount());
  }

  @Test
  void extremes() {
    LogLinearHistogram values = new LogLinearHistogram(3);
    assertThat(values.percentile(50)).isZero();
    assertThat(values.high()).isZero();
    values.add(Long.MAX_VALUE, 3_000_000_000L);
    values.add(-5, 1);
    assertThat(values.low()).isZero();
    assertThat(values.high()).isEqualTo(Long.MAX_VALUE);
    assertThat(values.total()).isEqualTo(3_000_000_001L);
    assertThat(values.percentile(50)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void sumOfTwo() {
    LogLinearHistogram some = new LogLinearHistogram(2);
    LogLinearHistogram more = new LogLinearHistogram(2);
    LogLinearHistogram all = new LogLinearHistogram(2);
    for (int i = 1; i <= 1_000; i++) {
      (i % 3 == 0 ? some : more).add(i * 977L, i);
      all.add(i * 977L, i);
    }
    some.add(more);
    List<String> joined = new ArrayList<>();
    some.forEach((low, high, count) -> joined.add(low + "-" + high + ": " + count));
    List<String> expected = new ArrayList<>();
    all.forEach((low, high, count) -> expected.add(low + "-" + high + ": " + count));
    assertThat(joined).isEqualTo(expected);
  }
}
