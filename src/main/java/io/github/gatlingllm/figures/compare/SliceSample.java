package io.github.gatlingllm.figures.compare;

import io.github.gatlingllm.figures.level.Cell;
import io.github.gatlingllm.figures.level.TimeSlice.Autocorrelation;
import io.github.gatlingllm.figures.metric.Amount;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.record.TokenGaps;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** The time slices of a load level, with cumulative counts of histogram bins for resampling. */
record SliceSample(List<Cell> slices, double seconds, Map<Metric, Cumulative> metrics) {

  SliceSample(List<Cell> slices, double seconds) {
    this(slices, seconds, new EnumMap<>(Metric.class));
  }

  /** Row {@code i} holds, by slice, the number of values below bin {@code first + i + 1}. */
  @SuppressWarnings("ArrayRecordComponent") // read in the innermost loop
  private record Cumulative(int first, int[][] below) {

    int end() {
      return first + below.length;
    }

    /** Number of values in {@code bin} or below, each slice counted {@code weights} times. */
    long upTo(int bin, int[] weights) {
      if (below.length == 0 || bin < first) {
        return 0;
      }
      int[] bySlice = below[Math.min(bin - first, below.length - 1)];
      long sum = 0;
      for (int i = 0; i < weights.length; i++) {
        sum += (long) weights[i] * bySlice[i];
      }
      return sum;
    }
  }

  /** Of a rate or a share, else of the mean of a metric. */
  double missedBy(int length, Metric metric) {
    Metric.Terms terms = metric.terms();
    return terms == null
        ? Autocorrelation.missedBy(
            length,
            each(slice -> slice.values(metric).sum()),
            each(slice -> slice.values(metric).count()))
        : Autocorrelation.missedBy(
            length,
            each(slice -> amount(slice, terms.part())),
            each(slice -> amount(slice, terms.whole())));
  }

  /** An amount of a slice; 1 for its length, since all slices are equally long. */
  private static double amount(Cell slice, @Nullable Amount amount) {
    return amount == null ? 1 : slice.of(amount);
  }

  private double[] each(ToDoubleFunction<Cell> value) {
    return slices.stream().mapToDouble(value).toArray();
  }

  private Cumulative cumulative(Metric metric) {
    return metrics.computeIfAbsent(metric, this::cumulated);
  }

  private Cumulative cumulated(Metric metric) {
    List<ValueRecorder> bySlice = slices.stream().map(slice -> slice.values(metric)).toList();
    List<ValueRecorder> known = bySlice.stream().filter(values -> values.count() > 0).toList();
    int first = known.stream().mapToInt(ValueRecorder::first).min().orElse(0);
    int end = known.stream().mapToInt(ValueRecorder::end).max().orElse(0);
    int[][] below = new int[end - first][];
    int[] sums = new int[bySlice.size()];
    for (int bin = first; bin < end; bin++) {
      for (int s = 0; s < sums.length; s++) {
        sums[s] += (int) bySlice.get(s).count(bin);
      }
      below[bin - first] = sums.clone();
    }
    return new Cumulative(first, below);
  }

  /** A resample of several load levels: each slice counts as often as its weight. */
  record Weighted(List<SliceSample> stages, List<int[]> weights) {

    double sum(ToDoubleFunction<Cell> part) {
      double sum = 0;
      for (int s = 0; s < stages.size(); s++) {
        List<Cell> slices = stages.get(s).slices;
        int[] times = weights.get(s);
        for (int i = 0; i < times.length; i++) {
          sum += times[i] == 0 ? 0 : times[i] * part.applyAsDouble(slices.get(i));
        }
      }
      return sum;
    }

    double seconds() {
      double seconds = 0;
      for (int s = 0; s < stages.size(); s++) {
        for (int times : weights.get(s)) {
          seconds += times * stages.get(s).seconds;
        }
      }
      return seconds;
    }

    @Nullable Double mean(Metric metric) {
      double count = sum(slice -> slice.values(metric).count());
      return count == 0 ? null : (Double) (sum(slice -> slice.values(metric).sum()) / count);
    }

    /** The nearest-rank percentile, as the middle of its bin; null without a value. */
    @Nullable Double percentile(Metric metric, double percent) {
      int low = Integer.MAX_VALUE;
      int high = -1;
      for (SliceSample stage : stages) {
        Cumulative counts = stage.cumulative(metric);
        if (counts.below.length > 0) {
          low = Math.min(low, counts.first);
          high = Math.max(high, counts.end() - 1);
        }
      }
      long count = upTo(metric, high);
      if (count == 0) {
        return null;
      }
      long rank = TokenGaps.rank(percent, count);
      while (low < high) {
        int middle = (low + high) >>> 1;
        if (upTo(metric, middle) >= rank) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      return ValueRecorder.coarseMiddle(low);
    }

    /**
     * Effective number of slices that the values at and above a percentile come from: (Σ n)² ÷ Σ n²
     * with n values in a slice; 0 without a value. Near saturation these are few slices.
     */
    double slicesFrom(Metric metric, double percent) {
      Double value = percentile(metric, percent);
      double sum = 0;
      double squares = 0;
      for (SliceSample stage : value == null ? List.<SliceSample>of() : stages) {
        for (Cell slice : stage.slices) {
          ValueRecorder values = slice.values(metric);
          double above = values.count() - values.upTo(ValueRecorder.coarseBin(value) - 1);
          sum += above;
          squares += above * above;
        }
      }
      return squares == 0 ? 0 : sum * sum / squares;
    }

    private long upTo(Metric metric, int bin) {
      long sum = 0;
      for (int s = 0; s < stages.size(); s++) {
        sum += stages.get(s).cumulative(metric).upTo(bin, weights.get(s));
      }
      return sum;
    }
  }
}
