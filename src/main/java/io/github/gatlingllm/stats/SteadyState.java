package io.github.gatlingllm.stats;

import io.github.gatlingllm.check.CheckInput.Drift;
import io.github.gatlingllm.check.CheckInput.Steadiness;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.stats.Windows.LevelWindow;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Whether one stage was in steady state over its measure window, from three series of {@value
 * Slices#COUNT} slices each: mean TTFT and mean E2E from schedule of ok requests by schedule,
 * output tok/s by arrival.
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

  private final LevelWindow window;
  private final Slices ttftMs;
  private final Slices e2eMs;
  private final Slices tokens;
  private long requests;

  SteadyState(LevelWindow window) {
    this.window = window;
    ttftMs = new Slices(window);
    e2eMs = new Slices(window);
    tokens = new Slices(window);
  }

  /** The stage that is judged. */
  LevelInfo stage() {
    return window.stage();
  }

  /** Adds a request that was scheduled in measure. */
  void add(RequestRecord record) {
    if (!record.outcome().ok() || record.identity().trial() != null) {
      return;
    }
    RequestRecord.Timing t = record.timing();
    requests += window.contains(t.scheduledUnixNanos()) ? 1 : 0;
    time(ttftMs, t.scheduledUnixNanos(), t.ttftFromScheduleNanos());
    time(e2eMs, t.scheduledUnixNanos(), t.latencyFromScheduleNanos());
  }

  private static void time(Slices slices, long scheduled, @Nullable Long nanos) {
    if (nanos != null) {
      slices.add(scheduled, nanos / 1e6);
    }
  }

  /** Adds tokens of any request, at their arrival. */
  void tokens(long unixNanos, double count) {
    tokens.add(unixNanos, count);
  }

  /** Null when there is too little to judge by. */
  @Nullable Steadiness steadiness() {
    if (!window.stage().isSteadyByPlan()
        || window.nanos() < LEAST_NANOS
        || requests < LEAST_REQUESTS) {
      return null;
    }
    List<Drift> drifts = new ArrayList<>();
    collect(drifts, Metric.TTFT_FROM_SCHEDULE_MS.title(), ttftMs.ofMeans(), NumberText::ms);
    collect(drifts, Metric.E2E_FROM_SCHEDULE_MS.title(), e2eMs.ofMeans(), NumberText::ms);
    collect(drifts, "output tok/s", tokens.ofRates(), NumberText::number);
    Drift largest = drifts.stream().max(Comparator.comparingDouble(Drift::change)).orElse(null);
    return new Steadiness(largest);
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
