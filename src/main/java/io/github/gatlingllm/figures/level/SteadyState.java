package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Amount;
import io.github.gatlingllm.figures.metric.LevelFigures.Drift;
import io.github.gatlingllm.figures.metric.LevelFigures.Steadiness;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleFunction;
import java.util.stream.IntStream;
import org.apache.commons.statistics.distribution.NormalDistribution;
import org.apache.commons.statistics.distribution.TDistribution;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a load level was in steady state over its measure window, from three series over
 * time: mean TTFT and mean E2E from schedule of ok requests by schedule, output tok/s by arrival.
 *
 * <p>First the start: of all splits into first values, at most half of all, and the rest, the one
 * whose means differ the most by Student's t. The first values are a transient if they differ
 * beyond chance, are at most a quarter of all and have another median; the level is steady after
 * them. Then the trend of the rest, by Mann–Kendall: a level with a trend is not steady.
 *
 * <p>Neighbouring values are correlated, which lets random waves look like trends. The variance of
 * both tests is therefore raised by (1 + φ) ÷ (1 − φ) (Yue and Wang 2004), where φ is the
 * {@linkplain TimeSlice#upper correlation} of the residuals, of times on a logarithmic scale. For
 * the trend, residuals are taken from a fitted parabola; where hardly any variance remains, φ is 0.
 *
 * <p>The probabilities are those of all six tests of a level together; {@code check.LoadChecks}
 * corrects them for all levels of a run (Holm 1979). {@code SteadyStateTest} holds the error rates.
 *
 * @see <a href="https://doi.org/10.1023/B:WARM.0000043140.61082.60">Yue, Wang 2004</a>
 */
final class SteadyState {

  private static final long MIN_NANOS = 20_000_000_000L;
  private static final int MIN_REQUESTS = 40;
  private static final double MIN_PER_VALUE = 5;

  /** Number of tests: start and trend of three series. */
  private static final int TESTS = 6;

  /** Share of the variance below which the residuals of a parabola are not taken as noise. */
  private static final double UNEXPLAINED = 0.03;

  /** Factor on the probability of a transient: waiting times have longer tails than t. */
  private static final double LONG_TAILS = 25;

  /** The smallest relevant change; a smaller one does not hide another finding. */
  private static final double RELEVANT = 0.2;

  private SteadyState() {}

  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Series(
      String name, double[] sums, double[] weights, boolean isTime, DoubleFunction<String> digits) {

    int size() {
      return sums.length;
    }

    double mean(int from, int to) {
      double sum = Arrays.stream(sums, from, to).sum();
      return sum / Arrays.stream(weights, from, to).sum();
    }

    /** The values from a position on, logarithms of times; a gap has the value before it. */
    double[] values(int from) {
      double[] values = new double[size() - from];
      double last = mean(from, size());
      for (int i = 0; i < values.length; i++) {
        last = weights[from + i] == 0 ? last : sums[from + i] / weights[from + i];
        values[i] = isTime ? Math.log(Math.max(1e-3, last)) : last;
      }
      return values;
    }

    double median(int from, int to) {
      double[] sorted =
          IntStream.range(from, to)
              .filter(i -> weights[i] > 0)
              .mapToDouble(i -> sums[i] / weights[i])
              .sorted()
              .toArray();
      return sorted.length == 0 ? 0 : sorted[sorted.length / 2];
    }

    Drift drift(double from, double to, double chance, @Nullable Double steadyFromS) {
      double mean = (from + to) / 2;
      return new Drift(
          name,
          mean == 0 ? 0 : Math.abs(to - from) / mean,
          digits.apply(from),
          digits.apply(to),
          to > from,
          Math.min(1, chance),
          steadyFromS);
    }
  }

  static Steadiness of(long windowNanos, List<Cell> slices) {
    double requests =
        slices.stream().mapToDouble(s -> s.values(Metric.E2E_FROM_SCHEDULE_MS).count()).sum();
    if (windowNanos < MIN_NANOS || requests < MIN_REQUESTS) {
      return new Steadiness(false, null);
    }
    int length = 1;
    while (length < 4 && requests * length / slices.size() < MIN_PER_VALUE) {
      length++;
    }
    double seconds = windowNanos / 1e9 / slices.size() * length;
    List<Drift> starts = new ArrayList<>();
    List<Drift> trends = new ArrayList<>();
    for (Series series :
        List.of(
            times(slices, length, Metric.TTFT_FROM_SCHEDULE_MS),
            times(slices, length, Metric.E2E_FROM_SCHEDULE_MS),
            rate(slices, length, seconds))) {
      if (Arrays.stream(series.weights).filter(w -> w > 0).count() > series.size() / 2) {
        judge(series, seconds, starts, trends);
      }
    }
    return new Steadiness(true, worst(starts, trends));
  }

  private static Series times(List<Cell> slices, int length, Metric metric) {
    double[] sums = new double[slices.size() / length];
    double[] counts = new double[sums.length];
    for (int i = 0; i < slices.size(); i++) {
      ValueRecorder values = slices.get(i).values(metric);
      sums[i / length] += values.sum();
      counts[i / length] += values.count();
    }
    return new Series(metric.title(), sums, counts, true, NumberText::ms);
  }

  private static Series rate(List<Cell> slices, int length, double seconds) {
    double[] tokens = new double[slices.size() / length];
    for (int i = 0; i < slices.size(); i++) {
      tokens[i / length] += slices.get(i).of(Amount.TOKENS);
    }
    double[] widths = new double[tokens.length];
    Arrays.fill(widths, seconds);
    return new Series("output tok/s", tokens, widths, false, NumberText::number);
  }

  private static void judge(Series series, double seconds, List<Drift> starts, List<Drift> trends) {
    int size = series.size();
    double[] values = series.values(0);
    int cut = farthest(values);
    double chance =
        cut > size / 4 || !hasOtherMedian(series, cut) ? 1 : chance(distance(values, cut), size);
    if (chance < 1) {
      starts.add(series.drift(series.mean(0, cut), series.mean(cut, size), chance, cut * seconds));
    }
    int from = chance < Drift.SIGNIFICANT ? cut : 0;
    int quarter = (size - from) / 4;
    double first = series.mean(from, from + quarter);
    double last = series.mean(size - quarter, size);
    double trend = trend(series.values(from));
    if (Math.signum(last - first) == Math.signum(trend)) {
      double likely = 2 * NormalDistribution.of(0, 1).survivalProbability(Math.abs(trend));
      trends.add(series.drift(first, last, TESTS * likely, null));
    }
  }

  /** A relevant trend, else a relevant start, else the trend that is least likely by chance. */
  private static @Nullable Drift worst(List<Drift> starts, List<Drift> trends) {
    Comparator<Drift> likely = Comparator.comparingDouble(Drift::chance);
    Drift trend =
        trends.stream()
            .filter(d -> d.change() > RELEVANT && d.chance() < Drift.SIGNIFICANT)
            .max(Comparator.comparingDouble(Drift::change))
            .orElse(null);
    if (trend != null) {
      return trend;
    }
    Drift start = starts.stream().filter(d -> d.change() > RELEVANT).min(likely).orElse(null);
    Drift any = trends.stream().min(likely).orElse(null);
    return start != null && (start.chance() < Drift.SIGNIFICANT || any == null) ? start : any;
  }

  /** So that no single outlier is a transient. */
  private static boolean hasOtherMedian(Series series, int cut) {
    double first = series.median(0, cut);
    double rest = series.median(cut, series.size());
    return Math.abs(first - rest) > RELEVANT * (first + rest) / 2;
  }

  /** The number of first values, at most half of all, that differ most from the others. */
  static int farthest(double[] values) {
    return IntStream.rangeClosed(2, Math.max(2, values.length / 2))
        .boxed()
        .max(Comparator.comparingDouble(cut -> distance(values, cut)))
        .orElseThrow();
  }

  /** The distance of the means of the first {@code cut} values and the others ÷ its error. */
  static double distance(double[] values, int cut) {
    int rest = values.length - cut;
    double first = Arrays.stream(values, 0, cut).sum() / cut;
    double last = Arrays.stream(values, cut, values.length).sum() / rest;
    double[] residuals = new double[values.length];
    Arrays.setAll(residuals, i -> values[i] - (i < cut ? first : last));
    double phi = TimeSlice.upper(residuals, 2);
    double variance = squares(residuals) / (values.length - 2);
    double spread = TimeSlice.within(cut, phi) / cut + TimeSlice.within(rest, phi) / rest;
    double difference = Math.abs(first - last);
    boolean isNone = difference <= 1e-9 * Math.abs(last);
    return isNone ? 0 : difference / Math.sqrt(variance * spread);
  }

  /** The probability that first values, any number of them, are that far by chance. */
  static double chance(double distance, int size) {
    double beyond = 2 * TDistribution.of(size - 2.0).survivalProbability(distance);
    return beyond * TESTS * LONG_TAILS * Math.floorDiv(size, 2);
  }

  static double trend(double[] values) {
    return trend(values, phi(values));
  }

  /**
   * Z of the trend of a series by the two-sided Mann–Kendall test: S = Σ sign(xⱼ − xᵢ) over i &lt;
   * j, var S = (n(n − 1)(2n + 5) − Σ t(t − 1)(2t + 5)) ÷ 18 with t the sizes of ties, times (1 + φ)
   * ÷ (1 − φ), Z = (S − sign S) ÷ √var S. Sources: Mann, Nonparametric tests against trend,
   * Econometrica 13 (1945); Kendall, Rank correlation methods (1975).
   */
  static double trend(double[] values, double phi) {
    long s = 0;
    Map<Double, Integer> ties = new HashMap<>();
    for (int j = 0; j < values.length; j++) {
      ties.merge(values[j], 1, Integer::sum);
      for (int i = 0; i < j; i++) {
        s += (long) Math.signum(values[j] - values[i]);
      }
    }
    double variance = spread(values.length);
    for (int size : ties.values()) {
      variance -= spread(size);
    }
    variance *= TimeSlice.slices(phi);
    return variance > 0 ? (s - Long.signum(s)) / Math.sqrt(variance) : 0;
  }

  private static double spread(int n) {
    return n * (n - 1.0) * (2.0 * n + 5) / 18;
  }

  private static double phi(double[] values) {
    double[] rest = withoutParabola(values);
    return squares(rest) <= UNEXPLAINED * squares(without(values, power(values.length, 0)))
        ? 0
        : TimeSlice.upper(rest, 3);
  }

  /** The residuals of a fitted parabola, by orthogonal polynomials. */
  private static double[] withoutParabola(double[] values) {
    double[] even = power(values.length, 0);
    double[] line = without(power(values.length, 1), even);
    double[] bow = without(without(power(values.length, 2), even), line);
    return without(without(without(values, even), line), bow);
  }

  private static double[] power(int length, int exponent) {
    double[] values = new double[length];
    Arrays.setAll(values, i -> Math.pow(2.0 * i / (length - 1) - 1, exponent));
    return values;
  }

  private static double[] without(double[] values, double[] direction) {
    double product = 0;
    for (int i = 0; i < values.length; i++) {
      product += values[i] * direction[i];
    }
    double times = product / squares(direction);
    double[] rest = values.clone();
    for (int i = 0; i < rest.length; i++) {
      rest[i] -= times * direction[i];
    }
    return rest;
  }

  private static double squares(double[] values) {
    return Arrays.stream(values).map(v -> v * v).sum();
  }
}
