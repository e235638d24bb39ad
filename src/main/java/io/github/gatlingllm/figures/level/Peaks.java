package io.github.gatlingllm.figures.level;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The most tokens in one whole second of a measure window, and the most requests in flight, sampled
 * 100 times a second, less often in windows of more than five minutes.
 */
final class Peaks {

  private static final long SECOND = 1_000_000_000L;
  private static final long FINEST = SECOND / 100;
  private static final int MAX_SAMPLES = 1 << 15;

  private final long from;
  private long to;

  /** Tokens by second of the clock, from the second in which the window begins. */
  private double[] tokens = {};

  /** Width of the spans of {@link #changes}: 10 ms × 2^k. */
  private long step = FINEST;

  /** Change of the number of requests in flight in each span; its sum is right at ends of spans. */
  private int[] changes = {};

  Peaks(long from, long to) {
    this.from = from;
    this.to = to;
    while ((to - from) / step >= MAX_SAMPLES) {
      step *= 2;
    }
  }

  void tokens(long unixNanos, double count) {
    int second = (int) (unixNanos / SECOND - from / SECOND);
    if (second >= tokens.length) {
      tokens = Arrays.copyOf(tokens, second + 1 + second / 2);
    }
    tokens[second] += count;
  }

  static long endOfSecond(long unixNanos) {
    return (unixNanos / SECOND + 1) * SECOND;
  }

  void inFlight(long admitted, long closed) {
    change(Math.max(admitted, from), 1);
    change(Math.min(closed, to), -1);
  }

  private void change(long unixNanos, int by) {
    int span = (int) (unixNanos / step - from / step);
    if (span >= changes.length) {
      changes = Arrays.copyOf(changes, span + 1 + span / 2);
    }
    changes[span] += by;
  }

  /** Adds the counts of a window that does not begin before this one. */
  private void add(Peaks other) {
    to = Math.max(to, other.to);
    for (int i = 0; i < other.tokens.length; i++) {
      if (other.tokens[i] != 0) {
        tokens((other.from / SECOND + i) * SECOND, other.tokens[i]);
      }
    }
    while (step < other.step) {
      widen();
    }
    for (int i = 0; i < other.changes.length; i++) {
      if (other.changes[i] != 0) {
        change((other.from / other.step + i) * other.step, other.changes[i]);
      }
    }
  }

  private void widen() {
    int[] narrow = changes;
    long first = from / step;
    step *= 2;
    changes = new int[0];
    for (int i = 0; i < narrow.length; i++) {
      change((first + i) * (step / 2), narrow[i]);
    }
  }

  /** The largest value of all windows; windows that overlap count as one. */
  static @Nullable Double most(List<Peaks> windows, Function<Peaks, @Nullable Number> of) {
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

  /** Most tokens in a second that lies in the window; null where no whole second does. */
  @Nullable Double tokensPerS() {
    long first = from / SECOND + (from % SECOND == 0 ? 0 : 1);
    long last = to / SECOND;
    if (last <= first) {
      return null;
    }
    double most = 0;
    for (long second = first; second < last; second++) {
      int index = (int) (second - from / SECOND);
      most = index < tokens.length ? Math.max(most, tokens[index]) : most;
    }
    return most;
  }

  /** Most requests in flight at a sample; null for a window without samples. */
  @Nullable Long inFlight() {
    int samples = (int) (to / step - from / step);
    long now = 0;
    long most = 0;
    for (int span = 0; span < Math.min(samples, changes.length); span++) {
      now += changes[span];
      most = Math.max(most, now);
    }
    return samples == 0 ? null : (Long) most;
  }
}
