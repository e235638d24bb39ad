package io.github.gatlingllm.stats;

import io.github.gatlingllm.stats.Figures.Trials;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Σ tokens over wall time, from first schedule to last close: of each stage, and of each batch
 * trial. Stages that overlap in time count that time once.
 */
final class Spans {

  private static final class Span {
    private long from = Long.MAX_VALUE;
    private long to = Long.MIN_VALUE;
    private long tokens;

    private void add(long start, long end, long more) {
      from = Math.min(from, start);
      to = Math.max(to, end);
      tokens += more;
    }

    private double tokensPerS() {
      return tokens * 1e9 / (to - from);
    }

    private boolean isTimed() {
      return to > from;
    }
  }

  private record TrialKey(int stage, int trial) {}

  private final Map<Integer, Span> stages = new LinkedHashMap<>();
  private final Map<TrialKey, Span> trials = new LinkedHashMap<>();

  void add(int stage, @Nullable Integer trial, long from, long to, long tokens) {
    stages.computeIfAbsent(stage, s -> new Span()).add(from, to, tokens);
    if (trial != null) {
      trials.computeIfAbsent(new TrialKey(stage, trial), t -> new Span()).add(from, to, tokens);
    }
  }

  void add(Spans other) {
    other.stages.forEach(
        (k, s) -> stages.computeIfAbsent(k, x -> new Span()).add(s.from, s.to, s.tokens));
    other.trials.forEach(
        (k, s) -> trials.computeIfAbsent(k, x -> new Span()).add(s.from, s.to, s.tokens));
  }

  /** Σ tokens ÷ wall time of all stages; null without one that took time. */
  @Nullable Double wallTokensPerS() {
    List<long[]> intervals = new ArrayList<>();
    long tokens = 0;
    for (Span span : stages.values()) {
      intervals.add(new long[] {span.from, span.to});
      tokens += span.tokens;
    }
    long wall = Windows.unionNanos(intervals);
    return wall == 0 ? null : (Double) (tokens * 1e9 / wall);
  }

  /** Null outside batch mode. */
  @Nullable Trials trials() {
    List<Span> timed = trials.values().stream().filter(Span::isTimed).toList();
    if (timed.isEmpty()) {
      return null;
    }
    Moments rates = new Moments();
    long tokens = 0;
    long wall = 0;
    for (Span trial : timed) {
      rates.add(trial.tokensPerS(), 1);
      tokens += trial.tokens;
      wall += trial.to - trial.from;
    }
    return new Trials(rates.count(), tokens * 1e9 / wall, rates.mean(), rates.min(), rates.max());
  }
}
