package io.github.gatlingllm.figures.level;

import java.util.Arrays;
import java.util.BitSet;

/** Slots of equal width from an instant on, {@code count} or fewer; epoch nanoseconds. */
record TimeSlots(long origin, long width, int count) {

  private static final long MIN_OF_RUN = 10_000_000L;
  private static final int MAX_OF_RUN = 1 << 20;

  /** A run cut into at most about a million slots, of 10 ms in runs of up to three hours. */
  static TimeSlots ofRun(long from, long until) {
    long width = Math.max(MIN_OF_RUN, (until - from) / MAX_OF_RUN + 1);
    return new TimeSlots(from, width, (int) Math.max(1, (until - from) / width + 1));
  }

  /** Slots that begin at multiples of their width, from the one of an instant on. */
  static TimeSlots onClock(long unixNanos, long width) {
    return new TimeSlots(unixNanos / width * width, width, Integer.MAX_VALUE);
  }

  TimeSlots wider() {
    return new TimeSlots(origin, 2 * width, count);
  }

  boolean areBefore(long unixNanos) {
    return (unixNanos - origin) / width >= count;
  }

  /** The slot of an instant, the first or last if it is before or after all. */
  int at(long unixNanos) {
    return (int) Math.max(0, Math.min(count - 1L, (unixNanos - origin) / width));
  }

  long startOf(int slot) {
    return origin + slot * width;
  }

  long endOf(long unixNanos) {
    return origin + (Math.max(0, unixNanos - origin) / width + 1) * width;
  }

  double seconds(long slots) {
    return slots * width / 1e9;
  }

  /** Sets the slots of both instants and those between; the first one if they are swapped. */
  void set(BitSet slots, long fromNanos, long toNanos) {
    int from = at(fromNanos);
    slots.set(from, Math.max(from, at(toNanos)) + 1);
  }

  /** Adds to the value of a slot. Returns the values, which are extended where necessary. */
  int[] add(int[] values, int slot, int more) {
    int[] grown =
        slot < values.length
            ? values
            : Arrays.copyOf(values, (int) Math.max(slot + 1, Math.min(count, 2L * values.length)));
    grown[slot] += more;
    return grown;
  }
}
