package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Series.GeneratorBucket;
import io.github.gatlingllm.figures.metric.LevelFigures.GeneratorHealth;
import io.github.gatlingllm.figures.metric.LevelFigures.GeneratorHealth.Second;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.GeneratorSecond.GeneratorField;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The health of load generators, by injector and over time; at most {@value #MAX} lines. */
final class GeneratorTally {

  /** A day of one injector, or five hours of twenty. */
  private static final int MAX = 400_000;

  private final long origin;
  private final Map<String, List<Second>> seconds = new LinkedHashMap<>();
  private int lines;

  GeneratorTally(long origin) {
    this.origin = origin;
  }

  void add(GeneratorSecond second) {
    if (lines++ >= MAX) {
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
            new Second(
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
  List<GeneratorHealth> in(List<LevelWindow> windows) {
    List<GeneratorHealth> all = new ArrayList<>();
    seconds.forEach(
        (injector, of) -> {
          List<Second> within =
              of.stream()
                  .filter(second -> windows.stream().anyMatch(in -> isIn(in, second)))
                  .toList();
          if (!within.isEmpty()) {
            all.add(new GeneratorHealth(injector, within));
          }
        });
    return all;
  }

  private boolean isIn(LevelWindow window, Second second) {
    double at = (second.fromS() + second.untilS()) / 2;
    return at >= (window.from - origin) / 1e9 && at < (window.to - origin) / 1e9;
  }

  /** Buckets of 1, 2, 4 … s in order of time, without those that no line falls into. */
  List<GeneratorBucket> buckets() {
    TimeBuckets<List<Second>> buckets =
        new TimeBuckets<>(0, 1_000_000_000L, Series.MAX_BUCKETS, ArrayList::new, List::addAll);
    seconds.values().stream()
        .flatMap(List::stream)
        .filter(second -> second.fromS() >= 0)
        .forEach(second -> buckets.at(Math.round(second.fromS() * 1e9)).add(second));
    List<List<Second>> all = buckets.all();
    return IntStream.range(0, all.size())
        .filter(i -> !all.get(i).isEmpty())
        .mapToObj(
            i ->
                new GeneratorBucket(i * buckets.width() / 1e9, new GeneratorHealth("", all.get(i))))
        .toList();
  }
}
