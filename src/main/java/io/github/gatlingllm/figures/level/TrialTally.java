package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Figures.Trial;
import io.github.gatlingllm.figures.metric.Figures.Trials;
import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.RequestRecord;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The batch trials of one load level: Σ tokens ÷ wall time of each, from its first schedule to its
 * last close. About 100 bytes per trial.
 */
final class TrialTally {

  /** Trials with a row of their own in the report. */
  private static final int MAX_ROWS = 1_000;

  private static final class Span {
    private long from = Long.MAX_VALUE;
    private long to = Long.MIN_VALUE;
    private long requests;
    private long ok;
    private long tokens;

    private boolean isTimed() {
      return to > from;
    }

    private double seconds() {
      return (to - from) / 1e9;
    }

    private Trial row(int number) {
      return new Trial(
          number,
          requests,
          ok,
          tokens,
          isTimed() ? (Double) seconds() : null,
          isTimed() ? (Double) (tokens / seconds()) : null);
    }
  }

  private final Map<Integer, Span> trials = new TreeMap<>();

  /** Adds a request of batch mode that was scheduled in measure. */
  void add(int trial, RequestRecord record) {
    Span span = trials.computeIfAbsent(trial, t -> new Span());
    span.requests++;
    span.ok += record.outcome().ok() ? 1 : 0;
    Long closed = record.timing().closedUnixNanos();
    if (closed != null) {
      Integer tokens = record.tokens().n();
      span.from = Math.min(span.from, record.timing().scheduledUnixNanos());
      span.to = Math.max(span.to, closed);
      span.tokens += tokens == null ? 0 : tokens;
    }
  }

  /**
   * The trials of some levels; with rows for one level only, as each level counts from 1. Null
   * outside batch mode.
   */
  static @Nullable Trials pooled(Collection<TrialTally> levels) {
    List<Span> all = levels.stream().flatMap(level -> level.trials.values().stream()).toList();
    Moments rates = new Moments();
    double tokens = 0;
    double seconds = 0;
    for (Span trial : all) {
      if (trial.isTimed()) {
        rates.add(trial.tokens / trial.seconds(), 1);
        tokens += trial.tokens;
        seconds += trial.seconds();
      }
    }
    List<Trial> rows =
        levels.size() > 1
            ? List.of()
            : levels.stream()
                .flatMap(level -> level.trials.entrySet().stream())
                .limit(MAX_ROWS)
                .map(e -> e.getValue().row(e.getKey()))
                .toList();
    return seconds == 0
        ? null
        : new Trials(
            rates.count(),
            tokens / seconds,
            rates.mean(),
            rates.std(),
            rates.min(),
            rates.max(),
            rows,
            all.size() - rows.size());
  }
}
