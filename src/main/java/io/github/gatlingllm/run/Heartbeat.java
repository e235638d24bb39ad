package io.github.gatlingllm.run;

import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.TokenGaps;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A task that an event loop runs every {@link #PERIOD_NANOS}, to measure its lag. Beats are due at
 * fixed instants; those that a blocked loop missed run when it continues, each with its own lag, so
 * a share of beats is a share of time. The event loop writes, without locks; one other thread
 * reads.
 */
final class Heartbeat implements Runnable {

  static final long PERIOD_NANOS = 50_000_000;

  /** Capacity for beats that were not read yet: 51 s. */
  private static final int CAPACITY = 1_024;

  private final LongSupplier clock;
  private final long firstNanos;
  private final AtomicIntegerArray lateMicros = new AtomicIntegerArray(CAPACITY);
  private final AtomicLong beats = new AtomicLong();

  /** Longest time between two readings of the clock, by which all beats seem late. */
  private static final long EXACT_NANOS = 500_000;

  private static final int MAX_STARTS = 50;

  /** Beats that were read, and counted; the latter include overdue ones. */
  private long read;

  private long counted;
  private @Nullable Future<?> task;

  Heartbeat(LongSupplier clock, long delayNanos) {
    this.clock = clock;
    firstNanos = clock.getAsLong() + delayNanos;
  }

  /**
   * Starts a heartbeat on an event loop. Starts again if the calling thread was suspended between
   * the two readings of the clock, this class's and the event loop's.
   */
  static Heartbeat start(
      LongSupplier clock, long delayNanos, Function<Heartbeat, ? extends Future<?>> loop) {
    for (int starts = 1; ; starts++) {
      Heartbeat heartbeat = new Heartbeat(clock, delayNanos);
      heartbeat.task = loop.apply(heartbeat);
      long took = clock.getAsLong() + delayNanos - heartbeat.firstNanos;
      if (took <= EXACT_NANOS || starts == MAX_STARTS) {
        return heartbeat;
      }
      heartbeat.stop();
    }
  }

  void stop() {
    if (task != null) {
      task.cancel(false);
    }
  }

  @Override
  public void run() {
    long beat = beats.getPlain();
    lateMicros.setPlain((int) (beat % CAPACITY), late(beat, clock.getAsLong()));
    beats.setRelease(beat + 1);
  }

  private int late(long beat, long now) {
    long micros = (now - firstNanos - beat * PERIOD_NANOS) / 1_000;
    return (int) Math.min(Integer.MAX_VALUE, Math.max(0, micros));
  }

  /** The lag of the beats that were due since the previous call, up to an instant of the clock. */
  Lateness take(long untilNanos) {
    Lateness lateness = new Lateness();
    long due = Math.max(read, -Math.floorDiv(firstNanos - untilNanos, PERIOD_NANOS));
    long ran = Math.min(due, beats.getAcquire());
    long now = clock.getAsLong();
    for (long beat = Math.max(read, ran - CAPACITY); beat < ran; beat++) {
      int micros = lateMicros.getPlain((int) (beat % CAPACITY));
      if (beat < counted) {
        lateness.raiseTo(micros);
      } else {
        lateness.add(micros);
      }
    }
    read = ran;
    counted = Math.max(counted, ran);
    if (counted > ran) {
      lateness.raiseTo(late(ran, now));
    }
    while (counted < due && late(counted, now) >= PERIOD_NANOS / 1_000) {
      lateness.add(late(counted, now));
      counted++;
    }
    return lateness;
  }

  static final class Lateness {

    private final List<Integer> values = new ArrayList<>();
    private int longest;

    void add(int micros) {
      values.add(micros);
      raiseTo(micros);
    }

    /** Updates the maximum only, for a beat that was already counted while it was overdue. */
    void raiseTo(int micros) {
      longest = Math.max(longest, micros);
    }

    int longest() {
      return longest;
    }

    /** Nearest rank; 0 without a beat. */
    int percentile(int percent) {
      List<Integer> ascending = values.stream().sorted().toList();
      return ascending.isEmpty()
          ? 0
          : ascending.get((int) TokenGaps.rank(percent, ascending.size()) - 1);
    }

    long sum() {
      return values.stream().mapToLong(micros -> micros).sum();
    }

    /** Time in microseconds with a lag above each of {@link GeneratorSecond#LATE_MS}. */
    int[] timeAbove() {
      return GeneratorSecond.LATE_MS.stream()
          .mapToLong(ms -> values.stream().filter(micros -> micros > 1_000 * ms).count())
          .mapToInt(beats -> (int) (beats * PERIOD_NANOS / 1_000))
          .toArray();
    }
  }
}
