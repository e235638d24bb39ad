package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Figures.Trial;
import io.github.gatlingllm.figures.metric.Figures.Trials;
import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.RequestRecord;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The batch trials of one load level: Σ tokens ÷ wall time of each, from its first schedule to its
 * last close.
 *
 * <p>Memory is bounded: the first {@value #MAX_ROWS} trials are kept, and of the later ones the
 * {@value #MAX_OPEN} latest. Trials follow each other, so that older ones have ended; they are
 * added to sums.
 */
final class TrialTally {

  /** Trials with a row of their own in the report. */
  static final int MAX_ROWS = 1_000;

  private static final int MAX_OPEN = 100;

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

  private static final class Sums {
    private final Moments rates = new Moments();
    private long trials;
    private double tokens;
    private double seconds;

    private void add(Span trial) {
      trials++;
      if (trial.isTimed()) {
        rates.add(trial.tokens / trial.seconds(), 1);
        tokens += trial.tokens;
        seconds += trial.seconds();
      }
    }

    private void add(Sums other) {
      rates.add(other.rates);
      trials += other.trials;
      tokens += other.tokens;
      seconds += other.seconds;
    }
  }

  private final NavigableMap<Integer, Span> rows = new TreeMap<>();
  private final NavigableMap<Integer, Span> open = new TreeMap<>();
  private final Sums ended = new Sums();

  /** Adds a request that was scheduled in measure; nothing outside batch mode. */
  void add(RequestRecord record) {
    Integer trial = record.identity().trial();
    if (trial == null) {
      return;
    }
    Map<Integer, Span> into = trial <= MAX_ROWS ? rows : open;
    Span span = into.computeIfAbsent(trial, t -> new Span());
    span.requests++;
    span.ok += record.outcome().ok() ? 1 : 0;
    Long closed = record.timing().closedUnixNanos();
    if (closed != null) {
      Integer tokens = record.tokens().n();
      span.from = Math.min(span.from, record.timing().scheduledUnixNanos());
      span.to = Math.max(span.to, closed);
      span.tokens += tokens == null ? 0 : tokens;
    }
    if (open.size() > MAX_OPEN) {
      ended.add(open.pollFirstEntry().getValue());
    }
  }

  /** The trials of this level with their rows; null outside batch mode. */
  @Nullable Trials trials() {
    List<Trial> all = rows.entrySet().stream().map(e -> e.getValue().row(e.getKey())).toList();
    return trials(sums(), all);
  }

  /** The trials of several levels: with rows for one level only, as each level counts from 1. */
  static @Nullable Trials pooled(Collection<TrialTally> stages) {
    if (stages.size() == 1) {
      return stages.iterator().next().trials();
    }
    Sums all = new Sums();
    stages.forEach(stage -> all.add(stage.sums()));
    return trials(all, List.of());
  }

  private Sums sums() {
    Sums all = new Sums();
    all.add(ended);
    rows.values().forEach(all::add);
    open.values().forEach(all::add);
    return all;
  }

  private static @Nullable Trials trials(Sums all, List<Trial> rows) {
    return all.seconds == 0
        ? null
        : new Trials(
            all.rates.count(),
            all.tokens / all.seconds,
            all.rates.mean(),
            all.rates.std(),
            all.rates.min(),
            all.rates.max(),
            rows,
            all.trials - rows.size());
  }
}
