package io.github.gatlingllm.stats;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Σ tokens over wall time, from first schedule to last close of each stage. Stages that overlap in
 * time count that time once.
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
  }

  private final Map<Integer, Span> stages = new LinkedHashMap<>();

  void add(int stage, long from, long to, long tokens) {
    stages.computeIfAbsent(stage, s -> new Span()).add(from, to, tokens);
  }

  void add(Spans other) {
    other.stages.forEach(
        (k, s) -> stages.computeIfAbsent(k, x -> new Span()).add(s.from, s.to, s.tokens));
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
}
