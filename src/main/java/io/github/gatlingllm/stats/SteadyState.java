package io.github.gatlingllm.stats;

import io.github.gatlingllm.check.CheckInput.Drift;
import io.github.gatlingllm.check.CheckInput.Steadiness;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.stats.Windows.LevelWindow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Whether one stage was in steady state over its measure window, from three series of {@value
 * #SLICES} slices each: mean TTFT and mean E2E from schedule of ok requests by schedule, output
 * tok/s by arrival.
 *
 * <p>A series drifts when both hold: its {@linkplain Trend Mann–Kendall trend} is significant at 1
 * % (two-sided, divided among the three series after Bonferroni: |Z| &gt; 2.935), and the means of
 * its first and last quarter differ by more than 20 % of their mean. The first keeps noise out, the
 * second what is certain and small. Slice means stand for the batch means of White, An effective
 * truncation heuristic for bias reduction in simulation output, Simulation 69 (1997): the raw
 * series would not fit into bounded memory.
 *
 * <p>Windows of less than 20 s, stages of fewer than 40 ok requests, batch trials, and rate curves
 * and traces, whose load changes by plan, are not judged.
 */
final class SteadyState {

  private static final double SIGNIFICANT_Z = 2.935;
  private static final long LEAST_NANOS = 20_000_000_000L;
  private static final int LEAST_REQUESTS = 40;

  /** A multiple of 4. */
  private static final int SLICES = 20;

  private final LevelWindow window;
  private final TimeBuckets<Slice> slices;
  private long requests;

  SteadyState(LevelWindow window) {
    this.window = window;
    slices = TimeBuckets.within(window.from(), window.nanos(), SLICES, Slice::new);
  }

  private static final class Slice {
    private final Mean ttftMs = new Mean();
    private final Mean e2eMs = new Mean();
    private double tokens;
  }

  private static final class Mean {
    private double sum;
    private long count;

    private void add(@Nullable Long nanos) {
      if (nanos != null) {
        sum += nanos / 1e6;
        count++;
      }
    }
  }

  /** The stage that is judged. */
  LevelInfo stage() {
    return window.level();
  }

  /** Adds a request that was scheduled in measure. */
  void add(RequestRecord record) {
    if (!record.outcome().ok() || record.identity().trial() != null) {
      return;
    }
    RequestRecord.Timing t = record.timing();
    if (window.contains(t.scheduledUnixNanos())) {
      requests++;
      Slice slice = slices.at(t.scheduledUnixNanos());
      slice.ttftMs.add(t.ttftFromScheduleNanos());
      slice.e2eMs.add(t.latencyFromScheduleNanos());
    }
  }

  /** Adds tokens of any request, at their arrival in the window. */
  void tokens(long unixNanos, double count) {
    slices.at(unixNanos).tokens += count;
  }

  /** Null when there is too little to judge by. */
  @Nullable Steadiness steadiness() {
    if (!window.level().isSteadyByPlan()
        || window.nanos() < LEAST_NANOS
        || requests < LEAST_REQUESTS) {
      return null;
    }
    List<Drift> drifts = new ArrayList<>();
    collect(
        drifts,
        Metric.TTFT_FROM_SCHEDULE_MS.title(),
        ofMeans(slice -> slice.ttftMs),
        NumberText::ms);
    collect(
        drifts, Metric.E2E_FROM_SCHEDULE_MS.title(), ofMeans(slice -> slice.e2eMs), NumberText::ms);
    collect(drifts, "output tok/s", ofRates(), NumberText::number);
    Drift largest = drifts.stream().max(Comparator.comparingDouble(Drift::change)).orElse(null);
    return new Steadiness(largest);
  }

  /** The trend of a slice's mean; slices without a value are left out. */
  private @Nullable Trend ofMeans(Function<Slice, Mean> series) {
    List<Mean> means = slices.all().stream().map(series).toList();
    double first = mean(means.subList(0, SLICES / 4));
    double last = mean(means.subList(SLICES - SLICES / 4, SLICES));
    double[] values =
        means.stream().filter(m -> m.count > 0).mapToDouble(m -> m.sum / m.count).toArray();
    return Double.isNaN(first) || Double.isNaN(last) ? null : Trend.of(values, first, last);
  }

  /** Of all values; NaN without one. */
  private static double mean(List<Mean> slices) {
    double sum = 0;
    long count = 0;
    for (Mean slice : slices) {
      sum += slice.sum;
      count += slice.count;
    }
    return sum / count;
  }

  /** The trend of tokens per second of a slice; one without tokens has 0. */
  private @Nullable Trend ofRates() {
    double sliceSeconds = window.nanos() / 1e9 / SLICES;
    double[] rates =
        slices.all().stream().mapToDouble(slice -> slice.tokens / sliceSeconds).toArray();
    return Trend.of(rates, mean(rates, 0), mean(rates, SLICES - SLICES / 4));
  }

  /** Of a quarter of the slices. */
  private static double mean(double[] rates, int from) {
    return Arrays.stream(rates, from, from + SLICES / 4).average().orElse(0);
  }

  private static void collect(
      List<Drift> drifts, String what, @Nullable Trend trend, DoubleFunction<String> digits) {
    if (trend != null && trend.isBeyond(SIGNIFICANT_Z)) {
      drifts.add(
          new Drift(
              what,
              trend.change(),
              digits.apply(trend.from()),
              digits.apply(trend.to()),
              trend.z() > 0));
    }
  }

  /**
   * Whether a series goes one way, by the two-sided Mann–Kendall test: S = Σ sign(xⱼ − xᵢ) over i
   * &lt; j, var S = (n(n − 1)(2n + 5) − Σ t(t − 1)(2t + 5)) ÷ 18 with t the sizes of ties, Z = (S −
   * sign S) ÷ √var S. Sources: Mann, Nonparametric tests against trend, Econometrica 13 (1945);
   * Kendall, Rank correlation methods (1975).
   *
   * @param from the mean of its first quarter
   * @param to the mean of its last quarter
   * @param z 0 without a trend, positive when it grows; standard normal when nothing changes
   */
  record Trend(double from, double to, double z) {

    /** From so many values on S is close to normal (Kendall 1975). */
    private static final int LEAST = 10;

    /** Of values in order of time; null for fewer than 10. */
    static @Nullable Trend of(double[] values, double from, double to) {
      if (values.length < LEAST) {
        return null;
      }
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
      double z = variance > 0 ? (s - Long.signum(s)) / Math.sqrt(variance) : 0;
      return new Trend(from, to, z);
    }

    private static double spread(int n) {
      return n * (n - 1.0) * (2.0 * n + 5) / 18;
    }

    /** Whether the test finds one at |Z| &gt; {@code least}, and the quarters go its way. */
    boolean isBeyond(double least) {
      return Math.abs(z) > least && Math.signum(to - from) == Math.signum(z);
    }

    /** Difference of the quarters ÷ their mean, ≥ 0; 0 where both are 0. */
    double change() {
      double mean = (from + to) / 2;
      return mean == 0 ? 0 : Math.abs(to - from) / mean;
    }
  }
}
