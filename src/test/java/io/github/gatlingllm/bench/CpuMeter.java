package io.github.gatlingllm.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * CPU time of a process and all that it started, read over and over while it runs, so that the part
 * of a load can be told from starting and reporting. From {@code /proc}; in steps of 10 ms.
 */
final class CpuMeter implements AutoCloseable {

  private static final long INTERVAL_MILLIS = 50;
  private static final long TICK_NANOS = 10_000_000;

  private final ProcessHandle root;
  private final Map<Long, Long> ticks = new HashMap<>();
  private final NavigableMap<Long, Long> samples = new TreeMap<>();
  private final Thread thread = new Thread(this::sample, "cpu-meter");
  private volatile boolean running = true;

  CpuMeter(ProcessHandle root) {
    this.root = root;
    thread.setDaemon(true);
    thread.start();
  }

  private void sample() {
    while (running) {
      read(root.pid());
      root.descendants().forEach(child -> read(child.pid()));
      samples.put(System.nanoTime(), TICK_NANOS * ticks.values().stream().mapToLong(t -> t).sum());
      try {
        Thread.sleep(INTERVAL_MILLIS);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  /** A process that has ended keeps what was read last. */
  private void read(long pid) {
    try {
      String stat = Files.readString(Path.of("/proc", String.valueOf(pid), "stat"));
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      long now = Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
      ticks.merge(pid, now, Math::max);
    } catch (IOException e) {
      // It has ended.
    }
  }

  @Override
  public void close() throws InterruptedException {
    running = false;
    thread.join();
  }

  /** CPU nanoseconds from start until that instant of {@link System#nanoTime()}. */
  double until(long nanos) {
    return at(samples, nanos);
  }

  /** All that was used. */
  double total() {
    return samples.lastEntry().getValue();
  }

  /** Straight between two samples; before the first and after the last as they are. */
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
