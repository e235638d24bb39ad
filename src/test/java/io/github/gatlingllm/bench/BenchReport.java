package io.github.gatlingllm.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Measured values with their bounds, printed one by one. */
final class BenchReport {

  private final List<String> missed = new ArrayList<>();

  /** A value with an upper bound. */
  void atMost(String name, double value, double bound, String unit) {
    print(name, value, "<=", bound, unit, value <= bound);
  }

  /** A value with a lower bound. */
  void atLeast(String name, double value, double bound, String unit) {
    print(name, value, ">=", bound, unit, value >= bound);
  }

  /** A value without a bound. */
  void say(String name, double value, String unit) {
    System.out.printf(Locale.ROOT, "%-52s %12.3f %s%n", name, value, unit);
  }

  private void print(
      String name, double value, String relation, double bound, String unit, boolean holds) {
    System.out.printf(
        Locale.ROOT,
        "%-52s %12.3f %-6s %s %.3f %s%n",
        name,
        value,
        unit,
        relation,
        bound,
        holds ? "" : "MISSED");
    if (!holds) {
      missed.add(name);
    }
  }

  /** Names of the values outside their bounds. */
  List<String> missed() {
    return List.copyOf(missed);
  }

  /** The nearest-rank quantile. */
  static double quantile(double[] values, double share) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[Math.max(0, (int) Math.ceil(share * sorted.length) - 1)];
  }
}
