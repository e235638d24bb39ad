package io.github.gatlingllm.run;

import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.load.Trace;
import io.github.gatlingllm.record.RunFiles.JsonLines;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes the planned arrivals of a run to {@code arrivals.jsonl}. Each schedule is generated again,
 * line by line, on a separate thread, so that no event loop waits and no schedule is held in
 * memory. Thread-safe.
 */
final class ArrivalLog {
  private final Path file;
  private final RunClock clock;
  private final ExecutorService writer;

  private record Line(
      String scenario,
      String target,
      String stage,
      long index,
      BigDecimal scheduledOffsetS,
      long scheduledUnixNs,
      @Nullable Integer inputTokens,
      @Nullable Integer outputTokens) {}

  ArrivalLog(Path file, RunClock clock, ExecutorService writer) {
    this.file = file;
    this.clock = clock;
    this.writer = writer;
  }

  /** Writes a schedule, iterated on the writer's thread; returns at once. */
  void write(
      Run.Schedule schedule, Iterator<Planned> arrivals, long anchorNanos, LongConsumer written) {
    execute(() -> append(schedule, arrivals, clock.unixNanos(anchorNanos), written));
  }

  /** Counts the arrivals in a window since the start of the schedule; returns at once. */
  void count(Iterator<Planned> arrivals, long fromNanos, long untilNanos, LongConsumer counted) {
    execute(
        () -> {
          long count = 0;
          long offset = Long.MIN_VALUE;
          while (arrivals.hasNext() && offset < untilNanos) {
            if (Thread.currentThread().isInterrupted()) {
              return;
            }
            offset = arrivals.next().offsetNanos();
            count += offset >= fromNanos && offset < untilNanos ? 1 : 0;
          }
          counted.accept(count);
        });
  }

  private void execute(Runnable task) {
    try {
      writer.execute(task);
    } catch (RejectedExecutionException e) {
      // The run has ended; its plan is no longer needed.
    }
  }

  private void append(
      Run.Schedule schedule,
      Iterator<Planned> arrivals,
      long startUnixNanos,
      LongConsumer written) {
    try (JsonLines lines = JsonLines.appendTo(file)) {
      long count = 0;
      for (; arrivals.hasNext() && !Thread.currentThread().isInterrupted(); count++) {
        Planned arrival = arrivals.next();
        Trace.Lengths lengths = arrival.lengths();
        lines.add(
            new Line(
                schedule.scenario(),
                schedule.target(),
                schedule.level(),
                arrival.index(),
                BigDecimal.valueOf(arrival.offsetNanos(), 9),
                startUnixNanos + arrival.offsetNanos(),
                lengths == null ? null : lengths.input(),
                lengths == null ? null : lengths.output()));
      }
      if (!arrivals.hasNext()) {
        written.accept(count);
      }
    } catch (IOException e) {
      System.out.println("LLM arrivals.jsonl could not be written: " + e.getMessage());
    }
  }

  /** Stops writing after at most that time; the file then ends with a complete line. */
  void close(Duration patience) {
    writer.shutdown();
    try {
      if (!writer.awaitTermination(patience.toMillis(), TimeUnit.MILLISECONDS)) {
        writer.shutdownNow();
        var unused = writer.awaitTermination(1, TimeUnit.SECONDS);
      }
    } catch (InterruptedException e) {
      writer.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }
}
