package io.github.gatlingllm.figures.compare;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.compare.Comparison.ComparedRun;
import io.github.gatlingllm.figures.level.Cell;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.figures.level.TimeSlice;
import io.github.gatlingllm.figures.metric.Amount;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class SliceSampleTest {

  private static final int COUNT = TimeSlice.COUNT;
  private static final int SAMPLES = 400;

  private final Random random = new Random(3);

  /** Figures of two levels together, on their scale. */
  private static final Map<String, ToDoubleFunction<List<SliceSample>>> FIGURES =
      new LinkedHashMap<>();

  static {
    FIGURES.put(
        "ttft.mean", of -> Math.log(sum(of, ValueRecorder::sum) / sum(of, ValueRecorder::count)));
    FIGURES.put("ttft.p50", of -> Math.log(percentile(of, Metric.TTFT_MS, 50)));
    FIGURES.put("ttft.p99", of -> Math.log(percentile(of, Metric.TTFT_MS, 99)));
    FIGURES.put("output_tokens_per_s", of -> Math.log(sum(of, Amount.TOKENS)));
    FIGURES.put("errors", of -> 100 * sum(of, Amount.FAILED) / sum(of, Amount.ENDED));
    FIGURES.put(
        "jitter",
        of -> Math.log(percentile(of, Metric.ITL_MS, 99) / percentile(of, Metric.ITL_MS, 50)));
  }

  /**
   * The largest of four estimates is somewhat too large, the more so where there are few values.
   */
  @Test
  @Tag("nightly")
  void errorsAreThoseOfManySamples() {
    Map<String, Moments> values = new LinkedHashMap<>();
    Map<String, Moments> errors = new LinkedHashMap<>();
    for (int i = 0; i < SAMPLES; i++) {
      List<SliceSample> levels = List.of(level(100, 1), level(300, 2));
      FIGURES.forEach(
          (name, value) -> {
            SliceSample.Pulls pulls =
                requireNonNull(SliceSample.pulls(levels, new ComparedFigure(Figure.parse(name))));
            double each = value.applyAsDouble(levels);
            values.computeIfAbsent(name, key -> new Moments()).add(each, 1);
            errors.computeIfAbsent(name, key -> new Moments()).add(pulls.noise().error(), 1);
          });
    }
    values.forEach(
        (name, moments) ->
            assertThat(errors.get(name).mean() / moments.std()).as(name).isBetween(1.0, 2.0));
  }

  private SliceSample level(double mean, double seconds) {
    List<Cell> slices = Stream.generate(Cell::ofSlice).limit(COUNT).toList();
    for (Cell slice : slices) {
      for (int n = 5 + random.nextInt(30); n > 0; n--) {
        slice.add(Metric.TTFT_MS, 20 - mean * Math.log(1 - random.nextDouble()), 1);
        slice.add(Metric.ITL_MS, 5 - 10 * Math.log(1 - random.nextDouble()), 1);
        slice.add(Amount.TOKENS, random.nextInt(100));
        slice.add(Amount.ENDED, 1);
        slice.add(Amount.FAILED, random.nextInt(10) == 0 ? 1 : 0);
      }
    }
    return new SliceSample(slices, seconds);
  }

  private static double sum(List<SliceSample> levels, ToDoubleFunction<ValueRecorder> value) {
    return slices(levels).mapToDouble(s -> value.applyAsDouble(s.values(Metric.TTFT_MS))).sum();
  }

  private static double sum(List<SliceSample> levels, Amount amount) {
    return slices(levels).mapToDouble(slice -> slice.of(amount)).sum();
  }

  private static double percentile(List<SliceSample> levels, Metric metric, double percent) {
    ValueRecorder all = ValueRecorder.coarse();
    slices(levels).forEach(slice -> all.add(slice.values(metric)));
    return all.interpolatedAt(percent / 100 * all.count());
  }

  private static Stream<Cell> slices(List<SliceSample> levels) {
    return levels.stream().flatMap(level -> level.slices().stream());
  }

  /** All above the p99 lie in one slice: one degree of freedom. */
  @Test
  void fewSlicesOfHighValuesHaveFewDegreesOfFreedom() {
    SliceSample level = level(100, 1);
    level.slices().get(7).add(Metric.TTFT_MS, 60_000, 100);
    List<SliceSample> sample = List.of(level);

    ComparedFigure p99 = new ComparedFigure(Figure.parse("ttft.p99"));
    assertThat(requireNonNull(SliceSample.pulls(sample, p99)).noise().freedom()).isEqualTo(1);
    ComparedFigure p50 = new ComparedFigure(Figure.parse("ttft.p50"));
    assertThat(requireNonNull(SliceSample.pulls(sample, p50)).noise().freedom()).isGreaterThan(3);
  }

  /** Neither a sum of nothing nor a percentile of 0 ms has a logarithm. */
  @Test
  void figuresWithoutValueHaveNoPulls() {
    List<Cell> slices = new ArrayList<>();
    for (int i = 0; i < COUNT; i++) {
      slices.add(Cell.ofSlice());
      slices.get(i).add(Metric.QUEUE_WAIT_MS, i % 2, 1);
    }
    List<SliceSample> sample = List.of(new SliceSample(slices, 1));
    for (String name :
        List.of("ttft.mean", "ttft.p99", "jitter", "output_tokens_per_s", "errors")) {
      assertThat(SliceSample.pulls(sample, new ComparedFigure(Figure.parse(name))))
          .as(name)
          .isNull();
    }
    ComparedFigure p50 = new ComparedFigure(Figure.parse(Metric.QUEUE_WAIT_MS.figure() + ".p50"));
    assertThat(SliceSample.pulls(sample, p50)).isNull();
    ComparedFigure p99 = new ComparedFigure(Figure.parse(Metric.QUEUE_WAIT_MS.figure() + ".p99"));
    assertThat(SliceSample.pulls(sample, p99)).isNotNull();
  }

  @Test
  void secondsEqualTheWindow() throws IOException {
    RunInfo info = Runs.run(12, Runs.stage(1, 0, 12_000));
    List<RequestRecord> one = List.of(Recorded.at(0).tokens(5).record());
    SliceSample level = requireNonNull(ComparedRun.read(info, null, Runs.source(one)).sampleOf(0));

    assertThat(level.seconds() * COUNT).isCloseTo(12, within(1e-9));
    assertThat(level.slices().get(0).of(Amount.STARTED)).isEqualTo(1);
  }

  private static ValueRecorder recorded(double one, long often, double other, long more) {
    Cell slice = Cell.ofSlice();
    slice.add(Metric.TTFT_MS, one, often);
    slice.add(Metric.TTFT_MS, other, more);
    return slice.values(Metric.TTFT_MS);
  }

  @Test
  void emptySampleIsZero() {
    ValueRecorder values = recorded(0, 2, 5, 0);

    assertThat(values.count()).isEqualTo(2);
    assertThat(ValueRecorder.coarseMiddle(values.first())).isZero();
    assertThat(values.interpolatedAt(2)).isZero();
  }

  /** 100 ms and 200 ms lie in bins of 0.511 and 1.023 ms, the first of which begins at 99.84 ms. */
  @Test
  void valuesByRank() {
    ValueRecorder values = recorded(100, 4, 200, 4);

    assertThat(values.interpolatedAt(-3)).isEqualTo(values.interpolatedAt(1));
    assertThat(values.interpolatedAt(2)).isEqualTo(99.84 + 0.511 / 2, within(1e-9));
    assertThat(values.interpolatedAt(5)).isCloseTo(200, within(1.1));
    assertThat(values.interpolatedAt(99)).isEqualTo(values.interpolatedAt(8));
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
