package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Amounts.Span;
import io.github.gatlingllm.figures.metric.Figures.Trial;
import io.github.gatlingllm.figures.metric.Figures.Trials;
import io.github.gatlingllm.figures.metric.Metric.Amount;
import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.RequestRecord;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The batch trials of one load level, each from its first schedule to its last close. */
final class TrialTally {

  private static final int MAX_ROWS = 1_000;

  private final Map<Integer, Span> trials = new TreeMap<>();

  void add(int trial, RequestRecord record) {
    Span span = trials.computeIfAbsent(trial, t -> new Span());
    span.started(record, null);
    span.add(record);
  }

  private static Trial row(int number, Span trial) {
    boolean isTimed = trial.to > trial.from;
    return new Trial(
        number,
        trial.count(Amount.STARTED),
        trial.count(Amount.OK),
        trial.count(Amount.TOKENS),
        isTimed ? (Double) trial.seconds() : null,
        isTimed ? (Double) (trial.of(Amount.TOKENS) / trial.seconds()) : null);
  }

  /** With rows for one level only, as each level counts from 1; null outside batch mode. */
  static @Nullable Trials pooled(Collection<TrialTally> levels) {
    List<Trial> all =
        levels.stream()
            .flatMap(level -> level.trials.entrySet().stream())
            .map(trial -> row(trial.getKey(), trial.getValue()))
            .toList();
    Moments rates = new Moments();
    double tokens = 0;
    double seconds = 0;
    for (Trial trial : all) {
      if (trial.wallS() != null && trial.outputTokensPerS() != null) {
        rates.add(trial.outputTokensPerS(), 1);
        tokens += trial.outputTokens();
        seconds += trial.wallS();
      }
    }
    List<Trial> rows = levels.size() > 1 ? List.of() : all.stream().limit(MAX_ROWS).toList();
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
