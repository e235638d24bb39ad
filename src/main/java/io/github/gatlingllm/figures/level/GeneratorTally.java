package io.github.gatlingllm.figures.level;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import io.github.gatlingllm.figures.level.Series.GeneratorBucket;
import io.github.gatlingllm.figures.metric.LevelFigures.GeneratorHealth;
import io.github.gatlingllm.figures.metric.LevelFigures.GeneratorHealth.Interval;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.GeneratorSecond.GeneratorField;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;

/** The health of load generators, by injector and over time; at most {@value #MOST} lines. */
final class GeneratorTally {

  /** A day of one injector, or five hours of twenty. */
  private static final int MOST = 400_000;

  private final long origin;
  private final Map<String, List<Interval>> seconds = new LinkedHashMap<>();
  private int lines;

  GeneratorTally(long origin) {
    this.origin = origin;
  }

  void add(GeneratorSecond second) {
    if (lines++ >= MOST) {
      return;
    }
    long from = second.number(GeneratorField.START_UNIX_NS) - origin;
    String injector = second.injector();
    double all =
        !second.has(GeneratorField.MACHINE_IDLE_S)
            ? 0
            : (double) second.number(GeneratorField.MACHINE_USER_S)
                + second.number(GeneratorField.MACHINE_SYSTEM_S)
                + second.number(GeneratorField.MACHINE_IDLE_S)
                + second.number(GeneratorField.MACHINE_STEAL_S);
    seconds
        .computeIfAbsent(injector == null ? "" : injector, i -> new ArrayList<>())
        .add(
            new Interval(
                from / 1e9,
                (from + second.number(GeneratorField.LENGTH_S)) / 1e9,
                second.largest(GeneratorField.LOOP_LAG_P99_US) / 1e3,
                second.largest(GeneratorField.LOOP_LAG_MAX_US) / 1e3,
                second.numbers(GeneratorField.LATEST_LOOP_US),
                share(second, GeneratorField.MACHINE_IDLE_S, all),
                second.has(GeneratorField.PROCESS_CPU_S)
                    ? share(second, GeneratorField.PROCESS_CPU_S, all)
                    : null,
                share(second, GeneratorField.MACHINE_STEAL_S, all),
                second.number(GeneratorField.COMPILER_S) / 1e9,
                second.number(GeneratorField.GC_PAUSE_MAX_S) / 1e6));
  }

  /** Of the CPU time of all processors; null where the system does not report that. */
  private static @Nullable Double share(GeneratorSecond of, GeneratorField part, double all) {
    return all <= 0 ? null : (Double) (of.number(part) / all);
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

  /** Buckets of 1, 2, 4 … s in order of time, without those that no line falls into. */
  List<GeneratorBucket> buckets() {
    List<Interval> all =
        seconds.values().stream()
            .flatMap(List::stream)
            .filter(second -> second.fromS() >= 0)
            .toList();
    double last = all.stream().mapToDouble(Interval::fromS).max().orElse(0);
    double width =
        DoubleStream.iterate(1, wider -> 2 * wider)
            .filter(wide -> last / wide < Series.MAX_BUCKETS)
            .findFirst()
            .orElseThrow();
    Map<Double, List<Interval>> byStart =
        all.stream()
            .collect(
                groupingBy(
                    second -> Math.floor(second.fromS() / width) * width, TreeMap::new, toList()));
    return byStart.entrySet().stream()
        .map(of -> bucket(of.getKey(), new GeneratorHealth("", of.getValue())))
        .toList();
  }

  private static GeneratorBucket bucket(double startS, GeneratorHealth health) {
    Double idle = health.idle();
    return new GeneratorBucket(
        startS,
        health.seconds().stream().mapToDouble(Interval::lagP99Ms).max().orElse(0),
        health.lagMaxMs(),
        health.own(),
        idle == null ? null : (Double) (1 - idle),
        health.stolen());
  }
}
