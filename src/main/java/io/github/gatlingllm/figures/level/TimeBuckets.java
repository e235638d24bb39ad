package io.github.gatlingllm.figures.level;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Buckets of equal width over time; at a limit neighbours are merged. Not thread-safe. */
final class TimeBuckets<T> {

  private final Supplier<T> empty;
  private final BiConsumer<T, T> join;
  private List<T> buckets = new ArrayList<>();
  private TimeSlots slots;
  // Cache: tokens arrive in order of time, mostly in the bucket of the previous one.
  private @Nullable T latest;
  private long latestFrom;

  /** A growing number of buckets; {@code join} adds the second of two neighbours to the first. */
  TimeBuckets(long origin, long width, int max, Supplier<T> empty, BiConsumer<T, T> join) {
    slots = new TimeSlots(origin, width, max);
    this.empty = empty;
    this.join = join;
  }

  /** The bucket of an instant, the first or last if it is before or after all. */
  T at(long unixNanos) {
    T current = latest;
    long into = unixNanos - latestFrom;
    if (current != null && into >= 0 && into < slots.width()) {
      return current;
    }
    while (slots.areBefore(unixNanos)) {
      widen();
    }
    int index = slots.at(unixNanos);
    while (buckets.size() <= index) {
      buckets.add(empty.get());
    }
    T found = buckets.get(index);
    latest = found;
    latestFrom = slots.startOf(index);
    return found;
  }

  private void widen() {
    List<T> wider = new ArrayList<>();
    for (int i = 0; i < buckets.size(); i++) {
      if (i % 2 == 0) {
        wider.add(buckets.get(i));
      } else {
        join.accept(wider.get(wider.size() - 1), buckets.get(i));
      }
    }
    buckets = wider;
    slots = slots.wider();
    latest = null;
  }

  List<T> all() {
    return buckets;
  }

  long width() {
    return slots.width();
  }

  long endOf(long unixNanos) {
    return slots.endOf(unixNanos);
  }
}
