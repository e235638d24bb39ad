package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Series.GeneratorBucket;
import io.github.gatlingllm.figures.metric.LevelFigures.GeneratorHealth;
import io.github.gatlingllm.figures.metric.LevelFigures.GeneratorHealth.Interval;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.GeneratorSecond.GeneratorField;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The health of load generators, by injector and over time; at most {@value #MOST} lines. */
final class GeneratorTally {

  /** A day of one injector, or five hours of twenty. */
  private static final int MOST = 400_000;

  private final long origin;
  private final TimeBuckets<Sums> overTime;
  private final Map<String, List<Interval>> seconds = new LinkedHashMap<>();
  private int lines;

  GeneratorTally(long origin) {
    this.origin = origin;
    overTime = TimeBuckets.from(origin, 1_000_000_000L, Series.MAX_BUCKETS, Sums::new, Sums::join);
  }

  /** The sums of a bucket; the largest value of a lag. */
  private static final class Sums {
    private double lagP99Ms;
    private double lagMaxMs;
    private double seconds;
    private double machine;
    private double ownMachine;
    private double busy;
    private double stolen;
    private double own;

    private void join(Sums next) {
      lagP99Ms = Math.max(lagP99Ms, next.lagP99Ms);
      lagMaxMs = Math.max(lagMaxMs, next.lagMaxMs);
      seconds += next.seconds;
      machine += next.machine;
      ownMachine += next.ownMachine;
      busy += next.busy;
      stolen += next.stolen;
      own += next.own;
    }

    private void add(GeneratorSecond second) {
      double length = second.number(GeneratorField.LENGTH_S) / 1e9;
      lagP99Ms = Math.max(lagP99Ms, second.largest(GeneratorField.LOOP_LAG_P99_US) / 1e3);
      lagMaxMs = Math.max(lagMaxMs, second.largest(GeneratorField.LOOP_LAG_MAX_US) / 1e3);
      seconds += length;
      double all = machineNanos(second);
      machine += all;
      if (second.has(GeneratorField.PROCESS_CPU_S)) {
        ownMachine += all;
        own += second.number(GeneratorField.PROCESS_CPU_S);
      }
      busy += all - second.number(GeneratorField.MACHINE_IDLE_S);
      stolen += second.number(GeneratorField.MACHINE_STEAL_S);
    }

    private @Nullable GeneratorBucket bucket(double startS) {
      return seconds == 0
          ? null
          : new GeneratorBucket(
              startS,
              lagP99Ms,
              lagMaxMs,
              share(own, ownMachine),
              share(busy, machine),
              share(stolen, machine));
    }
  }

  /** CPU time of all processors in nanoseconds; 0 where the system does not report it. */
  private static double machineNanos(GeneratorSecond second) {
    return !second.has(GeneratorField.MACHINE_IDLE_S)
        ? 0
        : (double) second.number(GeneratorField.MACHINE_USER_S)
            + second.number(GeneratorField.MACHINE_SYSTEM_S)
            + second.number(GeneratorField.MACHINE_IDLE_S)
            + second.number(GeneratorField.MACHINE_STEAL_S);
  }

  private static @Nullable Double share(double part, double whole) {
    return whole <= 0 ? null : (Double) (part / whole);
  }

  void add(GeneratorSecond second) {
    if (lines++ >= MOST) {
      return;
    }
    long from = second.number(GeneratorField.START_UNIX_NS);
    if (from >= origin) {
      overTime.at(from).add(second);
    }
    String injector = second.injector();
    double all = machineNanos(second);
    seconds
        .computeIfAbsent(injector == null ? "" : injector, i -> new ArrayList<>())
        .add(
            new Interval(
                (from - origin) / 1e9,
                (from - origin + second.number(GeneratorField.LENGTH_S)) / 1e9,
                second.largest(GeneratorField.LOOP_LAG_MAX_US) / 1e3,
                second.numbers(GeneratorField.LATEST_LOOP_US),
                share((double) second.number(GeneratorField.MACHINE_IDLE_S), all),
                second.has(GeneratorField.PROCESS_CPU_S)
                    ? share((double) second.number(GeneratorField.PROCESS_CPU_S), all)
                    : null,
                share((double) second.number(GeneratorField.MACHINE_STEAL_S), all),
                second.number(GeneratorField.COMPILER_S) / 1e9,
                second.number(GeneratorField.GC_PAUSE_MAX_S) / 1e6));
  }

  /** The health of each injector in some windows: of the seconds whose middle lies in one. */
  List<GeneratorHealth> in(List<LevelTally> windows) {
    List<GeneratorHealth> all = new ArrayList<>();
    seconds.forEach(
        (injector, of) -> {
          List<Interval> within =
              of.stream()
                  .filter(second -> windows.stream().anyMatch(in -> isIn(in, second)))
                  .toList();
          if (!within.isEmpty()) {
            all.add(new GeneratorHealth(injector, within));
          }
        });
    return all;
  }

  private boolean isIn(LevelTally window, Interval second) {
    double at = (second.fromS() + second.untilS()) / 2;
    return at >= (window.from - origin) / 1e9 && at < (window.to - origin) / 1e9;
  }

  /** The buckets in order of time, without those that no line falls into. */
  List<GeneratorBucket> buckets() {
    List<GeneratorBucket> buckets = new ArrayList<>();
    double width = overTime.width() / 1e9;
    List<Sums> all = overTime.all();
    for (int i = 0; i < all.size(); i++) {
      GeneratorBucket bucket = all.get(i).bucket(i * width);
      if (bucket != null) {
        buckets.add(bucket);
      }
    }
    return buckets;
  }
}
