package io.github.gatlingllm.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Measures on this machine what tests cannot judge, since it depends on the machine's speed, and
 * compares it with bounds that a quiet machine of two processors keeps.
 *
 * <pre>
 * mvn test-compile exec:exec@bench                      all
 * mvn test-compile exec:exec@bench -Dbench=open,closed  some of them
 * </pre>
 *
 * <p>Exit code 1 where a bound is missed. Close other programs first.
 */
public final class Bench {

  /** One program: it runs load and says what it measured. */
  @FunctionalInterface
  interface Measurement {
    void measure(BenchReport report) throws Exception;
  }

  private static final Map<String, Measurement> ALL = all();

  private Bench() {}

  private static Map<String, Measurement> all() {
    Map<String, Measurement> all = new LinkedHashMap<>();
    all.put("accuracy", MeasuredTimes::measure);
    all.put("open", LoadTiming::open);
    all.put("closed", LoadTiming::closed);
    all.put("profiles", LoadTiming::profiles);
    all.put("levels", LevelTiming::trials);
    all.put("search", LevelTiming::search);
    return all;
  }

  /** Runs the measurements of these names, in one argument with commas between; all if none. */
  @SuppressWarnings("SystemExitOutsideMain")
  public static void main(String[] args) throws Exception {
    Set<String> names =
        args.length == 0 || args[0].isBlank() ? ALL.keySet() : Set.of(args[0].split(",", -1));
    if (!ALL.keySet().containsAll(names)) {
      System.err.println("No such measurement in " + names + "; there are " + ALL.keySet());
      System.exit(2);
    }
    BenchReport report = new BenchReport();
    for (Map.Entry<String, Measurement> each : ALL.entrySet()) {
      if (names.contains(each.getKey())) {
        System.out.println("---- " + each.getKey());
        each.getValue().measure(report);
      }
    }
    List<String> missed = report.missed();
    System.out.println(missed.isEmpty() ? "All bounds hold" : "Missed: " + missed);
    System.exit(missed.isEmpty() ? 0 : 1);
  }
}
