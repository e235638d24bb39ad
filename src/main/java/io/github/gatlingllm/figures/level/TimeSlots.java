package io.github.gatlingllm.figures.level;

import java.util.Arrays;
import java.util.BitSet;

/**
 * A run cut into slots of equal length, numbered from 0: at most about a million, of 10 ms in runs
 * of up to three hours.
 */
record TimeSlots(long originNanos, long slotNanos, int count) {

  private static final long MIN_SLOT = 10_000_000L;
  private static final int MAX_SLOTS = 1 << 20;

  static TimeSlots of(long from, long until) {
    long slotNanos = Math.max(MIN_SLOT, (until - from) / MAX_SLOTS + 1);
    return new TimeSlots(from, slotNanos, (int) Math.max(1, (until - from) / slotNanos + 1));
  }

  /** The slot of an instant; one outside the run is in the first or in the last slot. */
  int at(long unixNanos) {
    return (int) Math.max(0, Math.min(count - 1L, (unixNanos - originNanos) / slotNanos));
  }

  /** When a slot ends, epoch nanoseconds. */
  long endOf(int slot) {
    return originNanos + (slot + 1) * slotNanos;
  }

  /**
   * Sets the slots from one instant to another, both included; the first one if they are swapped.
   */
  void set(BitSet slots, long fromNanos, long toNanos) {
    int from = at(fromNanos);
    slots.set(from, Math.max(from, at(toNanos)) + 1);
  }

  /** Adds to the number of a slot, in an array that grows up to the last slot and one beyond it. */
  int[] add(int[] values, int slot, int more) {
    int[] grown =
        slot < values.length
            ? values
            : Arrays.copyOf(values, Math.max(slot + 1, Math.min(count + 1, 2 * values.length)));
    grown[slot] += more;
    return grown;
  }

  double seconds(long slots) {
    return slots * slotNanos / 1e9;
  }
}
