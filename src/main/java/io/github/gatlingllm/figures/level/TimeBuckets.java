package io.github.gatlingllm.figures.level;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Buckets of equal width over time; at a limit neighbours are merged. Not thread-safe. */
final class TimeBuckets<T> {

  private final long origin;
  private final int most;
  private final Supplier<T> empty;
  private final @Nullable BiConsumer<T, T> join;
  private List<T> buckets = new ArrayList<>();
  private long width;
  // Cache: tokens arrive in order of time, mostly in the bucket of the previous one.
  private @Nullable T latest;
  private long latestFrom;

  /** A growing number of buckets; {@code join} adds the second of two neighbours to the first. */
  TimeBuckets(
      long origin, long width, int most, Supplier<T> empty, @Nullable BiConsumer<T, T> join) {
    this.origin = origin;
    this.width = width;
    this.most = most;
    this.empty = empty;
    this.join = join;
  }

  /** A fixed number of buckets over a window that starts at {@code from}, epoch nanoseconds. */
  static <T> TimeBuckets<T> within(long from, long nanos, int count, Supplier<T> empty) {
    TimeBuckets<T> fixed =
        new TimeBuckets<>(from, Math.max(1, (nanos + count - 1) / count), count, empty, null);
    fixed.fill(count);
    return fixed;
  }

  /** The bucket of an instant, the first or last if it is before or after all. */
  T at(long unixNanos) {
    T kept = latest;
    long into = unixNanos - latestFrom;
    if (kept != null && into >= 0 && into < width) {
      return kept;
    }
    long since = Math.max(0, unixNanos - origin);
    while (join != null && since / width >= most) {
      widen(join);
    }
    int index = (int) Math.min(most - 1, since / width);
    fill(index + 1);
    T found = buckets.get(index);
    latest = found;
    latestFrom = origin + index * width;
    return found;
  }

  private void fill(int count) {
    while (buckets.size() < count) {
      buckets.add(empty.get());
    }
  }

  private void widen(BiConsumer<T, T> joined) {
    List<T> wider = new ArrayList<>();
    for (int i = 0; i < buckets.size(); i++) {
      if (i % 2 == 0) {
        wider.add(buckets.get(i));
      } else {
        joined.accept(wider.get(wider.size() - 1), buckets.get(i));
      }
    }
    buckets = wider;
    width *= 2;
    latest = null;
  }

  List<T> all() {
    return buckets;
  }

  long width() {
    return width;
  }

  long endOf(long unixNanos) {
    return origin + (Math.max(0, unixNanos - origin) / width + 1) * width;
  }
}
