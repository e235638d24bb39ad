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

/** The batch trials of one load level, each from its first schedule to its last close. */
final class TrialTally {

  /** Trials with a row of their own in the report. */
  private static final int MAX_ROWS = 1_000;

  /** Tokens, and the time from the first schedule to the last close. */
  static final class Span {
    long from = Long.MAX_VALUE;
    long to = Long.MIN_VALUE;
    long tokens;
    private long requests;
    private long ok;

    void add(long start, long end, long more) {
      from = Math.min(from, start);
      to = Math.max(to, end);
      tokens += more;
    }

    void add(RequestRecord record) {
      Long closed = record.timing().closedUnixNanos();
      if (closed != null) {
        Integer n = record.tokens().n();
        add(record.timing().scheduledUnixNanos(), closed, n == null ? 0 : n);
      }
    }

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

  void add(int trial, RequestRecord record) {
    Span span = trials.computeIfAbsent(trial, t -> new Span());
    span.requests++;
    span.ok += record.outcome().ok() ? 1 : 0;
    span.add(record);
  }

  /** With rows for one level only, as each level counts from 1; null outside batch mode. */
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
