package io.github.gatlingllm.run;

import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.load.Trace;
import io.github.gatlingllm.record.JsonLines;
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
 * Writes the schedules of a run as they become due, each drawn again line by line on a thread of
 * its own: no event loop waits, and no schedule is held in memory. Safe for use by several threads.
 */
final class ArrivalLog {
  private final Path file;
  private final RunClock clock;
  private final ExecutorService writer;

  /**
   * A planned arrival, as the file says it.
   *
   * @param scenario name of the scenario
   * @param target of its requests
   * @param stage of its requests
   * @param index position in its schedule, from 0
   * @param scheduledOffsetS since the start of its schedule
   * @param scheduledUnixNs since the epoch
   * @param inputTokens of a replayed request; null where none is known
   * @param outputTokens of a replayed request; null where none is known
   */
  private record Line(
      String scenario,
      String target,
      String stage,
      long index,
      BigDecimal scheduledOffsetS,
      long scheduledUnixNs,
      @Nullable Integer inputTokens,
      @Nullable Integer outputTokens) {}

  /**
   * @param writer draws and writes, one schedule after the other
   */
  ArrivalLog(Path file, RunClock clock, ExecutorService writer) {
    this.file = file;
    this.clock = clock;
    this.writer = writer;
  }

  /**
   * Writes a schedule; returns at once.
   *
   * @param arrivals drawn on the writer's thread; nobody else's iterator
   * @param anchorNanos start of the schedule on {@link System#nanoTime()}
   * @param written is told how many there are, once all are written
   */
  void write(
      Run.Schedule schedule, Iterator<Planned> arrivals, long anchorNanos, LongConsumer written) {
    execute(() -> append(schedule, arrivals, clock.unixNanos(anchorNanos), written));
  }

  /**
   * Counts the arrivals of a schedule that lie in a window, without writing them; returns at once.
   *
   * @param arrivals drawn on the writer's thread; nobody else's iterator
   * @param fromNanos start of the window, since the start of the schedule
   * @param untilNanos end of the window, exclusive
   * @param counted is told how many there are, once all are drawn
   */
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
      // The run is over, and with it what was planned.
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

  /** Ends it; what is not written within that time is left out, in whole lines. */
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
