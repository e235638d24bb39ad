package io.github.gatlingllm.figures.level;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The max tokens in one full second of a measure window, and the max requests in flight, sampled
 * 100 times a second, less often in windows of more than five minutes.
 */
final class Peaks {

  private static final long SECOND = 1_000_000_000L;
  private static final long FINEST = SECOND / 100;
  private static final int MAX_SAMPLES = 1 << 15;

  private final long from;
  private long to;

  private final TimeSlots seconds;
  private double[] tokens = {};

  /** Slots of 10 ms × 2^k. */
  private TimeSlots samples;

  /** Change of the number of requests in flight in each slot; its sum is right at ends of slots. */
  private int[] changes = {};

  Peaks(long from, long to) {
    this.from = from;
    this.to = to;
    seconds = TimeSlots.onClock(from, SECOND);
    long width = FINEST;
    while ((to - from) / width >= MAX_SAMPLES) {
      width *= 2;
    }
    samples = TimeSlots.onClock(from, width);
  }

  void add(RequestParts parts) {
    TokenStream stream = parts.stream;
    for (int i = stream.first(from); i < stream.arrivals; i++) {
      long at = stream.unixNanos[i];
      if (at >= from && at < to) {
        tokens(at, stream.tokens[i]);
      }
    }
    if (parts.isInFlight(from, to)) {
      inFlight(parts.admitted, parts.closed);
    }
  }

  void tokens(long unixNanos, double count) {
    int second = seconds.at(unixNanos);
    if (second >= tokens.length) {
      tokens = Arrays.copyOf(tokens, second + 1 + second / 2);
    }
    tokens[second] += count;
  }

  void inFlight(long admitted, long closed) {
    change(Math.max(admitted, from), 1);
    change(Math.min(closed, to), -1);
  }

  private void change(long unixNanos, int by) {
    changes = samples.add(changes, samples.at(unixNanos), by);
  }

  /** Adds the counts of a window that does not begin before this one. */
  private void add(Peaks other) {
    to = Math.max(to, other.to);
    for (int i = 0; i < other.tokens.length; i++) {
      if (other.tokens[i] != 0) {
        tokens(other.seconds.startOf(i), other.tokens[i]);
      }
    }
    if (samples.width() < other.samples.width()) {
      int[] narrow = changes;
      TimeSlots before = samples;
      samples = TimeSlots.onClock(from, other.samples.width());
      changes = new int[0];
      addChanges(before, narrow);
    }
    addChanges(other.samples, other.changes);
  }

  private void addChanges(TimeSlots slots, int[] by) {
    for (int i = 0; i < by.length; i++) {
      if (by[i] != 0) {
        change(slots.startOf(i), by[i]);
      }
    }
  }

  /** The largest value of all windows; windows that overlap count as one. */
  static @Nullable Double max(List<Peaks> windows, Function<Peaks, @Nullable Number> of) {
    return joined(windows).stream()
        .map(of)
        .filter(Objects::nonNull)
        .map(Number::doubleValue)
        .max(Double::compare)
        .orElse(null);
  }

  static List<Peaks> joined(List<Peaks> windows) {
    List<Peaks> joined = new ArrayList<>();
    Peaks open = null;
    for (Peaks next :
        windows.stream().sorted(Comparator.comparingLong((Peaks p) -> p.from)).toList()) {
      if (open == null || next.from >= open.to) {
        open = new Peaks(next.from, next.to);
        joined.add(open);
      }
      open.add(next);
    }
    return joined;
  }

  /**
   * Maximum number of tokens in a second that lies in the window; null where no full second does.
   */
  @Nullable Double tokensPerS() {
    int first = seconds.origin() == from ? 0 : 1;
    int end = seconds.at(to);
    if (end <= first) {
      return null;
    }
    double max = 0;
    for (int second = first; second < Math.min(end, tokens.length); second++) {
      max = Math.max(max, tokens[second]);
    }
    return max;
  }

  /** Maximum number of requests in flight at a sample; null for a window without samples. */
  @Nullable Long inFlight() {
    int ended = samples.at(to);
    long now = 0;
    long max = 0;
    for (int slot = 0; slot < Math.min(ended, changes.length); slot++) {
      now += changes[slot];
      max = Math.max(max, now);
    }
    return ended == 0 ? null : (Long) max;
  }
}
