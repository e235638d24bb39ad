package io.github.gatlingllm.run;

import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.GeneratorSecond.GeneratorField;
import io.github.gatlingllm.record.RequestRecord;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;

/** Writes {@code generator.jsonl}: each second a line about the load generator. */
final class GeneratorLog implements RunObserver {

  private static final long LATE_NANOS =
      TimeUnit.MILLISECONDS.toNanos(GeneratorSecond.LATE_START_MS);

  /** Shortest interval of a line: CPU time is counted in steps of 10 ms. */
  private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Run run;
  private final MachineCounters counters = MachineCounters.listening();
  private final List<Heartbeat> heartbeats = new ArrayList<>();
  private final Queue<Long> edges = new PriorityQueue<>();
  private RunView seen = RunView.OPENED;
  private Reading before;
  private long lateStarts;
  private long events;
  private long coalesced;

  private record Reading(long nanoTime, Map<GeneratorField, Long> totals) {}

  GeneratorLog(Run run, Iterable<? extends EventExecutor> loops) {
    this.run = run;
    before = reading(System.nanoTime());
    watch(loops);
  }

  private void watch(Iterable<? extends EventExecutor> loops) {
    List<EventExecutor> all = new ArrayList<>();
    loops.forEach(all::add);
    for (int i = 0; i < all.size(); i++) {
      long delay = Heartbeat.PERIOD_NANOS + i * Heartbeat.PERIOD_NANOS / all.size();
      EventExecutor loop = all.get(i);
      try {
        heartbeats.add(
            Heartbeat.start(
                System::nanoTime,
                delay,
                heartbeat ->
                    loop.scheduleAtFixedRate(
                        heartbeat, delay, Heartbeat.PERIOD_NANOS, TimeUnit.NANOSECONDS)));
      } catch (RejectedExecutionException e) {
        // The event loop is shut down: the run has ended.
      }
    }
  }

  @Override
  public String name() {
    return "generator health";
  }

  @Override
  public void records(List<RequestRecord> batch) {
    for (RequestRecord record : batch) {
      Long lag = record.timing().startLagNanos();
      lateStarts += lag != null && lag > LATE_NANOS ? 1 : 0;
      events += record.events().count();
      coalesced += record.events().coalesced();
    }
  }

  /** Ends a line at each edge, so that none mixes what was before with what was after. */
  private void cut(long untilNanos) {
    for (Long edge = edges.peek(); edge != null && edge - untilNanos <= 0; edge = edges.peek()) {
      edges.remove(edge);
      if (edge - before.nanoTime > 0) {
        write(reading(edge));
      }
    }
  }

  @Override
  public void tick(RunView view) {
    long nanoTime = System.nanoTime();
    view.edges.stream().skip(seen.edges.size()).forEach(edges::add);
    boolean isDue = view.seconds != seen.seconds;
    seen = view;
    cut(nanoTime);
    Reading now = isDue ? reading(nanoTime) : before;
    if (now.nanoTime - before.nanoTime >= SHORTEST_NANOS) { // else the next line includes it
      write(now);
    }
  }

  private void write(Reading now) {
    GeneratorSecond second = second(now);
    before = now;
    run.observers().change(next -> next.generator = second);
    try {
      second.append(run.files().generator());
    } catch (IOException e) {
      run.failures().add("generator.jsonl", e);
    }
  }

  /** Writes the last line, which is long enough unless an edge ends it. */
  @Override
  public void stop(RunView view) {
    long remaining = before.nanoTime + SHORTEST_NANOS - System.nanoTime();
    try {
      TimeUnit.NANOSECONDS.sleep(remaining);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    heartbeats.forEach(Heartbeat::stop);
    counters.close();
    long end = System.nanoTime();
    cut(end);
    write(reading(end));
  }

  private Reading reading(long nanoTime) {
    return new Reading(nanoTime, counters.totals());
  }

  private GeneratorSecond second(Reading now) {
    long length = now.nanoTime - before.nanoTime;
    GeneratorSecond second =
        new GeneratorSecond()
            .with(GeneratorField.INJECTOR, run.injector())
            .with(GeneratorField.START_UNIX_NS, run.unixNanos(before.nanoTime))
            .with(GeneratorField.LENGTH_S, length);
    List<Heartbeat.Lateness> late =
        heartbeats.stream().map(each -> each.take(now.nanoTime)).toList();
    LongSummaryStatistics pauses = counters.pauses(now.nanoTime);
    second
        .with(GeneratorField.LOOP_LAG_P50_US, byLoop(late, loop -> loop.percentile(50)))
        .with(GeneratorField.LOOP_LAG_P99_US, byLoop(late, loop -> loop.percentile(99)))
        .with(GeneratorField.LOOP_LAG_MAX_US, byLoop(late, Heartbeat.Lateness::longest))
        .with(
            GeneratorField.LATEST_LOOP_US,
            late.stream()
                .max(Comparator.comparingLong(Heartbeat.Lateness::sum))
                .map(Heartbeat.Lateness::timeAbove)
                .orElse(null))
        .with(GeneratorField.GC_PAUSES, pauses.getCount())
        .with(GeneratorField.GC_PAUSE_S, pauses.getSum())
        .with(GeneratorField.GC_PAUSE_MAX_S, Math.max(0, pauses.getMax()))
        .with(GeneratorField.CPUS, (long) counters.cpus())
        .with(GeneratorField.HEAP_USED_BYTES, counters.heapUsed())
        .with(GeneratorField.DIRECT_BYTES, counters.directBytes())
        .with(GeneratorField.OPEN_FILES, counters.openFiles())
        .with(GeneratorField.IN_FLIGHT, run.inFlight())
        .with(GeneratorField.LATE_STARTS, lateStarts)
        .with(GeneratorField.EVENTS, events)
        .with(GeneratorField.COALESCED_EVENTS, coalesced)
        .with(GeneratorField.RECORDS_QUEUED, run.waitingRecords())
        .with(GeneratorField.RECORDS_DROPPED, run.lostRecords());
    lateStarts = 0;
    events = 0;
    coalesced = 0;
    now.totals.forEach(
        (field, total) -> {
          Long then = before.totals.get(field);
          second.with(field, then == null ? null : (Long) (total - then));
        });
    double share = counters.load();
    if (!now.totals.containsKey(GeneratorField.MACHINE_USER_S) && share >= 0) {
      long all = length * counters.cpus();
      second
          .with(GeneratorField.MACHINE_USER_S, Math.round(share * all))
          .with(GeneratorField.MACHINE_IDLE_S, Math.round((1 - share) * all));
    }
    return second;
  }

  private static int[] byLoop(
      List<Heartbeat.Lateness> loops, ToIntFunction<Heartbeat.Lateness> figure) {
    return loops.stream().mapToInt(figure).toArray();
  }
}
