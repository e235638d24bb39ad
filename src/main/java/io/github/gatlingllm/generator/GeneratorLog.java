package io.github.gatlingllm.generator;

import io.github.gatlingllm.record.GeneratorField;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.RequestRecord;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Future;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Writes {@code generator.jsonl}: what happened to the load generator since the line before, each
 * time that {@link #write} is called. {@link #accept} may be called from another thread.
 */
public final class GeneratorLog {

  private static final long LATE_NANOS =
      TimeUnit.MILLISECONDS.toNanos(GeneratorField.LATE_START_MS);

  /** A line about less says little: processor time is counted in steps of 10 ms. */
  private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Path file;
  private final String injector;
  private final LongUnaryOperator unixNanos;
  private final Supplier<Load> load;
  private final MachineCounters counters = new MachineCounters(Path.of("/"));
  private final GcPauses pauses = GcPauses.listen();
  private final List<Heartbeat> hearts = new ArrayList<>();
  private final List<Future<?>> beating = new ArrayList<>();
  private final AtomicLong lateStarts = new AtomicLong();
  private final AtomicLong events = new AtomicLong();
  private final AtomicLong coalesced = new AtomicLong();
  private final Queue<Long> edges = new PriorityBlockingQueue<>();
  private Consumer<GeneratorSecond> watcher = second -> {};
  private Reading before;
  private boolean isFailed;

  /**
   * What the run knows of itself at an instant.
   *
   * @param inFlight requests admitted and not ended
   * @param queued records that wait to be written
   * @param dropped records lost so far
   */
  public record Load(long inFlight, long queued, long dropped) {}

  /** Counters at an instant; only their differences mean something. */
  private record Reading(
      long nanoTime,
      long processCpu,
      long compiler,
      MachineCounters.@Nullable Cpu cpu,
      @Nullable Long pressure,
      @Nullable Long throttled) {}

  /**
   * A log that begins now.
   *
   * @param unixNanos epoch time of a reading of {@link System#nanoTime()}
   */
  public GeneratorLog(
      Path file, String injector, LongUnaryOperator unixNanos, Supplier<Load> load) {
    this.file = file;
    this.injector = injector;
    this.unixNanos = unixNanos;
    this.load = load;
    before = reading(System.nanoTime());
  }

  /** Each line is given to {@code watcher} too, before it is written. */
  public synchronized void tell(Consumer<GeneratorSecond> watcher) {
    this.watcher = watcher;
  }

  /** Has event loops beat, each at an instant of its own. */
  public synchronized void watch(Iterable<? extends EventExecutor> loops) {
    List<EventExecutor> all = new ArrayList<>();
    loops.forEach(all::add);
    for (int i = 0; i < all.size(); i++) {
      long delay = Heartbeat.PERIOD_NANOS + i * Heartbeat.PERIOD_NANOS / all.size();
      EventExecutor loop = all.get(i);
      try {
        Heartbeat.Beating started =
            Heartbeat.start(
                System::nanoTime,
                delay,
                heart ->
                    loop.scheduleAtFixedRate(
                        heart, delay, Heartbeat.PERIOD_NANOS, TimeUnit.NANOSECONDS));
        beating.add(started.beats());
        hearts.add(started.heart());
      } catch (RejectedExecutionException e) {
        // It is shut down: the run is over.
      }
    }
  }

  /** A request has its record. */
  public void accept(RequestRecord record) {
    Long lag = record.timing().startLagNanos();
    lateStarts.getAndAdd(lag != null && lag > LATE_NANOS ? 1 : 0);
    events.getAndAdd(record.events().count());
    coalesced.getAndAdd(record.events().coalesced());
  }

  /**
   * A line is to end at that instant, such as an edge of a measure window: what is late before it
   * is not told together with what is late after it. To be told as early as it is known; never
   * waits.
   */
  public void edge(long nanoTime) {
    edges.add(nanoTime);
  }

  /** Ends lines where edges have passed. */
  public synchronized void cut() {
    cut(System.nanoTime());
  }

  private void cut(long untilNanos) {
    for (Long edge = edges.peek(); edge != null && edge - untilNanos <= 0; edge = edges.peek()) {
      edges.remove(edge);
      if (edge - before.nanoTime > 0) {
        write(reading(edge));
      }
    }
  }

  /** Writes a line about the time since the one before. */
  public synchronized void write() {
    long nanoTime = System.nanoTime();
    cut(nanoTime);
    Reading now = reading(nanoTime);
    if (now.nanoTime - before.nanoTime >= SHORTEST_NANOS) { // Else the next line tells of it.
      write(now);
    }
  }

  private void write(Reading now) {
    GeneratorSecond second = second(now);
    before = now;
    watcher.accept(second);
    try {
      second.append(file);
    } catch (IOException e) {
      if (!isFailed) {
        System.out.println("LLM generator.jsonl could not be written: " + e.getMessage());
      }
      isFailed = true;
    }
  }

  /**
   * Writes the last line, after {@link #SHORTEST_NANOS} of it where no edge ends it, and stops
   * measuring.
   */
  public synchronized void close() {
    long left = before.nanoTime + SHORTEST_NANOS - System.nanoTime();
    try {
      TimeUnit.NANOSECONDS.sleep(left);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    beating.forEach(each -> each.cancel(false));
    pauses.close();
    long end = System.nanoTime();
    cut(end);
    write(reading(end));
  }

  private Reading reading(long nanoTime) {
    return new Reading(
        nanoTime,
        counters.processCpuNanos(),
        counters.compilerNanos(),
        counters.cpu(),
        counters.pressureNanos(),
        counters.throttledNanos());
  }

  private GeneratorSecond second(Reading now) {
    long length = now.nanoTime - before.nanoTime;
    GeneratorSecond second =
        new GeneratorSecond()
            .with(GeneratorField.INJECTOR, injector)
            .with(GeneratorField.START, unixNanos.applyAsLong(before.nanoTime))
            .with(GeneratorField.LENGTH, length);
    List<Lateness> late = hearts.stream().map(heart -> heart.take(now.nanoTime)).toList();
    GcPauses.Pauses gc = pauses.take(now.nanoTime);
    Load run = load.get();
    second
        .with(GeneratorField.LAG_P50, each(late, loop -> loop.percentile(50)))
        .with(GeneratorField.LAG_P99, each(late, loop -> loop.percentile(99)))
        .with(GeneratorField.LAG_MAX, each(late, Lateness::longest))
        .with(
            GeneratorField.LATEST_LOOP,
            late.stream()
                .max(Comparator.comparingLong(Lateness::sum))
                .map(Lateness::timeAbove)
                .orElse(null))
        .with(GeneratorField.GC_PAUSES, gc.count())
        .with(GeneratorField.GC_PAUSE, gc.nanos())
        .with(GeneratorField.GC_PAUSE_MAX, gc.longestNanos())
        .with(GeneratorField.COMPILER, now.compiler - before.compiler)
        .with(GeneratorField.CPUS, (long) counters.cpus())
        .with(GeneratorField.PROCESS_CPU, now.processCpu - before.processCpu)
        .with(GeneratorField.CPU_PRESSURE, difference(now.pressure, before.pressure))
        .with(GeneratorField.THROTTLED, difference(now.throttled, before.throttled))
        .with(GeneratorField.HEAP_USED, counters.heapUsed())
        .with(GeneratorField.DIRECT, counters.directBytes())
        .with(GeneratorField.OPEN_FILES, counters.openFiles())
        .with(GeneratorField.IN_FLIGHT, run.inFlight())
        .with(GeneratorField.LATE_STARTS, lateStarts.getAndSet(0))
        .with(GeneratorField.EVENTS, events.getAndSet(0))
        .with(GeneratorField.COALESCED, coalesced.getAndSet(0))
        .with(GeneratorField.QUEUED, run.queued())
        .with(GeneratorField.DROPPED, run.dropped());
    machine(second, now.cpu, before.cpu, length);
    return second;
  }

  private void machine(
      GeneratorSecond second,
      MachineCounters.@Nullable Cpu now,
      MachineCounters.@Nullable Cpu then,
      long length) {
    if (now != null && then != null) {
      second
          .with(GeneratorField.MACHINE_USER, now.user() - then.user())
          .with(GeneratorField.MACHINE_SYSTEM, difference(now.system(), then.system()))
          .with(GeneratorField.MACHINE_IDLE, now.idle() - then.idle())
          .with(GeneratorField.MACHINE_STEAL, difference(now.steal(), then.steal()));
      return;
    }
    double share = counters.load();
    if (share >= 0) {
      long all = length * counters.cpus();
      second
          .with(GeneratorField.MACHINE_USER, Math.round(share * all))
          .with(GeneratorField.MACHINE_IDLE, Math.round((1 - share) * all));
    }
  }

  private static @Nullable Long difference(@Nullable Long now, @Nullable Long then) {
    return now == null || then == null ? null : (Long) (now - then);
  }

  private static int[] each(List<Lateness> loops, ToIntFunction<Lateness> figure) {
    return loops.stream().mapToInt(figure).toArray();
  }
}
