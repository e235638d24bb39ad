package io.github.gatlingllm.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * CPU time of a process and its children, sampled while it runs, so that the load can be separated
 * from start and report; and of the compiler and collector threads of its JVM. From {@code /proc},
 * in steps of 10 ms.
 */
@SuppressWarnings("try") // closing may be interrupted
final class CpuMeter implements AutoCloseable {

  private static final long INTERVAL_MILLIS = 50;
  private static final long TICK_NANOS = 10_000_000;

  /** Part of the CPU time. */
  enum Part {
    ALL(""),
    COMPILER("C[12] Comp.*"),
    COLLECTOR("VM Thread|GC Thread.*|G1 .*|[XZ](Worker|Director|Driver|Stat|Uncommitter).*");

    private final String threads;

    Part(String threads) {
      this.threads = threads;
    }
  }

  private final ProcessHandle root;
  private final Map<Path, Long> ticks = new HashMap<>();
  private final Map<Path, Part> threads = new HashMap<>();
  private final Map<Part, NavigableMap<Long, Long>> samples = new EnumMap<>(Part.class);
  private final Thread thread = new Thread(this::sample, "cpu-meter");
  private volatile boolean running = true;

  CpuMeter(ProcessHandle root) {
    this.root = root;
    for (Part part : Part.values()) {
      samples.put(part, new TreeMap<>());
    }
    thread.setDaemon(true);
    thread.start();
  }

  private void sample() {
    while (running) {
      read(folder(root));
      root.descendants().forEach(child -> read(folder(child)));
      findThreads();
      threads.forEach(
          (task, part) -> {
            if (part != Part.ALL) {
              read(task);
            }
          });
      long now = System.nanoTime();
      for (Part part : Part.values()) {
        samples.get(part).put(now, TICK_NANOS * ticksOf(part));
      }
      try {
        Thread.sleep(INTERVAL_MILLIS);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private long ticksOf(Part part) {
    return ticks.entrySet().stream()
        .filter(e -> threads.getOrDefault(e.getKey(), Part.ALL) == part)
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  private static Path folder(ProcessHandle process) {
    return Path.of("/proc", String.valueOf(process.pid()));
  }

  private void findThreads() {
    try (Stream<Path> tasks = Files.list(folder(root).resolve("task"))) {
      tasks.filter(task -> !threads.containsKey(task)).forEach(this::find);
    } catch (IOException | UncheckedIOException e) {
      // It has ended.
    }
  }

  /** A thread without a name is looked at again. */
  private void find(Path task) {
    try {
      String name = Files.readString(task.resolve("comm")).strip();
      Part part = Part.ALL;
      for (Part each : Part.values()) {
        part = name.matches(each.threads) ? each : part;
      }
      if (!name.equals("java") && !name.equals("taskset")) {
        threads.put(task, part);
      }
    } catch (IOException e) {
      // It has ended.
    }
  }

  /** Ended processes keep their last value. */
  private void read(Path folder) {
    try {
      String stat = Files.readString(folder.resolve("stat"));
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      long now = Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
      ticks.merge(folder, now, Math::max);
    } catch (IOException e) {
      // It has ended.
    }
  }

  @Override
  public void close() throws InterruptedException {
    running = false;
    thread.join();
  }

  /** CPU nanoseconds from the start to this time ({@link System#nanoTime()}). */
  double until(long nanos) {
    return at(samples.get(Part.ALL), nanos);
  }

  /** CPU nanoseconds of a part between two times. */
  double between(long from, long to, Part part) {
    return at(samples.get(part), to) - at(samples.get(part), from);
  }

  /** Total CPU time. */
  double total() {
    return samples.get(Part.ALL).lastEntry().getValue();
  }

  /** Interpolates linearly between samples; constant before the first and after the last. */
  static double at(NavigableMap<Long, Long> samples, long nanos) {
    Map.Entry<Long, Long> before = samples.floorEntry(nanos);
    Map.Entry<Long, Long> after = samples.ceilingEntry(nanos);
    if (before == null || after == null) {
      return (before == null ? after : before).getValue();
    }
    long span = after.getKey() - before.getKey();
    return span == 0
        ? before.getValue()
        : before.getValue()
            + (double) (after.getValue() - before.getValue()) * (nanos - before.getKey()) / span;
  }
}
