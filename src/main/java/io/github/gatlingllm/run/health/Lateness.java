package io.github.gatlingllm.run.health;

import io.github.gatlingllm.record.GeneratorField;
import java.util.Arrays;

/** Lag of the heartbeats of one event loop in an interval, in microseconds. */
final class Lateness {

  private int[] values = new int[128];
  private int size;
  private int longest;
  private boolean isSorted;

  /** Adds a beat. */
  void add(int micros) {
    if (size == values.length) {
      values = Arrays.copyOf(values, 2 * size);
    }
    values[size++] = micros;
    atLeast(micros);
    isSorted = false;
  }

  /** Updates the maximum only, for a beat that was already counted while it was overdue. */
  void atLeast(int micros) {
    longest = Math.max(longest, micros);
  }

  int longest() {
    return longest;
  }

  /** Nearest rank; 0 if there was no beat. */
  int percentile(int percent) {
    if (!isSorted) {
      Arrays.sort(values, 0, size);
      isSorted = true;
    }
    return size == 0 ? 0 : values[Math.max(0, (size * percent + 99) / 100 - 1)];
  }

  long sum() {
    long sum = 0;
    for (int i = 0; i < size; i++) {
      sum += values[i];
    }
    return sum;
  }

  /** Time in microseconds during which the lag exceeded each of {@link GeneratorField#LATE_MS}. */
  int[] timeAbove() {
    int[] time = new int[GeneratorField.LATE_MS.size()];
    for (int i = 0; i < size; i++) {
      for (int of = 0; of < time.length; of++) {
        boolean isLater = values[i] > 1_000 * GeneratorField.LATE_MS.get(of);
        time[of] += isLater ? (int) (Heartbeat.PERIOD_NANOS / 1_000) : 0;
      }
    }
    return time;
  }
}
