package io.github.gatlingllm.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Processor time of each thread of another process, read from Linux ten times per second while it
 * runs, so that the time of any window of it can be told.
 */
final class ThreadTimes {

  private static final long PERIOD_MILLIS = 100;

  private final Path tasks;
  private final Process process;
  private final List<Sample> samples = new ArrayList<>();

  /** Nanoseconds on a processor, by thread. */
  private record Sample(long unixNanos, Map<String, Long> byThread) {}

  private ThreadTimes(Process process) {
    this.process = process;
    this.tasks = Path.of("/proc", Long.toString(process.pid()), "task");
  }

  /** Watches a process until it ends. */
  static ThreadTimes until(Process process) throws InterruptedException {
    ThreadTimes times = new ThreadTimes(process);
    while (process.isAlive()) {
      times.sample();
      Thread.sleep(PERIOD_MILLIS);
    }
    return times;
  }

  private void sample() {
    Map<String, Long> byThread = new TreeMap<>();
    try (Stream<Path> all = Files.list(tasks)) {
      all.forEach(task -> read(task, byThread));
    } catch (IOException | UncheckedIOException e) {
      if (process.isAlive()) {
        throw new IllegalStateException(e);
      }
      return;
    }
    samples.add(new Sample(System.currentTimeMillis() * 1_000_000, byThread));
  }

  private static void read(Path task, Map<String, Long> byThread) {
    try {
      String name = Files.readString(task.resolve("comm")).trim();
      String nanos = Files.readString(task.resolve("schedstat")).split(" ", 2)[0];
      byThread.put(task.getFileName() + " " + name, Long.parseLong(nanos));
    } catch (NoSuchFileException e) {
      // It has ended.
    } catch (IOException e) {
      if (Files.exists(task)) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Milliseconds of processor time between two instants, by name of thread. */
  Map<String, Double> between(long fromUnixNanos, long toUnixNanos) {
    Map<String, Long> before = at(fromUnixNanos);
    Map<String, Double> byName = new TreeMap<>();
    at(toUnixNanos)
        .forEach(
            (thread, nanos) ->
                byName.merge(
                    thread.substring(thread.indexOf(' ') + 1),
                    (nanos - before.getOrDefault(thread, 0L)) / 1e6,
                    Double::sum));
    return byName;
  }

  private Map<String, Long> at(long unixNanos) {
    Sample last = samples.get(0);
    for (Sample sample : samples) {
      if (sample.unixNanos > unixNanos) {
        break;
      }
      last = sample;
    }
    return last.byThread;
  }
}
